package inspect

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// Rollout returns the change that is reaching the process groups; nil for none.
func (f Facts) Rollout() *reconcile.Rollout {
	if !f.Cluster.Status.Configured {
		return nil
	}
	switch from := f.upgradesFrom(); {
	case from != "":
		to := f.Cluster.Spec.Version
		return &reconcile.Rollout{Kind: reconcile.RolloutUpgrade, From: from, To: to, Phases: append([]reconcile.RolloutPhase{f.inVersion(to)}, f.podPhases()...)}
	case f.anyHas(v1beta2.ConditionIncorrectPodSpec):
		return &reconcile.Rollout{Kind: reconcile.RolloutPods, Phases: f.podPhases()}
	case f.anyHas(v1beta2.ConditionIncorrectCommandLine):
		return &reconcile.Rollout{Kind: reconcile.RolloutProcesses, Phases: []reconcile.RolloutPhase{f.without(reconcile.RolloutOfProcesses, v1beta2.ConditionIncorrectCommandLine, anyClass)}}
	default:
		return nil
	}
}

// upgradesFrom returns the oldest version of the running database and of pods that stay, if it is not
// that of the spec; empty without such a difference.
func (f Facts) upgradesFrom() string {
	desired, err := fdb.ParseVersion(f.Cluster.Spec.Version)
	if err != nil {
		return ""
	}
	var oldest fdb.Version
	older := func(v fdb.Version) {
		if !v.IsZero() && v != desired && (oldest.IsZero() || v.Compare(oldest) < 0) {
			oldest = v
		}
	}
	if running, err := fdb.ParseVersion(f.Cluster.RunningVersion()); err == nil {
		older(running)
	}
	for _, g := range f.Groups() {
		if pod := f.Pod(g); pod != nil && !g.IsMarkedForRemoval() && g.HasCondition(v1beta2.ConditionIncorrectPodSpec) {
			older(readings.MainVersion(pod))
		}
	}
	if oldest.IsZero() {
		return ""
	}
	return oldest.String()
}

// inVersion counts the reporting processes of the cluster that run a version.
func (f Facts) inVersion(version string) reconcile.RolloutPhase {
	phase := reconcile.RolloutPhase{Name: reconcile.RolloutOfProcesses}
	done := 0
	for _, g := range f.Groups() {
		if g.IsMarkedForRemoval() {
			continue
		}
		phase.Total += f.processCountOf(g)
		for _, p := range f.ProcessesOf(g) {
			if readings.Released(p) == version {
				done++
			}
		}
	}
	if f.Database.Status.ListsProcesses() {
		phase.Done = &done
	}
	return phase
}

func (f Facts) podPhases() []reconcile.RolloutPhase {
	isStorage := func(c v1beta2.ProcessClass) bool { return c == v1beta2.ProcessClassStorage }
	all := []reconcile.RolloutPhase{
		f.without(reconcile.RolloutOfTransaction, v1beta2.ConditionIncorrectPodSpec, func(c v1beta2.ProcessClass) bool { return !isStorage(c) }),
		f.without(reconcile.RolloutOfStorage, v1beta2.ConditionIncorrectPodSpec, isStorage),
	}
	var some []reconcile.RolloutPhase
	for _, p := range all {
		if p.Total > 0 {
			some = append(some, p)
		}
	}
	return some
}

func anyClass(v1beta2.ProcessClass) bool { return true }

// without counts the process groups of some classes that stay, and those of them without a condition
// whose pod exists and is not being deleted. Of those marked for removal only the replacements count.
func (f Facts) without(name reconcile.RolloutPhaseName, condition v1beta2.ProcessGroupConditionType, of func(v1beta2.ProcessClass) bool) reconcile.RolloutPhase {
	phase := reconcile.RolloutPhase{Name: name, Done: new(int)}
	for class, desired := range f.Cluster.DesiredProcessCounts() {
		if of(class) && desired > 0 {
			phase.Total += desired
		}
	}
	for _, g := range f.Groups() {
		pod := f.Pod(g)
		if of(g.ProcessClass) && !g.IsMarkedForRemoval() && !g.HasCondition(condition) && pod != nil && pod.DeletionTimestamp == nil {
			*phase.Done++
		}
	}
	*phase.Done = min(*phase.Done, phase.Total)
	return phase
}

func (f Facts) anyHas(condition v1beta2.ProcessGroupConditionType) bool {
	for _, g := range f.Groups() {
		if g.HasCondition(condition) && !g.IsMarkedForRemoval() {
			return true
		}
	}
	return false
}

// RolloutWhat names the change: "upgrade 7.3.79 → 7.4.6".
func RolloutWhat(v reconcile.Rollout) string {
	return map[reconcile.RolloutKind]string{
		reconcile.RolloutUpgrade: "upgrade " + v.From + " → " + v.To, reconcile.RolloutPods: "new pod spec", reconcile.RolloutProcesses: "new arguments",
		reconcile.RolloutCoordinators: "coordinator change",
	}[v.Kind]
}

// RolloutText describes the rollout: "upgrade 7.3.79 → 7.4.6: processes 16 of 16, storage pods 0 of 3".
func RolloutText(v reconcile.Rollout) string {
	phases := make([]string, len(v.Phases))
	for i, p := range v.Phases {
		phases[i] = RolloutPhaseWords(p)
	}
	return RolloutWhat(v) + ": " + phrase.List(phases)
}

// RolloutPhaseWords returns how far a phase is: "storage pods 0 of 3".
func RolloutPhaseWords(p reconcile.RolloutPhase) string {
	name := map[reconcile.RolloutPhaseName]string{
		reconcile.RolloutOfProcesses: "processes", reconcile.RolloutOfTransaction: "transaction pods", reconcile.RolloutOfStorage: "storage pods",
		reconcile.RolloutOfCoordinators: "coordinators that stay", reconcile.RolloutOfAnswers: "answers",
	}[p.Name]
	if p.Done == nil {
		return name + " " + phrase.Unknown
	}
	if *p.Done >= p.Total {
		return name + " done"
	}
	return fmt.Sprintf("%s %d of %d", name, *p.Done, p.Total)
}

// ReplacingView counts the process groups that are being replaced.
type ReplacingView struct {
	// Marked is how many are marked for removal now, and Done how many of the operation's targets have been removed
	// before.
	Marked int `json:"marked"`
	Done   int `json:"done"`
	// Total is how many the operation replaces; without one, Marked.
	Total int `json:"total"`
}

// Text describes the replacement: "replacing 2 of 3".
func (v ReplacingView) Text() string { return "replacing " + v.count() }

// count describes how many are replaced. Of several at once, "14 of 14" would read as nearly done.
func (v ReplacingView) count() string {
	switch groups := phrase.Count(v.Marked, "process group"); {
	case v.Marked == 1:
		return fmt.Sprintf("%d of %d", min(v.Done+1, v.Total), v.Total)
	case v.Total == v.Marked:
		return groups
	default:
		return fmt.Sprintf("%s, %d of %d done", groups, v.Done, v.Total)
	}
}

// replacing returns the replacement of process groups that is all there is to report of a cluster: all data has its copies,
// as many zones as desired may fail, and nothing but the data that moves keeps the database from calling itself
// healthy. A healthy database is headed by a replacement only while a run carries it out. Nil for none.
func (f Facts) replacing(v StatusView) *ReplacingView {
	marked := v.ProcessGroups.Removing
	operation := v.Locks.Operation
	active := operation != nil && operation.Active
	switch {
	case marked == 0, len(v.Deletions) > 0, v.Database.Replicas == nil, v.FaultTolerance.Zones == nil:
		return nil
	case v.State == StateHealthy && active:
	case v.State == StateDegraded && f.onlyMovesData(v):
	default:
		return nil
	}
	r := &ReplacingView{Marked: marked, Total: marked}
	if active && operation.Progress.Targets >= marked {
		r.Done, r.Total = operation.Progress.Reached, operation.Progress.Targets
	}
	return r
}

// onlyMovesData reports whether a degraded database is degraded only because data moves, and because processes that never
// reported before start without a problem.
func (f Facts) onlyMovesData(v StatusView) bool {
	if len(restrictionReasons(v.Restrictions)) > 0 {
		return false
	}
	switch v.Database.DataFault() {
	case NoFault, FaultDataState:
	case FaultUnhealthy:
		if !f.onlyMissesRemoved(v.Database) {
			return false
		}
	case FaultFewReplicas, FaultReplicationUnknown, FaultNotReplicated:
		return false
	}
	return !slices.ContainsFunc(f.withoutStarting().Degradations(v), func(d Degradation) bool { return d.Code != CodeReplication && d.Code != CodeUnhealthy })
}

// onlyMissesRemoved reports whether a database does not call itself healthy only because it still waits for the processes
// of drained process groups, whose pods were deleted: for some time it reports them as unreachable.
func (f Facts) onlyMissesRemoved(v DatabaseView) bool {
	removed := slices.ContainsFunc(f.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
		return g.IsMarkedForRemoval() && g.IsExcluded() && f.Pods != nil && f.Pod(g) == nil
	})
	return removed && len(v.Messages) > 0 && !slices.ContainsFunc(v.Messages, func(name string) bool {
		return name != fdb.MessageUnreachableProcesses && name != fdb.MessageIncomplete
	})
}

// withoutStarting returns the facts without the process groups that never reported and start without a problem.
func (f Facts) withoutStarting() Facts {
	cluster := *f.Cluster
	cluster.Status.ProcessGroups = slices.DeleteFunc(slices.Clone(f.Groups()), func(g *v1beta2.ProcessGroupStatus) bool {
		return !g.IsMarkedForRemoval() && g.FaultDomain == "" && f.isNotReporting(g) && f.blocker(successors{groups: []*v1beta2.ProcessGroupStatus{g}}) == nil
	})
	f.Cluster = &cluster
	return f
}

// replacingWords are the state of a cluster whose process groups are being replaced.
func (v StatusView) replacingWords() string {
	words := fmt.Sprintf("%s, %s", v.Database.replicationWords(), Losable(*v.FaultTolerance.Zones))
	if v.Database.MovingBytes != nil && *v.Database.MovingBytes > 0 {
		words += "; " + phrase.Bytes(*v.Database.MovingBytes) + " in flight"
	}
	return words
}
