package stages

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestAReconciledClusterNeedsNothing(t *testing.T) {
	s := healthyCluster(t)
	for _, stage := range Cluster() {
		d := stage.Decide(s)
		if len(d.Actions) > 0 || d.Hold != nil {
			t.Errorf("%s wants %v and holds with %q", stage.Name, described(d), reason(d))
		}
	}
}

// A stage must neither change the snapshot nor read a facet that it does not declare.
func TestStagesArePureAndHonest(t *testing.T) {
	options := cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })}
	for seed := range uint64(60) {
		s := anySnapshot(t, seed)
		all := append(ClusterWith(Options{ReplaceOnSecurityContextChange: seed%2 == 0, Adopt: true}), askedFor()...)
		for i, stage := range all {
			want := stage.Decide(s)
			explained(t, want)
			got := stage.Decide(s.Without(plan.Everything &^ stage.Reads))
			if diff := cmp.Diff(want, got, options); diff != "" {
				t.Fatalf("seed %d: stage %d, %s, looked past Reads (-full +declared):\n%s", seed, i, stage.Name, diff)
			}
		}
		if diff := cmp.Diff(anySnapshot(t, seed), s, options); diff != "" {
			t.Fatalf("seed %d: a stage changed the snapshot (-before +after):\n%s", seed, diff)
		}
	}
}

// askedFor are the stages that commands add to a pass.
func askedFor() []plan.Stage {
	some := []v1beta2.ProcessGroupID{"storage-114", "storage-115", "log-101"}
	nodes := []string{nodeName(1), nodeName(14), nodeName(15)}
	return []plan.Stage{
		ReplaceGroups(Replacement{Groups: some, Most: 2}), KeepGroups(some),
		CordonNodes(nodes, nil), UncordonNodes(nodes, nil), EvictFrom(nodes), ReplaceOn(nodes, 1, true),
		ExcludeGroups(some), moveCoordinatorsOff(some), IncludeTargets(Inclusion{Groups: some, Targets: []string{"10.1.0.14"}}),
		RestartGroups(Restart{Groups: some, Since: noon.Add(-10 * time.Minute), Strategy: RestartByWave}),
	}
}

// anySnapshot returns a cluster somewhere between empty and healthy, with random faults.
func anySnapshot(t *testing.T, seed uint64) plan.Snapshot {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	if random.IntN(5) == 0 {
		return emptyCluster(t)
	}
	s := healthyCluster(t)
	for _, g := range s.Groups() {
		if random.IntN(4) == 0 {
			damage(&s, g, random)
		}
	}
	switch random.IntN(6) {
	case 0:
		s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
	case 1:
		s.Cluster.Status.ConnectionString, s.Cluster.Status.Configured = "", false
		s.Database = plan.DatabaseFacts{NotAsked: "there is no cluster file yet"}
	case 2:
		s.Cluster.Status.Configured = false
		s.Database.Status.Client.DatabaseStatus.Available = false
		s.Database.Status.Cluster.RecoveryState.Name = fdb.RecoveryNeverCreated
		s.Database.Status.Cluster.Configuration = nil
	case 3:
		s.Database.Status.Cluster.Configuration.Logs = 7
	}
	if random.IntN(4) == 0 {
		s.ConfigMap = nil
	}
	switch random.IntN(4) {
	case 0:
		all(rule("drain", int64(random.IntN(3))), tainted("drain", time.Duration(random.IntN(5))*time.Second))(&s)
	case 1:
		all(rule("*", 0), had(v1beta2.ConditionNodeTaintReplacing), func(s *plan.Snapshot) { s.Nodes, s.NodesHidden = nil, "forbidden" })(&s)
	}
	if random.IntN(2) == 0 {
		listAtRandom(t, &s, random)
	}
	return s
}

// listAtRandom makes the cluster one of several control-plane instances that act together.
func listAtRandom(t *testing.T, s *plan.Snapshot, random *rand.Rand) {
	t.Helper()
	*s = inGlobalMode(func(testing.TB) plan.Snapshot { return *s })(t)
	for _, list := range fdb.SharedLists() {
		for _, g := range s.Groups() {
			if random.IntN(3) > 0 {
				listed("dc1", time.Duration(random.IntN(600))*time.Second, lists(list), string(g.ProcessGroupID))(s)
			}
		}
		listed("dc2", time.Hour, lists(list), "dc2-storage-1")(s)
	}
}

func damage(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus, random *rand.Rand) {
	pod := s.Pod(g)
	switch random.IntN(12) {
	case 0:
		delete(s.Pods, pod.Name)
	case 1:
		dropProcess(s, g)
	case 2:
		pod.Status.Phase = corev1.PodPending
	case 3:
		ends := metav1.NewTime(noon.Add(-time.Duration(random.IntN(20)) * time.Minute))
		pod.DeletionTimestamp = &ends
	case 4:
		editProcess(s, g, func(p *fdb.Process) { p.CommandLine += " --knob_x=1" })
	case 5:
		g.MarkForRemoval(noon.Add(-time.Hour))
	case 6:
		pod.Labels[v1beta2.LabelProcessClass] = "wrong"
	case 7:
		delete(s.Volumes, g.PVCName(s.Cluster))
	case 8:
		yes := true
		editProcess(s, g, func(p *fdb.Process) { p.Excluded = &yes })
	case 9:
		pod.Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
	case 10:
		delete(pod.Annotations, v1beta2.AnnotationLastAppliedSpec)
	case 11:
		if claim := s.Volumes[g.PVCName(s.Cluster)]; claim != nil {
			claim.Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
		}
	}
}
