package stages

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Gaps are what keeps a cluster from being as its spec asks: by its record, and by what
// the database says of the servers' engines, which no record holds.
//
// The operator counts a new storage engine as there once it is configured. That is long
// before it is at work: in a gradual migration one server after the other is filled anew,
// and without the wiggle none ever is.
func Gaps(s plan.Snapshot) v1beta2.Gaps {
	return s.Cluster.ReconciliationGaps(objects.DesiredRecordConfiguration(s.Cluster), oldEngines(s)...)
}

// oldEngines says which storage servers are still to go to the configured engine. Without
// a migration nobody moves them, so nothing is waited for.
func oldEngines(s plan.Snapshot) []string {
	if !s.Database.Available() || s.Database.Status.Cluster.Configuration == nil {
		return nil
	}
	c := s.Database.Status.Cluster.Configuration
	if !migrates(c) {
		return nil
	}
	old := 0
	for engine, servers := range s.Database.Status.StorageEngines() {
		if engine != "" && engine != c.StorageEngine { // those of versions before 7.3 do not say
			old += servers
		}
	}
	if old == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s still %s another engine than %s%s", phrase.Count(old, "storage server"), phrase.Either(old, "uses", "use"), c.StorageEngine, neverGoes(c))}
}

// migrates reports whether the database itself moves all servers to its engine. A wiggle
// that is limited to a locality, or has an engine of its own, leaves others on purpose.
func migrates(c *fdb.Configuration) bool {
	switch ptr.Deref(c.StorageMigrationType, "") {
	case string(v1beta2.StorageMigrationAggressive):
		return true
	case string(v1beta2.StorageMigrationGradual):
		return slices.Contains([]string{"", "0"}, ptr.Deref(c.PerpetualStorageWiggleLocality, "")) &&
			slices.Contains([]string{"", "none"}, ptr.Deref(c.PerpetualStorageWiggleEngine, ""))
	}
	return false
}

// neverGoes says what a gradual migration needs, when it lacks that.
func neverGoes(c *fdb.Configuration) string {
	if ptr.Deref(c.StorageMigrationType, "") == string(v1beta2.StorageMigrationGradual) && ptr.Deref(c.PerpetualStorageWiggle, 0) == 0 {
		return ", and a gradual migration moves none without perpetual_storage_wiggle=1"
	}
	return ""
}
