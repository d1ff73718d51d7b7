package inspect

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// Operation returns the operation of the Lease with what was observed since its run reported, or the
// replacement of process groups for which no run is responsible; nil for neither. It adds what is left on
// excluded processes to the history.
func (f Facts) Operation(h *DrainHistory) *OperationView {
	v := f.Lease.View()
	if v == nil {
		v = &OperationView{}
	}
	v.Progress = f.Observed(v.Progress, h)
	if v.Command == "" && v.Progress.ReplacementsTotal == 0 {
		return nil
	}
	return v
}

// Observed returns the progress of an operation with what was observed.
func (f Facts) Observed(p reconcile.OperationProgress, h *DrainHistory) reconcile.OperationProgress {
	all := slices.Concat(f.exclusions(p.Replacements, h), f.Replacements(h)) // what moves data is first
	p.Replacements, p.ReplacementsTotal = all, len(all)
	if len(all) > reconcile.MostReplacements {
		p.Replacements = all[:reconcile.MostReplacements]
	}
	database := f.DatabaseView()
	if p.Rollout = f.Rollout(); p.Rollout == nil {
		p.Rollout = f.coordinatorChange()
	}
	p.FullyReplicated, p.Zones = fullyReplicated(database), f.Tolerance().Zones
	return p
}

// fullyReplicated returns whether all data has its copies; nil when unknown.
func fullyReplicated(v DatabaseView) *bool {
	switch {
	case v.FullReplication == nil || v.Replicas == nil:
		return nil
	default:
		return new(*v.FullReplication && *v.Replicas >= v.ReplicasDesired)
	}
}

// Replacements returns how far the replacement of each process group is that is marked for removal; those
// that have come farthest first, but those that only wait for their inclusion last. It adds what is left on excluded processes to the history.
func (f Facts) Replacements(h *DrainHistory) []reconcile.Replacement {
	var begun, later, deleted []reconcile.Replacement
	for _, g := range f.Groups() {
		if !g.IsMarkedForRemoval() {
			continue
		}
		switch r := f.replacement(g, h); {
		case r.State(reconcile.PhaseDeleted) == reconcile.PhaseDone:
			deleted = append(deleted, r)
		case r.State(reconcile.PhaseDrained) == reconcile.PhasePending:
			later = append(later, r)
		default:
			begun = append(begun, r)
		}
	}
	return slices.Concat(begun, later, deleted)
}

// exclusions returns how far the exclusion of each process group is that stays in the cluster, until nothing depends on it. One
// that was under way before, and is unknown now, has not ended.
func (f Facts) exclusions(before []reconcile.Replacement, h *DrainHistory) []reconcile.Replacement {
	var all []reconcile.Replacement
	for _, g := range f.Groups() {
		r := reconcile.Replacement{ID: string(g.ProcessGroupID)}
		switch state := f.drainedPhase(g); {
		case g.IsMarkedForRemoval():
			continue
		case state == reconcile.PhaseRunning:
			r.Phases = exclusionPhases(reconcile.PhaseDone, state)
			f.addDrain(&r, g, h)
		case state == reconcile.PhaseUnknown && wasExcluded(before, r.ID):
			r.Phases = exclusionPhases(reconcile.PhaseUnknown, state)
		default:
			continue
		}
		all = append(all, r)
	}
	return all
}

func exclusionPhases(excluded, drained reconcile.PhaseState) []reconcile.Phase {
	return []reconcile.Phase{{Name: reconcile.PhaseExcluded, State: excluded}, {Name: reconcile.PhaseDrained, State: drained}}
}

func wasExcluded(before []reconcile.Replacement, id string) bool {
	return slices.ContainsFunc(before, func(r reconcile.Replacement) bool {
		return r.ID == id && IsExclusion(r)
	})
}

// IsExclusion reports whether a process group is drained and stays in the cluster.
func IsExclusion(r reconcile.Replacement) bool {
	return len(r.Phases) > 0 && r.Phases[0].Name == reconcile.PhaseExcluded
}

// coordinatorChange returns how far the coordinators are off process groups that are removed or excluded; nil where none of them
// has a coordinator, and where that is unknown.
func (f Facts) coordinatorChange() *reconcile.Rollout {
	v := NewCoordinatorListView(Metadata{}, f)
	staying := 0
	for _, c := range v.Items {
		switch {
		case c.Removing == nil:
			return nil
		case !*c.Removing:
			staying++
		}
	}
	if staying == len(v.Items) {
		return nil
	}
	return &reconcile.Rollout{Kind: reconcile.RolloutCoordinators, Phases: []reconcile.RolloutPhase{
		{Name: reconcile.RolloutOfCoordinators, Done: &staying, Total: v.Desired}, {Name: reconcile.RolloutOfAnswers, Done: v.Reachable, Total: len(v.Items)},
	}}
}

func (f Facts) replacement(g *v1beta2.ProcessGroupStatus, h *DrainHistory) reconcile.Replacement {
	r := reconcile.Replacement{ID: string(g.ProcessGroupID)}
	if g.RemovalTimestamp != nil {
		r.Since = Known(g.RemovalTimestamp.Time)
	}
	next := f.successors(g)
	drained := f.drainedPhase(g)
	deleted := f.deletedPhase(g, drained)
	r.Phases = []reconcile.Phase{
		{Name: reconcile.PhaseMarked, State: reconcile.PhaseDone},
		{Name: reconcile.PhaseCreated, State: f.createdPhase(next)},
		{Name: reconcile.PhaseJoined, State: f.joinedPhase(next)},
		{Name: reconcile.PhaseDrained, State: drained},
		{Name: reconcile.PhaseDeleted, State: deleted},
		{Name: reconcile.PhaseIncluded, State: includedPhase(deleted)},
	}
	if drained == reconcile.PhaseRunning {
		f.addDrain(&r, g, h)
	}
	if drained == reconcile.PhasePending {
		r.Blocker = f.blocker(next)
	}
	return r
}

// successors are the process groups that take the place of one that is marked for removal.
type successors struct {
	// missing is how many of its class are not in the status yet.
	missing int
	// groups are those of its class whose pods were created since it was marked, or do not exist.
	groups []*v1beta2.ProcessGroupStatus
}

func (f Facts) successors(of *v1beta2.ProcessGroupStatus) successors {
	var s successors
	current := 0
	for _, g := range f.Groups() {
		if g.ProcessClass != of.ProcessClass || g.IsMarkedForRemoval() {
			continue
		}
		current++
		pod := f.Pod(g)
		if pod == nil || of.RemovalTimestamp != nil && !pod.CreationTimestamp.Time.Before(of.RemovalTimestamp.Time) {
			s.groups = append(s.groups, g)
		}
	}
	s.missing = max(0, f.Cluster.DesiredProcessCounts()[of.ProcessClass]-current)
	return s
}

func (f Facts) createdPhase(next successors) reconcile.PhaseState {
	switch {
	case next.missing > 0:
		return reconcile.PhasePending
	case f.Pods == nil:
		return reconcile.PhaseUnknown
	case len(next.groups) == 0:
		return reconcile.PhaseSkipped
	}
	for _, g := range next.groups {
		if f.Pod(g) == nil {
			return reconcile.PhaseRunning
		}
	}
	return reconcile.PhaseDone
}

func (f Facts) joinedPhase(next successors) reconcile.PhaseState {
	switch created := f.createdPhase(next); {
	case created == reconcile.PhaseRunning:
		return reconcile.PhasePending
	case created != reconcile.PhaseDone:
		return created
	case !f.Database.Status.ListsProcesses():
		return reconcile.PhaseUnknown
	}
	if slices.ContainsFunc(next.groups, f.isNotReporting) {
		return reconcile.PhaseRunning
	}
	return reconcile.PhaseDone
}

// drainedPhase returns whether nothing depends on a process group. What a pass recorded counts once
// its pod does not exist any more: until then a recovery makes the proof void.
func (f Facts) drainedPhase(g *v1beta2.ProcessGroupStatus) reconcile.PhaseState {
	if g.IsExcluded() && f.Pods != nil && f.Pod(g) == nil {
		return reconcile.PhaseDone
	}
	switch f.Exclusion(g) {
	case ExclusionSafe:
		return reconcile.PhaseDone
	case ExclusionSkipped:
		return reconcile.PhaseSkipped
	case ExclusionMoving, ExclusionRequested, ExclusionUnverified:
		return reconcile.PhaseRunning
	case ExclusionPending, NotExcluded:
		return reconcile.PhasePending
	case ExclusionUnknown:
		return reconcile.PhaseUnknown
	}
	return reconcile.PhaseUnknown
}

func (f Facts) deletedPhase(g *v1beta2.ProcessGroupStatus, drained reconcile.PhaseState) reconcile.PhaseState {
	if drained != reconcile.PhaseDone && drained != reconcile.PhaseSkipped {
		return reconcile.PhasePending
	}
	if f.Pods == nil || f.Volumes == nil {
		return reconcile.PhaseUnknown
	}
	pod, pvc := f.Pod(g), f.Volumes[g.PVCName(f.Cluster)]
	switch {
	case pod == nil && pvc == nil:
		return reconcile.PhaseDone
	case pod == nil || pod.DeletionTimestamp != nil || pvc != nil && pvc.DeletionTimestamp != nil:
		return reconcile.PhaseRunning
	default:
		return reconcile.PhasePending
	}
}

// includedPhase returns the phase that ends with the entry in the status: of a process group that is
// there, it has not ended.
func includedPhase(deleted reconcile.PhaseState) reconcile.PhaseState {
	if deleted == reconcile.PhaseDone {
		return reconcile.PhaseRunning
	}
	return reconcile.PhasePending
}

// addDrain adds which roles and how much data all processes of a group have left, and for how long it moves. What is
// unknown of one of them is unknown of the group. A nil history keeps nothing.
func (f Facts) addDrain(r *reconcile.Replacement, g *v1beta2.ProcessGroupStatus, h *DrainHistory) {
	if h == nil {
		h = &DrainHistory{}
	}
	rows := f.drains(g, ExclusionQuestion{Named: true}, h)
	for _, row := range rows {
		r.Roles = append(r.Roles, row.Roles...)
	}
	slices.Sort(r.Roles)
	r.Roles = slices.Compact(r.Roles)
	r.LeftBytes = sumOf(rows, func(v DrainView) *int64 { return v.LeftBytes })
	r.MovedBytes = sumOf(rows, func(v DrainView) *int64 { return v.MovedBytes })
	moving := slices.DeleteFunc(rows, func(v DrainView) bool { return v.LeftBytes != nil && *v.LeftBytes == 0 })
	r.RateBytesPerSecond = sumOf(moving, func(v DrainView) *float64 { return v.RateBytesPerSecond })
	r.SoonestSeconds = maxOf(moving, func(v DrainView) *float64 { return v.ETASecondsSoonest })
	r.LatestSeconds = maxOf(moving, func(v DrainView) *float64 { return v.ETASecondsLatest })
	for _, row := range moving {
		if row.StalledSeconds != nil {
			r.StalledSeconds = row.StalledSeconds
		}
	}
}

// sumOf returns the sum of the numbers of all rows; nil if one of them is, or there is none.
func sumOf[N int64 | float64](rows []DrainView, of func(DrainView) *N) *N {
	return combined(rows, of, func(a, b N) N { return a + b })
}

// maxOf returns the largest number of all rows; nil if one of them is, or there is none.
func maxOf(rows []DrainView, of func(DrainView) *float64) *float64 {
	return combined(rows, of, func(a, b float64) float64 { return max(a, b) })
}

func combined[N int64 | float64](rows []DrainView, of func(DrainView) *N, with func(a, b N) N) *N {
	var all *N
	for _, row := range rows {
		switch one := of(row); {
		case one == nil:
			return nil
		case all == nil:
			all = new(*one)
		default:
			all = new(with(*all, *one))
		}
	}
	return all
}

// blockers are the problems of a new pod that time alone does not end.
var blockers = map[ProblemCode]bool{ProblemUnscheduled: true, ProblemCannotStart: true, ProblemExited: true, ProblemEnded: true, ProblemNode: true}

// blocker returns what keeps the first of the successors from starting; nil for nothing. A pod that the
// scheduler has not seen yet is not blocked.
func (f Facts) blocker(next successors) *reconcile.Blocker {
	for _, g := range next.groups {
		t := f.ProblemOf(g)
		if t == nil || t.Passes || !blockers[t.Key.Code] || t.Key.Code == ProblemUnscheduled && t.Key.Reason == "" {
			continue
		}
		return &reconcile.Blocker{Group: string(g.ProcessGroupID), Code: string(t.Key.Code), Message: OneLine(t.Message), Since: Known(t.Since)}
	}
	return nil
}

// ReplacementColumns are the columns of the process groups that are being replaced.
var ReplacementColumns = []list.Column[reconcile.Replacement]{
	{Title: "PROCESS GROUP", Meaning: "ID of the process group that is replaced or drained", Min: 14, Cell: func(_ list.At, r reconcile.Replacement) list.Cell { return list.Text(r.ID) }},
	{Title: "PHASE", Meaning: "Phase of its replacement or exclusion; ? where it is unknown", Typical: 9, Cell: func(_ list.At, r reconcile.Replacement) list.Cell {
		return list.Text(currentPhaseWord(r)).In(ReplacementTone(r))
	}},
	{Title: "MARKED", Meaning: "Age of its mark for removal; - for one that stays", Typical: 7, Right: true, Drop: 1, Cell: func(at list.At, r reconcile.Replacement) list.Cell { return list.Text(at.Age(r.Since)) }},
	{Title: "PROGRESS", Meaning: "What moves off it, or what keeps its successor from starting", Min: 16, Cell: func(_ list.At, r reconcile.Replacement) list.Cell {
		return list.Text(progressWords(r)).In(ReplacementTone(r))
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
	reconcile.PhaseExcluded: {"excluded", "excluding", "exclude"},
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
