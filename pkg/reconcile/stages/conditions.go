package stages

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// verdict is what the facts say about one condition of one process group.
type verdict int

const (
	keep  verdict = iota // the facts do not tell: it stays as it was
	holds                // it is so
	gone                 // it is not so
)

func isSo(is bool) verdict {
	if is {
		return holds
	}
	return gone
}

// condition is one question about a process group.
type condition struct {
	name  v1beta2.ProcessGroupConditionType
	judge func(groupFacts) (verdict, error)
}

// judgeGroup asks every question that the state of the pod lets anyone answer.
// What cannot be answered now keeps its old answer.
func judgeGroup(f groupFacts) error {
	resetExclusion(f)
	for _, c := range questionsFor(f) {
		v, err := c.judge(f)
		if err != nil {
			return err
		}
		switch v {
		case holds:
			f.group.SetCondition(c.name, f.s.Now)
			f.group.BackdateCondition(c.name, f.began(c.name))
		case gone:
			f.group.ClearCondition(c.name)
		case keep:
		}
	}
	return nil
}

// began is since when a condition holds that holds now, where the facts tell that.
func (f groupFacts) began(name v1beta2.ProcessGroupConditionType) time.Time {
	if name == v1beta2.ConditionNodeTaintDetected {
		return f.taintedSince()
	}
	return f.s.Now
}

// The questions by what is left of a group.
var (
	whenGone       = []condition{missingPod, resourcesTerminating, incorrectCommandLine, nodeTaintDetected, nodeTaintReplacing}
	whenEnding     = []condition{missingPod, resourcesTerminating, podFailing, incorrectCommandLine, nodeTaintDetected, nodeTaintReplacing}
	aboutProcesses = []condition{missingPod, missingProcesses, sidecarUnreachable, incorrectCommandLine, markedAsExcluded, ioError, highRunLoopBusy}
	aboutObjects   = []condition{incorrectPodSpec, incorrectSidecarImage, incorrectPodMetadata, incorrectConfigMap, missingPVC, podPending, nodeTaintDetected, nodeTaintReplacing}
	whenPending    = slices.Concat(aboutProcesses, aboutObjects)
	whenRunning    = slices.Concat(whenPending, []condition{podFailing})
)

// questionsFor picks the questions by what is left of the group.
func questionsFor(f groupFacts) []condition {
	switch {
	case f.underMaintenance():
		return nil // planned restarts must not look like failures
	case f.pod == nil:
		return f.andProcesses(whenGone)
	case f.pod.DeletionTimestamp != nil && (f.group.IsGone() || f.endsTooSlowly()):
		return f.andProcesses(whenEnding)
	case f.isPending():
		return whenPending
	default:
		return whenRunning
	}
}

// andProcesses adds the question about processes for a group that leaves without having
// been drained: nothing else tells when its servers are gone.
func (f groupFacts) andProcesses(questions []condition) []condition {
	if !f.group.IsGone() || !f.group.ExclusionSkipped {
		return questions
	}
	return slices.Concat(questions, []condition{missingProcesses})
}

// underMaintenance reports whether the database expects the group's processes to
// be away for a while.
func (f groupFacts) underMaintenance() bool {
	if f.s.Database.Status == nil || !f.group.ProcessClass.IsAffectedByMaintenance() {
		return false
	}
	zone := f.s.Database.Status.Maintenance().Zone
	return zone != "" && zone == string(f.group.FaultDomain)
}

// resetExclusion takes back the note that a group is excluded when someone included it
// again: its data may be back, and a group that is noted would never be excluded again.
func resetExclusion(f groupFacts) {
	if f.group.ExclusionSkipped || f.group.ExclusionTimestamp == nil || !f.hasRemains() {
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
	f.group.ExclusionTimestamp = nil
}

// hasRemains reports whether the group's pod or volume is still there. The exclusion of a
// group that is gone ends with its record, and a run may have died between the two.
func (f groupFacts) hasRemains() bool {
	return f.pod != nil || f.s.Volumes[f.group.PVCName(f.s.Cluster)] != nil
}

// listsNoExclusionOf reports whether the database lists its exclusions, and none of them
// is the group's. It is all that can be known of processes that do not report.
func listsNoExclusionOf(f groupFacts) bool {
	status := f.s.Database.Status
	if status == nil || !status.Available() || status.Cluster.Configuration == nil {
		return false
	}
	return !slices.ContainsFunc(status.ExcludedTargets(), func(target string) bool {
		return target == f.group.ExclusionString() || slices.Contains(f.group.Addresses, target)
	})
}
