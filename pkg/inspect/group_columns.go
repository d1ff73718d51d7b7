package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// GroupRow is a process group in a list.
type GroupRow struct {
	*GroupView
	Tone list.Tone
	// NodeDown is whether the node of its pod is known to be deleted or not ready.
	NodeDown bool
}

// NewGroupRow returns the row of a process group.
func NewGroupRow(v *GroupView) GroupRow { return GroupRow{GroupView: v, Tone: v.Tone()} }

// List returns the process groups with their columns.
func (v GroupListView) List() list.Table {
	rows := make([]GroupRow, len(v.Items))
	for i := range v.Items {
		rows[i] = NewGroupRow(&v.Items[i])
	}
	return list.Of(GroupColumns, rows)
}

// GroupColumns are the columns of process groups.
var GroupColumns = []list.Column[GroupRow]{
	{Title: "CLUSTER", Meaning: "Namespace and name of its cluster, in a list of several", Min: 16, Place: list.Optional, Cell: func(_ list.At, g GroupRow) list.Cell {
		if g.Cluster == "" {
			return list.Text("")
		}
		return list.Text(g.Namespace + "/" + g.Cluster)
	}},
	{Title: "ID", Meaning: "ID of the process group", Min: 15, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.ID).In(g.Tone.OfID()) }},
	{Title: "CLASS", Meaning: "Process class", Min: 9, Drop: 6, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.Class) }},
	{Title: "POD", Meaning: "Name of the pod, with its phase unless that is Running; - where there is no pod", Min: 16, Drop: 14, Place: list.Roomy, Cell: func(_ list.At, g GroupRow) list.Cell { return g.podCell() }},
	{Title: "NODE", Meaning: "Node of the pod", Min: 8, Drop: 5, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.Node) }},
	{Title: "ZONE", Meaning: "Fault domain, as processes report it", Min: 5, Drop: 3, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Known(g.Zone) }},
	{Title: "ADDRESS", Meaning: "Addresses of its processes; the last ones while none reports", Min: 16, Drop: 8, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Joined(g.Addresses) }},
	{Title: "ROLES", Meaning: "Roles of its processes, and whether it is a coordinator that does not answer", Min: 12, Drop: 4, Cell: func(_ list.At, g GroupRow) list.Cell { return g.RolesCell() }},
	{Title: "CONDITIONS", Meaning: "Conditions with their ages, the worst first", Min: 24, Cell: func(at list.At, g GroupRow) list.Cell { return g.ConditionsCell(at).In(g.Tone) }, Number: func(at list.At, g GroupRow) *float64 {
		if len(g.Conditions) == 0 {
			return nil
		}
		return at.Seconds(WorstFirst(g.Conditions)[0].Since)
	}},
	{Title: "EXCLUSION", Meaning: "Progress of the exclusion; safe is proven", Drop: 2, Cell: func(_ list.At, g GroupRow) list.Cell { return g.exclusionCell() }},
	{Title: "REMOVAL", Meaning: "Age of the mark for removal; kept where the spec protects the process group from replacement", Drop: 1, Cell: func(at list.At, g GroupRow) list.Cell { return g.removalCell(at) }, Number: func(at list.At, g GroupRow) *float64 { return at.Seconds(g.RemovalSince) }},
	{Title: "UPTIME", Meaning: "Age of the process that started last", Drop: 7, Right: true, Cell: func(at list.At, g GroupRow) list.Cell { return list.Known(at.Lasting(g.UptimeSeconds)) }, Number: func(_ list.At, g GroupRow) *float64 { return g.UptimeSeconds }},
	{Title: "PVC", Meaning: "Name of the PVC; - for a class without one", Min: 16, Drop: 15, Place: list.Wide, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.PVC) }},
	{Title: "IMAGE", Meaning: "Image of the main container", Min: 16, Drop: 16, Place: list.Wide, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.Image) }},
	{Title: "DATA", Meaning: "Data of its storage roles", Drop: 9, Right: true, Place: list.Wide, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(phrase.BytesOr(g.StoredBytes, "")) }, Number: func(_ list.At, g GroupRow) *float64 { return list.Quantity(g.StoredBytes) }},
	{Title: "LAG", Meaning: "Time by which its storage roles are behind", Drop: 11, Right: true, Place: list.Wide, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Lag(g.LagSeconds) }, Number: func(_ list.At, g GroupRow) *float64 { return g.LagSeconds }},
	{Title: "RESTARTS", Meaning: "Restarts of the pod's containers", Drop: 10, Right: true, Place: list.Wide, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(phrase.NumberOr(g.Restarts, "")) }, Number: func(_ list.At, g GroupRow) *float64 { return list.Quantity(g.Restarts) }},
	{Title: "DC", Meaning: "Data center, where processes report one", Drop: 12, Place: list.Wide, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.DC) }},
	{Title: "KEY", Meaning: "Distribution key, of pods that are packed into fault domains", Drop: 13, Place: list.WideOptional, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.DistributionKey) }},
}

// podCell is the pod's name, and its phase unless that is the ordinary one.
func (v GroupRow) podCell() list.Cell {
	switch phase := v.Phase(); phase {
	case "":
		return list.Text("")
	case "Running":
		return list.Text(v.Pod)
	default:
		return list.Text(v.Pod + "(" + phase + ")")
	}
}

// Phase returns the phase of the pod; empty without a pod. It is unknown while its node does not
// report: the API server still has the last one.
func (v GroupRow) Phase() string {
	if v.PodPhase != "" && v.NodeDown {
		return phrase.UnknownCell
	}
	return v.PodPhase
}

// RolesCell is the roles of a process group, and that it is a coordinator that does not answer.
func (v GroupView) RolesCell() list.Cell {
	roles := slices.Clone(v.Roles)
	if roles == nil {
		roles = []string{phrase.UnknownCell}
	}
	if v.CoordinatorReachable != nil && !*v.CoordinatorReachable {
		roles = append(roles, "coordinator("+NotReachable+")")
	}
	return list.Joined(roles)
}

// ConditionsCell is the conditions of a process group with their ages, the worst first: a narrow
// column shows only that.
func (v GroupView) ConditionsCell(at list.At) list.Cell {
	var words []string
	for _, c := range WorstFirst(v.Conditions) {
		words = append(words, fmt.Sprintf("%s(%s)", c.Type, at.Age(c.Since)))
	}
	if len(words) == 0 && v.Processes != nil && *v.Processes == 0 {
		return list.Text("not-reporting")
	}
	return list.Joined(words)
}

func (v GroupView) exclusionCell() list.Cell {
	switch v.Exclusion {
	case NotExcluded:
		return list.Text("")
	case ExclusionUnknown:
		return list.Known("")
	default:
		return list.Text(v.Exclusion)
	}
}

func (v GroupView) removalCell(at list.At) list.Cell {
	switch {
	case v.Kept && v.RemovalSince == nil:
		return list.Text("kept")
	case v.Kept:
		return list.Text("kept(" + at.Age(v.RemovalSince) + ")")
	default:
		return list.Text(at.AgeOr(v.RemovalSince))
	}
}

// Tone is how bad the state of a process group is: that of what its processes do, or of its worst condition.
func (v GroupView) Tone() list.Tone {
	worst := v.State().tone()
	if v.isDraining() {
		worst = max(worst, list.Warn)
	}
	for _, c := range v.Conditions {
		worst = max(worst, ConditionTone(c.Type))
	}
	return worst
}

// ConditionTone is how bad a condition is: it is bad if it leads to a replacement.
func ConditionTone(condition string) list.Tone {
	c := v1beta2.ProcessGroupConditionType(condition)
	switch {
	case c.IsInformational(), c == v1beta2.ConditionPodPending, c == v1beta2.ConditionProcessIsMarkedAsExcluded:
		return list.Warn
	case slices.Contains(v1beta2.ReplacementConditions(), c):
		return list.Bad
	default:
		return list.Warn
	}
}

// WorstFirst sorts conditions by how bad they are, then by age.
func WorstFirst(conditions []ConditionView) []ConditionView {
	return slices.SortedStableFunc(slices.Values(conditions), func(a, b ConditionView) int {
		return cmp.Or(cmp.Compare(ConditionTone(b.Type), ConditionTone(a.Type)), CompareTimes(a.Since, b.Since), strings.Compare(a.Type, b.Type))
	})
}
