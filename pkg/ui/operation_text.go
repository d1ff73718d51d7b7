package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// OperationWords describes how far an operation is at a time, in one line.
func OperationWords(v inspect.OperationView, now time.Time) string {
	return phrase.Or(strings.Join(v.Words(now), ", "), "the first pass runs")
}

// WriteOperationStatus prints whether an operation has ended.
func WriteOperationStatus(w io.Writer, v inspect.OperationStatusView) error {
	words, now := "no operation", ptr.Deref(v.AsOf, time.Time{})
	if o := v.Operation; o != nil {
		state := "has ended"
		if !v.Ended {
			state = "no longer reports"
		}
		words = fmt.Sprintf("operation %s %s: %s, by %s; %s", o.ID, state, o.Command, o.By(), OperationWords(*o, now))
	}
	_, err := layout.Fprintf(w, "%s\n", words)
	return err
}

// WriteLeftovers prints what is half done on a cluster, and the commands that complete and revert it.
func WriteLeftovers(w io.Writer, v lists.Leftovers) error {
	var b strings.Builder
	if len(v.Items) == 0 {
		b.WriteString("nothing is half done")
	} else {
		b.WriteString("half done, whichever run began it:")
	}
	if len(v.Unknown) > 0 {
		kinds := make([]string, len(v.Unknown))
		for i, kind := range v.Unknown {
			kinds[i] = kind.Text()
		}
		b.WriteString(" (unknown: " + phrase.List(kinds) + ")")
	}
	if _, err := fmt.Fprintln(w, b.String()); err != nil {
		return err
	}
	width := layout.Width(w)
	for _, l := range v.Items {
		lines := []string{layout.Labeled("  ", l.Text(), width)}
		if l.Complete != "" {
			lines = append(lines, layout.Labeled("    complete: ", l.Complete, width))
		}
		if l.Revert != "" {
			lines = append(lines, layout.Labeled("    revert:   ", l.Revert, width))
		}
		if _, err := fmt.Fprintln(w, strings.Join(lines, "\n")); err != nil {
			return err
		}
	}
	return nil
}

// operation describes a command that runs passes, and whether it goes on.
func (o StatusOptions) operation(v inspect.OperationView) string {
	since := "at an unknown time"
	switch {
	case v.Since != nil && o.Absolute:
		since = "since " + v.Since.Format(time.RFC3339)
	case v.Since != nil:
		since = "for " + phrase.Duration(o.Now.Sub(*v.Since))
	}
	words := v.Text()
	if v.Reason != "" && v.User != "" {
		words += " (" + v.Reason + ")"
	}
	words += ", " + since
	if did := v.Words(o.Now); len(did) > 0 {
		words += "; " + strings.Join(did, ", ")
	}
	if v.Abort != nil {
		words += "; to be aborted, requested by " + v.Abort.By
	}
	if !v.Active && v.Seen != nil {
		words += fmt.Sprintf("; it ended without a report: last seen %s ago", phrase.Duration(o.Now.Sub(*v.Seen)))
	}
	return words
}

// WriteRun prints the actions of one run.
func WriteRun(w io.Writer, i inspect.Run, o ListOptions) error {
	layout.Entry(w, "command:  ", i.Command)
	layout.Entry(w, "user:     ", i.Who)
	if i.Reason != "" {
		layout.Entry(w, "reason:   ", i.Reason)
	}
	layout.Entry(w, "run:      ", i.RunID+", from the "+string(i.Source))
	if i.UID == "" {
		layout.Entry(w, "cluster:  ", "of this name, and may be another one: no UID is recorded")
	}
	return WriteList(w, i, o)
}

// Piece is a part of a line with its meaning.
type Piece struct {
	Text string
	Tone list.Tone
}

// Joined returns pieces as a line without colors.
func Joined(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// detail is how much of a replacement a line shows; the first that fits is taken.
type detail int

const (
	wholeDetail detail = iota
	// currentDetail leaves out what is pending and the names of what is done.
	currentDetail
	// leastDetail leaves out the bar, too.
	leastDetail
)

// ReplacementLine returns how far the replacement of a process group is, in so many cells if that is possible; 0 for no limit.
func ReplacementLine(r reconcile.Replacement, cells int) []Piece {
	for _, d := range []detail{wholeDetail, currentDetail} {
		if pieces := replacementPieces(r, d); cells == 0 || layout.Cells(Joined(pieces)) <= cells {
			return pieces
		}
	}
	return replacementPieces(r, leastDetail)
}

func replacementPieces(r reconcile.Replacement, d detail) []Piece {
	pieces := []Piece{{r.ID, list.Strong}}
	for _, phase := range r.Phases {
		switch phase.State {
		case reconcile.PhaseRunning, reconcile.PhaseUnknown:
			pieces = append(pieces, Piece{"  ", list.Plain}, PhasePiece(phase))
			if phase.Name == reconcile.PhaseDrained && phase.State == reconcile.PhaseRunning {
				pieces = append(pieces, drainPieces(r, d)...)
			}
		case reconcile.PhaseDone:
			if d == wholeDetail {
				pieces = append(pieces, Piece{"  ", list.Plain}, PhasePiece(phase))
			}
		case reconcile.PhasePending, reconcile.PhaseSkipped:
			if d == wholeDetail {
				pieces = append(pieces, Piece{"  ", list.Plain}, PhasePiece(phase))
			}
		}
	}
	if r.Blocker != nil {
		pieces = append(pieces, Piece{"  " + list.MarkWarn + " " + inspect.BlockerWords(*r.Blocker), list.Warn})
	}
	return pieces
}

// RolloutLine returns how far a change is that reaches the process groups one after the other.
func RolloutLine(v reconcile.Rollout) []Piece {
	pieces := []Piece{{inspect.RolloutWhat(v), list.Strong}}
	for i, p := range v.Phases {
		pieces = append(pieces, Piece{"  ", list.Plain}, statePiece(v.State(i), inspect.RolloutPhaseWords(p)))
	}
	return pieces
}

// PhasePiece returns a phase as a symbol and a word.
func PhasePiece(p reconcile.Phase) Piece { return statePiece(p.State, inspect.PhaseWord(p)) }

func statePiece(state reconcile.PhaseState, words string) Piece {
	mark, tone := list.MarkUnknown, list.Unsure
	switch state {
	case reconcile.PhaseDone:
		mark, tone = list.MarkGood, list.Good
	case reconcile.PhaseRunning:
		mark, tone = list.MarkBusy, list.Busy
	case reconcile.PhasePending:
		mark, tone = "○", list.Faint
	case reconcile.PhaseSkipped:
		mark, tone = "-", list.Faint
	case reconcile.PhaseUnknown:
	}
	return Piece{mark + " " + words, tone}
}

// drainCells is the width of the bar of a process group that drains.
const drainCells = 16

func drainPieces(r reconcile.Replacement, d detail) []Piece {
	var pieces []Piece
	if share := inspect.DrainShare(r); share != nil && d != leastDetail {
		full := min(drainCells, int(*share*drainCells))
		pieces = append(pieces, Piece{fmt.Sprintf(" %s%s %d%%", strings.Repeat("█", full), strings.Repeat("░", drainCells-full), int(*share*100)), list.Busy})
	}
	tone := list.Plain
	if r.StalledSeconds != nil {
		tone = list.Bad
	}
	return append(pieces, Piece{" " + inspect.DrainWords(r), tone})
}

// OperationFacts returns what is true of the whole operation: the time left, how much is done, and how safe the database is
// meanwhile.
func OperationFacts(p reconcile.OperationProgress, now time.Time) []Piece {
	var facts []Piece
	if left := inspect.TimeLeftWords(p, now); left != "" {
		facts = append(facts, Piece{left, list.Strong})
	}
	for _, words := range inspect.CountWords(p) {
		facts = append(facts, Piece{words, list.Plain})
	}
	pieces := separated(facts)
	if safe := SafetyFacts(p); len(safe) > 0 {
		if len(pieces) > 0 {
			pieces = append(pieces, separator)
		}
		pieces = append(pieces, safe...)
	}
	return pieces
}

// SafetyFacts returns whether all data has its copies, and which loss the database tolerates, while process groups are being
// replaced; nil while none is.
func SafetyFacts(p reconcile.OperationProgress) []Piece {
	if p.ReplacementsTotal == 0 {
		return nil
	}
	return separated([]Piece{replicationPiece(p), tolerancePiece(p)})
}

// separator stands between two facts of a line.
var separator = Piece{" · ", list.Faint}

func separated(facts []Piece) []Piece {
	var pieces []Piece
	for i, fact := range facts {
		if i > 0 {
			pieces = append(pieces, separator)
		}
		pieces = append(pieces, fact)
	}
	return pieces
}

func replicationPiece(p reconcile.OperationProgress) Piece {
	switch {
	case p.FullyReplicated == nil:
		return Piece{"replication unknown", list.Unsure}
	case *p.FullyReplicated:
		return Piece{"fully replicated", list.Plain}
	default:
		return Piece{"not fully replicated", list.Bad}
	}
}

func tolerancePiece(p reconcile.OperationProgress) Piece {
	switch {
	case p.Zones == nil:
		return Piece{"fault tolerance unknown", list.Unsure}
	case *p.Zones == 0:
		return Piece{inspect.Losable(0), list.Warn}
	default:
		return Piece{inspect.Losable(*p.Zones), list.Plain}
	}
}

// OperationLines returns the rollout and the replacements of an operation, and what is true of all of it, in so many cells; 0
// for no limit.
func OperationLines(p reconcile.OperationProgress, now time.Time, cells int) [][]Piece {
	var lines [][]Piece
	if p.Rollout != nil {
		lines = append(lines, RolloutLine(*p.Rollout))
	}
	for _, r := range p.Replacements {
		lines = append(lines, ReplacementLine(r, cells))
	}
	if more := p.ReplacementsTotal - len(p.Replacements); more > 0 {
		lines = append(lines, []Piece{{phrase.Count(more, "more process group"), list.Faint}})
	}
	if facts := OperationFacts(p, now); len(facts) > 0 {
		lines = append(lines, facts)
	}
	return lines
}
