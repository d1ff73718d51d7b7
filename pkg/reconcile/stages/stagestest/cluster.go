package stagestest

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// WithRule adds a rule about taints to the spec. All nodes can be read.
func WithRule(key *string, seconds *int64) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		options := &s.Cluster.Spec.AutomationOptions.Replacements
		options.TaintReplacementOptions = append(options.TaintReplacementOptions, v1beta2.TaintReplacementOption{Key: key, DurationInSeconds: seconds})
		readNodes(s)
	}
}

// Rule returns a taint rule of the spec.
func Rule(key string, seconds int64) func(*plan.Snapshot) { return WithRule(&key, &seconds) }

// readNodes adds all nodes of pods to the snapshot, and keeps existing ones.
func readNodes(s *plan.Snapshot) {
	if s.Nodes == nil {
		s.Nodes = map[string]*corev1.Node{}
	}
	for _, pod := range s.Pods {
		if name := pod.Spec.NodeName; s.Nodes[name] == nil {
			s.Nodes[name] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		}
	}
}

// Tainted taints the node of the first storage group. The taint has the time of its addition unless
// ago is sometime.
func Tainted(key string, ago time.Duration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		pod := FirstPod(s)
		if pod == nil {
			return
		}
		readNodes(s)
		taint := corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule}
		if ago != Sometime {
			taint.TimeAdded = &metav1.Time{Time: Noon.Add(-ago)}
		}
		node := s.Nodes[pod.Spec.NodeName]
		node.Spec.Taints = append(node.Spec.Taints, taint)
	}
}

// Sometime is for a taint without a time.
const Sometime time.Duration = math.MinInt64

// Had sets conditions of the first storage group that began before.
func Had(conditions ...v1beta2.ProcessGroupConditionType) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, c := range conditions {
			FirstOf(*s, "storage").SetCondition(c, Noon.Add(-time.Hour))
		}
	}
}

// PodWith edits the pod of the first storage group.
func PodWith(edit func(*corev1.Pod)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { edit(FirstPod(s)) }
}

// MaintenanceUnread is a database that could not read in time which zone is under maintenance.
func MaintenanceUnread(s *plan.Snapshot) {
	c := &s.Database.Status.Cluster
	c.FullReplication, c.MaintenanceZone, c.MaintenanceSecondsRemaining = nil, "", nil
	c.Messages = append(c.Messages, fdb.Message{Name: fdb.MessageFullReplicationTimeout})
}

// UnderMaintenance puts a zone in maintenance mode.
func UnderMaintenance(zone string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = zone }
}

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

// InGlobalMode returns a cluster of control-plane instance dc1 that acts together with others. Its
// lists are read and empty.
func InGlobalMode(from func(testing.TB) plan.Snapshot) func(testing.TB) plan.Snapshot {
	return func(tb testing.TB) plan.Snapshot {
		tb.Helper()
		s := from(tb)
		s.Cluster.Spec.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
		s.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
		s.Coordination.Read = true
		s.Coordination.Lists = plan.ListFacts{
			Read: true, Entries: map[fdb.SharedList]map[fdb.Member]time.Time{}, Addresses: map[fdb.Member][]string{},
		}
		return s
	}
}

// Listed adds groups of a control-plane instance to lists, a while ago.
func Listed(instance string, ago time.Duration, lists []fdb.SharedList, groups ...string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, list := range lists {
			if s.Coordination.Lists.Entries[list] == nil {
				s.Coordination.Lists.Entries[list] = map[fdb.Member]time.Time{}
			}
			for _, group := range groups {
				s.Coordination.Lists.Entries[list][fdb.Member{Instance: instance, Group: group}] = Noon.Add(-ago)
			}
		}
	}
}

// Lists returns its arguments.
func Lists(l ...fdb.SharedList) []fdb.SharedList { return l }

// Kept makes the spec keep process groups from being replaced.
func Kept(ids ...v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Cluster.Spec.CancelReplacementsForInstance = append(s.Cluster.Spec.CancelReplacementsForInstance, ids...)
	}
}

// InForce adds exclusions as a transaction reads them.
func InForce(targets ...string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Coordination.ExclusionsRead = true
		s.Coordination.Exclusions = append(s.Coordination.Exclusions, targets...)
	}
}

// RecordedInput is what most decisions were recorded with.
type RecordedInput struct {
	Now          opcases.Seconds              `json:"now"`
	Cluster      *v1beta2.FoundationDBCluster `json:"cluster"`
	ProcessGroup *v1beta2.ProcessGroupStatus  `json:"processGroup"`
	Status       opcases.Document             `json:"status"`
}

// Snapshot returns the snapshot of a recorded cluster, with a status document where it is not nil.
func (in *RecordedInput) Snapshot(status *fdb.Status) plan.Snapshot {
	now := in.Now.Time()
	if in.Cluster == nil {
		in.Cluster = &v1beta2.FoundationDBCluster{}
	}
	s := plan.Snapshot{Now: now, Cluster: in.Cluster, Successors: plan.SuccessorFacts{Read: true}}
	if status != nil {
		s.Database = plan.DatabaseFacts{Status: status, AsOf: now}
	}
	return s
}

// RecordedVerdict is the outcome of a function that returns an error or a truth value.
type RecordedVerdict struct {
	Err opcases.Failure `json:"err"`
	R0  *bool           `json:"r0"`
}

// Outcome returns the verdict as an outcome to compare.
func (v RecordedVerdict) Outcome() opcases.Outcome {
	return opcases.Verdict(v.Err == "" && (v.R0 == nil || *v.R0))
}
