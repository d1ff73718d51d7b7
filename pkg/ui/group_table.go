package ui

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// WriteGroups prints a row per process group.
func WriteGroups(w io.Writer, v GroupListView, o ListOptions) error {
	several := slices.ContainsFunc(v.Items, func(g GroupView) bool { return g.Cluster != "" })
	first := []string{}
	if several {
		first = append(first, "CLUSTER")
	}
	t := Table{Header: o.header(
		append(first, "ID", "CLASS", "POD", "NODE", "ZONE", "ADDRESS", "ROLES", "CONDITIONS", "EXCLUSION", "REMOVAL", "UPTIME"),
		"PVC", "IMAGE", "DATA", "LAG", "RESTARTS", "DC")}
	for _, g := range v.Items {
		row := g.row(o)
		if several {
			row = append([]string{g.Namespace + "/" + g.Cluster}, row...)
		}
		if o.Wide {
			row = append(row, g.wide()...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Write(w)
}

func (v GroupView) row(o ListOptions) []string {
	return []string{
		v.ID, v.Class, v.podCell(), phrase.Or(v.Node, phrase.Nothing), phrase.Or(v.Zone, phrase.Nothing), phrase.Or(strings.Join(v.Addresses, ","), phrase.Nothing),
		v.rolesCell(), v.conditionsCell(o), v.exclusionCell(), v.removalCell(o), v.uptimeCell(o),
	}
}

// podCell is the pod's name, and its phase unless that is the ordinary one.
func (v GroupView) podCell() string {
	switch v.PodPhase {
	case "":
		return phrase.Nothing
	case "Running":
		return v.Pod
	default:
		return v.Pod + "(" + v.PodPhase + ")"
	}
}

func (v GroupView) rolesCell() string {
	roles := slices.Clone(v.Roles)
	if roles == nil {
		roles = []string{phrase.UnknownCell}
	}
	if v.CoordinatorReachable != nil && !*v.CoordinatorReachable {
		roles = append(roles, "coordinator("+NotReachable+")")
	}
	return phrase.Or(strings.Join(roles, ","), phrase.Nothing)
}

func (v GroupView) conditionsCell(o ListOptions) string {
	words := make([]string, len(v.Conditions))
	for i, c := range v.Conditions {
		words[i] = fmt.Sprintf("%s(%s)", c.Type, o.time(c.Since))
	}
	return phrase.Or(strings.Join(words, ","), phrase.Nothing)
}

func (v GroupView) exclusionCell() string {
	switch v.Exclusion {
	case NotExcluded:
		return phrase.Nothing
	case ExclusionUnknown:
		return phrase.UnknownCell
	default:
		return string(v.Exclusion)
	}
}

func (v GroupView) removalCell(o ListOptions) string {
	if v.RemovalSince == nil {
		return phrase.Nothing
	}
	return o.time(v.RemovalSince)
}

func (v GroupView) uptimeCell(o ListOptions) string {
	if v.UptimeSeconds == nil {
		return phrase.UnknownCell
	}
	uptime := time.Duration(*v.UptimeSeconds * float64(time.Second))
	if o.Absolute {
		return o.Now.Add(-uptime).UTC().Format(time.RFC3339)
	}
	return phrase.Duration(uptime)
}

func (v GroupView) wide() []string {
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
