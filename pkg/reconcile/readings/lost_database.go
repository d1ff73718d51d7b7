package readings

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// LostDatabase returns a hold if there is, or may be, a database that the status does not
// describe: no pass may treat the cluster as new then, since it would create a second database
// over the volumes of the first. It returns nil for a status with a cluster file and for a
// cluster that is proven to be new.
//
// The ConfigMap or the spec's seed can hold the cluster file: it is copied to the status first.
// Where none has it and there are volumes that the status does not list, only a user can
// decide which database they belong to.
func LostDatabase(s plan.Snapshot) *plan.Hold {
	if s.Cluster.Status.ConnectionString != "" {
		return nil
	}
	if RememberedClusterFile(s) != "" {
		return &plan.Hold{
			Code:       plan.HoldDatabaseLost,
			Reason:     "status.connectionString is empty, but the ConfigMap or spec.seedConnectionString has a connection string; UpdateStatus restores it first",
			RetryAfter: plan.PodDelay, Then: plan.EndPass,
		}
	}
	var left []string
	for _, g := range Orphans(s) {
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
		Reason: fmt.Sprintf("pods or PVCs of %s may hold a database, and no connection string is in the status, the ConfigMap or the spec; "+
			"set spec.seedConnectionString to it, or delete them if their data is not needed", SomeOf(left)),
		Manual: true, Then: plan.EndPass,
	}
}

// RememberedClusterFile returns the cluster file that replaces a missing one in the status.
func RememberedClusterFile(s plan.Snapshot) string {
	if s.ConfigMap != nil && s.ConfigMap.Data[objects.KeyClusterFile] != "" {
		return s.ConfigMap.Data[objects.KeyClusterFile]
	}
	return s.Cluster.Spec.SeedConnectionString
}

// FormerDatabase returns what shows that the database at the connection string existed before this resource,
// so that it must not be created: the spec names it, or a process group has a PVC that is older than the
// resource. It returns an empty string for a cluster that may be new.
func FormerDatabase(s plan.Snapshot) string {
	if s.Cluster.Spec.SeedConnectionString != "" {
		return "spec.seedConnectionString names a database that exists"
	}
	created, older := s.Cluster.CreationTimestamp, []string{}
	for _, g := range s.Groups() {
		claim := s.Volumes[g.PVCName(s.Cluster)]
		if claim != nil && g.ProcessClass.IsStateful() && claim.CreationTimestamp.Before(&created) {
			older = append(older, claim.Name)
		}
	}
	if len(older) == 0 {
		return ""
	}
	slices.Sort(older)
	return "PVCs are older than the FoundationDBCluster: " + SomeOf(older)
}
