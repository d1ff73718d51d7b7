package reconcile_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// shown is a plan that shows the actions; by is what decides on them again.
func shown(actions []plan.Action, by ...plan.StageName) planned.PlanView {
	r := &planned.PlanRecorder{}
	r.Report(reconcile.StageDecided{Decision: plan.Decision{Actions: actions}, Provisional: by})
	return r.View(inspect.Metadata{})
}

func coordinatorsAt(port int) plan.ChangeCoordinators {
	return plan.ChangeCoordinators{Coordinators: []fdb.Address{{Host: "10.0.0.1", Port: port}}}
}

func configured(mode string) plan.Configure {
	return plan.Configure{Configuration: fdb.Configuration{RedundancyMode: mode}, Command: "configure " + mode}
}

func TestApprovalCoversOnlyTheShownActions(t *testing.T) {
	remove := plan.DeleteGroupObjects{Group: "storage-1", Pod: "p", Claim: "c"}
	tests := map[string]struct {
		shown, desired plan.Action
		want           bool
	}{
		"the same configuration":    {configured("triple"), configured("triple"), true},
		"another configuration":     {configured("triple"), configured("single"), false},
		"other coordinators":        {coordinatorsAt(4501), coordinatorsAt(4502), false},
		"another connection string": {plan.SetConnectionString{ConnectionString: "a"}, plan.SetConnectionString{ConnectionString: "b"}, false},
		"the same deletion":         {remove, remove, true},
		"the rest of a deletion":    {remove, plan.DeleteGroupObjects{Group: "storage-1", Claim: "c"}, true},
		"a deletion of more":        {plan.DeleteGroupObjects{Group: "storage-1", Pod: "p"}, remove, false},
		"a deletion of another pod of that name": {
			plan.DeleteGroupObjects{Group: "storage-1", Pod: "p", UIDs: map[string]types.UID{"p": "1"}},
			plan.DeleteGroupObjects{Group: "storage-1", Pod: "p", UIDs: map[string]types.UID{"p": "2"}},
			false,
		},
		"a deletion without a proof that it is drained": {
			plan.DeleteGroupObjects{Group: "storage-1", Pod: "p"}, plan.DeleteGroupObjects{Group: "storage-1", Pod: "p", Undrained: true}, false,
		},
		"other data in the ConfigMap": {
			plan.ApplyConfigMap{Name: "c", Object: &corev1.ConfigMap{Data: map[string]string{"a": "1"}}},
			plan.ApplyConfigMap{Name: "c", Object: &corev1.ConfigMap{Data: map[string]string{"a": "2"}}},
			false,
		},
		"another value of a label": {
			plan.PatchMetadata{Kind: plan.KindPod, Name: "p", Labels: map[string]string{"a": "1"}},
			plan.PatchMetadata{Kind: plan.KindPod, Name: "p", Labels: map[string]string{"a": "2"}},
			false,
		},
		"a deletion of something else": {remove, plan.DeleteGroupObjects{Group: "storage-1", Claim: "d"}, false},
		"a status of other words":      {remove, plan.WriteStatus{Changes: []string{"new"}}, true},
		"a backup's status":            {remove, plan.WriteBackupStatus{Backup: "b"}, true},
		"a restore's status":           {remove, plan.WriteRestoreStatus{Restore: "r"}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var a apply.Approval
			a.Add(shown([]plan.Action{tc.shown}))
			a.Passed() // what was shown exactly may be tried again
			if got := a.Permits("", tc.desired); got != tc.want {
				t.Errorf("permitted %t, want %t: %s, after a yes to: %s", got, tc.want, tc.desired.Describe(), tc.shown.Describe())
			}
		})
	}
}

// Where a new pod runs is known only once it does, in a later pass than the one that was
// agreed to.
func TestAPodCreationApprovalCoversItsLabelsInLaterPasses(t *testing.T) {
	var a apply.Approval
	a.Add(shown([]plan.Action{plan.CreatePod{Name: "as-shown"}}, "AddProcessGroups"))
	label := func(pod string) plan.Action {
		return plan.PatchMetadata{Kind: plan.KindPod, Name: pod, Labels: map[string]string{"node": "n1"}}
	}
	if a.Permits("", label("as-made")) {
		t.Error("permitted labels of a pod that was not approved")
	}
	if !a.Permits("", plan.CreatePod{Name: "as-made"}) {
		t.Fatal("refused a pod of the kind that was shown")
	}
	a.Passed()
	for _, later := range []struct {
		action plan.Action
		want   bool
	}{{label("as-made"), true}, {plan.SyncPodFiles{Pod: "as-made"}, true}, {label("another"), false}, {plan.CreatePod{Name: "later"}, false}} {
		if got := a.Permits("", later.action); got != later.want {
			t.Errorf("%s: permitted %t, want %t", later.action.Describe(), got, later.want)
		}
	}
}

func TestApprovalOfAnActionKindIsValidForOnePass(t *testing.T) {
	var a apply.Approval
	a.Add(shown([]plan.Action{configured("triple")}, "AddPods"))
	double := configured("double")
	if !a.Permits("", double) {
		t.Error("refused what could not be shown yet")
	}
	if a.Passed(); a.Permits("", double) {
		t.Error("permitted in a pass without a prompt")
	}
}

// Status updates differ at every observation, so that no two plans would be the same.
func TestStatusUpdatesDoNotChangeThePlanDigest(t *testing.T) {
	nothing := shown(nil).Digest
	for _, a := range []plan.Action{plan.WriteStatus{}, plan.WriteBackupStatus{}, plan.WriteRestoreStatus{}} {
		if got := shown([]plan.Action{a}).Digest; got != nothing {
			t.Errorf("%s makes another plan", plan.KindOf(a))
		}
	}
}
