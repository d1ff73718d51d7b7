package inspect

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
)

// CodeNotReporting is the rule about processes that do not report.
const CodeNotReporting = "PG-001"

// GroupRules returns the rules about process groups. Those about conditions skip process groups that are marked for
// removal: no pass repairs them.
func GroupRules() []findings.Rule[Facts] {
	return []findings.Rule[Facts]{
		{
			Code: CodeNotReporting, Severity: findings.Error, Title: "All processes report", Needs: findings.NeedsCurrentConditions,
			Why:  "The process group serves nothing, and its data has one replica less. It is replaced if that lasts.",
			Find: notReporting,
		},
		conditionRule("PG-002", findings.Warning, v1beta2.ConditionIncorrectPodSpec, "Pods match the current spec",
			"The next passes recreate the pods, or replace their process groups.", "plan"),
		conditionRule("PG-003", findings.Warning, v1beta2.ConditionIncorrectCommandLine, "Processes run with the current command line",
			"Processes have to restart to apply the spec; a pass restarts them together.", "plan"),
		conditionRule("PG-004", findings.Warning, v1beta2.ConditionIncorrectConfigMap, "Pods have the current files of the ConfigMap",
			"A pod has not loaded the files that its processes will start with.", "plan"),
		conditionRule("PG-005", findings.Info, v1beta2.ConditionIncorrectPodMetadata, "Pods have the current labels and annotations",
			"A pass adds missing ones without recreating the pods.", "plan"),
		conditionRule("PG-006", findings.Warning, v1beta2.ConditionIncorrectSidecarImage, "Sidecars run the current image",
			"An upgrade waits until sidecars are ready for it.", "plan"),
		conditionRule("PG-007", findings.Warning, v1beta2.ConditionSidecarUnreachable, "Sidecars are reachable",
			"The files that the pod's processes will start with are unknown.", ""),
		conditionRule("PG-008", findings.Error, v1beta2.ConditionProcessHasIOError, "No disk has failed",
			"A process reports that its disk failed or hung. The process group is replaced if that lasts; the fix replaces it at once.", "replace"),
		conditionRule("PG-009", findings.Warning, v1beta2.ConditionProcessIsMarkedAsExcluded, "No process group that stays is excluded",
			"It gets no data and no roles, so the cluster has one process less than it appears to have. It was excluded manually.", ""),
	}
}

// conditionRule returns a rule about a condition of process groups. Without a command that
// repairs them the fix lists the groups.
func conditionRule(code string, severity findings.Severity, t v1beta2.ProcessGroupConditionType, title, why, command string) findings.Rule[Facts] {
	return findings.Rule[Facts]{Code: code, Severity: severity, Title: title, Why: why, Needs: findings.NeedsCurrentConditions, Find: func(f Facts) ([]findings.Finding, string) {
		found := findings.Finding{Message: string(t), Fix: f.ListGroups("--condition", string(t))}
		switch command {
		case "":
		case "replace":
			found.Fix = f.Fix(command, "--condition", string(t))
		default:
			found.Fix = f.Fix(command)
		}
		for _, g := range f.Remaining() {
			if !g.HasCondition(t) {
				continue
			}
			if since, has := f.Since(g, t); has {
				addGroup(&found, findings.ProcessGroup(g.ProcessGroupID), g)
				found.Began(since)
			}
		}
		return found.IfAny(), ""
	}}
}

// notReporting finds the process groups whose processes do not report, by what the database lists now. One that lists
// no processes shows none; the conditions of the last pass count then.
func notReporting(f Facts) ([]findings.Finding, string) {
	condition := v1beta2.ConditionMissingProcesses
	found := findings.Finding{Message: string(condition), Fix: f.ListGroups("--condition", string(condition))}
	for _, g := range f.Remaining() {
		missing := f.isNotReporting(g)
		if !f.Database.Status.ListsProcesses() {
			missing = g.HasCondition(condition)
		}
		if missing {
			addGroup(&found, findings.ProcessGroup(g.ProcessGroupID), g)
			found.Began(f.Outage(g).Since)
		}
	}
	return found.IfAny(), ""
}
