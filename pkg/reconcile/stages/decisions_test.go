package stages

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// decision is the expected decision of a stage about a changed healthy cluster.
type decision struct {
	given func(*plan.Snapshot)
	// does are the descriptions of the actions.
	does []string
	// holds is part of the reason; empty for a stage that does not hold.
	holds string
	human bool
	then  plan.Then
}

// decides runs a table of decisions of one stage.
func decides(t *testing.T, stage plan.Stage, tests map[string]decision) {
	t.Helper()
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			s := healthyCluster(t)
			want.given(&s)
			d := stage.Decide(s)
			if diff := cmp.Diff(want.does, described(d)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			explained(t, d)
			if (want.holds == "") != (d.Hold == nil) || !strings.Contains(reason(d), want.holds) {
				t.Fatalf("holds with %q, want %q", reason(d), want.holds)
			}
			if d.Hold != nil && (d.Hold.Human != want.human || d.Hold.Then != want.then) {
				t.Errorf("human %t, then %d; want %t, %d", d.Hold.Human, d.Hold.Then, want.human, want.then)
			}
		})
	}
}

// combined makes several changes.
func combined(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, edit := range edits {
			edit(s)
		}
	}
}

// The first process group of the healthy cluster.
const (
	oneGroup  = v1beta2.ProcessGroupID("log-101")
	deleteOne = "recreate pods: sample-log-101"
)

// onePod changes the first group's pod.
func onePod(edit func(*corev1.Pod)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { edit(s.Pod(s.Cluster.ProcessGroup(oneGroup))) }
}

// onItsWayOut is a drained group that is marked for removal.
func onItsWayOut(s *plan.Snapshot) {
	g := s.Cluster.ProcessGroup(oneGroup)
	g.MarkForRemoval(noon)
	g.SetExcluded(noon)
}

// isolated is a pod that a user isolated for debugging.
var isolated = onePod(func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationIsolateProcessGroup] = "true" })
