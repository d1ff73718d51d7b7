package why

import (
	"reflect"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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

// GroupReport is what the report of a single process group has of its own.
type GroupReport struct {
	Group   string   `json:"processGroup"`
	State   State    `json:"state"`
	Summary string   `json:"summary"`
	Next    []string `json:"next"`
	Items   []Chain  `json:"items"`
}

// NewReportWithGroups makes the document with the reports of all process groups, which About returns: those of NewReport about each alone.
func NewReportWithGroups(m inspect.Metadata, in Input) Report {
	w, status := newWhy(m, in), inspect.NewStatusView(m, in.Facts)
	whole := w.report(m, status)
	if in.Cluster == nil {
		return whole
	}
	for _, g := range in.Groups() {
		only := newWhy(m, in)
		only.Only, only.found = []v1beta2.ProcessGroupID{g.ProcessGroupID}, w.found
		of, id := only.report(m, status), string(g.ProcessGroupID)
		if !reflect.DeepEqual(of.Items, whole.About(id).Items) {
			whole.Groups = append(whole.Groups, GroupReport{Group: id, State: of.State, Summary: of.Summary, Next: of.Next, Items: of.Items})
		}
	}
	return whole
}

// About returns the report of one process group. A report without those of process groups, as a recording of an older release has, is
// reduced to the items with this one among their subjects, and those of a database that is not available.
func (v Report) About(group string) Report {
	at := slices.IndexFunc(v.Groups, func(g GroupReport) bool { return g.Group == group })
	groups := v.Groups
	v.Groups, v.Outage = nil, nil
	if at >= 0 {
		v.State, v.Summary, v.Next, v.Items = groups[at].State, groups[at].Summary, groups[at].Next, groups[at].Items
		return v
	}
	v.Items = slices.DeleteFunc(slices.Clone(v.Items), func(c Chain) bool {
		ofOutage := slices.Contains(c.Subjects, subjectDatabase) && c.State.grade() >= Blocked.grade()
		return !ofOutage && !slices.Contains(c.Subjects, group)
	})
	v.State, v.Summary, v.Next = worstOf(v.Items), nothingBlocks(group), []string{}
	if len(v.Items) > 0 && v.AsOf != nil {
		v.Summary, v.Next = v.Items[0].line(*v.AsOf), v.Items[0].Next
	}
	return v
}

func nothingBlocks[ID ~string](groups ...ID) string {
	return "nothing blocks " + phrase.Some(groups, inspect.MostNamed) + ", and no action is pending"
}

// worstOf returns the worst state of some chains.
func worstOf(chains []Chain) State {
	worst := Ready
	for _, c := range chains {
		if c.State.grade() > worst.grade() {
			worst = c.State
		}
	}
	return worst
}
