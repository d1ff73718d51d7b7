package plan

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Annotations of a cluster's resource that say about spec.skip what the field cannot.
const (
	AnnotationPausedBy     = "kubectl-fdb/paused-by"
	AnnotationPausedAt     = "kubectl-fdb/paused-at"
	AnnotationPausedUntil  = "kubectl-fdb/paused-until"
	AnnotationPausedReason = "kubectl-fdb/paused-reason"
)

// Pause is what somebody noted who told operators to leave a cluster alone.
type Pause struct {
	// By is a user and a machine; empty where spec.skip was set by other means.
	By string `json:"by,omitempty"`
	// At is since when; zero when nobody noted it.
	At time.Time `json:"at"`
	// Until is when it should be over; zero for no limit. Nothing ends it by itself.
	Until time.Time `json:"until"`
	// Reason is why; empty when nobody said.
	Reason string `json:"reason,omitempty"`
}

// identity is for how long the pause is: who asks for it, when and why only explains it.
func (p Pause) identity() any {
	if p.Until.IsZero() {
		return nil
	}
	return p.Until.Sub(p.At)
}

// PauseOf is what is noted about a cluster that operators leave alone; ok is false where
// they do not.
func PauseOf(c *v1beta2.FoundationDBCluster) (p Pause, ok bool) {
	if !c.Spec.Skip {
		return Pause{}, false
	}
	return Pause{
		By: c.Annotations[AnnotationPausedBy], At: noted(c, AnnotationPausedAt),
		Until: noted(c, AnnotationPausedUntil), Reason: c.Annotations[AnnotationPausedReason],
	}, true
}

// noted is a time in an annotation; what is no time is none.
func noted(c *v1beta2.FoundationDBCluster, annotation string) time.Time {
	at, err := time.Parse(time.RFC3339, c.Annotations[annotation])
	if err != nil {
		return time.Time{}
	}
	return at
}

// OverdueAt reports whether the pause should be over.
func (p Pause) OverdueAt(now time.Time) bool { return !p.Until.IsZero() && now.After(p.Until) }

// SetSkip tells operators to leave a cluster alone, or that they need not any more. Of the
// spec it writes that one field, and no other.
type SetSkip struct {
	Cluster string `json:"cluster"`
	Skip    bool   `json:"skip"`
	// Pause is what is noted beside it; nothing when Skip is false.
	Pause Pause `json:"pause"`
}

// Describe implements Action.
func (a SetSkip) Describe() string {
	if !a.Skip {
		return "set spec.skip to false: operators act on the cluster again"
	}
	words := "set spec.skip to true: operators leave the cluster alone"
	if !a.Pause.Until.IsZero() {
		words += fmt.Sprintf(", for %s", a.Pause.Until.Sub(a.Pause.At)) // the same words whenever it is planned
	}
	if a.Pause.Reason != "" {
		words += ", because: " + a.Pause.Reason
	}
	return words
}

// Subject implements Action.
func (a SetSkip) Subject() string { return a.Cluster }

func (SetSkip) effect() Effect { return Effect{Stale: Record, Impact: NoImpact} }

// Annotations are what the action writes; nil takes an annotation away.
func (a SetSkip) Annotations() map[string]*string {
	all := map[string]*string{AnnotationPausedBy: nil, AnnotationPausedAt: nil, AnnotationPausedUntil: nil, AnnotationPausedReason: nil}
	if !a.Skip {
		return all
	}
	set := func(name, value string) {
		if value != "" {
			all[name] = &value
		}
	}
	set(AnnotationPausedBy, a.Pause.By)
	set(AnnotationPausedReason, a.Pause.Reason)
	for name, at := range map[string]time.Time{AnnotationPausedAt: a.Pause.At, AnnotationPausedUntil: a.Pause.Until} {
		if !at.IsZero() {
			set(name, at.UTC().Format(time.RFC3339))
		}
	}
	return all
}
