package status

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
