package stages

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// lostDatabase says that there is, or may be, a database that the record does not know
// of: nothing may go on as if the cluster were new, since what follows is a second
// database over the volumes of the first. It returns nil for a record that has a
// cluster file and for a cluster that really is new.
//
// The ConfigMap or the spec's seed can hold the cluster file: the record takes it over
// first. Where nothing holds one and there are volumes that the record does not know,
// only a person can tell which database they are of.
func lostDatabase(s plan.Snapshot) *plan.Hold {
	if s.Cluster.Status.ConnectionString != "" {
		return nil
	}
	if rememberedClusterFile(s) != "" {
		return &plan.Hold{
			Code:       plan.HoldDatabaseLost,
			Reason:     "the record has no cluster file, but the ConfigMap or spec.seedConnectionString has; UpdateStatus takes it over first",
			RetryAfter: podDelay, Then: plan.EndPass,
		}
	}
	var left []string
	for _, g := range orphans(s) {
		if g.Class.IsStateful() {
			left = append(left, string(g.ID))
		}
	}
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	return &plan.Hold{
		Code: plan.HoldDatabaseLost,
		Reason: fmt.Sprintf("pods or volume claims of %s may hold a database, and neither the record nor the ConfigMap nor the spec has its cluster file; "+
			"set spec.seedConnectionString to it, or delete them if their data is not needed", someOf(left)),
		Human: true, Then: plan.EndPass,
	}
}

// rememberedClusterFile is the cluster file that a record without one falls back on.
func rememberedClusterFile(s plan.Snapshot) string {
	if s.ConfigMap != nil && s.ConfigMap.Data[objects.KeyClusterFile] != "" {
		return s.ConfigMap.Data[objects.KeyClusterFile]
	}
	return s.Cluster.Spec.SeedConnectionString
}
