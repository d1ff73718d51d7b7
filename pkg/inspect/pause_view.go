package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// PauseView describes a pause: spec.skip makes operators skip the cluster.
type PauseView struct {
	// By is empty where spec.skip was set without a note.
	By string `json:"by,omitempty"`
	// Since and Until are null when they were not recorded; a pause does not end by itself.
	Since  *time.Time `json:"since"`
	Until  *time.Time `json:"until"`
	Reason string     `json:"reason,omitempty"`
	// Overdue is true when the pause should be over.
	Overdue bool `json:"overdue"`
}

// NewPauseView returns nil for a cluster that is not paused.
func NewPauseView(f Facts) *PauseView {
	p, paused := plan.PauseOf(f.Cluster)
	if !paused {
		return nil
	}
	return &PauseView{By: p.By, Since: Known(p.At), Until: Known(p.Until), Reason: p.Reason, Overdue: p.OverdueAt(f.Now)}
}

// Words returns the user who paused the cluster, for how long and why.
func (v PauseView) Words(now time.Time) string {
	words := []string{"spec.skip makes operators skip the cluster"}
	if v.By != "" {
		words = append(words, "set by "+v.By)
	}
	if v.Since != nil {
		words = append(words, phrase.Duration(now.Sub(*v.Since))+" ago")
	}
	switch {
	case v.Overdue:
		words = append(words, fmt.Sprintf("overdue for %s", phrase.Duration(now.Sub(*v.Until))))
	case v.Until != nil:
		words = append(words, fmt.Sprintf("for %s more", phrase.Duration(v.Until.Sub(now))))
	}
	text := strings.Join(words, ", ")
	if v.Reason != "" {
		text += ": " + v.Reason
	}
	return text
}

// Paused returns the progress of pausing a cluster, or of resuming it.
func Paused(f Facts, want bool) Target {
	t := Target{ID: f.Cluster.Name, Phase: "not-paused"}
	if v := NewPauseView(f); v != nil {
		t.Phase, t.Note = "paused", v.Words(f.Now)
	}
	t.Reached = f.Cluster.Spec.Skip == want
	return t
}
