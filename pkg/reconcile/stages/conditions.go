package stages

import (
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
		case gone:
			f.group.ClearCondition(c.name)
		case keep:
		}
	}
	return nil
}

// questionsFor picks the questions by what is left of the group.
func questionsFor(f groupFacts) []condition {
	whenGone := []condition{missingPod, resourcesTerminating, incorrectCommandLine}
	whenEnding := []condition{missingPod, resourcesTerminating, podFailing, incorrectCommandLine}
	if f.group.IsGone() && f.group.ExclusionSkipped {
		whenGone, whenEnding = append(whenGone, missingProcesses), append(whenEnding, missingProcesses)
	}
	aboutProcesses := []condition{missingPod, missingProcesses, sidecarUnreachable, incorrectCommandLine, markedAsExcluded, ioError}
	aboutObjects := []condition{incorrectPodSpec, incorrectSidecarImage, incorrectPodMetadata, incorrectConfigMap, missingPVC, podPending}
	switch {
	case f.underMaintenance():
		return nil // planned restarts must not look like failures
	case f.pod == nil:
		return whenGone
	case f.pod.DeletionTimestamp != nil && (f.group.IsGone() || f.endsTooSlowly()):
		return whenEnding
	case f.isPending():
		return append(aboutProcesses, aboutObjects...)
	default:
		return append(append(aboutProcesses, aboutObjects...), podFailing)
	}
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

// resetExclusion takes back the note that a group is excluded when all of its
// processes report and none is: someone included it again, and its data may be back.
func resetExclusion(f groupFacts) {
	if f.group.ExclusionSkipped || f.group.ExclusionTimestamp == nil || f.pod == nil || len(f.processes) < f.servers {
		return
	}
	for _, p := range f.processes {
		if p.IsExcluded() {
			return
		}
	}
	f.group.ExclusionTimestamp = nil
}
