package lists_test

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestVersionTable(t *testing.T) {
	v := lists.Versions(t, healthy(t))
	v.Operators = []lists.OperatorVersion{{"fdb", "operator", "v2.33.0", 1}}
	v.Clusters = append(v.Clusters, lists.NewClusterVersion(unanswered(t).Cluster).Observed(unanswered(t)))
	var b bytes.Buffer
	if err := ui.WriteVersion(&b, v, ui.ListOptions{Now: noon}); err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, b.Bytes())
}
