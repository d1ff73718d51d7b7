package cluster

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestForHowLongAPodIsUnsettled tests at each limit and a second before it.
func TestForHowLongAPodIsUnsettled(t *testing.T) {
	lost := func(ago time.Duration) func(*plan.Snapshot, *v1beta2.ProcessGroupStatus) {
		return func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
			delete(s.Pods, g.PodName(s.Cluster))
			g.SetCondition(v1beta2.ConditionMissingPod, stagestest.Noon.Add(-ago))
		}
	}
	ends := func(ago time.Duration) func(*plan.Snapshot, *v1beta2.ProcessGroupStatus) {
		return func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
			s.Pod(g).DeletionTimestamp = new(metav1.NewTime(stagestest.Noon.Add(-ago)))
		}
	}
	without := func(edit func(*plan.Snapshot, *v1beta2.ProcessGroupStatus)) func(*plan.Snapshot, *v1beta2.ProcessGroupStatus) {
		return func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
			edit(s, g)
			stagestest.DropProcess(s, g)
		}
	}
	timeout := stagestest.HealthyCluster(t).Cluster.IgnoreTerminatingPodsFor()
	for name, tc := range map[string]struct {
		given func(*plan.Snapshot, *v1beta2.ProcessGroupStatus)
		want  bool
	}{
		"nothing happened":            {func(*plan.Snapshot, *v1beta2.ProcessGroupStatus) {}, false},
		"its pod was lost just now":   {lost(podVanishedFor - time.Second), true},
		"its pod was lost 90 s ago":   {lost(podVanishedFor), false},
		"its pod was never seen lost": {func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) { delete(s.Pods, g.PodName(s.Cluster)) }, true},
		"its pod terminates":          {ends(timeout - time.Second), true},
		"its pod terminates for long, and its processes still report":   {ends(timeout), true},
		"its pod terminates, and its processes report no more":          {without(ends(timeout - time.Second)), true},
		"its pod terminates for long, and its processes report no more": {without(ends(timeout)), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s, stagestest.FirstOf(s, v1beta2.ProcessClassStorage))
			if got := UnsettledPods(s); (len(got) > 0) != tc.want {
				t.Errorf("%q, want some: %t", got, tc.want)
			}
		})
	}
}

// TestUnsettledPodEvidenceDependsOnTheNumberOfPods compares the evidence for one and for two pods.
func TestUnsettledPodEvidenceDependsOnTheNumberOfPods(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	delete(s.Pods, "sample-storage-114")
	one := settledEverywhere(s)
	delete(s.Pods, "sample-storage-115")
	two := settledEverywhere(s)
	if one.OK || two.OK || !strings.HasPrefix(one.Evidence, "storage-114 ") || two.Evidence != one.Evidence+"; and 1 more" {
		t.Errorf("one: %+v, two: %+v", one, two)
	}
}

// TestTheHomeDataCenterIsThatOfAllStorageProcesses has storage processes in one data center and others elsewhere.
func TestTheHomeDataCenterIsThatOfAllStorageProcesses(t *testing.T) {
	for name, tc := range map[string]struct {
		storage [2]string
		other   string
		want    string
	}{
		"all in one":                  {[2]string{"a", "a"}, "a", "a"},
		"a log process is elsewhere":  {[2]string{"a", "a"}, "b", "a"},
		"storage in two data centers": {[2]string{"a", "b"}, "a", ""},
		"storage in the other order":  {[2]string{"b", "a"}, "a", ""},
		"no data center is known":     {[2]string{"", ""}, "a", ""},
	} {
		status := &fdb.Status{}
		process := func(dc, role string) fdb.Process {
			return fdb.Process{Locality: map[string]string{fdb.LocalityDCID: dc}, Roles: []fdb.Role{{Role: role}}}
		}
		status.Cluster.Processes = map[string]fdb.Process{
			"1": process(tc.other, fdb.RoleLog), "2": process(tc.storage[0], fdb.RoleStorage), "3": process(tc.storage[1], fdb.RoleStorage), "4": process(tc.other, fdb.RoleLog),
		}
		if got := homeDataCenter(status); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
