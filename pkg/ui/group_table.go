package ui

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// groupColumns are those of process groups. The name of a pod is that of the cluster and the ID.
var groupColumns = []layout.Column{
	{Name: "ID"},
	{Name: "CLASS", Drop: 3},
	{Name: "POD", WideOnly: true},
	{Name: "NODE", Drop: 2},
	{Name: "ZONE", Drop: 8},
	{Name: "ADDRESS", Drop: 7, Min: 16},
	{Name: "ROLES", Drop: 1, Min: 12},
	{Name: "CONDITIONS", Min: 16},
	{Name: "EXCLUSION", Drop: 4},
	{Name: "REMOVAL", Drop: 5},
	{Name: "UPTIME", Drop: 6},
}

// WriteGroups prints a row per process group. Their distribution keys are a column where any has one.
func WriteGroups(w io.Writer, v inspect.GroupListView, o ListOptions) error {
	several := slices.ContainsFunc(v.Items, func(g inspect.GroupView) bool { return g.Cluster != "" })
	columns := groupColumns
	if several {
		columns = slices.Concat([]layout.Column{{Name: "CLUSTER", Min: 16}}, columns)
	}
	wide := []string{"PVC", "IMAGE", "DATA", "LAG", "RESTARTS", "DC"}
	packed := slices.ContainsFunc(v.Items, func(g inspect.GroupView) bool { return g.DistributionKey != "" })
	if packed {
		wide = append(wide, "KEY")
	}
	t := o.table(slices.Clone(columns), wide...)
	for _, g := range v.Items {
		row := groupRow(g, o)
		if several {
			row = append([]string{g.Namespace + "/" + g.Cluster}, row...)
		}
		if o.Wide {
			row = append(row, groupWide(g)...)
		}
		if o.Wide && packed {
			row = append(row, phrase.Or(g.DistributionKey, phrase.Nothing))
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Write(w)
}

func groupRow(v inspect.GroupView, o ListOptions) []string {
	return []string{
		v.ID, v.Class, podCell(v), phrase.Or(v.Node, phrase.Nothing), phrase.Or(v.Zone, phrase.Nothing), phrase.Or(strings.Join(v.Addresses, ","), phrase.Nothing),
		RolesCell(v), ConditionsCell(v, o), exclusionCell(v), removalCell(v, o), uptimeCell(v, o),
	}
}

// podCell is the pod's name, and its phase unless that is the ordinary one.
func podCell(v inspect.GroupView) string {
	switch v.PodPhase {
	case "":
		return phrase.Nothing
	case "Running":
		return v.Pod
	default:
		return v.Pod + "(" + v.PodPhase + ")"
	}
}

// RolesCell returns the roles of a process group, and that it is a coordinator that does not answer.
func RolesCell(v inspect.GroupView) string {
	roles := slices.Clone(v.Roles)
	if roles == nil {
		roles = []string{phrase.UnknownCell}
	}
	if v.CoordinatorReachable != nil && !*v.CoordinatorReachable {
		roles = append(roles, "coordinator("+inspect.NotReachable+")")
	}
	return phrase.Or(strings.Join(roles, ","), phrase.Nothing)
}

// ConditionsCell returns the conditions of a process group with their ages.
func ConditionsCell(v inspect.GroupView, o ListOptions) string {
	words := make([]string, len(v.Conditions))
	for i, c := range v.Conditions {
		words[i] = fmt.Sprintf("%s(%s)", c.Type, o.time(c.Since))
	}
	return phrase.Or(strings.Join(words, ","), phrase.Nothing)
}

func exclusionCell(v inspect.GroupView) string {
	switch v.Exclusion {
	case inspect.NotExcluded:
		return phrase.Nothing
	case inspect.ExclusionUnknown:
		return phrase.UnknownCell
	default:
		return string(v.Exclusion)
	}
}

func removalCell(v inspect.GroupView, o ListOptions) string {
	switch {
	case v.Kept && v.RemovalSince == nil:
		return "kept"
	case v.Kept:
		return "kept(" + o.time(v.RemovalSince) + ")"
	case v.RemovalSince == nil:
		return phrase.Nothing
	}
	return o.time(v.RemovalSince)
}

func uptimeCell(v inspect.GroupView, o ListOptions) string {
	if v.UptimeSeconds == nil {
		return phrase.UnknownCell
	}
	uptime := time.Duration(*v.UptimeSeconds * float64(time.Second))
	if o.Absolute {
		return o.Now.Add(-uptime).UTC().Format(time.RFC3339)
	}
	return phrase.Duration(uptime)
}

func groupWide(v inspect.GroupView) []string {
	data := phrase.Nothing
	if v.StoredBytes != nil {
		data = phrase.Bytes(*v.StoredBytes)
	}
	lag := phrase.Nothing
	if v.LagSeconds != nil {
		lag = fmt.Sprintf("%.1fs", *v.LagSeconds)
	}
	restarts := phrase.Nothing
	if v.Restarts != nil {
		restarts = strconv.Itoa(*v.Restarts)
	}
	return []string{phrase.Or(v.PVC, phrase.Nothing), phrase.Or(v.Image, phrase.Nothing), data, lag, restarts, phrase.Or(v.DC, phrase.Nothing)}
}
