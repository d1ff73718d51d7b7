package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

func TestMetricsReportTheActiveOperation(t *testing.T) {
	drain := reconcile.Operation{
		Command: "drain node-3 -c sample --wait", Holder: "ann@host pid 7", User: "ann@host", Since: noon.Add(-time.Minute),
		Progress: reconcile.OperationProgress{Targets: 5, Reached: 2, WaitingFor: "the exclusion of storage-1"},
	}
	whole := reconcile.Operation{Command: "reconcile sample --wait", Holder: "old holder"}
	tests := map[string]struct {
		read func() inspect.Lease
		want []string
	}{
		"nothing reads the Lease":      {},
		"the Lease cannot be read":     {func() inspect.Lease { return inspect.Lease{Operation: &drain, OperationActive: true} }, []string{"kubectl_fdb_operation_known 0"}},
		"no operation":                 {func() inspect.Lease { return inspect.Lease{Read: true} }, []string{"kubectl_fdb_operation_known 1"}},
		"one whose run does not go on": {func() inspect.Lease { return inspect.Lease{Read: true, Operation: &drain} }, []string{"kubectl_fdb_operation_known 1"}},
		"one that waits": {func() inspect.Lease { return inspect.Lease{Read: true, Operation: &drain, OperationActive: true} }, []string{
			`kubectl_fdb_operation_active{command="drain",owner="ann@host",phase="waiting"} 1`,
			"kubectl_fdb_operation_known 1",
			"kubectl_fdb_operation_started_timestamp_seconds 1.79517594e+09",
			"kubectl_fdb_operation_targets 5",
			"kubectl_fdb_operation_targets_reached 2",
		}},
		"one of an older release, about the whole cluster": {func() inspect.Lease { return inspect.Lease{Read: true, Operation: &whole, OperationActive: true} }, []string{
			`kubectl_fdb_operation_active{command="reconcile",owner="old holder",phase="pass"} 1`,
			"kubectl_fdb_operation_known 1",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := New("sample", "fdb", func() time.Time { return noon })
			if tc.read != nil {
				m.OperationsFrom(tc.read)
			}
			got := about(page(t, m), "operation")
			if diff := cmp.Diff(tc.want, got, cmp.Transformer("", func(l []string) []string { return append([]string{}, l...) })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A page that is read often asks the API server no more often than every 5 s.
func TestTheLeaseIsReadAtMostEveryFiveSecondsForMetrics(t *testing.T) {
	now, reads := noon, 0
	m := New("sample", "fdb", func() time.Time { return now })
	m.OperationsFrom(func() inspect.Lease { reads++; return inspect.Lease{Read: true} })
	for range 3 {
		page(t, m)
	}
	if reads != 1 {
		t.Errorf("read %d times at once, want 1", reads)
	}
	now = now.Add(operationsFor)
	if page(t, m); reads != 2 {
		t.Errorf("read %d times after %s, want 2", reads, operationsFor)
	}
}
