package v1beta2

import (
	"slices"
	"time"
)

// ProcessGroupConditionType names something about a process group that is not
// as desired.
type ProcessGroupConditionType string

// The conditions.
const (
	// ConditionIncorrectPodSpec is a pod that was made from another spec.
	ConditionIncorrectPodSpec ProcessGroupConditionType = "IncorrectPodSpec"
	// ConditionIncorrectPodMetadata is a label or annotation that differs.
	ConditionIncorrectPodMetadata ProcessGroupConditionType = "IncorrectPodMetadata"
	// ConditionIncorrectConfigMap is a pod that has not taken the config map.
	ConditionIncorrectConfigMap ProcessGroupConditionType = "IncorrectConfigMap"
	// ConditionIncorrectCommandLine is a server that runs with other arguments.
	ConditionIncorrectCommandLine ProcessGroupConditionType = "IncorrectCommandLine"
	// ConditionIncorrectSidecarImage is a sidecar of another version.
	ConditionIncorrectSidecarImage ProcessGroupConditionType = "IncorrectSidecarImage"
	// ConditionPodFailing is a pod that failed, is not ready, or does not end.
	ConditionPodFailing ProcessGroupConditionType = "PodFailing"
	// ConditionPodPending is a pod that has not started.
	ConditionPodPending ProcessGroupConditionType = "PodPending"
	// ConditionMissingPod is a pod that does not exist.
	ConditionMissingPod ProcessGroupConditionType = "MissingPod"
	// ConditionMissingPVC is a volume claim that does not exist or has other
	// labels or annotations.
	ConditionMissingPVC ProcessGroupConditionType = "MissingPVC"
	// ConditionMissingService is a service that does not exist.
	ConditionMissingService ProcessGroupConditionType = "MissingService"
	// ConditionMissingProcesses is a server the database does not know.
	ConditionMissingProcesses ProcessGroupConditionType = "MissingProcesses"
	// ConditionResourcesTerminating is a removed process group whose pod,
	// volume or service is still there.
	ConditionResourcesTerminating ProcessGroupConditionType = "ResourcesTerminating"
	// ConditionSidecarUnreachable is a sidecar that does not answer.
	ConditionSidecarUnreachable ProcessGroupConditionType = "SidecarUnreachable"
	// ConditionReady is the absence of all others. It is never stored.
	ConditionReady ProcessGroupConditionType = "Ready"
	// ConditionNodeTaintDetected is a node with a taint we look for.
	ConditionNodeTaintDetected ProcessGroupConditionType = "NodeTaintDetected"
	// ConditionNodeTaintReplacing is such a taint that is older than allowed.
	ConditionNodeTaintReplacing ProcessGroupConditionType = "NodeTaintReplacing"
	// ConditionProcessIsMarkedAsExcluded is an excluded server of a process
	// group that is not being removed.
	ConditionProcessIsMarkedAsExcluded ProcessGroupConditionType = "ProcessIsMarkedAsExcluded"
	// ConditionProcessHasIOError is a server that reports an I/O error.
	ConditionProcessHasIOError ProcessGroupConditionType = "ProcessHasIOError"
	// ConditionProcessHasHighRunLoopBusy is a server without time to spare.
	// It is for information and keeps no generation from being reached.
	ConditionProcessHasHighRunLoopBusy ProcessGroupConditionType = "ProcessHasHighRunLoopBusy"
)

// ReplacementConditions are the conditions that, when they last, make an
// automatic replacement due. The caller owns the slice.
func ReplacementConditions() []ProcessGroupConditionType {
	return []ProcessGroupConditionType{
		ConditionPodFailing, ConditionPodPending, ConditionMissingPod, ConditionMissingPVC,
		ConditionMissingService, ConditionMissingProcesses, ConditionSidecarUnreachable,
		ConditionNodeTaintReplacing, ConditionProcessIsMarkedAsExcluded, ConditionProcessHasIOError,
		ConditionProcessHasHighRunLoopBusy,
	}
}

// IsInformational reports whether a condition is there to be read only: a
// process group that has no other is as desired. The operator calls
// ProcessHasHighRunLoopBusy informational too, yet never calls a cluster
// reconciled that has it.
func (t ProcessGroupConditionType) IsInformational() bool {
	return t == ConditionProcessHasHighRunLoopBusy
}

// Condition tells since when the process group has a condition, if it has it.
func (s *ProcessGroupStatus) Condition(t ProcessGroupConditionType) (since time.Time, ok bool) {
	for _, c := range s.ProcessGroupConditions {
		if c.Type == t {
			return time.Unix(c.Timestamp, 0).UTC(), true
		}
	}
	return time.Time{}, false
}

// HasCondition reports whether the process group has a condition.
func (s *ProcessGroupStatus) HasCondition(t ProcessGroupConditionType) bool {
	_, ok := s.Condition(t)
	return ok
}

// SetCondition adds a condition. The time of an earlier one stays. A process
// group of which only resources are left takes ResourcesTerminating alone:
// that its pod is missing is how it should be.
func (s *ProcessGroupStatus) SetCondition(t ProcessGroupConditionType, now time.Time) {
	if s.HasCondition(t) || (s.IsGone() && !s.outlivesRemoval(t)) {
		return
	}
	s.ProcessGroupConditions = append(s.ProcessGroupConditions, &ProcessGroupCondition{Type: t, Timestamp: now.Unix()})
}

// BackdateCondition moves the beginning of a condition that holds to an earlier time:
// it turned out to have been so before anybody looked. It never moves it to a later one.
func (s *ProcessGroupStatus) BackdateCondition(t ProcessGroupConditionType, since time.Time) {
	for _, c := range s.ProcessGroupConditions {
		if c.Type == t {
			c.Timestamp = min(c.Timestamp, since.Unix())
		}
	}
}

// outlivesRemoval reports whether a condition still means something for a group of which
// only resources are left. Of one that was not drained it matters since when it is silent.
func (s *ProcessGroupStatus) outlivesRemoval(t ProcessGroupConditionType) bool {
	return t == ConditionResourcesTerminating || (s.ExclusionSkipped && t == ConditionMissingProcesses)
}

// ClearCondition takes a condition away.
func (s *ProcessGroupStatus) ClearCondition(t ProcessGroupConditionType) {
	s.ProcessGroupConditions = slices.DeleteFunc(s.ProcessGroupConditions, func(c *ProcessGroupCondition) bool {
		return c.Type == t
	})
}
