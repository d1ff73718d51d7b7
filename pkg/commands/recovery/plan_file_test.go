package recovery

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

func TestARecoveryPlanFileIsRefusedIfAnythingThatItShowsWasEdited(t *testing.T) {
	p := recovery.Plan{Cluster: "sample", Namespace: "fdb", Steps: []recovery.Step{recovery.StepStatus}, Manual: []string{}, From: "a:b@10.0.0.1:4500", To: "a:b@10.0.0.2:4500"}
	v, err := recovery.NewPlanView(inspect.Metadata{Cluster: "sample", Namespace: "fdb"}, time.Unix(0, 0).UTC(), p, []string{"nodes are unknown"}).Sealed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ from, to, want string }{
		"as printed":                         {"", "", "the digest does not match"}, // made up: it has none of its own
		"a warning":                          {"nodes are unknown", "all is known", "it was modified: warnings"},
		"the connection string":              {"10.0.0.2", "10.6.6.6", "it was modified: plan"},
		"a second connection string":         {`"to":`, `"TO":"x","to":`, "it was modified: plan"},
		"a second plan in other letters":     {`"plan":`, `"Plan":{},"plan":`, "it was modified: Plan"},
		"the cluster":                        {`"cluster":"sample"`, `"cluster":"other"`, "it was modified: metadata"},
		"the digests":                        {`"digests":`, `"was":`, "it has no digests"},
		"the version":                        {"cli.kubectl-fdb/v2", "cli.kubectl-fdb/v9", "must be cli.kubectl-fdb/v2"},
		"what is missing of half a document": {`}`, ``, "is not a recovery plan"},
	} {
		path := filepath.Join(t.TempDir(), "plan.json")
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), row.from, row.to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readPlan(path, types.NamespacedName{Namespace: "fdb", Name: "sample"}); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}
