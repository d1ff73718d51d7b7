package cluster

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
)

// recordedProcess is a process that the operator may choose.
type recordedProcess struct {
	ID           v1beta2.ProcessGroupID
	Address      string
	LocalityData map[string]string
	Priority     int
}

// named is the process as a cluster file names it, which the operator decides later.
func (p recordedProcess) named(c *v1beta2.FoundationDBCluster) (fdb.Address, error) {
	address, err := fdb.ParseAddress(p.Address)
	if name := p.LocalityData[fdb.LocalityDNSName]; name != "" && c.UseDNSInClusterFile() {
		address.Host = name
	}
	return address, err
}

// priorityWords shows a priority. That of a last resort begins at a number of each side's own.
func priorityWords(priority, lastResort int) string {
	if priority < math.MinInt32 {
		return fmt.Sprintf("last resort, %d", priority-lastResort)
	}
	return strconv.Itoa(priority)
}

// compareCandidates compares which processes can be coordinators, under which address and
// with which priority.
func compareCandidates(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		stagestest.RecordedInput
		Pending map[string]time.Time `json:"pendingRemovals"`
	}
	var out struct {
		Err opcases.Failure   `json:"err"`
		R0  []recordedProcess `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	s := in.Snapshot(&in.Status.Status)
	for _, g := range s.Groups() { // UpdateStatus does it first in every pass
		status.MarkIfListed(s.Cluster, g, s.Now)
	}
	pending := map[fdb.Member]time.Time{}
	for id, since := range in.Pending {
		pending[fdb.Member{Group: id}] = since
	}
	s.Coordination.Lists.Entries = map[fdb.SharedList]map[fdb.Member]time.Time{fdb.PendingForRemoval: pending}
	operator, ours = opcases.Outcome{}, opcases.Outcome{}
	for _, p := range out.R0 {
		address, err := p.named(in.Cluster)
		if err != nil {
			return nil, nil, err
		}
		operator[string(p.ID)] = fmt.Sprint(address, " ", priorityWords(p.Priority, math.MinInt))
	}
	for _, p := range coordinatorCandidates(s, nil) {
		ours[string(p.Group)] = fmt.Sprint(p.Address, " ", priorityWords(p.Priority, lastResortPriority))
	}
	return operator, ours, nil
}

// compareSpread compares which processes are chosen, in their order.
func compareSpread(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		stagestest.RecordedInput
		Processes  []recordedProcess `json:"processes"`
		Count      int               `json:"count"`
		Constraint struct {
			Fields     []string
			HardLimits map[string]int
		} `json:"constraint"`
	}
	var out struct {
		Err opcases.Failure   `json:"err"`
		R0  []recordedProcess `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	rule := readings.SpreadRule{Fields: in.Constraint.Fields, Max: in.Constraint.HardLimits, Primary: primaryDataCenter(in.Cluster)}
	if rule.Fields == nil {
		rule.Fields = []string{fdb.LocalityZoneID, fdb.LocalityDCID}
	}
	candidates := make([]readings.Candidate, len(in.Processes))
	for i, p := range in.Processes {
		candidates[i] = readings.Candidate{Group: p.ID, Priority: p.Priority, Localities: p.LocalityData}
	}
	chosen, err := readings.Spread(candidates, in.Count, rule)
	operator, ours = opcases.Outcome{"chosen": "(refused)"}, opcases.Outcome{"chosen": "(refused)"}
	if out.Err == "" {
		operator["chosen"] = fmt.Sprint(groupsOf(out.R0, func(p recordedProcess) v1beta2.ProcessGroupID { return p.ID }))
	}
	if err == nil {
		ours["chosen"] = fmt.Sprint(groupsOf(chosen, func(c readings.Candidate) v1beta2.ProcessGroupID { return c.Group }))
	}
	return operator, ours, nil
}

func groupsOf[T any](all []T, id func(T) v1beta2.ProcessGroupID) []v1beta2.ProcessGroupID {
	groups := make([]v1beta2.ProcessGroupID, len(all))
	for i, one := range all {
		groups[i] = id(one)
	}
	return groups
}

// compareNotes compares how notes of maintenance are judged. The operator is given its two limits;
// here they are constants, so ages move to the same side of them.
func compareNotes(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		stagestest.RecordedInput
		Notes     map[v1beta2.ProcessGroupID]opcases.Seconds `json:"processesUnderMaintenance"`
		Stale     time.Duration                              `json:"staleDuration"`
		Elsewhere time.Duration                              `json:"differentZoneWaitDuration"`
	}
	var out struct {
		Finished []string `json:"r0"`
		Stale    []string `json:"r1"`
		Awaited  []string `json:"r2"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	s := in.Snapshot(in.Status.Reporting())
	s.Coordination = plan.CoordinationFacts{Read: true, Maintenance: map[v1beta2.ProcessGroupID]time.Time{}}
	for id, since := range in.Notes {
		age := s.Now.Sub(since.Time())
		switch {
		case age > in.Stale:
			age += noteStaleAfter - in.Stale
		case age > in.Elsewhere:
			age += noteOfNextZoneFor - in.Elsewhere
		}
		s.Coordination.Maintenance[id] = s.Now.Add(-age)
	}
	judged := classifyNotes(s)
	over := slices.Concat(out.Finished, out.Stale)
	slices.Sort(over)
	slices.Sort(out.Awaited)
	return opcases.Outcome{"over": fmt.Sprint(over), "awaited": fmt.Sprint(out.Awaited)},
		opcases.Outcome{"over": fmt.Sprint(judged.over), "awaited": fmt.Sprint(judged.pending)}, nil
}

// compareMissingTooLong compares which process groups a restart does not wait for.
func compareMissingTooLong(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in stagestest.RecordedInput
	var out stagestest.RecordedVerdict
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	s := in.Snapshot(nil)
	return out.Outcome(), opcases.Verdict(readings.MissingTooLong(s, in.ProcessGroup) || readings.PendingTooLong(s, in.ProcessGroup)), nil
}

// compareMustRestart compares which conditions a process group must have, and must not have, to be
// restarted: every set of those that either side reads is tried.
func compareMustRestart(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in stagestest.RecordedInput
	var out struct {
		R0 map[v1beta2.ProcessGroupConditionType]bool `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	all := []v1beta2.ProcessGroupConditionType{
		v1beta2.ConditionIncorrectCommandLine, v1beta2.ConditionIncorrectConfigMap, v1beta2.ConditionIncorrectPodSpec,
		v1beta2.ConditionSidecarUnreachable, v1beta2.ConditionIncorrectSidecarImage,
	}
	for condition := range out.R0 {
		if !slices.Contains(all, condition) {
			return nil, nil, fmt.Errorf("the operator looks at condition %s", condition)
		}
	}
	operator, ours = opcases.Outcome{}, opcases.Outcome{}
	for set := range 1 << len(all) {
		g := &v1beta2.ProcessGroupStatus{ProcessGroupID: "log-1", ProcessClass: v1beta2.ProcessClassLog}
		for i, condition := range all {
			if set&(1<<i) != 0 {
				g.SetCondition(condition, in.Now.Time())
			}
		}
		s := in.Snapshot(nil)
		s.Cluster.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{g}
		b := readings.CollectBounce(s)
		part := opcases.JSON(g.ProcessGroupConditions)
		operator[part] = fmt.Sprint(meetsAll(g, out.R0))
		ours[part] = fmt.Sprint(len(b.Groups) == 1)
	}
	return operator, ours, nil
}

func meetsAll(g *v1beta2.ProcessGroupStatus, rules map[v1beta2.ProcessGroupConditionType]bool) bool {
	for condition, desired := range rules {
		if g.HasCondition(condition) != desired {
			return false
		}
	}
	return true
}
