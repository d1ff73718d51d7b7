package operatorcases

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// compareReadyForAll compares when all control-plane instances act on everything
// that is pending.
func compareReadyForAll(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	return compareSynchronized(c, safety.CommonRestart())
}

// compareReadyForExclusion compares when all control-plane instances exclude,
// and what.
func compareReadyForExclusion(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	return compareSynchronized(c, safety.CommonExclusion())
}

func compareSynchronized(c opcases.Case, action safety.SynchronizedAction) (operator, ours opcases.Outcome, err error) {
	var in struct {
		Now     opcases.Seconds      `json:"now"`
		Pending map[string]time.Time `json:"pendingProcessGroups"`
		Ready   map[string]time.Time `json:"readyProcessGroups"`
	}
	var out struct {
		Err opcases.Failure `json:"err"`
		R0  map[string]any  `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	s := plan.Snapshot{Now: in.Now.Time(), Cluster: &v1beta2.FoundationDBCluster{}}
	s.Coordination.Lists = plan.ListFacts{Read: true, Entries: map[fdb.SharedList]map[fdb.Member]time.Time{
		action.Pending: members(in.Pending), action.Ready: members(in.Ready),
	}}
	acted, _, _ := safety.Synchronized(s, action)
	recorded := []string{}
	switch { // the process groups that the operator goes on with
	case out.Err != "":
	case out.R0 != nil:
		recorded = slices.Sorted(maps.Keys(out.R0))
	default:
		recorded = slices.Sorted(maps.Keys(in.Pending))
	}
	ids := []string{}
	for _, m := range acted {
		ids = append(ids, m.Group)
	}
	slices.Sort(ids)
	return opcases.Outcome{"groups": fmt.Sprint(recorded)}, opcases.Outcome{"groups": fmt.Sprint(ids)}, nil
}

func members(groups map[string]time.Time) map[fdb.Member]time.Time {
	all := map[fdb.Member]time.Time{}
	for id, since := range groups {
		all[fdb.Member{Group: id}] = since
	}
	return all
}

// compareCoordinatorValidity compares which coordinators can stay.
func compareCoordinatorValidity(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in statusInput
	var out struct {
		Err   opcases.Failure `json:"err"`
		Valid bool            `json:"r0"`
		All   bool            `json:"r1"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	status := in.Status.WithVersions()
	if out.Err != "" { // the coordinators could not be determined
		status.Client.Coordinators = fdb.CoordinatorsStatus{}
		verdict := safety.JudgeCoordinators(in.snapshot(status))
		return opcases.Verdict(out.Valid), opcases.Verdict(verdict.Valid()), nil
	}
	verdict := safety.JudgeCoordinators(in.snapshot(status))
	return validity(out.Valid, out.All), validity(verdict.Valid(), verdict.Undecidable == ""), nil
}

func validity(valid, addresses bool) opcases.Outcome {
	return opcases.Outcome{"valid": strconv.FormatBool(valid), "addresses": strconv.FormatBool(addresses)}
}
