package inspect

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// ReplacementColumns are the columns of the process groups that are being replaced.
var ReplacementColumns = []list.Column[reconcile.Replacement]{
	{Title: "PROCESS GROUP", Meaning: "ID of the process group that is replaced", Min: 14, Cell: func(_ list.At, r reconcile.Replacement) list.Cell { return list.Text(r.ID) }},
	{Title: "PHASE", Meaning: "Phase of its replacement; ? where it is unknown", Cell: func(_ list.At, r reconcile.Replacement) list.Cell {
		return list.Text(currentPhaseWord(r)).In(ReplacementTone(r))
	}},
	{Title: "MARKED", Meaning: "Age of its mark for removal", Right: true, Drop: 1, Cell: func(at list.At, r reconcile.Replacement) list.Cell { return list.Text(at.Age(r.Since)) }},
	{Title: "PROGRESS", Meaning: "What moves off it, or what keeps its successor from starting", Min: 16, Cell: func(_ list.At, r reconcile.Replacement) list.Cell {
		return list.Text(ReplacementWords(r)).In(ReplacementTone(r))
	}},
}

// currentPhase returns the first phase that has not ended; the last one if all have.
func currentPhase(r reconcile.Replacement) reconcile.Phase {
	var last reconcile.Phase
	for _, p := range r.Phases {
		if last = p; p.State != reconcile.PhaseDone && p.State != reconcile.PhaseSkipped {
			break
		}
	}
	return last
}

func currentPhaseWord(r reconcile.Replacement) string {
	p := currentPhase(r)
	if p.State == reconcile.PhaseUnknown {
		return PhaseWord(p) + phrase.UnknownCell
	}
	return PhaseWord(p)
}

// ReplacementTone is how bad it is where a replacement stands.
func ReplacementTone(r reconcile.Replacement) list.Tone {
	switch p := currentPhase(r); {
	case r.Blocker != nil, r.StalledSeconds != nil:
		return list.Bad
	case p.State == reconcile.PhaseUnknown:
		return list.Unsure
	case p.State == reconcile.PhaseDone:
		return list.Good
	default:
		return list.Busy
	}
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

// PhaseWord returns a phase in one word: "drained" once it is done, "draining" while it runs, "drain" otherwise.
func PhaseWord(p reconcile.Phase) string {
	words := phaseWords[p.Name]
	switch p.State {
	case reconcile.PhaseDone:
		return words[0]
	case reconcile.PhaseRunning:
		return words[1]
	case reconcile.PhasePending, reconcile.PhaseSkipped, reconcile.PhaseUnknown:
	}
	return words[2]
}
