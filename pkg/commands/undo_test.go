package commands

import (
	"strings"
	"testing"
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
			g := up(t)
			for _, line := range lines {
				args := make([]string, len(line))
				for i, word := range line {
					args[i] = strings.ReplaceAll(word, "STORAGE", g.storage()[0])
				}
				g.run(args...)
			}
			if strings.Contains(g.err.String(), "undo:") {
				t.Errorf("%s%s", &g.out, &g.err)
			}
		})
	}
}
