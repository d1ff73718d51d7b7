package operations

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// onNodes returns a healthy cluster with its nodes: node-6 and node-7 have one stateless pod each,
// node-14 has storage-114.
func onNodes(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := stagestest.HealthyCluster(tb)
	s.Nodes = map[string]*corev1.Node{}
	for _, g := range s.Groups() {
		name := s.Pod(g).Spec.NodeName
		s.Nodes[name] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	s.Coordination.ExclusionsRead = true
	for _, g := range s.Groups() {
		if g.ProcessClass == v1beta2.ProcessClassStorage {
			stagestest.EditProcess(&s, g, func(p *fdb.Process) {
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

// ruleFor sets a rule by which process groups are replaced for a taint.
func ruleFor(key string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		r := &s.Cluster.Spec.AutomationOptions.Replacements
		r.Enabled = new(true)
		r.TaintReplacementOptions = []v1beta2.TaintReplacementOption{{Key: new(key), DurationInSeconds: new(int64(60))}}
	}
}

func TestCordonAndUncordonNodes(t *testing.T) {
	taint := &corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoSchedule}
	two := []string{stagestest.NodeName(14), stagestest.NodeName(15)}
	hidden := func(s *plan.Snapshot) { s.Nodes, s.NodesHidden = nil, "listing nodes is forbidden" }
	tests := map[string]struct {
		stagestest.RemovalCase
		stage plan.Stage
	}{
		"cordons":                      {stagestest.RemovalCase{From: onNodes, Does: []string{"cordon node node-14", "cordon node node-15"}}, CordonNodes(two, nil)},
		"cordons and taints":           {stagestest.RemovalCase{From: onNodes, Does: []string{"cordon node node-14 and taint it example.com/maintenance:NoSchedule"}}, CordonNodes(two[:1], taint)},
		"a taint of a rule moves data": {stagestest.RemovalCase{From: onNodes, Given: ruleFor(taint.Key), Does: []string{"cordon node node-14 and taint it example.com/maintenance:NoSchedule, for which passes replace its process groups"}}, CordonNodes(two[:1], taint)},
		"not where nothing is replaced": {stagestest.RemovalCase{From: onNodes, Given: func(s *plan.Snapshot) {
			ruleFor(taint.Key)(s)
			s.Cluster.Spec.AutomationOptions.Replacements.Enabled = new(bool)
		}, Does: []string{"cordon node node-14 and taint it example.com/maintenance:NoSchedule"}}, CordonNodes(two[:1], taint)},
		"leaves a cordoned node alone":      {stagestest.RemovalCase{From: onNodes, Given: cordoned(two...)}, CordonNodes(two, nil)},
		"taints a node that is cordoned":    {stagestest.RemovalCase{From: onNodes, Given: cordoned(two...), Does: []string{"cordon node node-14 and taint it example.com/maintenance:NoSchedule"}}, CordonNodes(two[:1], taint)},
		"uncordons":                         {stagestest.RemovalCase{From: onNodes, Given: cordoned(two...), Does: []string{"uncordon node node-14", "uncordon node node-15"}}, UncordonNodes(two, nil)},
		"leaves an open node alone":         {stagestest.RemovalCase{From: onNodes}, UncordonNodes(two, taint)},
		"a deleted node needs no cordon":    {stagestest.RemovalCase{From: onNodes, Does: []string{"cordon node node-14"}}, CordonNodes([]string{stagestest.NodeName(14), "n9"}, nil)},
		"uncordons none if one was deleted": {stagestest.RemovalCase{From: onNodes, Given: cordoned(two...), Holds: "node n9 not found"}, UncordonNodes([]string{stagestest.NodeName(14), "n9"}, nil)},
		"unread nodes are not deleted":      {stagestest.RemovalCase{From: onNodes, Given: func(s *plan.Snapshot) { s.Nodes = nil }, Holds: "they were not read"}, CordonNodes(two, nil)},
		"waits when nodes are hidden":       {stagestest.RemovalCase{From: onNodes, Given: hidden, Holds: "listing nodes is forbidden"}, CordonNodes(two, nil)},
		"waits with uncordoning as well":    {stagestest.RemovalCase{From: onNodes, Given: hidden, Holds: "listing nodes is forbidden"}, UncordonNodes(two, nil)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, tc.stage) })
	}
}

func TestPodsAreEvictedFromCordonedNodes(t *testing.T) {
	const first = "recreate pods: sample-stateless-106"
	two := []string{stagestest.NodeName(6), stagestest.NodeName(7), stagestest.NodeName(14)}
	tests := map[string]stagestest.RemovalCase{
		"evicts one pod without a volume at a time":               {From: onNodes, Given: cordoned(two...), Does: []string{first}, Holds: "stateless-107: one pod at a time"},
		"evicts nothing from a node that would take the pod back": {From: onNodes, Given: cordoned(stagestest.NodeName(14)), Holds: "it is not cordoned, so the pod could be scheduled there again"},
		"evicts from a deleted node": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			delete(s.Nodes, stagestest.NodeName(6))
		}, Does: []string{first}, Holds: "stateless-107: one pod at a time"},
		"evicts nothing that the API server would not accept again": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Successors = plan.SuccessorFacts{Read: true, Refused: map[v1beta2.ProcessClass]plan.Refusal{
				v1beta2.ProcessClassStateless: plan.NewRefusal(plan.WrittenPod, "p", plan.RefusedByPolicy, "rule", "the text"),
			}}
		}, Holds: "stateless-106 keeps its pod: the API server would not accept the new pod"},
		"evicts nothing while the nodes are unread": {From: onNodes, Given: func(s *plan.Snapshot) { s.Nodes = nil }, Holds: "unknown: they were not read"},
		"evicts nothing while nodes are hidden": {From: onNodes, Given: func(s *plan.Snapshot) {
			s.Nodes, s.NodesHidden = nil, "listing nodes is forbidden"
		}, Holds: "unknown: listing nodes is forbidden"},
		"waits after a recovery": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			stagestest.RecoveredAgo(30)(s)
		}, Holds: "last recovery 30s ago, 2m0s required"},
		"waits while the database does not answer": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
		}, Holds: "timed out"},
		"waits until a group beside it is excluded": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Cluster.ProcessGroup("storage-114").MarkForRemoval(stagestest.Noon.Add(-exclusionGracePeriod + time.Second))
		}, Holds: "stateless-106: storage-114 is excluded first"},
		"evicts once that is excluded": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			g := s.Cluster.ProcessGroup("storage-114")
			g.MarkForRemoval(stagestest.Noon)
			s.Coordination.Exclusions = append(s.Coordination.Exclusions, g.ExclusionString())
		}, Does: []string{first}, Holds: "stateless-107: one pod at a time"},
		"evicts once that has not been excluded for long": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Cluster.ProcessGroup("storage-114").MarkForRemoval(stagestest.Noon.Add(-exclusionGracePeriod))
		}, Does: []string{first}, Holds: "stateless-107: one pod at a time"},
		"waits until coordinators have moved": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			g := s.Cluster.ProcessGroup("log-101")
			g.MarkForRemoval(stagestest.Noon)
			s.Coordination.Exclusions = append(s.Coordination.Exclusions, g.ExclusionString())
			s.Pod(g).Spec.NodeName = stagestest.NodeName(14)
		}, Holds: "stateless-106: coordinators move away from log-101 first"},
		"does not wait for a group elsewhere": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Cluster.ProcessGroup("storage-115").MarkForRemoval(stagestest.Noon)
		}, Does: []string{first}, Holds: "stateless-107: one pod at a time"},
		"leaves a pod alone that a user isolated": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Pods["sample-stateless-106"].Annotations[v1beta2.AnnotationIsolateProcessGroup] = "true"
		}, Does: []string{"recreate pods: sample-stateless-107"}, Holds: "stateless-106: a user isolated its pod"},
		"waits until the one before is back": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Cluster.ProcessGroup("stateless-108").SetCondition(v1beta2.ConditionPodPending, stagestest.Noon.Add(-time.Hour))
		}, Holds: "stateless-106: stateless-108 of its class does not report yet"},
		"leaves a pod to be replaced whose class is empty": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Pods["sample-stateless-107"].Spec.NodeName = stagestest.NodeName(1)
			s.Cluster.ProcessGroup("stateless-106").ProcessClass = v1beta2.ProcessClassUnset
		}},
		"leaves those alone that are elsewhere, or on their way": {From: onNodes, Given: func(s *plan.Snapshot) {
			cordoned(two...)(s)
			s.Pods["sample-stateless-106"].DeletionTimestamp = new(stagestest.NoonTime())
			s.Pods["sample-stateless-107"].Spec.NodeName = stagestest.NodeName(1)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, EvictFrom(two)) })
	}
}

func TestReplaceGroupsOnNodes(t *testing.T) {
	nodes := []string{stagestest.NodeName(6), stagestest.NodeName(14), stagestest.NodeName(15)}
	tests := map[string]struct {
		stagestest.RemovalCase
		most int
		all  bool
	}{
		"replaces what has a volume, one at a time":   {stagestest.RemovalCase{From: onNodes, Does: []string{"mark for removal: storage-114"}, Holds: "replacement of storage-115 waits"}, 1, false},
		"replaces everything where that is requested": {stagestest.RemovalCase{From: onNodes, Does: []string{"mark for removal: stateless-106, storage-114, storage-115"}}, 3, true},
		"waits while too few of a class are up": {stagestest.RemovalCase{From: onNodes, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-116").SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Minute))
		}, Holds: "not replaceable now: storage-114: storage-116 missing for 1m0s"}, 2, false},
		"replaces a group that does not report": {stagestest.RemovalCase{From: onNodes, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Hour))
			stagestest.DropProcess(s, s.Cluster.ProcessGroup("storage-114"))
		}, Does: []string{"mark for removal: storage-114"}, Holds: "storage-115"}, 1, false},
		"replaces a group whose class is empty": {stagestest.RemovalCase{From: onNodes, Given: func(s *plan.Snapshot) {
			g := s.Cluster.ProcessGroup("stateless-106")
			g.ProcessClass = v1beta2.ProcessClassUnset
			g.SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Hour))
		}, Does: []string{"mark for removal: stateless-106"}, Holds: "replacement of storage-114; storage-115 waits"}, 1, false},
		"has nothing to do for an empty node": {stagestest.RemovalCase{From: onNodes, Given: func(s *plan.Snapshot) {
			for _, id := range []string{"sample-storage-114", "sample-storage-115"} {
				s.Pods[id].Spec.NodeName = stagestest.NodeName(1)
			}
		}}, 1, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stage := ReplaceOn
			if tc.all {
				stage = ReplaceAllOn
			}
			tc.Check(t, stage(nodes, tc.most))
		})
	}
}

// agent adds the pod of an agent.
func agent(name, deployment, node string, edits ...func(*corev1.Pod)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(stagestest.Noon.Add(-time.Minute)), Labels: map[string]string{v1beta2.LabelDeploymentName: deployment}},
			Spec:       corev1.PodSpec{NodeName: node},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}
		for _, edit := range edits {
			edit(pod)
		}
		if s.Agents.Pods == nil {
			s.Agents.Pods = map[string]*corev1.Pod{}
		}
		s.Agents.Pods[name] = pod
	}
}

func starting(p *corev1.Pod) { p.Status.Conditions = nil }

func TestEvictAgents(t *testing.T) {
	cordoned := func(s *plan.Snapshot) {
		s.Nodes = map[string]*corev1.Node{"node-1": {Spec: corev1.NodeSpec{Unschedulable: true}}, "node-2": {}}
	}
	with := stagestest.Combined
	const evictA = "recreate the pod of a backup agent: a"
	stagestest.Decides(t, EvictAgents([]string{"node-1"}), map[string]stagestest.Decision{
		"does nothing without agents":      {Given: cordoned},
		"leaves agents on other nodes":     {Given: with(cordoned, agent("a", "daily", "node-2"))},
		"evicts an agent":                  {Given: with(cordoned, agent("a", "daily", "node-1")), Does: []string{evictA}},
		"evicts one of a Deployment first": {Given: with(cordoned, agent("a", "daily", "node-1"), agent("b", "daily", "node-1")), Does: []string{evictA}, Holds: "b: one pod of a Deployment at a time"},
		"evicts one of each Deployment":    {Given: with(cordoned, agent("a", "daily", "node-1"), agent("b", "hourly", "node-1")), Does: []string{evictA, "recreate the pod of a backup agent: b"}},
		"waits for the one that starts": {
			Given: with(cordoned, agent("a", "daily", "node-1"), agent("c", "daily", "node-2", starting)), Holds: "a: agent c of its Deployment is not ready yet",
		},
		"does not wait for one that never gets ready": {
			Given: with(cordoned, agent("a", "daily", "node-1"), agent("c", "daily", "node-2", starting, func(p *corev1.Pod) {
				p.CreationTimestamp = metav1.NewTime(stagestest.Noon.Add(-time.Hour))
			})), Does: []string{evictA},
		},
		"does not keep one that is not ready itself": {Given: with(cordoned, agent("a", "daily", "node-1", starting), agent("c", "daily", "node-2", starting)), Does: []string{evictA}},
		"does not evict twice":                       {Given: with(cordoned, agent("a", "daily", "node-1", func(p *corev1.Pod) { p.DeletionTimestamp = new(stagestest.NoonTime()) }))},
		"waits for a cordon":                         {Given: with(cordoned, agent("a", "daily", "node-1"), func(s *plan.Snapshot) { s.Nodes["node-1"].Spec.Unschedulable = false }), Holds: "not cordoned"},
		"does not guess at nodes":                    {Given: with(agent("a", "daily", "node-1"), func(s *plan.Snapshot) { s.Nodes, s.NodesHidden = nil, "forbidden" }), Holds: "forbidden"},
	})
}
