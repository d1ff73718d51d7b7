package ui

import (
	"fmt"
	"io"
	"slices"
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

// RolloutClauses returns how far a change is that reaches the process groups one after the other.
func RolloutClauses(v reconcile.Rollout) []Clause {
	clauses := []Clause{clause(0, list.Strong, inspect.RolloutWhat(v))}
	for i, p := range v.Phases {
		drop := map[reconcile.PhaseState]int{reconcile.PhaseDone: 2, reconcile.PhasePending: 1}[v.State(i)]
		clauses = append(clauses, Clause{[]Piece{statePiece(v.State(i), inspect.RolloutPhaseWords(p))}, drop})
	}
	return clauses
}

// RolloutLine returns the same in so many cells; 0 for no limit.
func RolloutLine(v reconcile.Rollout, cells int) []Piece {
	return FitLine(RolloutClauses(v), Piece{"  ", list.Plain}, cells)
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

// OperationClauses returns how far an operation is: the time left, how much is done, how safe the database is meanwhile, and
// what the next pass waits for. What is dangerous or unknown is always shown, and what is counted goes first.
func OperationClauses(p reconcile.OperationProgress, now time.Time) []Clause {
	clauses := []Clause{
		clause(3, list.Strong, inspect.TimeLeftWords(p, now)),
		clause(4, list.Plain, inspect.CountWords(p)),
		clause(9, list.Plain, inspect.PassWords(p)),
	}
	clauses = append(clauses, SafetyClauses(p)...)
	if p.AskedAt == nil && !slices.ContainsFunc(p.Replacements, isUnderWay) { // else the phases show it
		clauses = append(clauses, clause(2, list.Plain, inspect.WaitWords(p)))
	}
	return slices.DeleteFunc(clauses, func(c Clause) bool { return c.Pieces[0].Text == "" })
}

// isUnderWay reports whether a phase of a replacement runs, or something keeps it from that.
func isUnderWay(r reconcile.Replacement) bool {
	return r.Blocker != nil || slices.ContainsFunc(r.Phases, func(p reconcile.Phase) bool { return p.State == reconcile.PhaseRunning })
}

// SafetyClauses returns whether all data has its copies, and which loss the database tolerates, while process groups are being
// replaced; nil while none is.
func SafetyClauses(p reconcile.OperationProgress) []Clause {
	if p.ReplacementsTotal == 0 {
		return nil
	}
	copies, loss := Clause{Pieces: []Piece{replicationPiece(p)}}, Clause{Pieces: []Piece{tolerancePiece(p)}}
	if ptr.Deref(p.FullyReplicated, false) {
		copies.Drop = 6
	}
	if ptr.Deref(p.Zones, 0) > 0 {
		loss.Drop = 5
	}
	return []Clause{copies, loss}
}

// Clause is a part of a line that is shown as a whole, or not at all where there is no room for it.
type Clause struct {
	Pieces []Piece
	// Drop orders what is left out: the highest goes first, and one with 0 stays.
	Drop int
}

func clause(drop int, tone list.Tone, text string) Clause {
	return Clause{[]Piece{{text, tone}}, drop}
}

// Between stands between two clauses.
var Between = Piece{" · ", list.Faint}

// FitLine returns clauses as one line of so many cells, as far as they may be left out; 0 for no limit.
func FitLine(clauses []Clause, between Piece, cells int) []Piece {
	kept := layout.Kept(clauses, func(c Clause) int { return c.Drop }, func(kept []Clause) bool {
		return cells == 0 || layout.Cells(Joined(joined(kept, between))) <= cells
	})
	return joined(kept, between)
}

func joined(clauses []Clause, between Piece) []Piece {
	var pieces []Piece
	for i, c := range clauses {
		if i > 0 {
			pieces = append(pieces, between)
		}
		pieces = append(pieces, c.Pieces...)
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
		lines = append(lines, RolloutLine(*p.Rollout, cells))
	}
	for _, r := range p.Replacements {
		lines = append(lines, ReplacementLine(r, cells))
	}
	if more := p.ReplacementsTotal - len(p.Replacements); more > 0 {
		lines = append(lines, []Piece{{phrase.Count(more, "more process group"), list.Faint}})
	}
	if facts := FitLine(OperationClauses(p, now), Between, cells); len(facts) > 0 {
		lines = append(lines, facts)
	}
	return lines
}
