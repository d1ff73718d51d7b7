package status

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
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

// incorrectPodSpec: the pod was created from another spec than the current one.
var incorrectPodSpec = condition{v1beta2.ConditionIncorrectPodSpec, func(f GroupFacts) (verdict, error) {
	want, err := f.specs.Of(f.Group)
	if err != nil {
		return keep, err
	}
	return verdictOf(want != f.pod.Annotations[v1beta2.AnnotationLastAppliedSpec]), nil
}}

// incorrectSidecarImage: the sidecar runs another image than the spec's version needs.
var incorrectSidecarImage = condition{v1beta2.ConditionIncorrectSidecarImage, func(f GroupFacts) (verdict, error) {
	want, err := objects.SidecarImage(f.S.Cluster, f.Group.ProcessClass)
	if err != nil {
		return keep, err
	}
	have := readings.SidecarImage(f.pod)
	return verdictOf(have != "" && have != want), nil
}}

// incorrectPodMetadata: a label or annotation is missing or differs.
var incorrectPodMetadata = condition{v1beta2.ConditionIncorrectPodMetadata, func(f GroupFacts) (verdict, error) {
	labels, annotations := f.metadata.OfPod(f.Group, f.pod)
	return verdictOf(len(labels)+len(annotations) > 0), nil
}}

// incorrectConfigMap: the pod has not confirmed the desired configuration. During an upgrade
// to another protocol an earlier confirmation does not count: the files, including the new
// binary, have to be in place.
var incorrectConfigMap = condition{v1beta2.ConditionIncorrectConfigMap, func(f GroupFacts) (verdict, error) {
	if readings.IncompatibleUpgrade(f.S.Cluster) && !f.Group.IsMarkedForRemoval() {
		outdated, err := f.monitors.OutdatedFiles(f.S, f.Group, f.pod)
		if err != nil || len(outdated) > 0 {
			return holds, err
		}
	}
	want, err := f.hashes.Of(f.S, f.Group, f.pod)
	if err != nil {
		return keep, err
	}
	return verdictOf(f.pod.Annotations[v1beta2.AnnotationLastAppliedConfigMap] != want), nil
}}

// missingPVC: a stateful group has no PVC, or one with other metadata.
var missingPVC = condition{v1beta2.ConditionMissingPVC, func(f GroupFacts) (verdict, error) {
	if !f.Group.ProcessClass.IsStateful() {
		return cleared, nil
	}
	have := f.S.Volumes[f.Group.PVCName(f.S.Cluster)]
	if have == nil {
		return holds, nil
	}
	labels, annotations := f.metadata.OfClaim(f.Group, have)
	return verdictOf(len(labels)+len(annotations) > 0), nil
}}

// missingService: the spec takes public addresses from services, and the group has none. The
// operator defines the condition, and replaces a group that has it for long, but never sets it.
var missingService = condition{v1beta2.ConditionMissingService, func(f GroupFacts) (verdict, error) {
	if !f.S.Cluster.PublicIPFromService() {
		return cleared, nil
	}
	return verdictOf(f.S.Services[f.Group.ServiceName(f.S.Cluster)] == nil), nil
}}

// sidecarUnreachable: the files of the sidecar could not be read.
var sidecarUnreachable = condition{v1beta2.ConditionSidecarUnreachable, func(f GroupFacts) (verdict, error) {
	files, requested := f.S.PodFiles[f.pod.Name]
	if !requested {
		return keep, nil
	}
	return verdictOf(files.Unreachable != ""), nil
}}

// missingPod: the group has no pod. SetCondition ignores that for a group that no longer
// needs one.
var missingPod = condition{v1beta2.ConditionMissingPod, func(f GroupFacts) (verdict, error) {
	return verdictOf(f.pod == nil), nil
}}

// resourcesTerminating: the group is excluded and its pod is deleted or terminating. It is
// never cleared; the group is removed from the status instead.
var resourcesTerminating = condition{v1beta2.ConditionResourcesTerminating, func(f GroupFacts) (verdict, error) {
	if f.Group.IsRemovable() && (f.pod == nil || f.pod.DeletionTimestamp != nil) {
		return holds, nil
	}
	return keep, nil
}}

// podPending: the pod has not started.
var podPending = condition{v1beta2.ConditionPodPending, func(f GroupFacts) (verdict, error) {
	return verdictOf(f.isPending()), nil
}}

func (f GroupFacts) isPending() bool { return f.pod.Status.Phase == corev1.PodPending }

// podFailing: the pod failed, one of its containers is not ready, or it does not terminate.
var podFailing = condition{v1beta2.ConditionPodFailing, func(f GroupFacts) (verdict, error) {
	if f.pod.DeletionTimestamp != nil && f.Group.IsRemovable() {
		return keep, nil
	}
	if f.pod.Status.Phase == corev1.PodFailed || f.endsTooSlowly() {
		return holds, nil
	}
	for _, container := range f.pod.Status.ContainerStatuses {
		if !container.Ready {
			return holds, nil
		}
	}
	return cleared, nil
}}

// endsTooSlowly reports whether the pod has been terminating for longer than the spec
// allows, so that it counts as failed.
func (f GroupFacts) endsTooSlowly() bool {
	ends := f.pod.DeletionTimestamp
	return ends != nil && f.S.Now.Sub(ends.Time) > f.S.Cluster.FailedPodDuration()
}

// missingProcesses: a process of the group does not report to the database.
var missingProcesses = condition{v1beta2.ConditionMissingProcesses, func(f GroupFacts) (verdict, error) {
	if !f.databaseAnswers {
		return keep, nil // a snapshot without any process proves nothing about one
	}
	return verdictOf(len(f.processes) < f.servers), nil
}}

// markedAsExcluded: a process of a group that should stay is excluded. One is enough, whether the
// others of the pod report or not; that none is shows only when all report.
var markedAsExcluded = condition{v1beta2.ConditionProcessIsMarkedAsExcluded, func(f GroupFacts) (verdict, error) {
	if !f.databaseAnswers {
		return keep, nil
	}
	for _, p := range f.processes {
		if p.IsExcluded() {
			return holds, nil
		}
	}
	if !f.allReport() {
		return keep, nil
	}
	return cleared, nil
}}

// ioError: a process reports that its disk failed or hung.
var ioError = condition{v1beta2.ConditionProcessHasIOError, func(f GroupFacts) (verdict, error) {
	if !f.allReport() {
		return keep, nil
	}
	for _, p := range f.processes {
		for _, m := range p.Messages {
			if strings.EqualFold(m.Name, "io_error") || strings.EqualFold(m.Name, "io_timeout") {
				return holds, nil
			}
		}
	}
	return cleared, nil
}}

// highRunLoopBusy: never set. The threshold is a flag of the operator, by default "never",
// and nothing here sets another one. A condition that an operator with such a flag left in
// the status is cleared as soon as all processes report, as when an operator without the flag
// takes over: otherwise it would cause a replacement.
var highRunLoopBusy = condition{v1beta2.ConditionProcessHasHighRunLoopBusy, func(f GroupFacts) (verdict, error) {
	if !f.allReport() {
		return keep, nil
	}
	return cleared, nil
}}

func (f GroupFacts) allReport() bool { return f.databaseAnswers && len(f.processes) == f.servers }
