package why

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
)

// restricted returns a chain for each restriction of the database, and for an overdue pause: nothing but a user ends
// most of them. The chain of a restore that holds the lock of the database explains that.
func (w *why) restricted(v inspect.StatusView, backups []Chain) []Chain {
	locks := slices.ContainsFunc(backups, func(c Chain) bool { return c.rank == rankRestore })
	var chains []Chain
	for _, r := range v.Restrictions {
		if r.Effect != inspect.Informs && (!locks || r.Code != inspect.RestrictionLocked) {
			chains = append(chains, w.restriction(r))
		}
	}
	return chains
}

func (w *why) restriction(r inspect.Restriction) Chain {
	c := Chain{
		Subjects: []string{subjectDatabase}, State: Blocked, Summary: summaryOf(r.Code), rank: rankRestricted,
		Reasons: []Link{{Message: r.Detail, Reasons: []Link{{Message: "ended by " + r.Ends}}}},
	}
	switch {
	case r.Effect == inspect.UnknownEffect:
		c.State, c.rank, c.Summary = Unknown, rankDatabase, "does not report whether transactions start"
		c.Next = w.limitedNext(&c)
	case r.Limit != "":
		c.rank = rankDatabase // what a pass cannot do without transactions follows from it
		c.Next = w.limitedNext(&c)
	case r.Code == inspect.RestrictionMaintenance:
		c.State = Waiting // it expires
	case r.Code == inspect.RestrictionPauseOverdue:
		c.Subjects = []string{subjectCluster}
	case r.Code == inspect.RestrictionInvalidSpec, r.Code == inspect.RestrictionInvalidPod:
		c.Subjects, c.rank = []string{subjectCluster}, rankFailure
	}
	if len(r.Kubectl) > 0 {
		c.Next = append(c.Next, w.Kubectl(r.Kubectl...))
	}
	c.Next = append(c.Next, w.FDB(r.Command...))
	return c
}

// summaryOf returns the problem of the subject in few words.
func summaryOf(code inspect.RestrictionCode) string {
	switch code {
	case inspect.RestrictionNoTransactions:
		return "starts no transactions"
	case inspect.RestrictionRatekeeper:
		return "starts fewer transactions than clients request"
	case inspect.RestrictionLocked:
		return "is locked"
	case inspect.RestrictionMaintenance:
		return "has a zone under maintenance"
	case inspect.RestrictionDataDistribution, inspect.RestrictionStorageFailures:
		return "does not replace lost copies"
	case inspect.RestrictionInvalidSpec:
		return "has an invalid spec"
	case inspect.RestrictionInvalidPod:
		return "has pods with invalid values"
	case inspect.RestrictionPauseOverdue:
		return "is paused for longer than planned"
	case inspect.RestrictionPaused:
		return "is paused"
	}
	return string(code)
}

// limitedNext adds what slows the database to a chain about ratekeeper's limit, and returns the commands that show more.
func (w *why) limitedNext(c *Chain) []string {
	load := workload.NewView(inspect.Metadata{Cluster: w.name}, workload.Input{Facts: w.Facts, Commands: w.Commands})
	var next []string
	for _, cause := range load.Causes {
		if !slices.Contains([]workload.Code{workload.RatekeeperLimit, workload.DiskSpace}, cause.Code) || cause.Effect != workload.Slows {
			continue
		}
		c.Reasons[0].Reasons = append(c.Reasons[0].Reasons, Link{Message: cause.Text()})
		next = append(next, cause.Next)
	}
	return next
}
