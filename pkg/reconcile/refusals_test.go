package reconcile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func rejected(kind plan.RefusalKind, name string) error {
	return &reconcile.AdmissionError{Refusal: plan.NewRefusal(plan.WrittenPod, name, kind, "rule", "the text of the API server")}
}

func TestARefusedObjectIsAHoldAndLaterStagesRun(t *testing.T) {
	podA, podB := plan.CreatePod{Name: "a"}, plan.CreatePod{Name: "b"}
	tests := map[string]struct {
		refuse map[string]error
		want   reconcile.Outcome
		code   plan.HoldCode
		says   string
	}{
		"a full quota waits":                         {refuse: map[string]error{podA.Describe(): rejected(plan.RefusedByQuota, "a")}, want: reconcile.Waiting, code: plan.HoldQuotaExhausted, says: "ResourceQuota rule refused 1 object (Pod/a)"},
		"a policy requires manual intervention":      {refuse: map[string]error{podA.Describe(): rejected(plan.RefusedByPolicy, "a")}, want: reconcile.Blocked, code: plan.HoldAdmissionRefused, says: "policy or webhook rule refused 1 object (Pod/a)"},
		"both refuse":                                {refuse: map[string]error{podA.Describe(): rejected(plan.RefusedByQuota, "a"), podB.Describe(): rejected(plan.RefusedByLimitRange, "b")}, want: reconcile.Blocked, code: plan.HoldAdmissionRefused, says: "LimitRange rule refused 2 objects (Pod/a, Pod/b)"},
		"a refusal beside another error is an error": {refuse: map[string]error{podA.Describe(): rejected(plan.RefusedByQuota, "a"), podB.Describe(): errors.New("broken")}, want: reconcile.Failed, says: "broken"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := &ledger{fact: "storm", refuse: tc.refuse}
			done, events := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", podA, podB), stage("Two", "storm", unlocked)}, Observer: l, Actor: l})
			if done.Outcome != tc.want {
				t.Errorf("outcome %s, want %s", done.Outcome, tc.want)
			}
			if len(l.acted) == 0 || l.acted[len(l.acted)-1] != unlocked.Describe() {
				t.Errorf("the later stage did not run: %v", l.acted)
			}
			var code plan.HoldCode
			var reason string
			for _, e := range events {
				if decided, is := e.(reconcile.StageDecided); is && decided.Stage == "One" && decided.Hold != nil {
					code = decided.Hold.Code
				}
				if end, is := e.(reconcile.StageDone); is && end.Stage == "One" {
					reason = end.Reason
				}
			}
			if code != tc.code || !strings.Contains(reason, tc.says) {
				t.Errorf("got %q %q, want %q %q", code, reason, tc.code, tc.says)
			}
		})
	}
}
