package status

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestThePodOfARemovedGroupFailsUnlessItEnds judges a failed pod.
func TestThePodOfARemovedGroupFailsUnlessItEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		removed, ends bool
		want          verdict
	}{
		"a group that stays":           {false, false, holds},
		"a group that stays, it ends":  {false, true, holds},
		"a removed group":              {true, false, holds},
		"a removed group, and it ends": {true, true, keep},
	} {
		s := stagestest.HealthyCluster(t)
		g := s.Cluster.ProcessGroup(stagestest.OneGroup)
		pod := s.Pod(g)
		pod.Status.Phase = corev1.PodFailed
		if tc.removed {
			stagestest.OnItsWayOut(&s)
		}
		if tc.ends {
			pod.DeletionTimestamp = new(metav1.NewTime(stagestest.Noon))
		}
		got, err := podFailing.judge(GroupFacts{S: s, Group: g, pod: pod})
		if err != nil || got != tc.want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, tc.want)
		}
	}
}

// TestAnExcludedProcessIsSeenBesideOneThatDoesNotReport judges a pod with two processes.
func TestAnExcludedProcessIsSeenBesideOneThatDoesNotReport(t *testing.T) {
	excluded, serving := fdb.Process{Excluded: new(true)}, fdb.Process{}
	for name, tc := range map[string]struct {
		processes map[int]fdb.Process
		stale     bool
		want      verdict
	}{
		"both report, none is excluded":              {map[int]fdb.Process{1: serving, 2: serving}, false, cleared},
		"both report, the second is excluded":        {map[int]fdb.Process{1: serving, 2: excluded}, false, holds},
		"one does not report, the other is excluded": {map[int]fdb.Process{2: excluded}, false, holds},
		"one does not report, the other serves":      {map[int]fdb.Process{1: serving}, false, keep},
		"none reports":                               {map[int]fdb.Process{}, false, keep},
		"no process of the database reports":         {map[int]fdb.Process{2: excluded}, true, keep},
	} {
		got, err := markedAsExcluded.judge(GroupFacts{processes: tc.processes, servers: 2, databaseAnswers: !tc.stale})
		if err != nil || got != tc.want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, tc.want)
		}
	}
}
