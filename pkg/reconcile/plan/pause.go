package plan

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Annotations of a FoundationDBCluster with details about spec.skip.
const (
	AnnotationPausedBy     = "kubectl-fdb/paused-by"
	AnnotationPausedAt     = "kubectl-fdb/paused-at"
	AnnotationPausedUntil  = "kubectl-fdb/paused-until"
	AnnotationPausedReason = "kubectl-fdb/paused-reason"
)

// Pause describes why and for how long operators skip a cluster.
type Pause struct {
	// By is a user and a machine; empty where spec.skip was set by other means.
	By string `json:"by,omitempty"`
	// At is since when; zero when unknown.
	At time.Time `json:"at"`
	// Until is when it should end; zero for no limit. It does not end by itself.
	Until time.Time `json:"until"`
	// Reason is why; empty when unknown.
	Reason string `json:"reason,omitempty"`
}

// identity is for how long the pause is: user, time and reason only explain it.
func (p Pause) identity() any {
	if p.Until.IsZero() {
		return nil
	}
	return p.Until.Sub(p.At)
}

// PauseOf returns the recorded pause of a cluster; ok is false where operators do not skip
// it.
func PauseOf(c *v1beta2.FoundationDBCluster) (p Pause, ok bool) {
	if !c.Spec.Skip {
		return Pause{}, false
	}
	return Pause{
		By: c.Annotations[AnnotationPausedBy], At: noted(c, AnnotationPausedAt),
		Until: noted(c, AnnotationPausedUntil), Reason: c.Annotations[AnnotationPausedReason],
	}, true
}

// noted is a time in an annotation; zero where it cannot be parsed.
func noted(c *v1beta2.FoundationDBCluster, annotation string) time.Time {
	at, err := time.Parse(time.RFC3339, c.Annotations[annotation])
	if err != nil {
		return time.Time{}
	}
	return at
}

// OverdueAt reports whether the pause should have ended.
func (p Pause) OverdueAt(now time.Time) bool { return !p.Until.IsZero() && now.After(p.Until) }

// SetSkip makes operators skip a cluster, or reconcile it again. It writes no other field of
// the spec.
type SetSkip struct {
	Cluster string `json:"cluster"`
	Skip    bool   `json:"skip"`
	// Pause is written to annotations; empty when Skip is false.
	Pause Pause `json:"pause"`
}

// Describe implements Action.
func (a SetSkip) Describe() string {
	if !a.Skip {
		return "set spec.skip to false: operators reconcile the cluster again"
	}
	words := "set spec.skip to true: operators skip the cluster"
	if !a.Pause.Until.IsZero() {
		words += fmt.Sprintf(", for %s", a.Pause.Until.Sub(a.Pause.At)) // independent of the time of planning
	}
	if a.Pause.Reason != "" {
		words += ", reason: " + a.Pause.Reason
	}
	return words
}

// Subject implements Action.
func (a SetSkip) Subject() string { return a.Cluster }

func (SetSkip) effect() Effect { return Effect{Stale: ClusterResource, Impact: NoImpact} }

// Annotations are what the action writes; nil removes an annotation.
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
