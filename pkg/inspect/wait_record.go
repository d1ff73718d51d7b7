package inspect

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// EventHead is what every event begins with.
type EventHead struct {
	Event string `json:"event"`
	// Pass counts the passes of one run of the program, over one resource, from 1.
	Pass int `json:"pass"`
	// Resource is what the pass is about, where a run is about several: a cluster by its
	// name, fdbbackup/NAME or fdbrestore/NAME.
	Resource string `json:"resource,omitempty"`
}

// WaitStarted is the line of a watch that rests after a pass.
type WaitStarted struct {
	EventHead
	// Ending is how the pass ended, as far as the wait depends on that.
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

// NewWaitStarted returns the line of a wait that begins now.
func NewWaitStarted(pass int, e pace.Ending, reason string, r pace.Wait, now time.Time) WaitStarted {
	return WaitStarted{
		EventHead: EventHead{Event: "wait-started", Pass: pass}, Ending: endings[e], Reason: OneLine(reason),
		NotBefore: Known(now.Add(r.AtLeast)), NoLaterThan: Known(now.Add(r.AtMost)),
	}
}

// WaitEnded is the line of a watch whose rest is over.
type WaitEnded struct {
	EventHead
	// Changed is true when a change ended the wait early.
	Changed bool `json:"changed"`
	// Facets are the parts of the cluster state that changed since the pass began.
	Facets []string `json:"facets"`
}

// NewWaitEnded returns the line of the end of a wait.
func NewWaitEnded(pass int, changed bool, facets plan.Facet) WaitEnded {
	return WaitEnded{EventHead: EventHead{Event: "wait-ended", Pass: pass}, Changed: changed, Facets: OrEmpty(facets.Names())}
}
