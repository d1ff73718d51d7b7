package detection

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestDetectFailures(t *testing.T) {
	failing := func(s *plan.Snapshot) { delete(s.Pods, stagestest.FirstOf(*s, "storage").PodName(s.Cluster)) }
	first := func(edit func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { edit(s, stagestest.FirstOf(*s, "storage")) }
	}
	unavailable := func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }
	elsewhere := func(s *plan.Snapshot) { s.Cluster.Spec.DataCenter = "dc9" }
	all := stagestest.All
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  []v1beta2.ProcessGroupID
		holds plan.HoldCode
	}{
		"nothing in a healthy cluster": {given: all()},
		"a pod is missing":             {given: failing, want: []v1beta2.ProcessGroupID{"storage-114"}},
		"a process does not report":    {given: first(stagestest.DropProcess), want: []v1beta2.ProcessGroupID{"storage-114"}},
		"not what is already replaced": {given: all(failing, first(func(_ *plan.Snapshot, g *v1beta2.ProcessGroupStatus) { g.MarkForRemoval(stagestest.Noon) }))},
		"not what crashes on purpose": {given: all(failing, func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.CrashLoopContainers = []v1beta2.CrashLoopContainerObject{{ContainerName: v1beta2.ContainerMain, Targets: []v1beta2.ProcessGroupID{"storage-114"}}}
		})},
		"not what is under maintenance":     {given: all(stagestest.Had(v1beta2.ConditionPodPending), stagestest.UnderMaintenance("node-14"))},
		"not what replaces nothing":         {given: stagestest.Had(v1beta2.ConditionIncorrectCommandLine)},
		"not what has passed since":         {given: stagestest.Had(v1beta2.ConditionPodPending)},
		"unknown without a database":        {given: all(failing, unavailable), holds: plan.HoldDatabaseUnavailable},
		"unknown before there is one":       {given: all(failing, unavailable, func(s *plan.Snapshot) { s.Cluster.Status.Configured = false }), holds: plan.HoldNoDatabase},
		"unknown where no process reports":  {given: elsewhere, holds: plan.HoldNotReporting},
		"known where an object shows it":    {given: all(failing, elsewhere), want: []v1beta2.ProcessGroupID{"storage-114"}},
		"the status was written by another": {given: all(failing, func(s *plan.Snapshot) { s.Cluster.Status.Health.Available = false }), want: []v1beta2.ProcessGroupID{"storage-114"}},
	}
	for what, cut := range stagestest.Partial {
		tests["unknown where "+what] = struct {
			given func(*plan.Snapshot)
			want  []v1beta2.ProcessGroupID
			holds plan.HoldCode
		}{given: func(s *plan.Snapshot) { cut(s.Database.Status) }, holds: plan.HoldDatabaseUnavailable}
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			d := DetectFailures.Decide(s)
			var want []plan.Action
			if len(tc.want) > 0 {
				want = []plan.Action{plan.RecordFailures{Cluster: "sample", Groups: tc.want, At: stagestest.Noon}}
			}
			if diff := cmp.Diff(want, d.Actions); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			var code plan.HoldCode
			if d.Hold != nil {
				code = d.Hold.Code
			}
			if code != tc.holds {
				t.Errorf("holds with %s, want %s", stagestest.Reason(d), tc.holds)
			}
		})
	}
}

func TestTheTimeOfFailuresIsWrittenInRFC3339(t *testing.T) {
	s := plan.RecordFailures{At: stagestest.Noon.In(time.FixedZone("", 3600))}.Apply(stagestest.HealthyCluster(t))
	if got := s.Cluster.Annotations[v1beta2.AnnotationFailuresSeen]; got != "2026-11-20T12:00:00Z" {
		t.Errorf("got %s", got)
	}
}
