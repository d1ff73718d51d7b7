package waiting

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// WaitCondition is something that a script can wait for.
type WaitCondition struct {
	// Text is the condition as the user wrote it: "tolerance=2".
	Text string
	// evaluate decides the condition. It is met only if the facts show that.
	evaluate func(inspect.Facts) verdict
	// Exclusions is true if it needs the exclusions in force and in progress, also where the spec does not.
	Exclusions bool
	// Group is the process group that has to exist when the wait begins; empty for none.
	Group v1beta2.ProcessGroupID
}

// verdict is yes, no or unknown, with the reason when it is not yes.
type verdict struct {
	met    *bool
	reason string
}

func yes() verdict { return verdict{met: new(true)} }

func no(reason string) verdict { return verdict{met: new(false), reason: reason} }

func unknown(reason string) verdict { return verdict{reason: reason} }

// WaitAvailable holds when the database itself reports that it is available.
func WaitAvailable() WaitCondition { return WaitCondition{Text: "available", evaluate: isAvailable} }

// WaitHealthy holds when the state that status shows is healthy, the last recovery has ended
// and data distribution reports healthy data.
func WaitHealthy() WaitCondition { return WaitCondition{Text: "healthy", evaluate: isHealthy} }

// WaitReconciled holds when the cluster matches its spec.
func WaitReconciled() WaitCondition { return WaitCondition{Text: "reconciled", evaluate: isReconciled} }

// WaitFullyReplicated holds when all data and all logs have all their copies.
func WaitFullyReplicated() WaitCondition {
	return WaitCondition{Text: "fully-replicated", evaluate: isFullyReplicated}
}

// WaitTolerance holds when as many more zones may fail without loss of data.
func WaitTolerance(zones int) WaitCondition {
	return WaitCondition{Text: fmt.Sprintf("tolerance=%d", zones), evaluate: func(f inspect.Facts) verdict { return tolerates(f, zones) }}
}

// WaitNoExclusions holds when the database has no exclusions.
func WaitNoExclusions() WaitCondition {
	return WaitCondition{Text: "exclusions=none", evaluate: hasNoExclusions}
}

// WaitExclusionsSafe holds when the database depends on nothing that is excluded, or is to be.
func WaitExclusionsSafe() WaitCondition {
	return WaitCondition{Text: "exclusions=safe", Exclusions: true, evaluate: func(f inspect.Facts) verdict { return areSafe(f, inspect.ExclusionQuestion{}) }}
}

// WaitSafe holds when a process group is excluded and the database depends on nothing of it, or when it was
// removed during the wait.
func WaitSafe(id v1beta2.ProcessGroupID) WaitCondition {
	return WaitCondition{Text: fmt.Sprintf("pg=%s:safe", id), Exclusions: true, Group: id, evaluate: func(f inspect.Facts) verdict { return isSafe(f, id) }}
}

// WaitBackup holds when a backup matches its spec, see Wait.Report.
func WaitBackup() WaitCondition { return WaitCondition{Text: "reconciled"} }

// WaitRestore holds when a restore is done, see Wait.Report.
func WaitRestore() WaitCondition { return WaitCondition{Text: "done"} }

// WaitRemoved holds when nothing of a process group is left: no status entry, no process,
// no exclusion, and no object.
func WaitRemoved(id v1beta2.ProcessGroupID) WaitCondition {
	return WaitCondition{Text: fmt.Sprintf("pg=%s:removed", id), evaluate: func(f inspect.Facts) verdict { return isRemoved(f, id) }}
}

// WaitNoCondition holds when no process group has the condition.
func WaitNoCondition(c v1beta2.ProcessGroupConditionType) WaitCondition {
	return WaitCondition{Text: fmt.Sprintf("no-condition=%s", c), evaluate: func(f inspect.Facts) verdict { return noneHas(f, c) }}
}

// WaitLockFree holds when no run holds the Lease and no control-plane instance the lock.
func WaitLockFree() WaitCondition { return WaitCondition{Text: "lock-free", evaluate: isUnlocked} }

// WaitVersion holds when all expected processes report, all of them with this version.
func WaitVersion(v fdb.Version) WaitCondition {
	return WaitCondition{Text: "version=" + v.String(), evaluate: func(f inspect.Facts) verdict { return runs(f, v) }}
}

// WaitView is the document of `wait`.
type WaitView struct {
	inspect.Document
	// Resource is what is waited for.
	Resource Resource `json:"resource"`
	// Met is whether every condition holds, and has held for the requested time.
	Met bool `json:"met"`
	// StableSeconds is how long all conditions have to hold in every snapshot.
	StableSeconds float64 `json:"stableSeconds"`
	// WaitedSeconds is from the first snapshot to the last.
	WaitedSeconds float64         `json:"waitedSeconds"`
	Conditions    []WaitedForView `json:"conditions"`
}

// Resource is the resource that a wait is about.
type Resource struct {
	// Kind is its kind in manifests: "FoundationDBCluster".
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// WaitedForView is one condition in the last snapshot.
type WaitedForView struct {
	Condition string `json:"condition"`
	// Met is null when unknown.
	Met *bool `json:"met"`
	// Since is the first snapshot since which the condition has held in every one; null when
	// it does not hold.
	Since *time.Time `json:"since"`
	// Reason is why the condition is not proven; empty when it holds.
	Reason string `json:"reason,omitempty"`
}

// Progress is how far a backup or restore was in one snapshot.
type Progress struct {
	// Met is null when unknown.
	Met *bool
	// Reason is why it is not met.
	Reason string
	// Over is true if it never will be.
	Over bool
}

// Wait evaluates one snapshot of a cluster, backup or restore after another.
type Wait struct {
	// Resource is what the conditions are about.
	Resource Resource
	// Conditions must all hold.
	Conditions []WaitCondition
	// Stable is how long they must, in every snapshot; 0 is once.
	Stable time.Duration

	view  WaitView
	began time.Time
	over  bool
}

// Evaluate evaluates what was observed.
func (w *Wait) Evaluate(m inspect.Metadata, f inspect.Facts) {
	w.judge(m, f.Now, func(c WaitCondition) verdict { return c.evaluate(f) })
	w.view.Warnings = append(w.view.Warnings, f.Warnings...)
}

// Report takes over the progress of a backup or restore, which has one condition.
func (w *Wait) Report(m inspect.Metadata, now time.Time, p Progress) {
	answer := verdict{met: p.Met, reason: p.Reason}
	if p.Met != nil && *p.Met {
		answer = yes()
	}
	w.judge(m, now, func(WaitCondition) verdict { return answer })
	w.over = p.Over && answer.reason != ""
}

// Over reports whether the conditions will never hold.
func (w *Wait) Over() bool { return w.over }

// NeedsExclusions reports whether a condition is about the progress of exclusions.
func (w *Wait) NeedsExclusions() bool {
	return slices.ContainsFunc(w.Conditions, func(c WaitCondition) bool { return c.Exclusions })
}

// Miss is for an observation that failed: every condition is unknown.
func (w *Wait) Miss(m inspect.Metadata, now time.Time, why string) {
	w.judge(m, now, func(WaitCondition) verdict { return unknown(inspect.OneLine(why)) })
}

func (w *Wait) judge(m inspect.Metadata, now time.Time, ask func(WaitCondition) verdict) {
	if w.began.IsZero() {
		w.began = now
	}
	before := w.view.Conditions
	w.view = WaitView{
		Document: inspect.NewDocument("WaitResult", m, now, inspect.SourceLive), Resource: w.Resource, StableSeconds: w.Stable.Seconds(),
		WaitedSeconds: now.Sub(w.began).Seconds(), Conditions: make([]WaitedForView, len(w.Conditions)),
	}
	for i, c := range w.Conditions {
		answer := ask(c)
		seen := WaitedForView{Condition: c.Text, Met: answer.met, Reason: answer.reason}
		if seen.holds() {
			seen.Since = inspect.Known(now)
			if before != nil && before[i].Since != nil {
				seen.Since = before[i].Since
			}
		}
		w.view.Conditions[i] = seen
	}
	w.view.Met = w.allHold() && w.Left() <= 0
}

func (v WaitedForView) holds() bool { return v.Met != nil && *v.Met }

func (w *Wait) allHold() bool {
	return !slices.ContainsFunc(w.view.Conditions, func(c WaitedForView) bool { return !c.holds() })
}

// Left returns how much longer all conditions must hold; the whole time while one of them
// does not.
func (w *Wait) Left() time.Duration {
	if !w.allHold() {
		return w.Stable
	}
	var last time.Time
	for _, c := range w.view.Conditions {
		if c.Since.After(last) {
			last = *c.Since
		}
	}
	return w.Stable - w.view.AsOf.Sub(last)
}

// View returns the document of the last snapshot. Without one it has no conditions.
func (w *Wait) View() WaitView { return w.view }

// Reason returns what is waited for. It changes only when that does.
func (w *Wait) Reason() string {
	if w.allHold() {
		return fmt.Sprintf("all conditions hold; %s required", w.Stable)
	}
	var reasons []string
	for _, c := range w.view.Conditions {
		if !c.holds() {
			reasons = append(reasons, c.Condition+": "+c.Reason)
		}
	}
	return strings.Join(reasons, "; ")
}
