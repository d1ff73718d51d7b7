package ui

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
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
		v.ID, v.Class, v.podCell(), orNothing(v.Node), orNothing(v.Zone), orNothing(strings.Join(v.Addresses, ",")),
		v.rolesCell(), v.conditionsCell(o), v.exclusionCell(), v.removalCell(o), v.uptimeCell(o),
	}
}

// podCell is the pod's name, and its phase unless that is the ordinary one.
func (v GroupView) podCell() string {
	switch v.PodPhase {
	case "":
		return nothing
	case "Running":
		return v.Pod
	default:
		return v.Pod + "(" + v.PodPhase + ")"
	}
}

func (v GroupView) rolesCell() string {
	if v.Roles == nil {
		return unknown
	}
	return orNothing(strings.Join(v.Roles, ","))
}

func (v GroupView) conditionsCell(o ListOptions) string {
	words := make([]string, len(v.Conditions))
	for i, c := range v.Conditions {
		words[i] = fmt.Sprintf("%s(%s)", c.Type, o.time(c.Since))
	}
	return orNothing(strings.Join(words, ","))
}

func (v GroupView) exclusionCell() string {
	switch v.Exclusion {
	case NotExcluded:
		return nothing
	case ExclusionUnknown:
		return unknown
	default:
		return string(v.Exclusion)
	}
}

func (v GroupView) removalCell(o ListOptions) string {
	if v.RemovalSince == nil {
		return nothing
	}
	return o.time(v.RemovalSince)
}

func (v GroupView) uptimeCell(o ListOptions) string {
	if v.UptimeSeconds == nil {
		return unknown
	}
	uptime := time.Duration(*v.UptimeSeconds * float64(time.Second))
	if o.Absolute {
		return o.Now.Add(-uptime).UTC().Format(time.RFC3339)
	}
	return duration.HumanDuration(uptime)
}

func (v GroupView) wide() []string {
	data := nothing
	if v.StoredBytes != nil {
		data = bytesWords(*v.StoredBytes)
	}
	lag := nothing
	if v.LagSeconds != nil {
		lag = fmt.Sprintf("%.1fs", *v.LagSeconds)
	}
	restarts := nothing
	if v.Restarts != nil {
		restarts = strconv.Itoa(*v.Restarts)
	}
	return []string{orNothing(v.PVC), orNothing(v.Image), data, lag, restarts, orNothing(v.DC)}
}
