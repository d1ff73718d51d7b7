package tui

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// running returns the running operation; nil for none. A frame of an earlier release has its record alone.
func (s clusterView) running() *inspect.OperationView {
	if o := s.snapshot().Operation; o != nil {
		return o
	}
	return s.snapshot().Status.Locks.Operation
}

// operationClauses returns the operation, and how far it is.
func (s clusterView) operationClauses(o inspect.OperationView) []paint.Clause {
	t, state := s.operationState(o)
	clauses := []paint.Clause{{Line: line{styled(t, state)}}}
	if o.Command != "" {
		clauses = []paint.Clause{{Line: line{styled(t, state+": "), styled(plain, o.Command)}}, {Line: styledLine(plain, "by "+o.By()), Drop: 8}}
	}
	far := clausesOf(ui.OperationClauses(o.Progress, s.now))
	if len(far) == 0 {
		far = []paint.Clause{{Line: styledLine(plain, "the first pass runs"), Drop: 9}}
	}
	return append(clauses, far...)
}

func (s clusterView) operationState(o inspect.OperationView) (tone, string) {
	switch {
	case o.Command == "" && onlyIncludes(o.Progress.Replacements):
		return plain, "only the inclusion of removed process groups remains"
	case o.Command == "" && !slices.ContainsFunc(o.Progress.Replacements, func(r reconcile.Replacement) bool { return !inspect.IsExclusion(r) }):
		return warn, "exclusion that no operation reports"
	case o.Command == "":
		return warn, "replacement that no operation reports"
	case !o.Active:
		return bad, "operation without a report for " + s.age(o.Seen)
	case o.Abort != nil:
		return warn, "operation to be aborted"
	case o.Progress.AskedAt != nil:
		return warn, "operation waiting for an answer of " + o.By() + " for " + s.age(o.Progress.AskedAt)
	default:
		return busy, "operation for " + s.age(o.Since)
	}
}

// onlyIncludes reports whether there are replacements, of which only the end of the exclusions remains: a later run does that.
func onlyIncludes(all []reconcile.Replacement) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(r reconcile.Replacement) bool { return r.State(reconcile.PhaseIncluded) != reconcile.PhaseRunning })
}

// rolloutLine returns how far the change is that is reaching the process groups; nil without one.
func (s clusterView) rolloutLine(width int) []line {
	v := s.snapshot().Status.Rollout
	if o := s.running(); v == nil && o != nil {
		v = o.Progress.Rollout
	}
	if v == nil {
		return nil
	}
	clauses := clausesOf(ui.RolloutClauses(*v))
	clauses[0].Line = append(line{styled(warn, "rollout: ")}, clauses[0].Line...)
	return paint.Fitted(clauses, styled(plain, "  "), len("rollout: "), width, 1)
}

// phasesLine returns the phases of the first replacement that is blocked or stalled, or else of the one that has come farthest; nil
// without one.
func (s clusterView) phasesLine(width int) []line {
	o := s.running()
	if o == nil || len(o.Progress.Replacements) == 0 {
		return nil
	}
	all := o.Progress.Replacements
	worst := max(0, slices.IndexFunc(all, func(r reconcile.Replacement) bool { return inspect.ReplacementTone(r) == bad }))
	return paint.Fitted([]paint.Clause{{Line: spansOf(ui.ReplacementLine(all[worst], width))}}, span{}, len(all[worst].ID)+2, width, maxWorkLines)
}

func clausesOf(all []ui.Clause) []paint.Clause {
	var clauses []paint.Clause
	for _, c := range all {
		clauses = append(clauses, paint.Clause{Line: spansOf(c.Pieces), Drop: c.Drop})
	}
	return clauses
}

func spansOf(pieces []ui.Piece) line {
	var l line
	for _, p := range pieces {
		l = append(l, styled(p.Tone, p.Text))
	}
	return l
}

// replacementRows returns a row for each process group that is being replaced.
func (s clusterView) replacementRows(p reconcile.OperationProgress) []row {
	var rows []row
	for i, r := range p.Replacements {
		rows = append(rows, listed(inspect.ReplacementColumns, r, row{key: "replacement " + r.ID, group: r.ID, tone: inspect.ReplacementTone(r), more: func(s clusterView) []line { return s.aboutReplacement(i) }}))
	}
	if more := p.ReplacementsTotal - len(p.Replacements); more > 0 {
		rows = append(rows, row{cells: []span{styled(faint, phrase.Count(more, "more process group"))}})
	}
	return rows
}

// aboutReplacement returns the phases of a replacement, one per line.
func (s clusterView) aboutReplacement(i int) []line {
	o := s.running()
	if o == nil || i >= len(o.Progress.Replacements) {
		return nil
	}
	r := o.Progress.Replacements[i]
	lines := []line{heading(r.ID), fact("marked", s.since(r.Since))}
	for _, p := range r.Phases {
		lines = append(lines, append(line{styled(plain, "  ")}, spansOf([]ui.Piece{ui.PhasePiece(p)})...))
	}
	if r.State(reconcile.PhaseDrained) == reconcile.PhaseRunning {
		lines = append(lines, fact("left", inspect.DrainWords(r)))
	}
	if r.Blocker != nil {
		lines = append(lines, factIn(bad, "blocked", inspect.BlockerWords(*r.Blocker)))
	}
	return lines
}

// finishedRows returns the runs of all users that have ended, as far as Events record them.
func (s clusterView) finishedRows() []row {
	var rows []row
	for _, run := range s.snapshot().Finished {
		run.RunID = run.ID // which recordings of earlier releases do not have
		rows = append(rows, listed(inspect.RunColumns, run.Run, row{key: "run " + run.ID, tone: run.Tone(), more: func(s clusterView) []line { return s.aboutRun(run) }}))
	}
	return rows
}

func (s clusterView) aboutRun(run frame.FinishedRun) []line {
	lines := []line{heading("run " + run.ID), fact("command", run.Command), fact("user", run.User), fact("reason", phrase.Or(run.Reason, phrase.Nothing)), fact("ended", s.moment(run.Until)), fact("actions", fmt.Sprint(run.Actions))}
	if run.Failed > 0 {
		lines = append(lines, factIn(bad, "failed", fmt.Sprint(run.Failed)))
	}
	return lines
}
