package safety

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// partial are the ways in which a document arrives without its processes and still calls
// the database available.
var partial = map[string]func(*fdb.Status){
	"timed out": func(s *fdb.Status) {
		s.Cluster.Processes = nil
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{Name: fdb.MessageIncompleteTimeout})
	},
	"late": func(s *fdb.Status) {
		s.Cluster.Processes = nil
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{
			Name: fdb.MessageIncomplete, Reasons: []fdb.Reason{{Description: fdb.ReasonDeadlineExceeded}},
		})
	},
	"late, with the other processes": func(s *fdb.Status) {
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{
			Name: fdb.MessageIncomplete, Reasons: []fdb.Reason{{Description: fdb.ReasonDeadlineExceeded}},
		})
	},
	"without a list of processes": func(s *fdb.Status) { s.Cluster.Processes = nil },
	"with an empty list":          func(s *fdb.Status) { s.Cluster.Processes = map[string]fdb.Process{} },
}

// TestNoCheckPassesBecauseAPartialStatusLacksAProcess asks every question that a process which the
// document lacks would answer with yes. Each is answered with yes by a complete document.
func TestNoCheckPassesBecauseAPartialStatusLacksAProcess(t *testing.T) {
	longUnresponsive := func(s *plan.Snapshot) {
		unresponsive(s, time.Hour)
		for _, g := range s.Groups() {
			g.SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-time.Hour))
		}
	}
	withOldPod := func(s *plan.Snapshot) {
		longUnresponsive(s)
		s.Pods = map[string]*corev1.Pod{s.Groups()[0].PodName(s.Cluster): {ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(evening.Add(-time.Hour))}}}
	}
	ofOneRegion := fdb.Configuration{Regions: []fdb.Region{{DataCenters: []fdb.DataCenter{{ID: "dc1"}}}}}
	questions := map[string]struct {
		given func(*plan.Snapshot)
		ask   func(plan.Snapshot) bool
	}{
		"is the database available?":               {longUnresponsive, func(s plan.Snapshot) bool { return Available(s.Database).OK }},
		"does the snapshot call it available?":     {longUnresponsive, func(s plan.Snapshot) bool { return s.Database.Available() }},
		"is a group that does not report drained?": {longUnresponsive, func(s plan.Snapshot) bool { return Drained(s, s.Groups()[0]).OK }},
		"is nothing lost with it?":                 {withOldPod, func(s plan.Snapshot) bool { return LongMissing(s, s.Groups()[0]) }},
		"has its server ended?":                    {longUnresponsive, func(s plan.Snapshot) bool { return StillRuns(s, s.Groups()[0]) == "" }},
		"is the database fully tolerant?":          {longUnresponsive, func(s plan.Snapshot) bool { return FullFaultTolerance(s).OK }},
		"has it no role with data?": {longUnresponsive, func(s plan.Snapshot) bool {
			return withoutRoles(Pod{Snapshot: s, Group: s.Groups()[0]}, fdb.RoleStorage, fdb.RoleLog).OK
		}},
		"was nothing moved away from it?": {func(s *plan.Snapshot) {
			longUnresponsive(s)
			s.Database.Status.Cluster.Configuration.ExcludedServers, s.Coordination.Exclusions = nil, nil
		}, func(s plan.Snapshot) bool { return Untouched(s, s.Groups()[0]).OK }},
		"are all storage servers in the regions?": {func(s *plan.Snapshot) {
			longUnresponsive(s)
			s.Database.Status.Cluster.Processes["b"].Locality[fdb.LocalityDCID] = "dc1"
		}, func(s plan.Snapshot) bool { return StorageInRegions(s.Database, ofOneRegion).OK }},
		"have all processes been up for long?": {func(s *plan.Snapshot) {
			longUnresponsive(s)
			for id, p := range s.Database.Status.Cluster.Processes {
				p.UptimeSeconds = new(3600.0)
				s.Database.Status.Cluster.Processes[id] = p
			}
		}, func(s plan.Snapshot) bool { check, _ := UpLongEnough(s, time.Minute); return check.OK }},
	}
	for name, q := range questions {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			q.given(&s)
			if !q.ask(s) {
				t.Fatal("no, on a complete document")
			}
			for what, cut := range partial {
				s := draining(t)
				q.given(&s)
				cut(s.Database.Status)
				if q.ask(s) {
					t.Errorf("yes, on a document that is %s", what)
				}
			}
		})
	}
}
