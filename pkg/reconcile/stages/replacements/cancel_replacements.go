package replacements

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// CancelReplacements takes the process groups back that spec.cancelReplacementsForInstance lists.
// It runs before every stage that marks, adds or drains process groups, so that these see the
// groups as they will be, and after the deny list is updated, since an inclusion takes the lock.
//
// No other stage marks a listed group. The checks of this one show what would mark it without the
// list. A listed group that is not in the status is reported, and needs nothing.
func CancelReplacements(o plan.Options) plan.Stage {
	return plan.Stage{
		Name:  plan.StageCancelReplacements,
		Reads: KeepReads,
		Decide: func(s plan.Snapshot) plan.Decision {
			ids := s.Cluster.KeptProcessGroups()
			if len(ids) == 0 {
				return plan.Decision{}
			}
			d := Keep(s, ids, readings.KeepField+" keeps "+phrase.List(ids))
			d.Checks = append(keptChecks(s, o), d.Checks...)
			return d
		},
	}
}

// keptChecks reports listed groups that do not exist, and for the others what would mark them.
func keptChecks(s plan.Snapshot, o plan.Options) []plan.Check {
	var checks []plan.Check
	if unknown := Unknown(s.Cluster); len(unknown) > 0 {
		checks = append(checks, plan.Check{
			ID: plan.CheckKeptExist, Question: "are all process groups of " + readings.KeepField + " in the status?",
			Evidence: fmt.Sprintf("%s %s not in the status, so there is nothing to keep; remove %s from the list", phrase.List(unknown), phrase.Is(len(unknown)), phrase.Either(len(unknown), "it", "them")),
		})
	}
	reasons := MarkReasons(s, o)
	for _, id := range s.Cluster.KeptProcessGroups() {
		if s.Cluster.ProcessGroup(id) == nil {
			continue
		}
		c := plan.Check{ID: plan.CheckKept, Subject: string(id), Question: fmt.Sprintf("is %s kept?", id), OK: true, Evidence: "by " + readings.KeepField + "; without it nothing would mark the process group"}
		if why := reasons[id]; len(why) > 0 {
			c.Have = phrase.Count(len(why), "reason")
			c.Evidence = fmt.Sprintf("by %s; without it the next pass would mark the process group: %s", readings.KeepField, strings.Join(why, "; "))
		}
		checks = append(checks, c)
	}
	return checks
}

// Unknown returns the listed groups that are not in the status, sorted.
func Unknown(c *v1beta2.FoundationDBCluster) []v1beta2.ProcessGroupID {
	var unknown []v1beta2.ProcessGroupID
	for _, id := range c.KeptProcessGroups() {
		if c.ProcessGroup(id) == nil {
			unknown = append(unknown, id)
		}
	}
	return unknown
}

// MarkReasons returns why the next pass would mark each of the listed groups without the list. It
// reads the same facets as CancelReplacements.
func MarkReasons(s plan.Snapshot, o plan.Options) map[v1beta2.ProcessGroupID][]string {
	reasons := map[v1beta2.ProcessGroupID][]string{}
	if len(s.Cluster.KeptProcessGroups()) == 0 {
		return reasons
	}
	add := func(id v1beta2.ProcessGroupID, why string) { reasons[id] = append(reasons[id], why) }
	inspect := readings.NewInspection(s, o)
	failed := failedAndKept(s)
	for _, id := range s.Cluster.KeptProcessGroups() {
		g := s.Cluster.ProcessGroup(id)
		if g == nil {
			continue
		}
		if field := readings.ListedForRemoval(s.Cluster, id); field != "" {
			add(id, "it is in "+field)
		}
		if differs, err := inspect.Group(g); err == nil && differs != "" {
			add(id, differs)
		}
		if why := failed[id]; why != "" {
			add(id, why)
		}
	}
	return reasons
}
