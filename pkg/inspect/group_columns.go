package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// GroupRow is a process group in a list.
type GroupRow struct {
	*GroupView
	Tone list.Tone
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
	{Title: "SITE", Meaning: "Site of the database, with --contexts or --sites", Place: list.Optional, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.Site) }},
	{Title: "CLUSTER", Meaning: "Namespace and name of its cluster, in a list of several", Min: 16, Place: list.Optional, Cell: func(_ list.At, g GroupRow) list.Cell {
		if g.Cluster == "" {
			return list.Text("")
		}
		return list.Text(g.Namespace + "/" + g.Cluster)
	}},
	{Title: "ID", Meaning: "ID of the process group", Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.ID).In(g.Tone.OfID()) }},
	{Title: "CLASS", Meaning: "Process class", Repeats: "ID", Min: 9, Drop: 6, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.Class) }},
	{Title: "POD", Meaning: "Name of the pod, with its phase unless that is Running; - where there is no pod", Drop: 14, Place: list.Roomy, Cell: func(_ list.At, g GroupRow) list.Cell { return g.podCell() }},
	{Title: "NODE", Meaning: "Node of the pod", Repeats: "ZONE", Drop: 5, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.Node) }},
	{Title: "ZONE", Meaning: "Fault domain, as processes report it", Drop: 3, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Known(g.Zone) }},
	{Title: "ADDRESS", Meaning: "Addresses of its processes; the last ones while none reports", Typical: 21, Min: 16, Drop: 8, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Joined(g.Addresses) }},
	{Title: "ROLES", Meaning: "Roles of its processes, and whether it is a coordinator that does not answer; ? where they are unknown, in the dashboard with the last known ones", Typical: 20, Min: 12, Drop: 4, Cell: func(_ list.At, g GroupRow) list.Cell { return g.RolesCell() }},
	{Title: "CONDITIONS", Meaning: "Conditions with their ages, the worst first, and what is wrong with the node; ? where they are unknown, or others may be", Typical: 38, Min: 24, Cell: func(at list.At, g GroupRow) list.Cell { return g.ConditionsCell(at).In(g.Tone) }, Number: func(at list.At, g GroupRow) *float64 {
		if len(g.Conditions) == 0 {
			return nil
		}
		return at.Seconds(WorstFirst(g.Conditions)[0].Since)
	}},
	{Title: "EXCLUSION", Meaning: "Progress of the exclusion; safe is proven", Typical: 10, Drop: 2, Cell: func(_ list.At, g GroupRow) list.Cell { return g.exclusionCell() }},
	{Title: "REMOVAL", Meaning: "Age of the mark for removal; kept where the spec protects the process group from replacement", Typical: 7, Drop: 1, Cell: func(at list.At, g GroupRow) list.Cell { return g.removalCell(at) }, Number: func(at list.At, g GroupRow) *float64 { return at.Seconds(g.RemovalSince) }},
	{Title: "UPTIME", Meaning: "Age of the process that started last; ? where it is unknown, in the dashboard with the last known one", Typical: 7, Drop: 7, Right: true, Cell: func(at list.At, g GroupRow) list.Cell { return g.uptimeCell(at) }, Number: func(_ list.At, g GroupRow) *float64 { return g.UptimeSeconds }},
	{Title: "PVC", Meaning: "Name of the PVC; - for a class without one", Min: 16, Drop: 15, Place: list.Wide, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.PVC) }},
	{Title: "IMAGE", Meaning: "Image of the main container", Typical: 40, Min: 16, Drop: 16, Place: list.Wide, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.Image) }},
	{Title: "DATA", Meaning: "Data of its storage roles; - without one", Typical: 7, Drop: 9, Right: true, Place: list.Wide, Cell: func(_ list.At, g GroupRow) list.Cell {
		return g.ofStorage(list.Text(phrase.BytesOr(g.StoredBytes, "")))
	}, Number: func(_ list.At, g GroupRow) *float64 { return list.Quantity(g.StoredBytes) }},
	{Title: "LAG", Meaning: "Time by which its storage roles are behind; - without one", Typical: 5, Drop: 11, Right: true, Place: list.Wide, Cell: func(_ list.At, g GroupRow) list.Cell { return g.ofStorage(list.Lag(g.LagSeconds)) }, Number: func(_ list.At, g GroupRow) *float64 { return g.LagSeconds }},
	{Title: "RESTARTS", Meaning: "Restarts of the pod's containers", Typical: 8, Drop: 10, Right: true, Place: list.Wide, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(phrase.NumberOr(g.Restarts, "")) }, Number: func(_ list.At, g GroupRow) *float64 { return list.Quantity(g.Restarts) }},
	{Title: "DC", Meaning: "Data center, where processes report one", Drop: 12, Place: list.Wide, Cell: func(_ list.At, g GroupRow) list.Cell { return g.dcCell() }},
	{Title: "KEY", Meaning: "Distribution key, of pods that are packed into fault domains", Drop: 13, Place: list.WideOptional, Cell: func(_ list.At, g GroupRow) list.Cell { return list.Text(g.DistributionKey) }},
}

// podCell is the pod's name, and its phase unless that is the ordinary one.
func (v GroupView) podCell() list.Cell {
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
func (v GroupView) Phase() string {
	if v.PodPhase != "" && v.NodeProblem != "" {
		return phrase.UnknownCell
	}
	return v.PodPhase
}

// RolesCell is the roles of a process group, and that it is a coordinator that does not answer. While
// the roles are unknown, coordinators are those of the connection string.
func (v GroupView) RolesCell() list.Cell {
	roles, tone := slices.Clone(v.Roles), list.Plain
	if roles == nil && v.LastReport != nil {
		roles, tone = []string{lastKnown(strings.Join(v.LastReport.Roles, ","))}, list.Faint
	}
	unknown := roles == nil
	switch {
	case v.CoordinatorReachable != nil && !*v.CoordinatorReachable:
		roles = append(roles, fdb.RoleCoordinator+"("+NotReachable+")")
	case v.LastReport != nil && slices.Contains(v.LastReport.Roles, fdb.RoleCoordinator): // it is among those
	case v.Roles == nil && ptr.Deref(v.Coordinator, false):
		roles = append(roles, fdb.RoleCoordinator)
	}
	switch {
	case unknown && len(roles) == 0:
		return list.Known("")
	case unknown:
		roles = slices.Insert(roles, 0, phrase.UnknownCell)
	}
	return list.Joined(roles).In(tone)
}

// lastKnown is a value that is unknown now: a mark of that, and the last one that was known.
func lastKnown(value string) string {
	return phrase.UnknownCell + "(" + phrase.Or(value, phrase.Nothing) + ")"
}

// ofStorage is a cell of storage roles: "?" where a process group of that class has unknown ones.
func (v GroupView) ofStorage(c list.Cell) list.Cell {
	if v.Roles == nil && v.Class == string(v1beta2.ProcessClassStorage) {
		return list.Known("")
	}
	return c
}

func (v GroupView) dcCell() list.Cell {
	if v.Processes == nil {
		return list.Known(v.DC)
	}
	return list.Text(v.DC)
}

func (v GroupView) uptimeCell(at list.At) list.Cell {
	if v.UptimeSeconds == nil && v.LastReport != nil {
		return list.Text(lastKnown(phrase.Or(at.Lasting(v.LastReport.UptimeSeconds), phrase.UnknownCell))).In(list.Faint)
	}
	return list.Known(at.Lasting(v.UptimeSeconds))
}

// ConditionsCell is the conditions of a process group with their ages, the worst first: a narrow
// column shows only that. What is wrong with the node follows where no condition does more than hint at it.
func (v GroupView) ConditionsCell(at list.At) list.Cell {
	words := conditionWords(v.Conditions, at)
	if len(words) == 0 && v.Processes != nil && *v.Processes == 0 {
		words = append(words, "not-reporting")
	}
	if v.NodeProblem != "" && (len(words) == 0 || v.ConditionsUnknown) {
		words = append(words, "node-"+string(v.NodeProblem))
	}
	if v.PodProblem != "" {
		words = append(words, "pod-"+string(v.PodProblem))
	}
	switch {
	case v.ConditionsUnknown && v.LastReport != nil && len(v.LastReport.Conditions) > 0:
		words = append(words, lastKnown(strings.Join(conditionWords(v.LastReport.Conditions, at), ",")))
	case v.ConditionsUnknown && len(words) == 0:
		return list.Known("")
	case v.ConditionsUnknown:
		words = append(words, phrase.UnknownCell)
	}
	return list.Joined(words)
}

func conditionWords(conditions []ConditionView, at list.At) []string {
	var words []string
	for _, c := range WorstFirst(conditions) {
		words = append(words, fmt.Sprintf("%s(%s)", c.Type, phrase.Or(at.Age(c.Since), phrase.UnknownCell)))
	}
	return words
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
		return list.Text(at.Age(v.RemovalSince))
	}
}

// Tone is how bad the state of a process group is: that of what its processes do, or of its worst condition. One that drains and
// is removed as planned has no problem. What
// Kubernetes and the connection string show counts whether or not the database answers.
func (v GroupView) Tone() list.Tone {
	worst := v.State().tone()
	if v.ConditionsUnknown || v.Exclusion == ExclusionUnknown {
		worst = max(worst, list.Unsure)
	}
	if v.isDraining() {
		worst = max(worst, list.Busy)
	}
	if v.NodeProblem != "" {
		worst = max(worst, list.Warn)
	}
	if v.hasDeadCoordinator() || v.State() == GroupUnknown && v.RemovalSince == nil && (v.NodeProblem != "" || v.PodProblem != "") {
		worst = list.Bad
	}
	for _, c := range v.Conditions {
		if v.RemovalSince == nil || !isOfRemoval(c.Type) {
			worst = max(worst, ConditionTone(c.Type))
		}
	}
	return worst
}

// isOfRemoval reports whether a condition is no problem of a process group that is being removed: it is there because of that, or
// reports that the process group differs from a spec by which nothing of it is changed any more.
func isOfRemoval(condition string) bool {
	switch v1beta2.ProcessGroupConditionType(condition) {
	case v1beta2.ConditionProcessIsMarkedAsExcluded, v1beta2.ConditionResourcesTerminating, v1beta2.ConditionIncorrectPodSpec, v1beta2.ConditionIncorrectPodMetadata,
		v1beta2.ConditionIncorrectConfigMap, v1beta2.ConditionIncorrectCommandLine, v1beta2.ConditionIncorrectSidecarImage:
		return true
	default:
		return false
	}
}

func (v GroupView) hasDeadCoordinator() bool { return !ptr.Deref(v.CoordinatorReachable, true) }

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

// NotReachable is the word for a coordinator that does not answer.
const NotReachable = "not reachable"

// coordinates adds the coordinator of a group by the connection string: a process that does not
// report remains a coordinator, and the database counts it.
func (f Facts) coordinates(v *GroupView, g *v1beta2.ProcessGroupStatus, coordinators []CoordinatorView) {
	for _, c := range coordinators {
		address, err := fdb.ParseAddress(c.Address)
		if err != nil || !mayBeAt(f.Cluster, g, address) || f.Coordinator(c).Group != v.ID {
			continue
		}
		v.Coordinator, v.CoordinatorReachable = new(true), c.Reachable
		if ptr.Deref(c.Reachable, false) {
			return
		}
	}
}

// mayBeAt reports whether an address is one of a group's, by its IPs or its pod's DNS name.
// Another group may have come to it since.
func mayBeAt(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus, at fdb.Address) bool {
	return slices.Contains(g.Addresses, at.Host) || strings.HasPrefix(at.Host, g.PodName(c)+".")
}

// CoordinatorWords returns whether the group has a coordinator, and whether that answers.
func (v GroupView) CoordinatorWords() string {
	if ptr.Deref(v.Coordinator, false) && v.CoordinatorReachable != nil && !*v.CoordinatorReachable {
		return "yes, " + NotReachable
	}
	return phrase.YesNo(v.Coordinator, phrase.UnknownCell)
}

// GroupState is what the processes of a process group do, in a word. Its conditions come on top: GroupView.Tone has both.
type GroupState string

// The states of process groups.
const (
	// GroupUp has processes that report, and stays.
	GroupUp GroupState = "up"
	// GroupDraining is marked for removal or excluded.
	GroupDraining GroupState = "draining"
	// GroupDown has no process that reports.
	GroupDown GroupState = "down"
	// GroupNew has none yet: its zone is recorded when the first one reports.
	GroupNew GroupState = "new"
	// GroupUnknown is of a database that does not list its processes.
	GroupUnknown GroupState = "unknown"
)

// State returns what the processes of the group do. The mark of its row and its symbol on the map follow from it.
func (v GroupView) State() GroupState {
	switch {
	case v.Processes == nil:
		return GroupUnknown
	case *v.Processes == 0 && v.RemovalSince == nil && v.Zone == "":
		return GroupNew
	case *v.Processes == 0 && v.RemovalSince == nil:
		return GroupDown
	case v.isDraining():
		return GroupDraining
	default:
		return GroupUp
	}
}

// isDraining reports whether the group is marked for removal, or is to be excluded.
func (v GroupView) isDraining() bool {
	return v.RemovalSince != nil || v.Exclusion != NotExcluded && v.Exclusion != ExclusionUnknown
}

func (s GroupState) tone() list.Tone {
	switch s {
	case GroupUp:
		return list.Good
	case GroupDraining:
		return list.Busy
	case GroupNew:
		return list.Warn
	case GroupDown:
		return list.Bad
	default:
		return list.Unsure
	}
}
