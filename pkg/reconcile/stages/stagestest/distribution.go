package stagestest

import (
	"cmp"
	"slices"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Packs returns a distribution over fault domains, of which pods prefer theirs.
func Packs(domains int, pack v1beta2.BinPack) *v1beta2.DistributionConfig {
	return &v1beta2.DistributionConfig{Enabled: new(true), DesiredFaultDomains: &domains, BinPack: &pack}
}

// Packing sets the distribution of the spec.
func Packing(config *v1beta2.DistributionConfig) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Cluster.Spec.DistributionConfig = config }
}

// PackedCluster returns a healthy cluster whose pods were created with a distribution; nil for none. Its
// storage process groups have the given numbers.
func PackedCluster(tb testing.TB, config *v1beta2.DistributionConfig, storage ...int) plan.Snapshot {
	tb.Helper()
	s := HealthyClusterOf(tb, len(storage))
	s.Cluster.Spec.DistributionConfig = config
	for n, g := range s.Groups() {
		delete(s.Pods, g.PodName(s.Cluster))
		delete(s.Volumes, g.PVCName(s.Cluster))
		before := g.ProcessGroupID
		if g.ProcessClass == v1beta2.ProcessClassStorage {
			g.ProcessGroupID, storage = s.Cluster.ProcessGroupIDFor(g.ProcessClass, storage[0]), storage[1:]
		}
		GivePod(tb, &s, g, n+1)
		EditProcess(&s, &v1beta2.ProcessGroupStatus{ProcessGroupID: before}, func(p *fdb.Process) {
			p.Locality[fdb.LocalityInstanceID], p.Locality[fdb.LocalityProcessID] = string(g.ProcessGroupID), g.ProcessGroupID.ProcessID(1)
		})
	}
	slices.SortFunc(s.Cluster.Status.ProcessGroups, func(a, b *v1beta2.ProcessGroupStatus) int { return cmp.Compare(a.ProcessGroupID, b.ProcessGroupID) })
	return s
}

// OnlyStorage removes the process groups of all other classes from the status.
func OnlyStorage(s *plan.Snapshot) {
	s.Cluster.Status.ProcessGroups = slices.DeleteFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessClass != v1beta2.ProcessClassStorage })
}

// Adopt records the hash of the current spec on a group's pod, as a user who adopts it does.
func Adopt(tb testing.TB, s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
	tb.Helper()
	hash, err := objects.NewSpecHashes(s.Cluster).Of(g)
	if err != nil {
		tb.Fatal(err)
	}
	s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedSpec] = hash
}
