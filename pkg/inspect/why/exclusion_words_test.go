package why

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// A group whose objects are deleted has only its exclusion and its status entry left.
func TestWhyReportsWhichObjectsOfARemovedGroupAreLeft(t *testing.T) {
	for name, removed := range map[string]bool{"objects are there": false, "objects are deleted": true} {
		t.Run(name, func(t *testing.T) {
			in := HealthyInput(t)
			g := in.Cluster.ProcessGroup("storage-1")
			g.MarkForRemoval(noon)
			g.SetExcluded(noon)
			inspecttest.Exclude(in.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
			inspecttest.Drain(in.Snapshot, "storage-1")
			in.Coordination.ExclusionsRead = true
			if removed {
				delete(in.Pods, g.PodName(in.Cluster))
				delete(in.Volumes, g.PVCName(in.Cluster))
			}
			w := &why{Input: in, name: "sample", reported: map[plan.StageName]bool{}}
			what := w.removing(g).Reasons[0].Message
			if deleted := strings.HasPrefix(what, "its pod, PVC and service are deleted"); deleted != removed {
				t.Errorf("%q, want objects that are deleted: %t", what, removed)
			}
		})
	}
}

// The age beside a proof is that of the proof, and of the last one where several groups share the sentence.
func TestTheAgeOfAProofIsNotThatOfTheMark(t *testing.T) {
	in := HealthyInput(t)
	for id, ago := range map[v1beta2.ProcessGroupID]time.Duration{"storage-1": 45 * time.Second, "storage-2": 11 * time.Second} {
		g := in.Cluster.ProcessGroup(id)
		g.MarkForRemoval(noon.Add(-6 * time.Minute))
		g.SetExcluded(noon.Add(-ago))
		inspecttest.Exclude(in.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
		inspecttest.Drain(in.Snapshot, string(id))
		in.Coordination.Exclusions = append(in.Coordination.Exclusions, g.ExclusionString())
	}
	in.Coordination.ExclusionsRead = true
	got := NewReport(meta, in).Summary
	want := "storage-1, storage-2 are marked for removal, and nothing depends on them any more for 11s"
	if !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
