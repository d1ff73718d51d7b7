package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// PauseView is what is noted about a cluster that operators leave alone.
type PauseView struct {
	// By is empty where spec.skip was set without a note.
	By string `json:"by,omitempty"`
	// Since and Until are null when nobody noted them; nothing ends a pause by itself.
	Since  *time.Time `json:"since"`
	Until  *time.Time `json:"until"`
	Reason string     `json:"reason,omitempty"`
	// Overdue is true when the pause should be over.
	Overdue bool `json:"overdue"`
}

// NewPauseView is nil for a cluster that operators do not leave alone.
func NewPauseView(f Facts) *PauseView {
	p, paused := plan.PauseOf(f.Cluster)
	if !paused {
		return nil
	}
	return &PauseView{By: p.By, Since: known(p.At), Until: known(p.Until), Reason: p.Reason, Overdue: p.OverdueAt(f.Now)}
}

// Words say who told operators to leave the cluster alone, for how long and why.
func (v PauseView) Words(now time.Time) string {
	words := []string{"spec.skip tells operators to leave the cluster alone"}
	if v.By != "" {
		words = append(words, "set by "+v.By)
	}
	if v.Since != nil {
		words = append(words, phrase.Duration(now.Sub(*v.Since))+" ago")
	}
	switch {
	case v.Overdue:
		words = append(words, fmt.Sprintf("which should be over since %s", phrase.Duration(now.Sub(*v.Until))))
	case v.Until != nil:
		words = append(words, fmt.Sprintf("for %s more", phrase.Duration(v.Until.Sub(now))))
	}
	text := strings.Join(words, ", ")
	if v.Reason != "" {
		text += ": " + v.Reason
	}
	return text
}

// Paused is a cluster that operators are to leave alone, or not, as far as that is so.
func Paused(f Facts, want bool) Target {
	t := Target{ID: f.Cluster.Name, Phase: "not-paused"}
	if v := NewPauseView(f); v != nil {
		t.Phase, t.Note = "paused", v.Words(f.Now)
	}
	t.Reached = f.Cluster.Spec.Skip == want
	return t
}
