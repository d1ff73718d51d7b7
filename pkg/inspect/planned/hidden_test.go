package planned

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Plans are posted as comments.
func TestAPlanDoesNotPrintValuesOfVariables(t *testing.T) {
	for name, tc := range map[string]struct{ from, to, wantFrom, wantTo string }{
		"set":     {"", "hunter2", "", "(hidden)"},
		"changed": {"hunter1", "hunter2", "(hidden)", "changed (hidden)"},
		"removed": {"hunter1", "", "(hidden)", ""},
	} {
		if from, to := hidden(tc.from, tc.to); from != tc.wantFrom || to != tc.wantTo {
			t.Errorf("%s: %q to %q", name, from, to)
		}
	}
}

func TestAPlanHasADigestInsteadOfTheIDOfTheConnectionString(t *testing.T) {
	of := func(text string) PlanObserved {
		c := &v1beta2.FoundationDBCluster{}
		c.Status.ConnectionString = text
		r := &PlanRecorder{}
		r.observed(plan.Snapshot{Cluster: c})
		return r.view.Observed
	}
	one, other := of("a:secretid@10.0.0.1:4501"), of("a:otherid@10.0.0.1:4501")
	text, err := json.Marshal(one)
	if err != nil || strings.Contains(string(text), "secretid") || one.ConnectionString != "a:***@10.0.0.1:4501" {
		t.Errorf("%v: %s", err, text)
	}
	if one.connection() == other.connection() {
		t.Error("a change of the ID is no difference")
	}
	if earlier := (PlanObserved{ConnectionString: "a:secretid@10.0.0.1:4501"}); earlier.connection() != one.connection() {
		t.Error("a plan of an earlier version differs")
	}
}
