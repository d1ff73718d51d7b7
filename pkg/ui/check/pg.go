package check

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// groups are the rules about process groups and their processes. Those about conditions
// leave out groups that are marked for removal: nobody repairs them.
func groups() []Rule {
	return []Rule{
		conditionRule("PG-001", Error, v1beta2.ConditionMissingProcesses, "All processes report",
			"The group serves nothing, and what it holds has a copy less. It is replaced when that lasts.", ""),
		conditionRule("PG-002", Warning, v1beta2.ConditionIncorrectPodSpec, "Pods are made from the current spec",
			"Pods are made anew, or their groups replaced, by the next passes.", "plan"),
		conditionRule("PG-003", Warning, v1beta2.ConditionIncorrectCommandLine, "Processes run with the current command line",
			"Processes have to restart to take up what the spec asks for; a pass restarts them together.", "plan"),
		conditionRule("PG-004", Warning, v1beta2.ConditionIncorrectConfigMap, "Pods use the current files of the ConfigMap",
			"A pod has not loaded what it will start with.", "plan"),
		conditionRule("PG-005", Info, v1beta2.ConditionIncorrectPodMetadata, "Pods have the current labels and annotations",
			"A pass adds what is missing in place.", "plan"),
		conditionRule("PG-006", Warning, v1beta2.ConditionIncorrectSidecarImage, "Sidecars run the current image",
			"An upgrade waits until sidecars are ready for it.", "plan"),
		conditionRule("PG-007", Warning, v1beta2.ConditionSidecarUnreachable, "Sidecars answer",
			"Nobody can tell what such a pod will start with.", ""),
		conditionRule("PG-008", Error, v1beta2.ConditionProcessHasIOError, "No disk fails",
			"A process says that its disk failed or hung. The group is replaced when that lasts, or at once by hand.", "replace"),
		conditionRule("PG-009", Warning, v1beta2.ConditionProcessIsMarkedAsExcluded, "No group that should stay is excluded",
			"It takes no data and no roles, so the cluster has a process less than it seems. Somebody excluded it by hand.", ""),
		{
			Code: "PG-010", Severity: Warning, Title: "No process is busy all of the time", needs: serving,
			Why:  fmt.Sprintf("A run loop that is busy for more than %.0f%% answers late; add processes, or look for what loads it.", 100*tooBusy),
			find: busyProcesses,
		},
	}
}

// tooBusy is the part of its time that a process may be busy. Source: our own judgement.
const tooBusy = 0.9

// conditionRule is a rule about a condition of process groups. Without a command that
// mends it the fix lists the groups.
func conditionRule(code string, severity Severity, t v1beta2.ProcessGroupConditionType, title, why, mend string) Rule {
	return Rule{Code: code, Severity: severity, Title: title, Why: why, needs: judged, find: func(f Facts) ([]Finding, string) {
		finding := Finding{Message: string(t), Fix: f.listGroups("--condition", string(t))}
		switch mend {
		case "":
		case "replace":
			finding.Fix = f.fix(mend, "--condition", string(t))
		default:
			finding.Fix = f.fix(mend)
		}
		for _, g := range f.Staying() {
			if since, has := f.Since(g, t); has {
				finding.Subjects = append(finding.Subjects, group(g.ProcessGroupID))
				finding.began(since)
			}
		}
		return finding.some(), ""
	}}
}

// began moves the beginning of a finding to an earlier time.
func (g *Finding) began(at time.Time) {
	if !at.IsZero() && (g.Since.IsZero() || at.Before(g.Since)) {
		g.Since = at
	}
}

func busyProcesses(f Facts) ([]Finding, string) {
	finding := Finding{Message: fmt.Sprintf("its run loop is busy for more than %.0f%% of the time", 100*tooBusy), Fix: f.fix("status")}
	for _, p := range f.Database.Status.ProcessList() {
		if p.RunLoopBusy != nil && *p.RunLoopBusy > tooBusy {
			finding.Subjects = append(finding.Subjects, process(p))
		}
	}
	return finding.some(), ""
}

func process(p fdb.Process) string {
	return "process/" + p.Address.HostPort()
}
