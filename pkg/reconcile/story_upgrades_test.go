package reconcile_test

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// In a patch upgrade old and new processes work together: storage pods are made anew one
// by one, and the others are replaced.
func TestAPatchUpgradeMixesVersionsForAWhile(t *testing.T) {
	w := oldAndQuiet(t, 10, nil)
	changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) { s.Version = "7.3.80" })
	var story bytes.Buffer
	settle(t, w, 120, &story)
	golden.RequireEqual(t, story.Bytes())
	if got := w.Record.Status.RunningVersion; got != "7.3.80" {
		t.Errorf("runs %s", got)
	}
}
