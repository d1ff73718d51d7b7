package trial

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// What an action has done after its first request is what package live has done then.
func TestTheFirstRequestOfAnActionIsAnActionOfItsOwn(t *testing.T) {
	pods := []plan.PodOfGroup{{Name: "a"}, {Name: "b"}}
	tests := map[string]struct{ action, want plan.Action }{
		"pods are deleted one after the other":            {plan.DeletePods{Pods: pods}, plan.DeletePods{Pods: pods[:1]}},
		"one pod is one request":                          {plan.DeletePods{Pods: pods[:1]}, nil},
		"a pod is deleted before its PVC":                 {plan.DeleteGroupObjects{Pod: "a", Claim: "a-data"}, plan.DeleteGroupObjects{Pod: "a"}},
		"a PVC alone is one request":                      {plan.DeleteGroupObjects{Claim: "a-data"}, nil},
		"an exclusion ends before its group is forgotten": {plan.IncludeAndForget{Targets: []string{"10.1.0.1"}}, plan.Include{Targets: []string{"10.1.0.1"}}},
		"a group without an exclusion is one request":     {plan.IncludeAndForget{}, nil},
		"an exclusion is one request":                     {plan.Exclude{}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, firstRequest(tc.action)); diff != "" {
				t.Errorf("first request (-want +got):\n%s", diff)
			}
		})
	}
}

// Coordinators change by the first request, and the second one records them.
func TestCoordinatorsThatChangedAreNotRecordedByTheFirstRequest(t *testing.T) {
	h := exhaustionOf(t, "coordinators").begin(t, nil)
	former := h.w.Resource.Status.ConnectionString
	h.halves = true
	first, revert, half := h.halved(plan.ChangeCoordinators{})
	h.w.Resource.Status.ConnectionString = "sample:new@10.1.0.1:4501"
	revert()
	if diff := cmp.Diff(plan.ChangeCoordinators{}, first); diff != "" || !half || h.w.Resource.Status.ConnectionString != former {
		t.Errorf("half: %t; recorded %s; first request (-want +got):\n%s", half, h.w.Resource.Status.ConnectionString, diff)
	}
}

// While the API server does not answer nothing is done, and a pass after the next goes on.
func TestNothingIsDoneWhileTheAPIServerDoesNotAnswer(t *testing.T) {
	h := exhaustionOf(t, "grow").begin(t, nil)
	h.meet(Single{Fault: Fault{problem: requestProblems[2]}})
	before := len(h.w.Acted)
	h.passOfEach(t.Context())
	if _, unreachable := errors.AsType[*reconcile.UnreachableError](h.endings[h.w].pass.Stopped); !unreachable || len(h.w.Acted) > before {
		t.Errorf("stopped by %v after actions: %d", h.endings[h.w].pass.Stopped, len(h.w.Acted)-before)
	}
	h.passOfEach(t.Context())
	if len(h.w.Acted) == before {
		t.Error("the pass after it did nothing")
	}
}

// A panic is a failure of one stage for a pass, and a violation for a history.
func TestAPanicOfAPassIsAViolation(t *testing.T) {
	h := exhaustionOf(t, "create").begin(t, nil)
	h.arriving = func(at Step, _ []v1beta2.ProcessGroupID) bool {
		if at.Kind == plan.KindOf(plan.CreatePod{}) {
			panic("planted")
		}
		return false
	}
	if h.passOfEach(t.Context()); !h.violated() || h.violations[0].Invariant != "breaks-off" {
		t.Errorf("violations: %v", h.violations)
	}
}

// Before a database exists a cluster can lose any pod.
func TestAClusterThatIsCreatedCanLoseAPod(t *testing.T) {
	h := exhaustionOf(t, "create").begin(t, nil)
	if h.single = false; !h.mayLose() {
		t.Error("it has nothing to lose")
	}
}
