package ui

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Resting is the line of a watch that rests after a pass.
type Resting struct {
	line
	// Ending is how the pass ended, as far as the rest depends on that.
	Ending string `json:"ending"`
	// Reason is what the pass left undone; empty when it did all.
	Reason string `json:"reason,omitempty"`
	// NotBefore is when the next pass may begin at the earliest, unless the resource
	// itself is changed; NoLaterThan is when it begins if nothing changes.
	NotBefore   *time.Time `json:"notBefore"`
	NoLaterThan *time.Time `json:"noLaterThan"`
}

var endings = map[pace.Ending]string{
	pace.Settled: "settled", pace.Unfinished: "unfinished", pace.Waiting: "waiting",
	pace.Held: "held", pace.Blocked: "blocked", pace.Failed: "failed",
}

// NewResting is for a rest that begins now.
func NewResting(pass int, e pace.Ending, reason string, r pace.Rest, now time.Time) Resting {
	return Resting{
		line: line{Event: "resting", Pass: pass}, Ending: endings[e], Reason: oneLine(reason),
		NotBefore: known(now.Add(r.AtLeast)), NoLaterThan: known(now.Add(r.AtMost)),
	}
}

// Woken is the line of a watch whose rest is over.
type Woken struct {
	line
	// Changed is true when a change cut the rest short.
	Changed bool `json:"changed"`
	// Facets are the parts of the world that changed since the pass began.
	Facets []string `json:"facets"`
}

// NewWoken is for the end of a rest.
func NewWoken(pass int, changed bool, facets plan.Facet) Woken {
	return Woken{line: line{Event: "woken", Pass: pass}, Changed: changed, Facets: orEmpty(facets.Names())}
}
