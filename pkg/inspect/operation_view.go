package inspect

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// OperationView is a command that runs passes until its goal is reached.
type OperationView struct {
	// ID is the ID of the run; empty for one of an older release.
	ID string `json:"id,omitempty"`
	// UID is the UID of the cluster; absent for an operation of an older release, and of a backup or a restore.
	UID string `json:"uid,omitempty"`
	// Command is the command with the flags that affect what it does.
	Command string `json:"command"`
	// Holder identifies the run: user, host, process, and the reason given.
	Holder string `json:"holder"`
	// User is the user and host of the run.
	User   string     `json:"user,omitempty"`
	Reason string     `json:"reason,omitempty"`
	Since  *time.Time `json:"since"`
	// Seen is when the run last reported that it goes on.
	Seen *time.Time `json:"seen"`
	// Active is false when that was so long ago that the run must have ended, or its process has.
	Active bool `json:"active"`
	// Progress is how far it was when it last reported.
	Progress reconcile.OperationProgress `json:"progress"`
	// Abort is the request to end it; absent without one.
	Abort *reconcile.OperationAbort `json:"abort,omitempty"`
}

// By returns who runs it, as text for users.
func (v OperationView) By() string {
	return reconcile.Operation{Holder: v.Holder, User: v.User}.By()
}

// Text returns its ID, the command, and who runs it, as text for users.
func (v OperationView) Text() string {
	words := v.Command + ", by " + v.By()
	if v.ID != "" {
		words = v.ID + ": " + words
	}
	return words
}

// View returns the operation of the Lease; nil for none.
func (l Lease) View() *OperationView {
	o := l.Operation
	if o == nil {
		return nil
	}
	return &OperationView{
		ID: o.ID, UID: string(o.UID), Command: o.Command, Holder: o.Holder, User: o.User, Reason: o.Reason, Since: Known(o.Since), Seen: Known(o.Seen),
		Active: l.OperationActive, Progress: o.Progress, Abort: l.Abort,
	}
}

// OperationListView is the document of `operations list`.
type OperationListView struct {
	Document
	Items []OperationItem `json:"items"`
}

// OperationItem is the operation of one cluster.
type OperationItem struct {
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// Read is false where the Lease could not be read: whether there is an operation is unknown.
	Read bool `json:"read"`
	// Operation is absent where the Lease could not be read.
	Operation *OperationView `json:"operation,omitempty"`
}

// OperationStatusView is the document of `operations follow` and `operations abort`.
type OperationStatusView struct {
	Document
	// Ended is true if the operation has ended, or there was none.
	Ended bool `json:"ended"`
	// Operation is the operation when it was last seen; absent if there was none.
	Operation *OperationView `json:"operation,omitempty"`
}

// List returns the operations with their columns.
func (v OperationListView) List() list.Table { return list.Of(OperationColumns, v.Items) }

// OperationColumns are the columns of operations; "?" where the Lease could not be read.
var OperationColumns = []list.Column[OperationItem]{
	{Title: "NAMESPACE", Meaning: "Namespace of the cluster", Drop: 3, Cell: func(_ list.At, i OperationItem) list.Cell { return list.Text(i.Namespace) }},
	{Title: "CLUSTER", Meaning: "Name of the cluster", Cell: func(_ list.At, i OperationItem) list.Cell { return list.Text(i.Cluster) }},
	{Title: "ID", Meaning: "ID of the run; - for one of an older release", Drop: 4, Cell: func(_ list.At, i OperationItem) list.Cell { return i.of(func(v OperationView) string { return v.ID }) }},
	{Title: "COMMAND", Meaning: "Command with the flags that affect what it does", Min: 16, Cell: func(_ list.At, i OperationItem) list.Cell {
		return i.of(func(v OperationView) string { return v.Command })
	}},
	{Title: "USER", Meaning: "User and host of the run", Drop: 1, Min: 8, Cell: func(_ list.At, i OperationItem) list.Cell { return i.of(OperationView.By) }},
	{Title: "STARTED", Meaning: "Age of the operation", Cell: func(at list.At, i OperationItem) list.Cell {
		if i.Operation == nil {
			return list.Known("")
		}
		return list.Known(at.Age(i.Operation.Since))
	}},
	{Title: "STATE", Meaning: "active, awaiting-answer of its user, aborting, or lost where the run no longer reports", Cell: func(_ list.At, i OperationItem) list.Cell { return i.of(OperationView.state) }},
	{Title: "PROGRESS", Meaning: "What is done, how long it still takes, and what it waits for", Drop: 2, Min: 16, Cell: func(at list.At, i OperationItem) list.Cell {
		return i.of(func(v OperationView) string { return strings.Join(v.Words(at.Now), ", ") })
	}},
}

// of is the cell of a text of the operation; "?" where the Lease could not be read.
func (i OperationItem) of(text func(OperationView) string) list.Cell {
	if i.Operation == nil {
		return list.Known("")
	}
	return list.Text(text(*i.Operation))
}

func (v OperationView) state() string {
	switch {
	case !v.Active:
		return "lost"
	case v.Abort != nil:
		return "aborting"
	case v.Progress.AskedAt != nil:
		return "awaiting-answer"
	default:
		return "active"
	}
}

// Words returns how far an operation is at a time, in clauses: what it waits for from its user, what is done,
// what moves, how long it still takes, and what the next pass waits for.
func (v OperationView) Words(now time.Time) []string {
	p := v.Progress
	var words []string
	if p.AskedAt != nil {
		words = append(words, "waiting for an answer of "+v.By()+" for "+phrase.Duration(now.Sub(*p.AskedAt)))
	}
	words = append(words, CountWords(p), PassWords(p))
	if p.Rollout != nil {
		words = append(words, RolloutText(*p.Rollout))
	}
	words = append(words, movingWords(p.Replacements)...)
	words = append(words, TimeLeftWords(p, now))
	if p.AskedAt == nil {
		words = append(words, WaitWords(p))
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// WaitWords returns what the next pass waits for; empty for nothing.
func WaitWords(p reconcile.OperationProgress) string {
	if p.WaitingFor == "" {
		return ""
	}
	return "waiting: " + p.WaitingFor
}

// Key identifies what an operation does now, without what changes all the time: bytes, rates, counts and durations.
func (v OperationView) Key() string {
	p := v.Progress
	var key strings.Builder
	fmt.Fprintf(&key, "%s %d/%d %t %s %v", v.ID, p.Reached, p.Targets, p.AskedAt != nil, p.Hold, p.HoldSubjects)
	if p.Rollout != nil {
		fmt.Fprintf(&key, " %s %s", p.Rollout.Kind, p.Rollout.To)
		for i := range p.Rollout.Phases {
			fmt.Fprintf(&key, " %s", p.Rollout.State(i))
		}
	}
	for _, r := range p.Replacements {
		fmt.Fprintf(&key, " %s %v", r.ID, r.Phases)
		if r.Blocker != nil {
			fmt.Fprintf(&key, " %s %s", r.Blocker.Group, r.Blocker.Code)
		}
	}
	return key.String()
}

// movingWords returns what moves or is blocked, of a few process groups.
func movingWords(all []reconcile.Replacement) []string {
	const most = 2
	var words []string
	for _, r := range all {
		if text := ReplacementWords(r); text != "" {
			words = append(words, text)
		}
	}
	if more := len(words) - most; more > 0 {
		return append(words[:most], fmt.Sprintf("and %d more", more))
	}
	return words
}

// CountWords returns how many of an operation's targets are reached; empty for an operation without targets.
func CountWords(p reconcile.OperationProgress) string {
	if p.Targets == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d done", p.Reached, p.Targets)
}

// PassWords returns how many actions the passes of an operation have completed; empty before the first has ended.
func PassWords(p reconcile.OperationProgress) string {
	if p.Passes == 0 {
		return ""
	}
	return phrase.Count(p.Actions, "action") + " in " + phrase.Count(p.Passes, "pass")
}

// ReplacementWords returns what moves off a process group, or what keeps its successor from starting; empty for neither.
func ReplacementWords(r reconcile.Replacement) string {
	words := progressWords(r)
	if words == "" || r.Blocker != nil {
		return words
	}
	return r.ID + " is draining, " + words
}

// progressWords returns the same in a row that has the process group and its phase.
func progressWords(r reconcile.Replacement) string {
	switch {
	case r.Blocker != nil:
		return BlockerWords(*r.Blocker)
	case r.State(reconcile.PhaseDrained) == reconcile.PhaseRunning:
		return DrainWords(r)
	default:
		return ""
	}
}

// BlockerWords returns what keeps a process group from starting: "storage-2 is Pending, no node fits: 0/5 nodes …".
func BlockerWords(b reconcile.Blocker) string { return b.Group + " " + b.Message }

// DrainWords returns how much data a process group has left, and how fast it moves: "375MiB left at 4.8MiB/s".
func DrainWords(r reconcile.Replacement) string {
	switch {
	case r.LeftBytes == nil && len(r.Roles) > 0 && !slices.Contains(r.Roles, fdb.RoleStorage):
		return "roles left: " + phrase.List(r.Roles)
	case r.LeftBytes == nil:
		return "its data left is unknown"
	case *r.LeftBytes == 0:
		return "no data left, and not proven yet that nothing depends on it"
	case r.StalledSeconds != nil:
		return phrase.Bytes(*r.LeftBytes) + " left, stalled for " + phrase.Seconds(*r.StalledSeconds)
	case r.RateBytesPerSecond == nil:
		return phrase.Bytes(*r.LeftBytes) + " left, rate not measured yet"
	default:
		return phrase.Bytes(*r.LeftBytes) + " left at " + phrase.Bytes(int64(*r.RateBytesPerSecond)) + "/s"
	}
}

// DrainShare returns the share of the data of the first read that has moved away; nil while that is unknown.
func DrainShare(r reconcile.Replacement) *float64 {
	if r.LeftBytes == nil || r.MovedBytes == nil || *r.LeftBytes+*r.MovedBytes <= 0 {
		return nil
	}
	return new(max(0, float64(*r.MovedBytes)/float64(*r.LeftBytes+*r.MovedBytes)))
}

// TimeLeftWords returns how long an operation still takes: a range by the measured rates, or the forecast before data
// moves; empty while it is unknown.
func TimeLeftWords(p reconcile.OperationProgress, now time.Time) string {
	left, known := p.TimeLeft(now)
	switch {
	case !known:
		return ""
	case !left.Measured:
		return "about " + phrase.Duration(left.Soonest) + " left by the forecast"
	case left.Latest == 0:
		return "at least " + phrase.Duration(left.Soonest) + " left"
	default:
		return rangeWords(left.Soonest, left.Latest) + " left"
	}
}

// rangeWords returns a range in one unit: "40-90s", in tens of seconds, "1-3m", "2-5h". It is never more precise than what it
// rests on.
func rangeWords(soonest, latest time.Duration) string {
	unit, step, sign := time.Second, 10.0, "s"
	switch {
	case latest >= 2*time.Hour:
		unit, step, sign = time.Hour, 1, "h"
	case latest >= 2*time.Minute:
		unit, step, sign = time.Minute, 1, "m"
	}
	in := step * unit.Seconds()
	from, to := max(1, step*math.Round(soonest.Seconds()/in)), step*math.Ceil(latest.Seconds()/in)
	if from >= to {
		return fmt.Sprintf("about %.0f%s", to, sign)
	}
	return fmt.Sprintf("%.0f-%.0f%s", from, to, sign)
}
