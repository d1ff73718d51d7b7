package status

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestPodFailingIsUnchangedOnlyForTerminatingPodsOfRemovedGroups judges a failed pod.
func TestPodFailingIsUnchangedOnlyForTerminatingPodsOfRemovedGroups(t *testing.T) {
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

// TestAnExcludedProcessIsDetectedBesideANonReportingOne judges a pod with two processes.
func TestAnExcludedProcessIsDetectedBesideANonReportingOne(t *testing.T) {
	first, second := process{&fdb.Process{}, 1}, process{&fdb.Process{}, 2}
	excluded := process{&fdb.Process{Excluded: new(true)}, 2}
	for name, tc := range map[string]struct {
		processes []process
		stale     bool
		want      verdict
	}{
		"both report, none is excluded":              {[]process{first, second}, false, cleared},
		"both report, the second is excluded":        {[]process{first, excluded}, false, holds},
		"one does not report, the other is excluded": {[]process{excluded}, false, holds},
		"one does not report, the other serves":      {[]process{first}, false, keep},
		"none reports":                               {nil, false, keep},
		"no process of the database reports":         {[]process{excluded}, true, keep},
	} {
		got, err := markedAsExcluded.judge(GroupFacts{processes: tc.processes, servers: 2, databaseAnswers: !tc.stale})
		if err != nil || got != tc.want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, tc.want)
		}
	}
}
