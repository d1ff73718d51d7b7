package session

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func TestConditionTimesOfRemovedGroupsAreDropped(t *testing.T) {
	cluster := func(at int64) *v1beta2.FoundationDBCluster {
		c := &v1beta2.FoundationDBCluster{}
		c.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{{ProcessGroupID: "a"}}
		c.Status.ProcessGroups[0].SetCondition(v1beta2.ConditionPodFailing, time.Unix(at, 0))
		return c
	}
	var m ConditionClock
	m.Keep(cluster(10))
	kept := m.Keep(cluster(20))
	if since, _ := kept.ProcessGroup("a").Condition(v1beta2.ConditionPodFailing); since.Unix() != 10 {
		t.Errorf("since %d", since.Unix())
	}
	m.Keep(&v1beta2.FoundationDBCluster{})
	kept = m.Keep(cluster(30))
	if since, _ := kept.ProcessGroup("a").Condition(v1beta2.ConditionPodFailing); since.Unix() != 30 {
		t.Errorf("since %d, though it had ended in between", since.Unix())
	}
}
