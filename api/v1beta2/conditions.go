package v1beta2

import (
	"slices"
	"time"
)

// ProcessGroupConditionType names a deviation of a process group from its
// desired state.
type ProcessGroupConditionType string

// The conditions.
const (
	// ConditionIncorrectPodSpec is a pod that was created from another spec.
	ConditionIncorrectPodSpec ProcessGroupConditionType = "IncorrectPodSpec"
	// ConditionIncorrectPodMetadata is a label or annotation that differs.
	ConditionIncorrectPodMetadata ProcessGroupConditionType = "IncorrectPodMetadata"
	// ConditionIncorrectConfigMap is a pod that has not loaded the config map.
	ConditionIncorrectConfigMap ProcessGroupConditionType = "IncorrectConfigMap"
	// ConditionIncorrectCommandLine is a process that runs with other arguments.
	ConditionIncorrectCommandLine ProcessGroupConditionType = "IncorrectCommandLine"
	// ConditionIncorrectSidecarImage is a sidecar of another version.
	ConditionIncorrectSidecarImage ProcessGroupConditionType = "IncorrectSidecarImage"
	// ConditionPodFailing is a pod that failed, is not ready, or does not
	// terminate.
	ConditionPodFailing ProcessGroupConditionType = "PodFailing"
	// ConditionPodPending is a pod that has not started.
	ConditionPodPending ProcessGroupConditionType = "PodPending"
	// ConditionMissingPod is a pod that does not exist.
	ConditionMissingPod ProcessGroupConditionType = "MissingPod"
	// ConditionMissingPVC is a PVC that does not exist or has other labels or
	// annotations.
	ConditionMissingPVC ProcessGroupConditionType = "MissingPVC"
	// ConditionMissingService is a service that does not exist.
	ConditionMissingService ProcessGroupConditionType = "MissingService"
	// ConditionMissingProcesses is a process that does not report to the
	// database.
	ConditionMissingProcesses ProcessGroupConditionType = "MissingProcesses"
	// ConditionResourcesTerminating is a removed process group whose pod,
	// volume or service still exists.
	ConditionResourcesTerminating ProcessGroupConditionType = "ResourcesTerminating"
	// ConditionSidecarUnreachable is a sidecar that does not respond.
	ConditionSidecarUnreachable ProcessGroupConditionType = "SidecarUnreachable"
	// ConditionReady is the absence of all others. It is never stored.
	ConditionReady ProcessGroupConditionType = "Ready"
	// ConditionNodeTaintDetected is a node with a taint that has a rule.
	ConditionNodeTaintDetected ProcessGroupConditionType = "NodeTaintDetected"
	// ConditionNodeTaintReplacing is such a taint, older than its rule allows.
	ConditionNodeTaintReplacing ProcessGroupConditionType = "NodeTaintReplacing"
	// ConditionProcessIsMarkedAsExcluded is an excluded process of a process
	// group that is not marked for removal.
	ConditionProcessIsMarkedAsExcluded ProcessGroupConditionType = "ProcessIsMarkedAsExcluded"
	// ConditionProcessHasIOError is a process that reports an I/O error.
	ConditionProcessHasIOError ProcessGroupConditionType = "ProcessHasIOError"
	// ConditionProcessHasHighRunLoopBusy is an overloaded process. It is
	// informational and does not keep a generation from being reconciled.
	ConditionProcessHasHighRunLoopBusy ProcessGroupConditionType = "ProcessHasHighRunLoopBusy"
)

// ReplacementConditions are the conditions that lead to an automatic
// replacement when they last. The caller owns the slice.
func ReplacementConditions() []ProcessGroupConditionType {
	return []ProcessGroupConditionType{
		ConditionPodFailing, ConditionPodPending, ConditionMissingPod, ConditionMissingPVC,
		ConditionMissingService, ConditionMissingProcesses, ConditionSidecarUnreachable,
		ConditionNodeTaintReplacing, ConditionProcessIsMarkedAsExcluded, ConditionProcessHasIOError,
		ConditionProcessHasHighRunLoopBusy,
	}
}

// IsInformational reports whether a condition is informational only: a
// process group without any other is reconciled. The operator calls
// ProcessHasHighRunLoopBusy informational too, yet never reports a cluster
// with it as reconciled.
func (t ProcessGroupConditionType) IsInformational() bool {
	return t == ConditionProcessHasHighRunLoopBusy
}

// Condition returns since when the process group has a condition, and whether
// it has it.
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

// SetCondition adds a condition, or keeps one that is already set, with its
// time. A removed process group accepts ResourcesTerminating only: its pod is
// expected to be missing.
func (s *ProcessGroupStatus) SetCondition(t ProcessGroupConditionType, now time.Time) {
	if s.HasCondition(t) || (s.IsRemovable() && !s.outlivesRemoval(t)) {
		return
	}
	s.ProcessGroupConditions = append(s.ProcessGroupConditions, &ProcessGroupCondition{Type: t, Timestamp: now.Unix()})
}

// BackdateCondition moves the start of a condition to an earlier time, when it turns out
// to have held before it was observed. It never moves it to a later one.
func (s *ProcessGroupStatus) BackdateCondition(t ProcessGroupConditionType, since time.Time) {
	for _, c := range s.ProcessGroupConditions {
		if c.Type == t {
			c.Timestamp = min(c.Timestamp, since.Unix())
		}
	}
}

// outlivesRemoval reports whether a condition still matters for a group of which only
// resources are left. For a group removed without exclusion it matters since when its
// processes do not report.
func (s *ProcessGroupStatus) outlivesRemoval(t ProcessGroupConditionType) bool {
	return t == ConditionResourcesTerminating || (s.ExclusionSkipped && t == ConditionMissingProcesses)
}

// ClearCondition removes a condition.
func (s *ProcessGroupStatus) ClearCondition(t ProcessGroupConditionType) {
	s.ProcessGroupConditions = slices.DeleteFunc(s.ProcessGroupConditions, func(c *ProcessGroupCondition) bool {
		return c.Type == t
	})
}
