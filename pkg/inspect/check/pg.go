package check

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
)

// groups returns the rules about process groups and their processes.
func groups() []Rule {
	return append(rulesOf(inspect.GroupRules()), []Rule{
		{
			Code: "PG-010", Severity: Warning, Title: "No process is busy all the time", Needs: findings.NeedsAvailableDatabase,
			Why:  fmt.Sprintf("A run loop that is busy for more than %.0f%% of the time responds late; add processes, or find the cause of the load.", 100*tooBusy),
			Find: busyProcesses,
		},
		{
			Code: "PG-011", Severity: Warning, Title: "No kept process group fails for long", Needs: findings.NeedsCurrentConditions,
			Why:  "cancelReplacementsForInstance keeps it, so it is not replaced, however long it fails. The fix takes it off the list.",
			Find: keptAndFailing,
		},
		{
			Code: "PG-012", Severity: Info, Title: "All kept process groups exist",
			Why:  "cancelReplacementsForInstance lists process groups that were removed, or never existed. The fix takes them off the list.",
			Find: keptAndMissing,
		},
	}...)
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
				finding.Began(since)
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
		finding.Subjects = append(finding.Subjects, findings.ProcessGroup(v1beta2.ProcessGroupID(id)))
	}
	finding.Fix = inspect.PatchWords(f.Cluster.Name, inspect.KeepPatch(f.Cluster, inspect.KeptWithout(f.Cluster, ids)))
	return finding.IfAny()
}

// tooBusy is the share of time that a process may be busy. Source: a default of kubectl fdb.
const tooBusy = 0.9

func busyProcesses(f Facts) ([]Finding, string) {
	finding := Finding{Message: fmt.Sprintf("its run loop is busy for more than %.0f%% of the time", 100*tooBusy), Fix: f.fix("status")}
	for _, p := range f.Database.Status.ProcessList() {
		if p.RunLoopBusy != nil && *p.RunLoopBusy > tooBusy {
			finding.Subjects = append(finding.Subjects, process(p))
		}
	}
	return finding.IfAny(), ""
}

func process(p fdb.Process) string {
	return "process/" + p.Address.HostPort()
}
