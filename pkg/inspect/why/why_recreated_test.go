package why

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// Of a resource that was created again over its former objects nothing is reported but that: its process
// groups, and the database, are as they were.
func TestWhyExplainsAResourceThatWasCreatedAgain(t *testing.T) {
	const because = "the resource was created again"
	tests := map[string]struct {
		given func(*inspect.Facts)
		is    bool
	}{
		"an empty status":                          {func(*inspect.Facts) {}, true},
		"a status with process groups":             {func(f *inspect.Facts) { f.Recorded.Status.ProcessGroups = f.Cluster.Status.ProcessGroups }, false},
		"a status with a connection string":        {func(f *inspect.Facts) { f.Recorded.Status.ConnectionString = "c:d@127.0.0.1:1" }, false},
		"no object":                                {func(f *inspect.Facts) { f.Pods, f.Volumes = nil, nil }, false},
		"a connection string that only users have": {func(f *inspect.Facts) { f.ConfigMap, f.Cluster.Spec.SeedConnectionString = nil, "" }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			input := HealthyInput(t)
			f := &input.Facts
			f.Recorded = f.Cluster.DeepCopy()
			f.Recorded.Status = v1beta2.FoundationDBClusterStatus{}
			f.Cluster.Spec.SeedConnectionString = "c:d@127.0.0.1:1"
			tc.given(f)
			report := NewReport(meta, input)
			is := len(report.Items) == 1 && len(report.Items[0].Reasons) == 1 && strings.Contains(report.Items[0].Reasons[0].Message, because)
			if is != tc.is {
				t.Errorf("explained: %t, want %t: %s, %+v", is, tc.is, report.Summary, report.Items)
			}
		})
	}
}
