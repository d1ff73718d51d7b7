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
			pieces = append(pieces, Piece{"  ", list.Plain}, phasePiece(phase))
			if phase.Name == reconcile.PhaseDrained && phase.State == reconcile.PhaseRunning {
				pieces = append(pieces, drainPieces(r, d)...)
			}
		case reconcile.PhaseDone:
			if d == wholeDetail {
				pieces = append(pieces, Piece{"  ", list.Plain}, phasePiece(phase))
			}
		case reconcile.PhasePending, reconcile.PhaseSkipped:
			if d == wholeDetail {
				pieces = append(pieces, Piece{"  ", list.Plain}, phasePiece(phase))
			}
		}
	}
	if r.Blocker != nil {
		pieces = append(pieces, Piece{"  " + list.MarkWarn + " " + inspect.BlockerWords(*r.Blocker), list.Warn})
	}
	return pieces
}

// phaseWords are a phase once it is done, while it runs, and before.
var phaseWords = map[reconcile.PhaseName][3]string{
	reconcile.PhaseMarked:   {"marked", "marking", "mark"},
	reconcile.PhaseCreated:  {"created", "creating", "create"},
	reconcile.PhaseJoined:   {"joined", "joining", "join"},
	reconcile.PhaseDrained:  {"drained", "draining", "drain"},
	reconcile.PhaseDeleted:  {"deleted", "deleting", "delete"},
	reconcile.PhaseIncluded: {"included", "including", "include"},
}

func phasePiece(p reconcile.Phase) Piece {
	words := phaseWords[p.Name]
	switch p.State {
	case reconcile.PhaseDone:
		return Piece{list.MarkGood + " " + words[0], list.Good}
	case reconcile.PhaseRunning:
		return Piece{list.MarkBusy + " " + words[1], list.Busy}
	case reconcile.PhasePending:
		return Piece{"○ " + words[2], list.Faint}
	case reconcile.PhaseSkipped:
		return Piece{"- " + words[2], list.Faint}
	case reconcile.PhaseUnknown:
	}
	return Piece{list.MarkUnknown + " " + words[2], list.Unsure}
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

// OperationFacts returns what is true of the whole operation: the time left, how much is done, the copies of the data, and which
// loss it tolerates.
func OperationFacts(p reconcile.OperationProgress, now time.Time) []Piece {
	var pieces []Piece
	add := func(t list.Tone, text string) {
		if len(pieces) > 0 {
			pieces = append(pieces, Piece{" · ", list.Faint})
		}
		pieces = append(pieces, Piece{text, t})
	}
	if left := inspect.TimeLeftWords(p, now); left != "" {
		add(list.Strong, left)
	}
	for _, words := range inspect.CountWords(p) {
		add(list.Plain, words)
	}
	if p.ReplacementsTotal > 0 {
		add(replicationPiece(p))
		add(tolerancePiece(p))
	}
	return pieces
}

func replicationPiece(p reconcile.OperationProgress) (list.Tone, string) {
	switch {
	case p.FullyReplicated == nil:
		return list.Unsure, "replication unknown"
	case *p.FullyReplicated:
		return list.Plain, "fully replicated"
	default:
		return list.Bad, "not fully replicated"
	}
}

func tolerancePiece(p reconcile.OperationProgress) (list.Tone, string) {
	switch {
	case p.Zones == nil:
		return list.Unsure, "fault tolerance unknown"
	case *p.Zones == 0:
		return list.Warn, inspect.Losable(0)
	default:
		return list.Plain, inspect.Losable(*p.Zones)
	}
}

// OperationLines returns the replacements of an operation, and what is true of all of it, in so many cells; 0 for no limit.
func OperationLines(p reconcile.OperationProgress, now time.Time, cells int) [][]Piece {
	var lines [][]Piece
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
