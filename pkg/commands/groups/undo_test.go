package groups_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
)

// A hint must only revert what this very command did.
func TestNoUndoHintIsPrintedWithoutAChange(t *testing.T) {
	tests := map[string][][]string{
		"including what is not excluded":     {{"include", "sample", "STORAGE"}},
		"excluding what is excluded already": {{"exclude", "sample", "STORAGE", "--yes"}, {"exclude", "sample", "STORAGE", "--yes"}},
		"pausing what is paused already":     {{"pause", "sample"}, {"pause", "sample", "--reason", "another"}},
	}
	for name, lines := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			for _, line := range lines {
				args := make([]string, len(line))
				for i, word := range line {
					args[i] = strings.ReplaceAll(word, "STORAGE", g.Storage()[0])
				}
				g.Run(args...)
			}
			if strings.Contains(g.Err.String(), "undo:") {
				t.Errorf("%s%s", &g.Out, &g.Err)
			}
		})
	}
}
