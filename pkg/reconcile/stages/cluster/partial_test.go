package cluster

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestAPartialStatusNeverProvesRemovalInOtherControlPlaneInstances tests the check alone: other checks refuse
// such a document as well.
func TestAPartialStatusNeverProvesRemovalInOtherControlPlaneInstances(t *testing.T) {
	s := stagestest.InGlobalMode(stagestest.RemovableStorage)(t)
	members := []fdb.Member{{Instance: "dc2", Group: "dc2-storage-1"}}
	if check := (&removal{s: s}).othersRemoved(members); !check.OK {
		t.Fatalf("not by a complete document: %s", check.Evidence)
	}
	for what, cut := range stagestest.Partial {
		s := stagestest.InGlobalMode(stagestest.RemovableStorage)(t)
		cut(s.Database.Status)
		if check := (&removal{s: s}).othersRemoved(members); check.OK {
			t.Errorf("gone while %s", what)
		}
	}
}

// TestProcessesAbsentFromAPartialStatusDoNotCountAsMissing matters to UpdatePods, which stops at a pod with the desired
// spec whose processes do not report, and begins with zones that are down already.
func TestProcessesAbsentFromAPartialStatusDoNotCountAsMissing(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	g := stagestest.FirstOf(s, "storage")
	stagestest.DropProcess(&s, g)
	if !reportingProcesses(s.Database.Status).Misses(g, s.Pod(g)) {
		t.Fatal("a server that a complete document lacks is not silent")
	}
	for what, cut := range stagestest.Partial {
		s := stagestest.HealthyCluster(t)
		cut(s.Database.Status)
		if reportingProcesses(s.Database.Status).Misses(g, s.Pod(g)) {
			t.Errorf("silent while %s", what)
		}
	}
}
