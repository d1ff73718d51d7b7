package why

import (
	"reflect"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

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
