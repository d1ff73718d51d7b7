package stages

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// onNodes returns a healthy cluster with its nodes: node-6 and node-7 have one stateless pod each,
// node-14 has storage-114.
func onNodes(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := healthyCluster(tb)
	s.Nodes = map[string]*corev1.Node{}
	for _, g := range s.Groups() {
		name := s.Pod(g).Spec.NodeName
		s.Nodes[name] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	s.Coordination.ExclusionsRead = true
	for _, g := range s.Groups() {
		if g.ProcessClass == v1beta2.ProcessClassStorage {
			editProcess(&s, g, func(p *fdb.Process) {
				p.Roles = []fdb.Role{{Role: fdb.RoleStorage, KVStoreUsedBytes: new(int64(1 << 20)), KVStoreAvailableBytes: new(int64(1 << 30)), KVStoreTotalBytes: new(int64(2 << 30))}}
			})
		}
	}
	return s
}

func cordoned(nodes ...string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, name := range nodes {
			s.Nodes[name].Spec.Unschedulable = true
		}
	}
}

func TestCordonAndUncordonNodes(t *testing.T) {
	taint := &corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoSchedule}
	two := []string{nodeName(14), nodeName(15)}
	hidden := func(s *plan.Snapshot) { s.Nodes, s.NodesHidden = nil, "listing nodes is forbidden" }
	tests := map[string]struct {
		removalCase
		stage plan.Stage
	}{
		"cordons":                           {removalCase{from: onNodes, does: []string{"cordon node node-14", "cordon node node-15"}}, CordonNodes(two, nil)},
		"cordons and taints":                {removalCase{from: onNodes, does: []string{"cordon node node-14 and taint it example.com/maintenance:NoSchedule"}}, CordonNodes(two[:1], taint)},
		"leaves a cordoned node alone":      {removalCase{from: onNodes, given: cordoned(two...)}, CordonNodes(two, nil)},
		"taints a node that is cordoned":    {removalCase{from: onNodes, given: cordoned(two...), does: []string{"cordon node node-14 and taint it example.com/maintenance:NoSchedule"}}, CordonNodes(two[:1], taint)},
		"uncordons":                         {removalCase{from: onNodes, given: cordoned(two...), does: []string{"uncordon node node-14", "uncordon node node-15"}}, UncordonNodes(two, nil)},
		"leaves an open node alone":         {removalCase{from: onNodes}, UncordonNodes(two, taint)},
		"a deleted node needs no cordon":    {removalCase{from: onNodes, does: []string{"cordon node node-14"}}, CordonNodes([]string{nodeName(14), "n9"}, nil)},
		"uncordons none if one was deleted": {removalCase{from: onNodes, given: cordoned(two...), holds: "node n9 not found"}, UncordonNodes([]string{nodeName(14), "n9"}, nil)},
		"unread nodes are not deleted":      {removalCase{from: onNodes, given: func(s *plan.Snapshot) { s.Nodes = nil }, holds: "they were not read"}, CordonNodes(two, nil)},
		"waits when nodes are hidden":       {removalCase{from: onNodes, given: hidden, holds: "listing nodes is forbidden"}, CordonNodes(two, nil)},
		"waits with uncordoning as well":    {removalCase{from: onNodes, given: hidden, holds: "listing nodes is forbidden"}, UncordonNodes(two, nil)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, tc.stage) })
	}
}

func TestEvictFrom(t *testing.T) {
	const first = "recreate pods: sample-stateless-106"
	two := []string{nodeName(6), nodeName(7), nodeName(14)}
	tests := map[string]removalCase{
		"evicts one pod without a volume at a time":               {from: onNodes, given: cordoned(two...), does: []string{first}, holds: "stateless-107: one pod at a time"},
		"evicts nothing from a node that would take the pod back": {from: onNodes, given: cordoned(nodeName(14)), holds: "it is not cordoned, so the pod could be scheduled there again"},
		"evicts from a deleted node": {from: onNodes, given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			delete(s.Nodes, nodeName(6))
		}, does: []string{first}, holds: "stateless-107: one pod at a time"},
		"evicts nothing while the nodes are unread": {from: onNodes, given: func(s *plan.Snapshot) { s.Nodes = nil }, holds: "unknown: they were not read"},
		"evicts nothing while nodes are hidden": {from: onNodes, given: func(s *plan.Snapshot) {
			s.Nodes, s.NodesHidden = nil, "listing nodes is forbidden"
		}, holds: "unknown: listing nodes is forbidden"},
		"waits after a recovery": {from: onNodes, given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			recoveredAgo(30)(s)
		}, holds: "last recovery 30s ago, 2m0s required"},
		"waits while the database does not answer": {from: onNodes, given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
		}, holds: "timed out"},
		"waits until a group beside it is excluded": {from: onNodes, given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Cluster.ProcessGroup("storage-114").MarkForRemoval(noon.Add(-exclusionGracePeriod + time.Second))
		}, holds: "stateless-106: storage-114 is excluded first"},
		"evicts once that is excluded": {from: onNodes, given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			g := s.Cluster.ProcessGroup("storage-114")
			g.MarkForRemoval(noon)
			s.Coordination.Exclusions = append(s.Coordination.Exclusions, g.ExclusionString())
		}, does: []string{first}, holds: "stateless-107: one pod at a time"},
		"evicts once that has not been excluded for long": {from: onNodes, given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Cluster.ProcessGroup("storage-114").MarkForRemoval(noon.Add(-exclusionGracePeriod))
		}, does: []string{first}, holds: "stateless-107: one pod at a time"},
		"waits until coordinators have moved": {from: onNodes, given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			g := s.Cluster.ProcessGroup("log-101")
			g.MarkForRemoval(noon)
			s.Coordination.Exclusions = append(s.Coordination.Exclusions, g.ExclusionString())
			s.Pod(g).Spec.NodeName = nodeName(14)
		}, holds: "stateless-106: coordinators move away from log-101 first"},
		"does not wait for a group elsewhere": {from: onNodes, given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Cluster.ProcessGroup("storage-115").MarkForRemoval(noon)
		}, does: []string{first}, holds: "stateless-107: one pod at a time"},
		"leaves a pod alone that a user isolated": {from: onNodes, given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Pods["sample-stateless-106"].Annotations[v1beta2.AnnotationIsolateProcessGroup] = "true"
		}, does: []string{"recreate pods: sample-stateless-107"}, holds: "stateless-106: a user isolated its pod"},
		"waits until the one before is back": {from: onNodes, given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Cluster.ProcessGroup("stateless-108").SetCondition(v1beta2.ConditionPodPending, noon.Add(-time.Hour))
		}, holds: "stateless-106: stateless-108 of its class does not report yet"},
		"leaves a pod to be replaced whose class is empty": {from: onNodes, given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Pods["sample-stateless-107"].Spec.NodeName = nodeName(1)
			s.Cluster.ProcessGroup("stateless-106").ProcessClass = v1beta2.ProcessClassUnset
		}},
		"leaves those alone that are elsewhere, or on their way": {from: onNodes, given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Pods["sample-stateless-106"].DeletionTimestamp = new(noonTime())
			s.Pods["sample-stateless-107"].Spec.NodeName = nodeName(1)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, EvictFrom(two)) })
	}
}

func TestReplaceOn(t *testing.T) {
	nodes := []string{nodeName(6), nodeName(14), nodeName(15)}
	tests := map[string]struct {
		removalCase
		most int
		all  bool
	}{
		"replaces what has a volume, one at a time":   {removalCase{from: onNodes, does: []string{"mark for removal: storage-114"}, holds: "replacement of storage-115 waits"}, 1, false},
		"replaces everything where that is requested": {removalCase{from: onNodes, does: []string{"mark for removal: stateless-106, storage-114, storage-115"}}, 3, true},
		"waits while too few of a class are up": {removalCase{from: onNodes, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-116").SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Minute))
		}, holds: "not replaceable now: storage-114: storage-116 missing for 1m0s"}, 2, false},
		"replaces a group that does not report": {removalCase{from: onNodes, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Hour))
			dropProcess(s, s.Cluster.ProcessGroup("storage-114"))
		}, does: []string{"mark for removal: storage-114"}, holds: "storage-115"}, 1, false},
		"replaces a group whose class is empty": {removalCase{from: onNodes, given: func(s *plan.Snapshot) {
			g := s.Cluster.ProcessGroup("stateless-106")
			g.ProcessClass = v1beta2.ProcessClassUnset
			g.SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Hour))
		}, does: []string{"mark for removal: stateless-106"}, holds: "replacement of storage-114; storage-115 waits"}, 1, false},
		"has nothing to do for an empty node": {removalCase{from: onNodes, given: func(s *plan.Snapshot) {
			for _, id := range []string{"sample-storage-114", "sample-storage-115"} {
				s.Pods[id].Spec.NodeName = nodeName(1)
			}
		}}, 1, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, ReplaceOn(nodes, tc.most, tc.all)) })
	}
}
