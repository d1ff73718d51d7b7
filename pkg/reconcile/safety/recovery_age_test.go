package safety

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// TestRecoveryAgeIsInferredFromUptimesIfNotReported starts from a database of version 7.1.20,
// which reports -1, with processes that have been up for an hour and for two minutes.
func TestRecoveryAgeIsInferredFromUptimesIfNotReported(t *testing.T) {
	with := func(id string, change func(*fdb.Process)) func(*fdb.Status) {
		return func(s *fdb.Status) {
			p := s.Cluster.Processes[id]
			change(&p)
			s.Cluster.Processes[id] = p
		}
	}
	const none = "FoundationDB 7.1.20 does not report the age of recoveries"
	tests := map[string]struct {
		given    func(*fdb.Status)
		ok       bool
		evidence string
	}{
		"the youngest process is old enough": {func(*fdb.Status) {}, true, none + "; last known start or recovery 2m0s ago, 2m0s required"},
		"a process started too recently": {
			with("storage", func(p *fdb.Process) { p.UptimeSeconds = new(119.0) }), false, none + "; last known start or recovery 1m59s ago, 2m0s required",
		},
		"an uptime is unknown": {
			with("storage", func(p *fdb.Process) { p.UptimeSeconds = nil }), false, none + ", and the uptime of the process at 10.0.0.2:4501 is unknown",
		},
		"an uptime of a tester is unknown": {
			with("storage", func(p *fdb.Process) { p.ClassType, p.UptimeSeconds = "test", nil }), true, none + "; last known start or recovery 1h0m0s ago, 2m0s required",
		},
		"an excluded process without a role just started": {
			with("storage", func(p *fdb.Process) { p.Excluded, p.UptimeSeconds = new(true), new(1.0) }), true, none + "; last known start or recovery 1h0m0s ago, 2m0s required",
		},
		"an excluded process with a role just started": {
			with("storage", func(p *fdb.Process) {
				p.Excluded, p.UptimeSeconds, p.Roles = new(true), new(1.0), []fdb.Role{{Role: fdb.RoleLog}}
			}), false, none + "; last known start or recovery 1s ago, 2m0s required",
		},
		"a lower age is reported all the same": {
			func(s *fdb.Status) { s.Cluster.RecoveryState.SecondsSinceLastRecovered = new(7.0) }, false, none + "; last known start or recovery 7s ago, 2m0s required",
		},
		"a higher age is reported all the same": {
			func(s *fdb.Status) { s.Cluster.RecoveryState.SecondsSinceLastRecovered = new(9999.0) }, true, none + "; last known start or recovery 2m0s ago, 2m0s required",
		},
		"the document is late": {func(s *fdb.Status) {
			s.Cluster.Messages = []fdb.Message{{Name: fdb.MessageIncomplete, Reasons: []fdb.Reason{{Description: fdb.ReasonDeadlineExceeded}}}}
		}, false, incompleteDocument},
		"the version is unknown": {
			with("master", func(p *fdb.Process) { p.Version = "" }), false, "the status document does not report the age of the last recovery",
		},
		"no process is the master": {
			with("master", func(p *fdb.Process) { p.Roles = nil }), false, "the status document does not report the age of the last recovery",
		},
		"no process is the master, and an age is reported": {
			func(s *fdb.Status) {
				with("master", func(p *fdb.Process) { p.Roles = nil })(s)
				s.Cluster.RecoveryState.SecondsSinceLastRecovered = new(9999.0)
			}, false, "the status document does not report the age of the last recovery",
		},
		"from 7.1.22 only the reported age counts": {
			with("master", func(p *fdb.Process) { p.Version = "7.1.22" }), false, "the status document does not report the age of the last recovery",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := healthy(t)
			d.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = new(-1.0)
			d.Status.Cluster.Processes = map[string]fdb.Process{
				"master": {
					Address: fdb.Address{Host: "10.0.0.1", Port: 4501}, Version: "7.1.20", UptimeSeconds: new(3600.0), ClassType: "stateless",
					Roles: []fdb.Role{{Role: fdb.RoleMaster}},
				},
				"storage": {Address: fdb.Address{Host: "10.0.0.2", Port: 4501}, Version: "7.1.20", UptimeSeconds: new(120.0), ClassType: "storage"},
			}
			tc.given(d.Status)
			if c := RecoveredFor(d, 2*time.Minute); c.OK != tc.ok || c.Evidence != tc.evidence {
				t.Errorf("%v, %s", c.OK, c.Evidence)
			}
		})
	}
}
