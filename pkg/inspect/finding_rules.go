package inspect

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
)

// FindingRules returns the rules about what `status`, `why`, `check` and `metrics` all show, in the order of check's.
func FindingRules() []findings.Rule[Facts] {
	return slices.Concat(DataRules(), HealthRules(), CoordinatorRules(), GroupRules(), PodRules(), NodeRules())
}

// Findings returns what these rules find. A rule without its facts finds nothing, which is no proof of anything:
// `check` names it.
func (f Facts) Findings() []findings.Finding {
	var all []findings.Finding
	for _, r := range FindingRules() {
		if f.Lacks(r.Needs) == "" {
			found, _ := r.Of(f)
			all = append(all, found...)
		}
	}
	for i := range all {
		all[i].Causes = f.causesOf(all[i])
	}
	return all
}

// causesOf returns the codes of the problems that explain why processes do not report, or what is wrong with pods.
func (f Facts) causesOf(found findings.Finding) []string {
	var codes []string
	if !slices.Contains([]string{CodeNotReporting, CodePodMissing, CodePodNotReady}, found.Code) {
		return nil
	}
	for _, id := range found.Groups {
		g := f.Cluster.ProcessGroup(v1beta2.ProcessGroupID(id))
		if t := f.ProblemOf(g); t != nil {
			codes = append(codes, t.Code)
		}
		if _, lost := f.lostNodeOf(g); lost {
			codes = append(codes, CodeNodeLost)
		}
	}
	slices.Sort(codes)
	return slices.DeleteFunc(slices.Compact(codes), func(code string) bool { return code == "" || code == found.Code })
}

// Lacks returns why a rule cannot be evaluated; empty if it can be.
func (f Facts) Lacks(n findings.Need) string {
	switch {
	case n == findings.NeedsNothing:
		return ""
	case f.Database.Status == nil:
		return NoAnswer(f.Database)
	case n == findings.NeedsStatusDocument:
		return ""
	case n == findings.NeedsProcessList && !f.Database.Status.ListsProcesses():
		return "the database is unavailable and lists no processes"
	case n == findings.NeedsProcessList:
		return ""
	case !f.Database.Available() && n == findings.NeedsCurrentConditions && f.Cluster.Status.Configured:
		return "the conditions of the process groups are outdated: the database is unavailable"
	case !f.Database.Available() && n != findings.NeedsCurrentConditions:
		return "the database is unavailable"
	case n == findings.NeedsSharedLists && !f.Coordination.Read && f.usesShared():
		return "the lock and the shared lists in the database were not read"
	default:
		return ""
	}
}

// usesShared reports whether the spec uses the lock or the deny list.
func (f Facts) usesShared() bool {
	return f.Cluster.LocksUsed() || len(f.Cluster.Spec.LockOptions.DenyList) > 0
}

// Fix returns a command line of this plugin about the cluster, for a finding.
func (f Facts) Fix(words ...string) []string {
	return append([]string{"fdb", words[0], f.Cluster.Name}, words[1:]...)
}

// ListGroups returns a command line that lists process groups of the cluster.
func (f Facts) ListGroups(words ...string) []string {
	return append([]string{"fdb", "get", "process-groups", f.Cluster.Name}, words...)
}

// addGroup adds a process group to a finding, and when that began.
func addGroup(found *findings.Finding, subject string, g *v1beta2.ProcessGroupStatus) {
	found.Subjects = append(found.Subjects, subject)
	found.Groups = append(found.Groups, string(g.ProcessGroupID))
}
