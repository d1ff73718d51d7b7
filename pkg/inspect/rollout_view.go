package inspect

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// RolloutKind is what a change of the spec does to process groups.
type RolloutKind string

// The kinds, each covering the following ones.
const (
	RolloutUpgrade RolloutKind = "upgrade"
	// RolloutPods recreates pods, or replaces their process groups, because of another pod spec.
	RolloutPods RolloutKind = "pods"
	// RolloutProcesses restarts processes with other arguments.
	RolloutProcesses RolloutKind = "processes"
)

// RolloutView is a change that reaches the process groups of a cluster one after the other, and how far
// it is. It is derived from what was observed, so that every run and every user sees the same.
type RolloutView struct {
	Kind RolloutKind `json:"kind"`
	// From and To are the versions of an upgrade; empty for other kinds.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Phases are in the order in which the change reaches them.
	Phases []RolloutPhase `json:"phases"`
}

// RolloutPhase is how many of the processes, or pods, the change has reached.
type RolloutPhase struct {
	Name RolloutPhaseName `json:"name"`
	// Done is null when unknown: the database lists no processes.
	Done  *int `json:"done"`
	Total int  `json:"total"`
}

// RolloutPhaseName is what the change reaches together.
type RolloutPhaseName string

// The phases.
const (
	RolloutOfProcesses   RolloutPhaseName = "processes"
	RolloutOfTransaction RolloutPhaseName = "transaction-pods"
	RolloutOfStorage     RolloutPhaseName = "storage-pods"
)

// Rollout returns the change that is reaching the process groups; nil for none.
func (f Facts) Rollout() *RolloutView {
	if !f.Cluster.Status.Configured {
		return nil
	}
	switch from := f.upgradesFrom(); {
	case from != "":
		to := f.Cluster.Spec.Version
		return &RolloutView{Kind: RolloutUpgrade, From: from, To: to, Phases: append([]RolloutPhase{f.inVersion(to)}, f.podPhases()...)}
	case f.anyHas(v1beta2.ConditionIncorrectPodSpec):
		return &RolloutView{Kind: RolloutPods, Phases: f.podPhases()}
	case f.anyHas(v1beta2.ConditionIncorrectCommandLine):
		return &RolloutView{Kind: RolloutProcesses, Phases: []RolloutPhase{f.without(RolloutOfProcesses, v1beta2.ConditionIncorrectCommandLine, anyClass)}}
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
func (f Facts) inVersion(version string) RolloutPhase {
	phase := RolloutPhase{Name: RolloutOfProcesses}
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

func (f Facts) podPhases() []RolloutPhase {
	isStorage := func(c v1beta2.ProcessClass) bool { return c == v1beta2.ProcessClassStorage }
	all := []RolloutPhase{
		f.without(RolloutOfTransaction, v1beta2.ConditionIncorrectPodSpec, func(c v1beta2.ProcessClass) bool { return !isStorage(c) }),
		f.without(RolloutOfStorage, v1beta2.ConditionIncorrectPodSpec, isStorage),
	}
	var some []RolloutPhase
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
func (f Facts) without(name RolloutPhaseName, condition v1beta2.ProcessGroupConditionType, of func(v1beta2.ProcessClass) bool) RolloutPhase {
	phase := RolloutPhase{Name: name, Done: new(int)}
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

// Text describes the rollout: "upgrade 7.3.79 → 7.4.6: processes 16 of 16, storage pods 0 of 3".
func (v RolloutView) Text() string {
	words := map[RolloutKind]string{
		RolloutUpgrade: "upgrade " + v.From + " → " + v.To, RolloutPods: "new pod spec", RolloutProcesses: "new arguments",
	}[v.Kind]
	phases := make([]string, len(v.Phases))
	for i, p := range v.Phases {
		phases[i] = p.words()
	}
	return words + ": " + phrase.List(phases)
}

func (p RolloutPhase) words() string {
	name := map[RolloutPhaseName]string{
		RolloutOfProcesses: "processes", RolloutOfTransaction: "transaction pods", RolloutOfStorage: "storage pods",
	}[p.Name]
	if p.Done == nil {
		return name + " " + phrase.Unknown
	}
	if *p.Done >= p.Total {
		return name + " done"
	}
	return fmt.Sprintf("%s %d of %d", name, *p.Done, p.Total)
}
