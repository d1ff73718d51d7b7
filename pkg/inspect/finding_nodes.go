package inspect

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// CodeNodeLost is the rule about nodes that do not work.
const CodeNodeLost = "NODE-003"

// NodeRules returns the rules about nodes.
func NodeRules() []findings.Rule[Facts] {
	return []findings.Rule[Facts]{
		onNodes(conditionRule("NODE-001", findings.Info, v1beta2.ConditionNodeTaintDetected, "No node has a taint that matches a rule of the spec",
			"Its process groups are replaced once the taint lasts longer than its rule allows.", "")),
		onNodes(conditionRule("NODE-002", findings.Warning, v1beta2.ConditionNodeTaintReplacing, "No process group has to be replaced for a taint",
			"The taint lasted longer than its rule allows; passes replace the process groups, a few at a time.", "")),
		onNodes(findings.Rule[Facts]{
			Code: CodeNodeLost, Severity: findings.Warning, Title: "The nodes of all pods are ready",
			Why:  "Processes on a node that is not ready, no longer exists or evicts pods stop, or will: Kubernetes deletes the pods of a node that stays away. Rules about pods have what that costs.",
			Find: lostNodes,
		}),
	}
}

// onNodes returns a rule that is not evaluated without permission to read nodes.
func onNodes(r findings.Rule[Facts]) findings.Rule[Facts] {
	find := r.Find
	r.Find = func(f Facts) ([]findings.Finding, string) {
		if f.NodesHidden != "" {
			return nil, "nodes may not be read: " + f.NodesHidden
		}
		return find(f)
	}
	return r
}

func lostNodes(f Facts) ([]findings.Finding, string) {
	if f.Nodes == nil && len(f.Pods) > 0 {
		return nil, "nodes were not read"
	}
	var found []findings.Finding
	for _, loss := range f.nodeLosses() {
		found = append(found, findings.Finding{
			Subjects: []string{findings.Node(loss.name)}, Groups: loss.groups, Since: loss.since, Fix: loss.command(),
			Message: fmt.Sprintf("the node %s (%s)", loss.words(), phrase.Some(loss.groups, MostNamed)),
		})
	}
	return found, ""
}

// nodeLoss is a node that does not work, and the process groups on it.
type nodeLoss struct {
	lostNode
	groups []string
	// notReporting are those of them that do not report, or may not.
	notReporting []string
}

// nodeLosses returns the nodes that do not work by name, with the process groups that stay.
func (f Facts) nodeLosses() []nodeLoss {
	var losses []nodeLoss
	if len(f.Nodes) == 0 {
		return nil
	}
	for _, g := range f.Groups() {
		node, lost := f.lostNodeOf(g)
		if !lost || g.IsMarkedForRemoval() {
			continue
		}
		at := slices.IndexFunc(losses, func(l nodeLoss) bool { return l.lostNode == node })
		if at < 0 {
			at = len(losses)
			losses = append(losses, nodeLoss{lostNode: node})
		}
		losses[at].groups = append(losses[at].groups, string(g.ProcessGroupID))
		if !f.reports(g) {
			losses[at].notReporting = append(losses[at].notReporting, string(g.ProcessGroupID))
		}
	}
	stable.Sort(losses, func(a, b nodeLoss) int { return strings.Compare(a.name, b.name) })
	return losses
}

// reports is true where all processes of a group certainly report.
func (f Facts) reports(g *v1beta2.ProcessGroupStatus) bool {
	return f.Database.Status.ListsProcesses() && !f.isNotReporting(g)
}

// lostNodeOf returns the node of a group's pod, or that of its missing pod, if it does not work.
func (f Facts) lostNodeOf(g *v1beta2.ProcessGroupStatus) (lostNode, bool) {
	if pod := f.Pod(g); pod != nil {
		return f.lost(pod.Spec.NodeName)
	}
	return f.lostFormerNode(g)
}

// lost returns a node that is not ready or no longer exists. One that was not read may be ready.
func (f Facts) lost(name string) (lostNode, bool) {
	node, read := f.Nodes[name]
	switch {
	case !read:
		return lostNode{}, false
	case node == nil:
		return lostNode{name: name, deleted: true}, true
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return lostNode{name: node.Name, since: c.LastTransitionTime.Time, reason: Clauses(c.Reason, OneLine(c.Message))}, true
		}
	}
	return lostNode{}, false
}

// nodesWhileReporting names the nodes that do not work although all of their processes report.
func (f Facts) nodesWhileReporting() []string {
	var named []string
	for _, loss := range f.nodeLosses() {
		if len(loss.notReporting) == 0 {
			named = append(named, fmt.Sprintf("node %s %s%s, and its processes report (%s)", loss.name, loss.words(), f.forHowLong(loss.since), phrase.Some(loss.groups, MostNamed)))
		}
	}
	return named
}

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
