package stagestest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

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
