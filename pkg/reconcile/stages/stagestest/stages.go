package stagestest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// AnySnapshot returns a cluster somewhere between empty and healthy, with random faults.
func AnySnapshot(t *testing.T, seed uint64) plan.Snapshot {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1)) // a test repeats its random clusters by their seed
	if random.IntN(5) == 0 {
		return EmptyCluster(t)
	}
	s := HealthyCluster(t)
	packAtRandom(t, &s, seed)
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
		s.Database = plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
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
		All(Rule("drain", int64(random.IntN(3))), Tainted("drain", time.Duration(random.IntN(5))*time.Second))(&s)
	case 1:
		All(Rule("*", 0), Had(v1beta2.ConditionNodeTaintReplacing), func(s *plan.Snapshot) { s.Nodes, s.NodesHidden = nil, "forbidden" })(&s)
	}
	if random.IntN(2) == 0 {
		listAtRandom(t, &s, random)
	}
	if random.IntN(2) == 0 {
		keepAtRandom(&s, random)
	}
	detectAtRandom(t, &s, random)
	optInAtRandom(&s, random)
	return s
}

// detectAtRandom enables the failure detector or not, with a CronJob or without, readable or not.
func detectAtRandom(t *testing.T, s *plan.Snapshot, random *rand.Rand) {
	t.Helper()
	if random.IntN(2) == 0 {
		return
	}
	s.Cluster.Spec.AutomationOptions.Replacements.FailureDetectionCronJob = &v1beta2.FailureDetectionCronJob{
		Enabled: new(random.IntN(2) == 0), Image: new("kubectl-fdb:1"), Schedule: new("@hourly"),
	}
	job, _, err := objects.FailureDetector(s.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	switch random.IntN(4) {
	case 0:
		s.Detector.Job = job
	case 1:
		job.Spec.Schedule = "@daily"
		s.Detector.Job = job
	case 2:
		s.Detector.Hidden = "forbidden"
	}
}

// packAtRandom packs pods, or changes how they are packed, in half of the clusters.
func packAtRandom(t *testing.T, s *plan.Snapshot, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 2)) // a test repeats its random clusters by their seed
	config := func() *v1beta2.DistributionConfig {
		c := Packs(1+random.IntN(5), []v1beta2.BinPack{v1beta2.BinPackAll, v1beta2.BinPackStateful, v1beta2.BinPackClass}[random.IntN(3)])
		c.Required = new(random.IntN(2) == 0)
		return c
	}
	switch random.IntN(6) {
	case 0:
		*s = PackedCluster(t, config(), 114, 115, 116)
	case 1:
		*s = PackedCluster(t, config(), 114, 115, 116)
		Packing(config())(s)
	case 2:
		Packing(config())(s)
	}
}

// keepAtRandom makes the spec keep some of the groups, of which some are excluded.
func keepAtRandom(s *plan.Snapshot, random *rand.Rand) {
	for _, g := range s.Groups() {
		if random.IntN(3) == 0 {
			Kept(g.ProcessGroupID)(s)
		}
		if random.IntN(6) == 0 {
			s.Coordination.ExclusionsRead = true
			s.Coordination.Exclusions = append(s.Coordination.Exclusions, g.ExclusionString(), g.Addresses[0])
		}
	}
}

// optInAtRandom sets the annotations that request more than the spec, and objects that are there
// because of them.
func optInAtRandom(s *plan.Snapshot, random *rand.Rand) {
	annotations := map[string]string{}
	for _, key := range []string{plan.AnnotationDisruptionBudgets, plan.AnnotationTolerations} {
		if values := []string{"", "true", "true", "false", "yes"}; random.IntN(2) == 0 {
			annotations[key] = values[random.IntN(len(values))]
		}
	}
	s.Cluster.Annotations = annotations
	if random.IntN(2) == 0 {
		budget := objects.DisruptionBudget(s.Cluster, random.IntN(9))
		s.DisruptionBudgets = map[string]*policyv1.PodDisruptionBudget{budget.Name: budget}
	}
	if random.IntN(6) == 0 {
		s.DisruptionBudgets, s.DisruptionBudgetsHidden = nil, "forbidden"
	}
	for _, name := range slices.Sorted(maps.Keys(s.Pods)) {
		if pod := s.Pods[name]; random.IntN(4) == 0 {
			pod.Annotations[plan.AnnotationTolerationsBefore] = `{"node.kubernetes.io/not-ready":300}`
		}
	}
}

// listAtRandom makes the cluster one of several control-plane instances that act together.
func listAtRandom(t *testing.T, s *plan.Snapshot, random *rand.Rand) {
	t.Helper()
	*s = InGlobalMode(func(testing.TB) plan.Snapshot { return *s })(t)
	for _, list := range fdb.SharedLists() {
		for _, g := range s.Groups() {
			if random.IntN(3) > 0 {
				Listed("dc1", time.Duration(random.IntN(600))*time.Second, Lists(list), string(g.ProcessGroupID))(s)
			}
		}
		Listed("dc2", time.Hour, Lists(list), "dc2-storage-1")(s)
	}
}

func damage(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus, random *rand.Rand) {
	pod := s.Pod(g)
	switch random.IntN(12) {
	case 0:
		delete(s.Pods, pod.Name)
	case 1:
		DropProcess(s, g)
	case 2:
		pod.Status.Phase = corev1.PodPending
	case 3:
		ends := metav1.NewTime(Noon.Add(-time.Duration(random.IntN(20)) * time.Minute))
		pod.DeletionTimestamp = &ends
	case 4:
		EditProcess(s, g, func(p *fdb.Process) { p.CommandLine += " --knob_x=1" })
	case 5:
		g.MarkForRemoval(Noon.Add(-time.Hour))
	case 6:
		pod.Labels[v1beta2.LabelProcessClass] = "wrong"
	case 7:
		delete(s.Volumes, g.PVCName(s.Cluster))
	case 8:
		yes := true
		EditProcess(s, g, func(p *fdb.Process) { p.Excluded = &yes })
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

// Partial are the ways in which a document arrives without its processes and still reports an
// available database.
var Partial = map[string]func(*fdb.Status){
	"its document timed out": func(s *fdb.Status) {
		s.Cluster.Processes = nil
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{Name: fdb.MessageIncompleteTimeout})
	},
	"its document was late": func(s *fdb.Status) {
		s.Cluster.Processes = nil
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{
			Name: fdb.MessageIncomplete, Reasons: []fdb.Reason{{Description: fdb.ReasonDeadlineExceeded}},
		})
	},
	"its document lists no process and gives no reason": func(s *fdb.Status) { s.Cluster.Processes = nil },
	"its collection ended with an error": func(s *fdb.Status) {
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{
			Name: fdb.MessageIncomplete, Reasons: []fdb.Reason{{Description: "Status collection threw: operation_failed"}},
		})
	},
	"its document was late, with some processes": func(s *fdb.Status) {
		for id := range s.Cluster.Processes {
			delete(s.Cluster.Processes, id)
			break
		}
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{
			Name: fdb.MessageIncomplete, Reasons: []fdb.Reason{{Description: fdb.ReasonDeadlineExceeded}},
		})
	},
}

// Lacking are documents with processes that lack a section, or a field of every process.
var Lacking = map[string]func(*fdb.Status){
	"roles":          EachProcess(func(p *fdb.Process) { p.Roles = nil }),
	"localities":     EachProcess(func(p *fdb.Process) { p.Locality = nil }),
	"versions":       EachProcess(func(p *fdb.Process) { p.Version, p.CommandLine = "", "" }),
	"uptimes":        EachProcess(func(p *fdb.Process) { p.UptimeSeconds = nil }),
	"recovery_state": func(s *fdb.Status) { s.Cluster.RecoveryState = nil },
	"data":           func(s *fdb.Status) { s.Cluster.Data = nil },
	"logs":           func(s *fdb.Status) { s.Cluster.Logs = nil },
	"coordinators":   func(s *fdb.Status) { s.Client.Coordinators.Coordinators = nil },
	"lock state":     func(s *fdb.Status) { s.Cluster.DatabaseLockState = nil },
	"configuration":  func(s *fdb.Status) { s.Cluster.Configuration = nil },
}

// EachProcess returns a change of every process of a document.
func EachProcess(change func(*fdb.Process)) func(*fdb.Status) {
	return func(s *fdb.Status) {
		for id, p := range s.Cluster.Processes {
			change(&p)
			s.Cluster.Processes[id] = p
		}
	}
}

// Explained asserts that a decision is explained: actions and holds have a reason, and each check
// has a question and evidence.
func Explained(t *testing.T, d plan.Decision) {
	t.Helper()
	if len(d.Actions) > 0 && d.Why == "" {
		t.Errorf("acts without a reason: %v", Described(d))
	}
	if d.Hold != nil && d.Hold.Reason == "" {
		t.Error("holds without a reason")
	}
	for _, c := range d.Checks {
		if c.Question == "" || c.Evidence == "" {
			t.Errorf("a check without question or evidence: %+v", c)
		}
	}
}

// Decision is the expected decision of a stage about a changed healthy cluster.
type Decision struct {
	Given func(*plan.Snapshot)
	// Does are the descriptions of the actions.
	Does []string
	// Holds is part of the reason; empty for a stage that does not hold.
	Holds  string
	Manual bool
	Then   plan.Then
}

// Decides runs a table of decisions of one stage.
func Decides(t *testing.T, stage plan.Stage, tests map[string]Decision) {
	t.Helper()
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			s := HealthyCluster(t)
			want.Given(&s)
			d := stage.Decide(s)
			if diff := cmp.Diff(want.Does, Described(d)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			Explained(t, d)
			if (want.Holds == "") != (d.Hold == nil) || !strings.Contains(Reason(d), want.Holds) {
				t.Fatalf("holds with %q, want %q", Reason(d), want.Holds)
			}
			if d.Hold != nil && (d.Hold.Manual != want.Manual || d.Hold.Then != want.Then) {
				t.Errorf("human %t, then %d; want %t, %d", d.Hold.Manual, d.Hold.Then, want.Manual, want.Then)
			}
		})
	}
}

// Combined makes several changes.
func Combined(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, edit := range edits {
			edit(s)
		}
	}
}

// The first process group of the healthy cluster.
const (
	OneGroup  = v1beta2.ProcessGroupID("log-101")
	DeleteOne = "recreate pods: sample-log-101"
)

// OnePod changes the first group's pod.
func OnePod(edit func(*corev1.Pod)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { edit(s.Pod(s.Cluster.ProcessGroup(OneGroup))) }
}

// OnItsWayOut is a drained group that is marked for removal.
func OnItsWayOut(s *plan.Snapshot) {
	g := s.Cluster.ProcessGroup(OneGroup)
	g.MarkForRemoval(Noon)
	g.SetExcluded(Noon)
}

// Isolated is a pod that a user isolated for debugging.
var Isolated = OnePod(func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationIsolateProcessGroup] = "true" })

// AnotherEngine returns a healthy cluster whose spec has another storage engine.
func AnotherEngine(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	s.Cluster.Spec.DatabaseConfiguration.StorageEngine = "ssd-rocksdb-v1"
	return s
}

// ExcludedCoordinator returns a healthy cluster with an excluded coordinator.
func ExcludedCoordinator(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	EditProcess(&s, s.Groups()[0], func(p *fdb.Process) { p.Excluded = new(true) })
	return s
}
