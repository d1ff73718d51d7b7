package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// compareBlockedRemovals compares which process groups stay on purpose. All are drained and have no
// objects left, so the others are removed.
func compareBlockedRemovals(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		stagestest.RecordedInput
		Groups []*v1beta2.ProcessGroupStatus `json:"processGroupsToRemove"`
	}
	var out struct {
		R0 []*v1beta2.ProcessGroupStatus `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	r := removal{s: in.Snapshot(nil)}
	for _, g := range in.Groups {
		g.MarkForRemoval(r.s.Now)
		g.SetExcluded(r.s.Now)
		r.judge(g)
	}
	return opcases.Outcome{"groups": idsOfGroups(out.R0)}, opcases.Outcome{"groups": idsOfGroups(r.removable)}, nil
}

func idsOfGroups(groups []*v1beta2.ProcessGroupStatus) string {
	return fmt.Sprint(groupsOf(groups, func(g *v1beta2.ProcessGroupStatus) v1beta2.ProcessGroupID { return g.ProcessGroupID }))
}

// terminating is where the operator puts process groups whose objects are terminating.
const terminating = "foundationdb.org/terminating"

// compareNextRemovals compares how many process groups are deleted next, and from how many
// fault domains: of equal fault domains the operator takes any.
func compareNextRemovals(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		stagestest.RecordedInput
		Mode     v1beta2.PodUpdateMode                    `json:"removalMode"`
		Removals map[string][]*v1beta2.ProcessGroupStatus `json:"removals"`
	}
	var out struct {
		Err opcases.Failure               `json:"err"`
		R1  []*v1beta2.ProcessGroupStatus `json:"r1"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	operator, ours = opcases.Outcome{"next": "(refused)"}, opcases.Outcome{"next": "(refused)"}
	if out.Err == "" {
		operator["next"] = sizes(out.R1)
	}
	s := in.Snapshot(nil)
	s.Cluster.Name, s.Cluster.Spec.Version = "sample", "7.3.79"
	s.Cluster.Spec.AutomationOptions.RemovalMode = in.Mode
	if s.Cluster.Validate() != nil {
		return operator, ours, nil //nolint:nilerr // a refusal is an outcome
	}
	r := removal{s: s}
	for zone, groups := range in.Removals {
		if zone != terminating {
			r.marked = append(r.marked, groups...)
		}
	}
	ours["next"] = sizes(nil)
	if len(r.marked) > 0 { // without any, nothing is checked
		ours["next"] = sizes(r.nextToDelete())
	}
	return operator, ours, nil
}

func sizes(groups []*v1beta2.ProcessGroupStatus) string {
	domains := map[v1beta2.FaultDomain]bool{}
	for _, g := range groups {
		domains[g.FaultDomain] = true
	}
	return fmt.Sprintf("%d of %d fault domains", len(groups), len(domains))
}

// compareZonedRemovals compares the last deletion, and how many process groups the biggest
// fault domain has among those that are not terminating.
func compareZonedRemovals(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		stagestest.RecordedInput
		Groups []*v1beta2.ProcessGroupStatus `json:"processGroupsToRemove"`
	}
	var out struct {
		R0 map[string][]*v1beta2.ProcessGroupStatus `json:"r0"`
		R1 opcases.Seconds                          `json:"r1"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	s := in.Snapshot(nil)
	s.Cluster.Status.ProcessGroups = in.Groups
	r := removal{s: s}
	for _, g := range in.Groups {
		if !g.HasCondition(v1beta2.ConditionResourcesTerminating) {
			r.marked = append(r.marked, g)
		}
	}
	most := 0
	for zone, groups := range out.R0 {
		if zone != terminating {
			most = max(most, len(groups))
		}
	}
	last := s.Now.Add(r.waitBetweenRemovals() - s.Cluster.WaitBetweenRemovals())
	return opcases.Outcome{"last": fmt.Sprint(out.R1.Time().UTC()), "biggest": fmt.Sprint(most)},
		opcases.Outcome{"last": fmt.Sprint(last.UTC()), "biggest": fmt.Sprint(len(r.biggestDomain()))}, nil
}

// compareRestBetweenRemovals compares how long the next removal waits.
func compareRestBetweenRemovals(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		Last    int64           `json:"lastDeletion"`
		Current opcases.Seconds `json:"currentTimestamp"`
		Wait    int             `json:"waitTime"`
	}
	var out struct {
		Left    int64 `json:"r0"`
		Allowed bool  `json:"r1"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	cluster := &v1beta2.FoundationDBCluster{}
	cluster.Spec.AutomationOptions.WaitBetweenRemovalsSeconds = &in.Wait
	cluster.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{{ProcessGroupID: "log-1", ProcessClass: v1beta2.ProcessClassLog}}
	cluster.Status.ProcessGroups[0].SetCondition(v1beta2.ConditionResourcesTerminating, time.Unix(in.Last, 0))
	r := removal{s: plan.Snapshot{Now: in.Current.Time(), Cluster: cluster}}
	rest := r.waitBetweenRemovals()
	return opcases.Outcome{"left": fmt.Sprint(out.Left), "allowed": fmt.Sprint(out.Allowed)},
		opcases.Outcome{"left": fmt.Sprint(int64(max(0, rest) / time.Second)), "allowed": fmt.Sprint(rest <= 0)}, nil
}

// compareRemovalTargets compares the exclusions of process groups that are marked for removal and not
// known to be drained.
func compareRemovalTargets(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in stagestest.RecordedInput
	var out struct {
		R1 []string `json:"r1"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	s := in.Snapshot(&in.Status.Status)
	var targets []string
	for _, g := range notDrained(s) {
		targets = append(targets, readings.NewExclusions(s).TargetsOf(g)...)
	}
	slices.Sort(targets)
	slices.Sort(out.R1)
	return opcases.Outcome{"targets": fmt.Sprint(out.R1)}, opcases.Outcome{"targets": fmt.Sprint(targets)}, nil
}
