package status

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// verdict is what the facts prove about one condition of one process group.
type verdict int

const (
	keep    verdict = iota // unknown: the condition stays as it was
	holds                  // the condition is true
	cleared                // the condition is false
)

func verdictOf(is bool) verdict {
	if is {
		return holds
	}
	return cleared
}

// condition determines one condition of a process group.
type condition struct {
	name  v1beta2.ProcessGroupConditionType
	judge func(GroupFacts) (verdict, error)
}

// judgeGroup updates every condition that the state of the pod allows to determine. An
// unknown condition stays as it was.
func judgeGroup(f GroupFacts) error {
	resetExclusion(f)
	for _, c := range conditionsFor(f) {
		v, err := c.judge(f)
		if objects.IsPodValue(err) {
			continue // unknown for this pod
		}
		if err != nil {
			return err
		}
		switch v {
		case holds:
			f.Group.SetCondition(c.name, f.S.Now)
			f.Group.BackdateCondition(c.name, f.began(c.name))
		case cleared:
			f.Group.ClearCondition(c.name)
		case keep:
		}
	}
	return nil
}

// began returns since when a condition that is true now has been true, as far as known.
func (f GroupFacts) began(name v1beta2.ProcessGroupConditionType) time.Time {
	if name == v1beta2.ConditionNodeTaintDetected {
		return f.taintedSince()
	}
	return f.S.Now
}

// The conditions to determine, by what is left of a group.
var (
	whenRemoved    = []condition{missingPod, missingService, resourcesTerminating, incorrectCommandLine, nodeTaintDetected, nodeTaintReplacing}
	whenEnding     = []condition{missingPod, missingService, resourcesTerminating, podFailing, incorrectCommandLine, nodeTaintDetected, nodeTaintReplacing}
	aboutProcesses = []condition{missingPod, missingProcesses, sidecarUnreachable, incorrectCommandLine, markedAsExcluded, ioError, highRunLoopBusy}
	aboutObjects   = []condition{incorrectPodSpec, incorrectSidecarImage, incorrectPodMetadata, incorrectConfigMap, missingPVC, missingService, podPending, nodeTaintDetected, nodeTaintReplacing}
	whenPending    = slices.Concat(aboutProcesses, aboutObjects)
	whenRunning    = slices.Concat(whenPending, []condition{podFailing})
)

// conditionsFor returns the conditions to determine, by what is left of the group.
func conditionsFor(f GroupFacts) []condition {
	switch {
	case f.UnderMaintenance():
		return nil // planned restarts are no failures
	case f.pod == nil:
		return f.andProcesses(whenRemoved)
	case f.pod.DeletionTimestamp != nil && (f.Group.IsRemovable() || f.endsTooSlowly()):
		return f.andProcesses(whenEnding)
	case f.isPending():
		return whenPending
	default:
		return whenRunning
	}
}

// andProcesses adds the condition of processes for a group that is removed without having
// been drained: nothing else shows when its processes have ended.
func (f GroupFacts) andProcesses(conditions []condition) []condition {
	if !f.Group.IsRemovable() || !f.Group.ExclusionSkipped {
		return conditions
	}
	return slices.Concat(conditions, []condition{missingProcesses})
}

// UnderMaintenance reports whether the group's storage processes are in the zone under
// maintenance, and so may be down for a while.
func (f GroupFacts) UnderMaintenance() bool {
	if f.S.Database.Status == nil || !f.Group.ProcessClass.IsAffectedByMaintenance() {
		return false
	}
	now, _ := f.S.Database.Status.Maintenance()
	return now.Zone != "" && now.Zone == string(f.Group.FaultDomain)
}

// resetExclusion clears the time of a group's exclusion when the group was included again:
// data may be back, and a group with that time would never be excluded again.
func resetExclusion(f GroupFacts) {
	if f.Group.ExclusionSkipped || f.Group.ExclusionTimestamp == nil || !f.hasObjects() {
		return
	}
	for _, p := range f.processes {
		if p.IsExcluded() {
			return
		}
	}
	if len(f.processes) < f.servers && !listsNoExclusionOf(f) {
		return
	}
	f.Group.ExclusionTimestamp = nil
}

// hasObjects reports whether the group's pod or PVC still exists. The exclusion of a removed
// group ends before its entry in the status, and a run may have ended between the two.
func (f GroupFacts) hasObjects() bool {
	return f.pod != nil || f.S.Volumes[f.Group.PVCName(f.S.Cluster)] != nil
}

// listsNoExclusionOf reports whether the database lists its exclusions, and none of them
// applies to the group. Nothing more is known about processes that do not report.
func listsNoExclusionOf(f GroupFacts) bool {
	status := f.S.Database.Status
	if status == nil || !status.Available() || status.Cluster.Configuration == nil {
		return false
	}
	return !slices.ContainsFunc(status.ExcludedTargets(), func(target string) bool {
		return target == f.Group.ExclusionString() || slices.Contains(f.Group.Addresses, target)
	})
}
