package dashboard

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// A prompt after minutes shows the last progress of each target, and not the earlier ones.
func TestAPromptBeginsWithTheLastProgressOfEachTarget(t *testing.T) {
	words := &capturedOutput{}
	words.progress(inspect.Target{ID: "storage-1", Phase: "marked"})
	words.progress(inspect.Target{ID: "storage-2", Phase: "marked"})
	fmt.Fprintln(words, "G-PLAN: RemovePods would mark as drained: storage-1, which is not in the approved plan")
	words.progress(inspect.Target{ID: "storage-1", Phase: "draining", Note: "33KiB stored, roles storage"})
	want := []string{
		"storage-2                    marked",
		"storage-1                    draining  33KiB stored, roles storage",
		"G-PLAN: RemovePods would mark as drained: storage-1, which is not in the approved plan",
	}
	if diff := cmp.Diff(want, words.lines()); diff != "" {
		t.Error(diff)
	}
	if more := words.lines(); more != nil {
		t.Errorf("the next prompt repeats %q", more)
	}
}
