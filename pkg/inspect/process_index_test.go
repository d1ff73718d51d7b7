package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

// An index has what a search of the document finds, and is not used for another document.
func TestTheProcessIndexMatchesASearchOfItsStatusDocument(t *testing.T) {
	f := healthy(t)
	indexed := f.IndexProcesses()
	for _, g := range f.Groups() {
		if diff := cmp.Diff(f.ProcessesOf(g), indexed.ProcessesOf(g), cmp.AllowUnexported(fdb.Process{}, fdb.Role{})); diff != "" {
			t.Errorf("%s (-searched +indexed):\n%s", g.ProcessGroupID, diff)
		}
		if len(indexed.ProcessesOf(g)) == 0 {
			t.Errorf("%s has no processes", g.ProcessGroupID)
		}
	}
	indexed.Database.Status = inspecttest.Recorded(t, "28-quorum-lost")
	for _, g := range f.Groups() {
		if n := len(indexed.ProcessesOf(g)); n > 0 {
			t.Errorf("%s has %d processes of a former document", g.ProcessGroupID, n)
		}
	}
}
