package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

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
		lines = append(lines, []Piece{{fmt.Sprintf("%d more are marked for removal", more), list.Faint}})
	}
	if facts := OperationFacts(p, now); len(facts) > 0 {
		lines = append(lines, facts)
	}
	return lines
}
