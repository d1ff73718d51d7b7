package safety

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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

// TestCleanBounce starts from a fully recovered database of version 7.4.7 whose bounce
// impact refuses because the recovery is not over.
func TestCleanBounce(t *testing.T) {
	tests := map[string]struct {
		given    func(*fdb.Status)
		ok       bool
		evidence string
	}{
		"ignores a refusal that the recovery state contradicts": {
			func(*fdb.Status) {}, true,
			`recovery_state is fully_recovered; bounce_impact of FoundationDB 7.4.7, a known defect (https://github.com/apple/foundationdb/pull/13343), contradicts it ("cluster hasn't fully recovered yet") and is ignored`,
		},
		"ignores it without a known version": {
			func(s *fdb.Status) { s.Cluster.Processes = map[string]fdb.Process{"a": {}} }, true,
			`recovery_state is fully_recovered; bounce_impact of FoundationDB unknown, which has no known defect, contradicts it ("cluster hasn't fully recovered yet") and is ignored`,
		},
		"ignores it in a version without the known defect": {
			func(s *fdb.Status) {
				s.Cluster.Processes = map[string]fdb.Process{"a": {Version: "7.4.6", Roles: []fdb.Role{{Role: fdb.RoleClusterController}}}}
			}, true,
			`recovery_state is fully_recovered; bounce_impact of FoundationDB 7.4.6, which has no known defect, contradicts it ("cluster hasn't fully recovered yet") and is ignored`,
		},
		"refuses before the recovery is over": {
			func(s *fdb.Status) { s.Cluster.RecoveryState.Name = fdb.RecoveryAllLogsRecruited }, false,
			"bounce_impact.can_clean_bounce is false: cluster hasn't fully recovered yet",
		},
		"refuses without a recovery state": {
			func(s *fdb.Status) { s.Cluster.RecoveryState = nil }, false, "bounce_impact.can_clean_bounce is false: cluster hasn't fully recovered yet",
		},
		"refuses for any other reason":  {func(s *fdb.Status) { s.Cluster.BounceImpact.Reason = "other" }, false, "bounce_impact.can_clean_bounce is false: other"},
		"refuses for a longer reason":   {func(s *fdb.Status) { s.Cluster.BounceImpact.Reason += "." }, false, "bounce_impact.can_clean_bounce is false: cluster hasn't fully recovered yet."},
		"refuses without a reason":      {func(s *fdb.Status) { s.Cluster.BounceImpact.Reason = "" }, false, "bounce_impact.can_clean_bounce is false: unknown"},
		"refuses by a partial document": {partial["late"], false, incompleteDocument},
		"refuses without an answer":     {func(s *fdb.Status) { s.Cluster.BounceImpact = nil }, false, "the status document does not report bounce_impact.can_clean_bounce"},
		"believes a yes":                {func(s *fdb.Status) { s.Cluster.BounceImpact.CanCleanBounce = new(true) }, true, "bounce_impact.can_clean_bounce is true"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := healthy(t)
			d.Status.Cluster.Processes = map[string]fdb.Process{"a": {Version: "7.4.7", Roles: []fdb.Role{{Role: fdb.RoleClusterController}}}}
			d.Status.Cluster.BounceImpact = &fdb.BounceImpact{CanCleanBounce: new(false), Reason: fdb.ReasonNotFullyRecovered}
			tc.given(d.Status)
			if c := CleanBounce(d); c.OK != tc.ok || c.Evidence != tc.evidence {
				t.Errorf("%v, %s", c.OK, c.Evidence)
			}
		})
	}
}

// The last recovery is an hour ago, and all processes run for two.
func TestRestartsRequireAMinimumUptimeOfAllProcesses(t *testing.T) {
	up := func(id string, seconds float64) func(*plan.Snapshot) {
		return edit(id, func(p *fdb.Process) { p.UptimeSeconds = &seconds })
	}
	recovered := func(seconds float64) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = &seconds
		}
	}
	running := func(version string) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.Status.RunningVersion = version }
	}
	const recovery, process, need = "last recovery ", "process at 10.0.0.1:4501 (storage-1) started ", " ago, 10m0s required"
	tests := map[string]struct {
		given    func(*plan.Snapshot)
		ok       bool
		evidence string
		missing  time.Duration
	}{
		"the recovery is long ago":           {unchanged, true, recovery + "1h0m0s" + need, 0},
		"just long enough ago":               {recovered(600), true, recovery + "10m0s" + need, 0},
		"a recovery of late":                 {recovered(599), false, recovery + "9m59s" + need, time.Second},
		"a process that started of late":     {up("storage-1", 60), false, process + "1m0s" + need, 9 * time.Minute},
		"a process as old as the recovery":   {up("storage-1", 3600), true, recovery + "1h0m0s" + need, 0},
		"a process that reports no uptime":   {edit("storage-1", func(p *fdb.Process) { p.UptimeSeconds = nil }), false, process + "0s" + need, 10 * time.Minute},
		"a tester does not count":            {up("test-1", 1), true, recovery + "1h0m0s" + need, 0},
		"an excluded process does not count": {up("log-1", 1), true, recovery + "1h0m0s" + need, 0},
		"one that does not report":           {both(up("storage-1", 1), edit("storage-1", func(p *fdb.Process) { p.Version = "" })), true, recovery + "1h0m0s" + need, 0},
		"an unknown recovery": {
			func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState = nil },
			false, "the status document does not report the age of the last recovery", 10 * time.Minute,
		},
		"a version that cannot be read": {running("seven"), false, "the status document does not report the age of the last recovery", 10 * time.Minute},
		"no answer":                     {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false, "no database status: timed out", 10 * time.Minute},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			for id := range s.Database.Status.Cluster.Processes {
				up(id, 7200)(&s)
			}
			tc.given(&s)
			c, missing := UpLongEnough(s, 10*time.Minute)
			if c.OK != tc.ok || c.Evidence != tc.evidence || missing != tc.missing {
				t.Errorf("%t, %q, %s missing; want %t, %q, %s", c.OK, c.Evidence, missing, tc.ok, tc.evidence, tc.missing)
			}
		})
	}
}
