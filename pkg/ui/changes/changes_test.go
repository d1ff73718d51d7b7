package changes

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/changes"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

func view() changes.View {
	at := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	v := changes.View{
		Document: inspect.NewDocument("DumpDiff", inspect.Metadata{}, at, inspect.SourceLive),
		From:     changes.Moment{At: at.Add(-time.Hour), File: "before.tar.zst"}, To: changes.Moment{At: at}, Differences: 4,
		Items: []changes.Change{
			{Section: changes.Availability, Field: "state", Kind: changes.Changed, Before: new("healthy"), After: new("degraded")},
			{Section: changes.Spec, Field: "skip", Kind: changes.Added, After: new("true")},
			{Section: changes.ProcessGroups, Object: "storage-2", Kind: changes.Removed},
			{Section: changes.ProcessGroups, Object: "log-1", Field: "processes", Kind: changes.Unknown, Before: new("1")},
			{Section: changes.ProcessGroups, Object: "log-2", Field: "processes", Kind: changes.Unknown, Before: new("1")},
			{Section: changes.Nodes, Kind: changes.Unknown},
			{Section: changes.Locks, Field: "leaseHolder", Kind: changes.Changed, Before: new(""), After: new("alice@laptop pid 4711")},
		},
	}
	v.Warnings = []string{"the facts are of two contexts: prod and other"}
	return v
}

func TestClusterChangesArePrintedAsATable(t *testing.T) {
	want := `SECTION          OBJECT      FIELD         CHANGE    BEFORE    AFTER
availability     -           state         changed   healthy   degraded
spec             -           skip          added     -         true
process-groups   storage-2   -             removed   -         -
process-groups   2 objects   processes     unknown   ?         ?
nodes            -           -             unknown   ?         ?
locks            -           leaseHolder   changed   ""        alice@laptop pid 4711
warning: the facts are of two contexts: prod and other
4 differences from before.tar.zst (2026-11-20T11:00:00Z) to now (2026-11-20T12:00:00Z); 3 facts unknown
`
	var b bytes.Buffer
	if err := Write(&b, view(), ui.Table{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTheChangesTableFitsANarrowTerminal(t *testing.T) {
	var b bytes.Buffer
	if err := Write(layout.NewPage(&b, func() int { return 60 }), view(), ui.Table{}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := layout.Cells(strings.TrimSuffix(line, "\n")); n > 60 {
			t.Errorf("%d cells: %s", n, line)
		}
	}
	if !strings.Contains(b.String(), "alice@laptop pid 4711") {
		t.Errorf("a value is cut: %s", &b)
	}
}
