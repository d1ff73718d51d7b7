package reconcile_test

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// badDay is a cluster that has a lot to do while something goes wrong.
type badDay struct {
	begins func(*sim.Cluster)
	ends   func(*sim.Cluster)
}

// faulty is a database with faults.
func faulty(f fdbsim.Faults) badDay {
	return badDay{
		begins: func(w *sim.Cluster) { w.FDB.Databases()[0].SetFaults(f) },
		ends:   func(w *sim.Cluster) { w.FDB.Databases()[0].SetFaults(fdbsim.Faults{}) },
	}
}

// refusing is an API server, or whatever else is written to, that refuses.
func refusing(err error, desired func(plan.Action) bool) badDay {
	return badDay{
		begins: func(w *sim.Cluster) {
			w.Refuse = func(a plan.Action) error {
				if desired(a) {
					return err
				}
				return nil
			}
		},
		ends: func(w *sim.Cluster) { w.Refuse = nil },
	}
}

// off is a plugin whose clock is wrong.
func off(d time.Duration) badDay {
	return badDay{begins: func(w *sim.Cluster) { w.Skew = d }, ends: func(w *sim.Cluster) { w.Skew = 0 }}
}

// Whatever goes wrong, a pass ends: with a reason, and when to look again or whom to
// ask. Nothing has fewer replicas than the redundancy tolerates meanwhile, and the
// cluster gets where its spec wants it once the day is over.
func TestPassesUnderFaultsEndWithAReasonAndLoseNoData(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "sample", errors.New("the object has been modified"))
	quota := errors.New(`pods "sample" is forbidden: exceeded quota: limit`)
	days := map[string]badDay{
		"409 on every write":                       refusing(conflict, func(plan.Action) bool { return true }),
		"no quota for pods":                        refusing(quota, func(a plan.Action) bool { return plan.KindOf(a) == "CreatePod" }),
		"no quota for volumes":                     refusing(quota, func(a plan.Action) bool { return plan.KindOf(a) == "CreatePVC" }),
		"no node takes a pod":                      {begins: cordonAll, ends: func(w *sim.Cluster) { w.Taints = nil }},
		"status that lags":                         faulty(fdbsim.Faults{StaleStatus: true}),
		"status that is cut short":                 faulty(fdbsim.Faults{PartialStatus: true}),
		"status that times out":                    faulty(fdbsim.Faults{StatusTimeout: true}),
		"status that is late":                      faulty(fdbsim.Faults{StatusDeadline: true}),
		"a bounce impact that lies":                faulty(fdbsim.Faults{BounceImpactLies: true}),
		"streams that break before a command runs": faulty(fdbsim.Faults{DropCommands: 1000}),
		"streams that break after a command ran":   faulty(fdbsim.Faults{DropCommands: 1000, ApplyUnknown: true}),
		"commits of unknown result":                faulty(fdbsim.Faults{UnknownCommits: 1000, ApplyUnknown: true}),
		"a clock that is ahead":                    off(25 * time.Minute),
		"a clock that is behind":                   off(-25 * time.Minute),
	}
	for name, day := range days {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := oldAndQuiet(t, 21, nil)
			askForALot(w)
			day.begins(w)
			for range 12 {
				endsWithAReason(t, pass(t, w, func(reconcile.Event) {}))
				w.Tick(30 * time.Second)
				if !w.FDB.Databases()[0].EveryKeyOnAtLeast(1) {
					t.Fatal("data is lost")
				}
			}
			day.ends(w)
			w.Tick(2 * time.Minute)
			settleSlowly(t, w)
			if !w.FDB.Databases()[0].EveryKeyOnAtLeast(2) {
				t.Error("data has too few replicas in the end")
			}
		})
	}
}

// askForALot changes a knob, the pods of storage, and the numbers of two classes.
func askForALot(w *sim.Cluster) {
	changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) {
		s.ProcessCounts.Storage, s.ProcessCounts.Log = 5, 4
		s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_max_trace_lines=1000"}},
			v1beta2.ProcessClassStorage: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{ServiceAccountName: "other"}}},
		}
		s.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{w.Resource.Status.ProcessGroups[0].ProcessGroupID}
	})
}

func cordonAll(w *sim.Cluster) {
	w.Taints = map[string][]corev1.Taint{}
	for _, node := range w.Nodes {
		w.Taints[node] = []corev1.Taint{{Key: "node.kubernetes.io/unschedulable", Effect: corev1.TaintEffectNoSchedule}}
	}
}

// endsWithAReason checks that a pass that is not done reports why, and what comes next.
func endsWithAReason(t *testing.T, done reconcile.PassDone) {
	t.Helper()
	switch done.Outcome {
	case reconcile.Failed:
		if len(done.Failures) == 0 {
			t.Error("failed without an error")
		}
	case reconcile.Waiting:
		if done.RetryAfter <= 0 {
			t.Error("waits without a time to look again")
		}
	default:
	}
}

func settleSlowly(t *testing.T, w *sim.Cluster) {
	t.Helper()
	const most = 120
	for range most {
		done := pass(t, w, func(reconcile.Event) {})
		if done.Settled() {
			return
		}
		w.Tick(max(done.RetryAfter, done.TidyAfter(), time.Minute))
	}
	t.Fatalf("not settled after %d passes", most)
}
