package why

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestWhyNamesWhatKeepsClientsFromADatabaseFirst(t *testing.T) {
	tests := map[string]struct {
		given func(*testing.T, *inspect.Facts)
		state State
		line  string
		// next is one of the commands.
		next string
	}{
		"full disks": {func(t *testing.T, f *inspect.Facts) {
			t.Helper()
			f.Database.Status.Cluster.QoS = inspecttest.Recorded(t, "97-full-disks").Cluster.QoS
		}, Blocked, "database starts no transactions: Storage server running out of space (approaching 5% limit) (storage_server_min_free_space_ratio); ended by larger volumes or more storage processes", "top processes sample --sort-by space"},
		"an unknown limit": {func(_ *testing.T, f *inspect.Facts) {
			f.Database.Status.Cluster.QoS = nil
		}, Unknown, "database does not report whether transactions start", "why sample --performance"},
		"an exhausted limit": {func(_ *testing.T, f *inspect.Facts) {
			f.Database.Status.Cluster.QoS.PerformanceLimitedBy = &fdb.Limit{Name: "storage_server_write_queue_size"}
		}, Blocked, "database starts fewer transactions than clients request: storage_server_write_queue_size", "why sample --performance"},
		"a lock": {func(_ *testing.T, f *inspect.Facts) {
			f.Database.Status.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: "ab"}
		}, Blocked, "database is locked: UID ab, clients are refused", "cli sample -- unlock ab"},
		"a zone under maintenance": {func(_ *testing.T, f *inspect.Facts) {
			f.Database.Status.Cluster.MaintenanceZone, f.Database.Status.Cluster.MaintenanceSecondsRemaining = "node-4", new(20000.0)
			f.Database.Status.Cluster.FaultTolerance.WithoutLosingData = new(0)
		}, Waiting, "database has a zone under maintenance: zone node-4, 5h33m left; ended by kubectl fdb maintenance off", "maintenance off sample"},
		"data distribution that is off": {func(_ *testing.T, f *inspect.Facts) {
			f.Database.Status.Cluster.DataDistributionDisabled = new(true)
		}, Blocked, "database does not replace lost copies: data distribution is switched off", "cli sample -- datadistribution on"},
		"an overdue pause": {func(_ *testing.T, f *inspect.Facts) {
			f.Cluster.Spec.Skip = true
			f.Cluster.Annotations = map[string]string{plan.AnnotationPausedUntil: f.Now.Add(-time.Hour).UTC().Format(time.RFC3339)}
		}, Blocked, "cluster is paused for longer than planned", "resume sample"},
		"a pause": {func(_ *testing.T, f *inspect.Facts) {
			f.Cluster.Spec.Skip = true
		}, Ready, "operators are paused by spec.skip (ended by kubectl fdb resume); nothing is blocked", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := HealthyInput(t)
			tc.given(t, &in.Facts)
			r := NewReport(inspect.Metadata{Namespace: "fdb", Cluster: "sample"}, in)
			if r.State != tc.state || !strings.HasPrefix(r.Summary, tc.line) {
				t.Errorf("%s: %s\nwant %s: %s", r.State, r.Summary, tc.state, tc.line)
			}
			if tc.next != "" && !strings.Contains(strings.Join(r.Next, "\n"), tc.next) {
				t.Errorf("next %q, want %q", r.Next, tc.next)
			}
		})
	}
}
