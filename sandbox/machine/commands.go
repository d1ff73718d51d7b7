package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/control"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/faults"
)

// Report is what a sandbox says about itself.
type Report struct {
	Nodes     map[string]string `json:"nodes"` // name to health
	Speed     float64           `json:"speed"`
	Time      time.Time         `json:"time"` // of the simulated databases
	Network   string            `json:"network"`
	Databases []string          `json:"databases"`
	APIFaults []faults.Rule     `json:"apiFaults"`
}

// Write prints the report for people.
func (r Report) Write(w io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(r.Nodes)) {
		fmt.Fprintf(w, "node %s %s\n", name, r.Nodes[name])
	}
	fmt.Fprintf(w, "pod network %s\n", r.Network)
	fmt.Fprintf(w, "database time %s at speed %g\n", r.Time.Format(time.RFC3339), r.Speed)
	for _, name := range r.Databases {
		fmt.Fprintf(w, "database %s\n", name)
	}
	for _, f := range r.APIFaults {
		fmt.Fprintf(w, "API fault %s\n", f)
	}
}

// startControl takes commands until the sandbox stops.
func (m *Machine) startControl(ctx context.Context, short string) error {
	if err := os.RemoveAll(m.Paths.ControlSocket()); err != nil { // a sandbox that was killed left it; the lock says it is gone
		return fmt.Errorf("removing an old socket: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", filepath.Join(short, filepath.Base(m.Paths.ControlSocket())))
	if err != nil {
		return fmt.Errorf("listening for commands: %w", err)
	}
	m.onStop(control.Serve(listener, map[string]control.Handler{
		"status": func(context.Context, json.RawMessage) (any, error) { return m.report(), nil },
	}))
	return nil
}

func (m *Machine) report() Report {
	r := Report{Nodes: map[string]string{}, Speed: m.Tools.Pace(), Time: m.Tools.World.Now(), Network: m.network, APIFaults: m.Proxy.Rules().List()}
	for name, health := range m.Agent.Healths() {
		r.Nodes[name] = health.String()
	}
	for _, d := range m.Tools.World.Databases() {
		r.Databases = append(r.Databases, d.ConnectionString().String())
	}
	return r
}
