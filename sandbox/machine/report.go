package machine

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/faults"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/fdbtools"
)

// Report is the state of a sandbox.
type Report struct {
	Nodes map[string]string `json:"nodes"` // name to health
	Speed float64           `json:"speed"`
	// Times are the clocks of the simulated databases by namespace, or that of all without a name.
	Times     map[string]time.Time `json:"times"`
	Network   string               `json:"network"`
	Databases []string             `json:"databases"`
	Servers   []fdbtools.Server    `json:"servers"`
	APIFaults []faults.Rule        `json:"apiFaults"`
}

// Write prints the report as text.
func (r Report) Write(w io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(r.Nodes)) {
		fmt.Fprintf(w, "node %s %s\n", name, r.Nodes[name])
	}
	fmt.Fprintf(w, "pod network %s\n", r.Network)
	for _, namespace := range slices.Sorted(maps.Keys(r.Times)) {
		fmt.Fprintf(w, "%s at speed %g\n", strings.Join(strings.Fields("database time "+namespace+" "+r.Times[namespace].Format(time.RFC3339)), " "), r.Speed)
	}
	for _, name := range r.Databases {
		fmt.Fprintf(w, "database %s\n", name)
	}
	for _, s := range r.Servers {
		fmt.Fprintf(w, "server %s of pod %s\n", s.Address, s.Pod)
	}
	for _, f := range r.APIFaults {
		fmt.Fprintf(w, "API fault %s\n", f)
	}
}

func (m *Machine) report() Report {
	r := Report{
		Nodes: map[string]string{}, Speed: m.Tools.Pace(), Times: m.Tools.Times(), Network: m.network,
		Servers: m.Tools.Servers(), APIFaults: m.Proxy.Rules().List(),
	}
	for name, health := range m.Agent.Healths() {
		r.Nodes[name] = health.String()
	}
	for _, d := range m.Tools.Databases() {
		r.Databases = append(r.Databases, d.ConnectionString().String())
	}
	return r
}
