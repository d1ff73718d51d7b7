package check

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// groups returns the rules about process groups and their processes. Those about conditions
// skip process groups that are marked for removal: no pass repairs them.
func groups() []Rule {
	return []Rule{
		conditionRule("PG-001", Error, v1beta2.ConditionMissingProcesses, "All processes report",
			"The process group serves nothing, and its data has one replica less. It is replaced if that lasts.", ""),
		conditionRule("PG-002", Warning, v1beta2.ConditionIncorrectPodSpec, "Pods match the current spec",
			"The next passes recreate the pods, or replace their process groups.", "plan"),
		conditionRule("PG-003", Warning, v1beta2.ConditionIncorrectCommandLine, "Processes run with the current command line",
			"Processes have to restart to apply the spec; a pass restarts them together.", "plan"),
		conditionRule("PG-004", Warning, v1beta2.ConditionIncorrectConfigMap, "Pods have the current files of the ConfigMap",
			"A pod has not loaded the files that its processes will start with.", "plan"),
		conditionRule("PG-005", Info, v1beta2.ConditionIncorrectPodMetadata, "Pods have the current labels and annotations",
			"A pass adds missing ones without recreating the pods.", "plan"),
		conditionRule("PG-006", Warning, v1beta2.ConditionIncorrectSidecarImage, "Sidecars run the current image",
			"An upgrade waits until sidecars are ready for it.", "plan"),
		conditionRule("PG-007", Warning, v1beta2.ConditionSidecarUnreachable, "Sidecars are reachable",
			"The files that the pod's processes will start with are unknown.", ""),
		conditionRule("PG-008", Error, v1beta2.ConditionProcessHasIOError, "No disk has failed",
			"A process reports that its disk failed or hung. The process group is replaced if that lasts; the fix replaces it at once.", "replace"),
		conditionRule("PG-009", Warning, v1beta2.ConditionProcessIsMarkedAsExcluded, "No process group that stays is excluded",
			"It gets no data and no roles, so the cluster has one process less than it appears to have. It was excluded manually.", ""),
		{
			Code: "PG-010", Severity: Warning, Title: "No process is busy all the time", needs: availableDatabase,
			Why:  fmt.Sprintf("A run loop that is busy for more than %.0f%% of the time responds late; add processes, or find the cause of the load.", 100*tooBusy),
			find: busyProcesses,
		},
		{
			Code: "PG-011", Severity: Warning, Title: "No kept process group fails for long", needs: currentConditions,
			Why:  "cancelReplacementsForInstance keeps it, so it is not replaced, however long it fails. The fix takes it off the list.",
			find: keptAndFailing,
		},
		{
			Code: "PG-012", Severity: Info, Title: "All kept process groups exist",
			Why:  "cancelReplacementsForInstance lists process groups that were removed, or never existed. The fix takes them off the list.",
			find: keptAndMissing,
		},
	}
}

// keptAndFailing finds kept groups that would have been replaced by now.
func keptAndFailing(f Facts) ([]Finding, string) {
	finding := Finding{Message: fmt.Sprintf("it is kept by %s and has failed for more than %s", v1beta2.ExtensionCancelReplacements, f.Cluster.FailureDetectionTime())}
	var ids []string
	for _, g := range f.Remaining() {
		if !f.Cluster.KeepsFromReplacement(g.ProcessGroupID) {
			continue
		}
		for _, t := range v1beta2.ReplacementConditions() {
			since, has := f.Since(g, t)
			if has && t != v1beta2.ConditionNodeTaintReplacing && !since.IsZero() && f.Now.Sub(since) > f.Cluster.FailureDetectionTime() {
				finding.began(since)
				ids = append(ids, string(g.ProcessGroupID))
				break
			}
		}
	}
	return f.offList(finding, ids), ""
}

func keptAndMissing(f Facts) ([]Finding, string) {
	var ids []string
	for _, id := range f.Cluster.KeptProcessGroups() {
		if f.Cluster.ProcessGroup(id) == nil {
			ids = append(ids, string(id))
		}
	}
	return f.offList(Finding{Message: fmt.Sprintf("it is in %s and not in the status", v1beta2.ExtensionCancelReplacements)}, ids), ""
}

// offList returns a finding about kept process groups, with the patch that takes them off the list;
// none without groups.
func (f Facts) offList(finding Finding, ids []string) []Finding {
	for _, id := range ids {
		finding.Subjects = append(finding.Subjects, group(v1beta2.ProcessGroupID(id)))
	}
	finding.Fix = inspect.PatchWords(f.Cluster.Name, inspect.KeepPatch(f.Cluster, inspect.KeptWithout(f.Cluster, ids)))
	return finding.some()
}

// tooBusy is the share of time that a process may be busy. Source: a default of kubectl fdb.
const tooBusy = 0.9

// conditionRule returns a rule about a condition of process groups. Without a command that
// repairs them the fix lists the groups.
func conditionRule(code string, severity Severity, t v1beta2.ProcessGroupConditionType, title, why, command string) Rule {
	return Rule{Code: code, Severity: severity, Title: title, Why: why, needs: currentConditions, find: func(f Facts) ([]Finding, string) {
		finding := Finding{Message: string(t), Fix: f.listGroups("--condition", string(t))}
		switch command {
		case "":
		case "replace":
			finding.Fix = f.fix(command, "--condition", string(t))
		default:
			finding.Fix = f.fix(command)
		}
		for _, g := range f.Remaining() {
			if since, has := f.Since(g, t); has {
				finding.Subjects = append(finding.Subjects, group(g.ProcessGroupID))
				finding.began(since)
			}
		}
		return finding.some(), ""
	}}
}

// began moves the start of a finding to an earlier time.
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
