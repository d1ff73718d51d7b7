package stagestest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Decision is the expected decision of a stage about a changed healthy cluster.
type Decision struct {
	Given func(*plan.Snapshot)
	// Does are the descriptions of the actions.
	Does []string
	// Holds is part of the reason; empty for a stage that does not hold.
	Holds  string
	Manual bool
	Then   plan.Then
}

// Decides runs a table of decisions of one stage.
func Decides(t *testing.T, stage plan.Stage, tests map[string]Decision) {
	t.Helper()
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			s := HealthyCluster(t)
			want.Given(&s)
			d := stage.Decide(s)
			if diff := cmp.Diff(want.Does, Described(d)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			Explained(t, d)
			if (want.Holds == "") != (d.Hold == nil) || !strings.Contains(Reason(d), want.Holds) {
				t.Fatalf("holds with %q, want %q", Reason(d), want.Holds)
			}
			if d.Hold != nil && (d.Hold.Manual != want.Manual || d.Hold.Then != want.Then) {
				t.Errorf("human %t, then %d; want %t, %d", d.Hold.Manual, d.Hold.Then, want.Manual, want.Then)
			}
		})
	}
}

// Combined makes several changes.
func Combined(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, edit := range edits {
			edit(s)
		}
	}
}

// The first process group of the healthy cluster.
const (
	OneGroup  = v1beta2.ProcessGroupID("log-101")
	DeleteOne = "recreate pods: sample-log-101"
)

// OnePod changes the first group's pod.
func OnePod(edit func(*corev1.Pod)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { edit(s.Pod(s.Cluster.ProcessGroup(OneGroup))) }
}

// OnItsWayOut is a drained group that is marked for removal.
func OnItsWayOut(s *plan.Snapshot) {
	g := s.Cluster.ProcessGroup(OneGroup)
	g.MarkForRemoval(Noon)
	g.SetExcluded(Noon)
}

// Isolated is a pod that a user isolated for debugging.
var Isolated = OnePod(func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationIsolateProcessGroup] = "true" })
