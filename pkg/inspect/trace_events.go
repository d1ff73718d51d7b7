package inspect

import (
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// TraceEventsSuppressedBy returns where a knob is set that suppresses what the status document is made from:
// fields of the spec, then process groups whose processes run with it. A document without
// these events has no command lines, so the monitors' configurations count, too.
func (f Facts) TraceEventsSuppressedBy() []string {
	var places []string
	for _, err := range f.Cluster.TraceSuppressingParameters() {
		places = append(places, err.Field)
	}
	for _, g := range f.Groups() {
		if f.runsWithoutTraceEvents(g) {
			places = append(places, "processgroup/"+string(g.ProcessGroupID))
		}
	}
	return places
}

func (f Facts) runsWithoutTraceEvents(g *v1beta2.ProcessGroupStatus) bool {
	if slices.ContainsFunc(f.ProcessesOf(g), func(p fdb.Process) bool {
		return slices.ContainsFunc(strings.Fields(p.CommandLine), v1beta2.SuppressesTraceEvents)
	}) {
		return true
	}
	m, err := fdb.ParseMonitorConfiguration([]byte(f.PodFiles[g.PodName(f.Cluster)].Configuration))
	if err != nil {
		return false // a pod without a monitor, or one that has not reported: its command line must suffice
	}
	return slices.ContainsFunc(m.Arguments, func(a fdb.Argument) bool { return v1beta2.SuppressesTraceEvents(a.Value) })
}

// LacksTraceEvents reports whether the status document lacks what a knob of trace events can suppress.
func (f Facts) LacksTraceEvents() bool {
	s := f.Database.Status
	return s != nil && s.LacksTraceEvents()
}
