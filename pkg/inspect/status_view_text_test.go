package inspect_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func screen(t *testing.T, f inspect.Facts, o ui.StatusOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	o.Now = noon
	if err := ui.WriteStatus(&b, inspect.NewStatusView(meta, f), o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestStatusTextOfClusterStates(t *testing.T) {
	tests := map[string]struct {
		facts func(*testing.T) inspect.Facts
		o     ui.StatusOptions
	}{
		"healthy": {facts: healthy},
		"healthy, wide and absolute": {
			facts: healthy,
			o:     ui.StatusOptions{Wide: true, Absolute: true},
		},
		"a storage process died and the database has not noticed": {facts: func(t *testing.T) inspect.Facts {
			t.Helper()
			f := healthy(t)
			inspecttest.Unresponsiveness(f.Snapshot, "storage-3", 20*time.Second)
			f.Gaps.ReconciledProcessGroups = 11
			f.Gaps.Reasons = []string{"process group storage-3 has condition MissingProcesses", "11 of 12 process groups are as desired"}
			return f
		}},
		"all logs are down": {facts: func(t *testing.T) inspect.Facts {
			t.Helper()
			f := healthy(t)
			f.Database.Status = inspecttest.Recorded(t, "63-all-logs-down")
			return f
		}},
		"no answer": {facts: unanswered},
		"a quorum is lost and reporting processes are unknown": {facts: withoutQuorum},
		"never created": {facts: func(t *testing.T) inspect.Facts {
			t.Helper()
			f := healthy(t)
			f.Cluster.Status = v1beta2.FoundationDBClusterStatus{}
			f.Cluster.ManagedFields = nil
			f.Database = plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
			f.Gaps = v1beta2.Gaps{Reasons: []string{"the database was never configured"}}
			return f
		}},
		"an operation of another user is active": {facts: func(t *testing.T) inspect.Facts {
			t.Helper()
			f := healthy(t)
			f.Lease = inspect.Lease{Read: true, OperationActive: true, Operation: &reconcile.Operation{
				ID: "r7", Command: "replace sample storage-1 --wait", Holder: "alice@laptop process 7", User: "alice@laptop", Reason: "CHG-42", Since: noon.Add(-3 * time.Minute), Seen: noon,
				Progress: reconcile.OperationProgress{Passes: 4, Actions: 9, Reached: 1, Targets: 3, WaitingFor: "data to move"},
			}}
			return f
		}, o: ui.StatusOptions{Sections: []string{"locks"}}},
		"held, locked and in maintenance": {facts: func(t *testing.T) inspect.Facts {
			t.Helper()
			f := healthy(t)
			f.Lease = inspect.Lease{Read: true, Holder: "alice@laptop pid 7 (rack 12)", Until: noon.Add(40 * time.Second)}
			f.Cluster.Spec.LockOptions.DisableLocks = new(bool)
			f.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
			f.Coordination = plan.CoordinationFacts{
				Read: true, Lock: &fdb.Lock{Owner: "dc2", Start: noon.Add(-time.Minute), End: noon.Add(9 * time.Minute)}, DenyList: []string{"dc3"},
			}
			f.Database.Status = inspecttest.Recorded(t, "30-maintenance-on")
			f.Database.Status.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: "0011aabb"}
			return f
		}},
	}
	for name, tc := range tests {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			golden.RequireEqual(t, screen(t, tc.facts(t), tc.o))
		})
	}
}

func TestStatusJSON(t *testing.T) {
	var b bytes.Buffer
	if err := ui.WriteIndentedJSON(&b, inspect.NewStatusView(meta, healthy(t))); err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, b.Bytes())
}

func TestStatusList(t *testing.T) {
	degraded := healthy(t)
	inspecttest.Unresponsiveness(degraded.Snapshot, "storage-3", time.Minute)
	degraded.Cluster.ProcessGroup("storage-3").RemovalTimestamp = &metav1.Time{Time: noon}
	views := []inspect.StatusView{inspect.NewStatusView(meta, healthy(t)), inspect.NewStatusView(meta, degraded), inspect.NewStatusView(meta, unanswered(t))}
	for _, o := range []ui.ListOptions{{Now: noon}, {Now: noon, Wide: true, Absolute: true}, {Now: noon, NoHeaders: true}} {
		var b bytes.Buffer
		if err := ui.WriteList(&b, inspect.NewStatusListView(meta, noon, views), o); err != nil {
			t.Fatal(err)
		}
		name := map[ui.ListOptions]string{{Now: noon}: "table", {Now: noon, NoHeaders: true}: "no headers"}[o]
		if name == "" {
			name = "wide"
		}
		t.Run(name, func(t *testing.T) { golden.RequireEqual(t, b.Bytes()) })
	}
}
