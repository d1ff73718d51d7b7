package safety

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestReportingProcessesAreCountedOncePerGroup(t *testing.T) {
	process := func(id, host string) fdb.Process {
		p := fdb.Process{Version: "7.3.79", CommandLine: "fdbserver", Locality: map[string]string{fdb.LocalityZoneID: "z1"}}
		p.Address.Host = host
		if id != "" {
			p.Locality[fdb.LocalityInstanceID] = id
		}
		return p
	}
	notReporting := process("storage-1", "10.0.0.1")
	notReporting.Version = ""
	tests := map[string]struct {
		processes []fdb.Process
		want      int
	}{
		"its own by ID":                      {[]fdb.Process{process("storage-1", "10.0.0.9")}, 1},
		"its own by ID and address":          {[]fdb.Process{process("storage-1", "10.0.0.1")}, 1},
		"one without ID at its address":      {[]fdb.Process{process("", "10.0.0.1")}, 1},
		"one without ID at an old address":   {[]fdb.Process{process("", "10.0.0.2")}, 1},
		"one without ID elsewhere":           {[]fdb.Process{process("", "10.0.0.9")}, 0},
		"one of another group":               {[]fdb.Process{process("storage-2", "10.0.0.9")}, 0},
		"one of another group at an address": {[]fdb.Process{process("storage-2", "10.0.0.1")}, 0},
		"one that does not report":           {[]fdb.Process{notReporting}, 0},
		"two of one pod":                     {[]fdb.Process{process("storage-1", "10.0.0.1"), process("storage-1", "10.0.0.1")}, 2},
	}
	g := &v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-1", Addresses: []string{"10.0.0.2", "10.0.0.1"}}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status := &fdb.Status{}
			status.Cluster.Processes = map[string]fdb.Process{}
			for i, p := range tc.processes {
				status.Cluster.Processes[string(rune('a'+i))] = p
			}
			if got := reportingCounter(status)(g); got != tc.want {
				t.Errorf("%d processes counted, want %d", got, tc.want)
			}
			if got := len(reportingOf(plan.Snapshot{Cluster: &v1beta2.FoundationDBCluster{}, Database: plan.DatabaseFacts{Status: status}}, g)); got != tc.want {
				t.Errorf("%d processes listed, want %d", got, tc.want)
			}
		})
	}
}
