package safety

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// started sets the uptime of a process.
func started(id string, seconds float64) func(*plan.Snapshot) {
	return edit(id, func(p *fdb.Process) { p.UptimeSeconds = &seconds })
}

// bare makes a process one that has reported nothing about itself yet.
func bare(id string) func(*plan.Snapshot) {
	return edit(id, func(p *fdb.Process) { p.UptimeSeconds, p.Locality, p.Version, p.CommandLine = nil, nil, "", "" })
}

// at gives the pod of a process group an address.
func at(pod, ip string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Pods[pod].Status.PodIP, s.Pods[pod].Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	}
}

func TestRecentStartsInOtherFaultDomainsFailTheCheck(t *testing.T) {
	const required = ", 1m30s required"
	tests := map[string]struct {
		given   func(*plan.Snapshot)
		zones   []string // z1 unless set
		because string
		missing time.Duration
	}{
		"all processes are old":                      {given: unchanged},
		"a storage process has just started":         {given: started("storage-3", 12), because: "storage-3 started 12s ago" + required, missing: 78 * time.Second},
		"a storage process is almost old enough":     {given: started("storage-3", 89), because: "storage-3 started 1m29s ago" + required, missing: time.Second},
		"a storage process is just old enough":       {given: started("storage-3", 90)},
		"a log process has just started":             {given: started("log-3", 12), because: "log-3 started 12s ago" + required, missing: 78 * time.Second},
		"the youngest of several decides":            {given: both(started("storage-3", 70), started("log-3", 12)), because: "log-3 started 12s ago" + required, missing: 78 * time.Second},
		"it is in the fault domain that goes down":   {given: started("storage-1", 12)},
		"it is in one of two that go down":           {given: started("storage-1", 12), zones: []string{"z1", "z2"}, because: "storage-1 started 12s ago" + required, missing: 78 * time.Second},
		"the fault domain that goes down is unknown": {given: started("storage-1", 12), zones: []string{""}, because: "storage-1 started 12s ago" + required, missing: 78 * time.Second},
		"nothing goes down":                          {given: started("storage-3", 12), zones: []string{}},
		"a process does not report its age":          {given: edit("storage-3", func(p *fdb.Process) { p.UptimeSeconds = nil }), because: "storage-3 started at an unknown time" + required, missing: 90 * time.Second},
		"a process reports nothing yet, its pod is known": {
			given: both(bare("storage-3"), at("sample-storage-3", "10.0.0.3")), because: "storage-3 started at an unknown time" + required, missing: 90 * time.Second,
		},
		"the pod of such a process goes down itself": {given: both(bare("storage-3"), at("sample-storage-3", "10.0.0.3")), zones: []string{"z3"}},
		"a process reports nothing yet at an address that a group had before": {
			given: both(bare("storage-3"), at("sample-storage-3", "10.0.0.99")), zones: []string{"z3"},
			because: "10.0.0.3:4501 started at an unknown time" + required, missing: 90 * time.Second,
		},
		"a process of another instance": {
			given:   both(started("storage-3", 12), edit("storage-3", func(p *fdb.Process) { p.Locality[fdb.LocalityInstanceID] = "east-storage-3" })),
			because: "east-storage-3 started 12s ago" + required, missing: 78 * time.Second,
		},
		"a process without a class": {
			given:   both(started("stateless-1", 12), edit("stateless-1", func(p *fdb.Process) { p.ClassType, p.Locality[fdb.LocalityZoneID] = "unset", "z5" })),
			because: "stateless-1 started 12s ago" + required, missing: 78 * time.Second,
		},
		"a stateless process": {given: both(started("stateless-1", 12), edit("stateless-1", func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "z5" }))},
		"a stateless process is log": {
			given: both(started("stateless-1", 12), edit("stateless-1", func(p *fdb.Process) {
				p.Roles, p.Locality[fdb.LocalityZoneID] = []fdb.Role{{Role: fdb.RoleLog}}, "z5"
			})), because: "stateless-1 started 12s ago" + required, missing: 78 * time.Second,
		},
		"a stateless process is storage": {
			given: both(started("stateless-1", 12), edit("stateless-1", func(p *fdb.Process) {
				p.Roles, p.Locality[fdb.LocalityZoneID] = []fdb.Role{{Role: fdb.RoleStorage}}, "z5"
			})), because: "stateless-1 started 12s ago" + required, missing: 78 * time.Second,
		},
		"a log process shows no role yet": {
			given:   both(started("log-3", 12), edit("log-3", func(p *fdb.Process) { p.Roles = nil })),
			because: "log-3 started 12s ago" + required, missing: 78 * time.Second,
		},
		"a process reports no class yet": {
			given:   both(started("storage-3", 12), edit("storage-3", func(p *fdb.Process) { p.ClassType, p.Roles = "", nil })),
			because: "storage-3 started 12s ago" + required, missing: 78 * time.Second,
		},
		"neither fault domain is known": {
			given: bare("storage-3"), zones: []string{""}, because: "10.0.0.3:4501 started at an unknown time" + required, missing: 90 * time.Second,
		},
		"a group that drains crashes in a loop": {
			given:   both(started("storage-3", 12), func(s *plan.Snapshot) { s.Cluster.ProcessGroup("storage-3").MarkForRemoval(evening) }),
			because: "storage-3 started 12s ago" + required, missing: 78 * time.Second,
		},
		"a group that is proven drained crashes in a loop": {given: both(started("storage-3", 12), func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-3").MarkForRemoval(evening)
			s.Cluster.ProcessGroup("storage-3").SetExcluded(evening)
		})},
		"a group that goes without being drained has just started": {
			given: both(started("storage-3", 12), func(s *plan.Snapshot) {
				s.Cluster.ProcessGroup("storage-3").MarkForRemoval(evening)
				s.Cluster.ProcessGroup("storage-3").ExclusionSkipped = true
			}), because: "storage-3 started 12s ago" + required, missing: 78 * time.Second,
		},
		"the database does not answer": {
			given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, because: "no database status: timed out", missing: 90 * time.Second,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			tc.given(&s)
			if tc.zones == nil {
				tc.zones = []string{"z1"}
			}
			c, missing := JustStarted(s).Elsewhere(tc.zones...)
			if c.OK != (tc.because == "") || !strings.Contains(c.Evidence, tc.because) || missing != tc.missing {
				t.Errorf("settled: %t because %q, %s missing, want because %q, %s", c.OK, c.Evidence, missing, tc.because, tc.missing)
			}
			if c.Question == "" || c.Evidence == "" {
				t.Errorf("a check without words: %+v", c)
			}
		})
	}
}

// A restart was requested a minute before the document was made.
func TestAGroupHasRestartedOnceAllItsProcessesStartedAfterTheRequest(t *testing.T) {
	up := func(seconds float64) func(*plan.Snapshot) {
		return edit("storage-1", func(p *fdb.Process) { p.UptimeSeconds = &seconds })
	}
	second := func(seconds float64) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			p := s.Database.Status.Cluster.Processes["storage-1"]
			p.UptimeSeconds = &seconds
			s.Database.Status.Cluster.Processes["storage-1-2"] = p
			s.Cluster.Spec.StorageServersPerPod = 2
		}
	}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  Restarted
	}{
		"it is younger":               {up(59), RestartDone},
		"it is as old as the request": {up(60), RestartDue},
		"it is older":                 {up(61), RestartDue},
		"both are younger":            {both(up(59), second(5)), RestartDone},
		"one of both is older":        {both(up(59), second(61)), RestartDue},
		"one of both is absent":       {both(up(59), func(s *plan.Snapshot) { s.Cluster.Spec.StorageServersPerPod = 2 }), RestartUnknown},
		"it is absent":                {func(s *plan.Snapshot) { delete(s.Database.Status.Cluster.Processes, "storage-1") }, RestartUnknown},
		"it does not report":          {both(up(59), edit("storage-1", func(p *fdb.Process) { p.Version = "" })), RestartUnknown},
		"its age is unknown":          {edit("storage-1", func(p *fdb.Process) { p.UptimeSeconds = nil }), RestartUnknown},
		"the time is unknown":         {both(up(59), func(s *plan.Snapshot) { s.Database.Status.Cluster.ClusterControllerTimestamp = nil }), RestartUnknown},
		"no answer":                   {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, RestartUnknown},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			s.Database.Status.Cluster.ClusterControllerTimestamp, s.Pods = new(evening.Unix()), nil
			tc.given(&s)
			if got := RestartedSince(s, s.Cluster.ProcessGroup("storage-1"), evening.Add(-time.Minute)); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}
