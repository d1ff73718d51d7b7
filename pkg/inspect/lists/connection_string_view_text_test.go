package lists_test

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestDriftOfConnectionStrings(t *testing.T) {
	const one, other = "sample:abc@10.0.0.1:4501,10.0.0.2:4501", "sample:xyz@10.0.0.3:4501"
	live, err := fdb.ParseConnectionString(one)
	if err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	same := map[string]plan.ClusterFile{"a": {Content: "# a comment\nsample:abc@10.0.0.2:4501,10.0.0.1:4501\n"}}
	tests := map[string]struct {
		files  plan.ClusterFiles
		record string
		want   *bool
	}{
		"all the same, in any order":            {files: plan.ClusterFiles{Live: live, Pods: same}, record: one, want: &yes},
		"a pod has another":                     {files: plan.ClusterFiles{Live: live, Pods: map[string]plan.ClusterFile{"a": {Content: other}}}, record: one, want: &no},
		"a pod has none that can be understood": {files: plan.ClusterFiles{Live: live, Pods: map[string]plan.ClusterFile{"a": {Content: "?"}}}, record: one, want: &no},
		"the record has another":                {files: plan.ClusterFiles{Live: live, Pods: same}, record: other, want: &no},
		"a pod could not be read":               {files: plan.ClusterFiles{Live: live, Pods: map[string]plan.ClusterFile{"a": {Unreadable: "forbidden"}}}, record: one},
		"a pod does not run":                    {files: plan.ClusterFiles{Live: live, Pods: map[string]plan.ClusterFile{}}, record: one, want: &yes},
		"the one in force is unknown":           {files: plan.ClusterFiles{LiveUnknown: "timed out", Pods: same}, record: one},
		"unknown, and a pod differs":            {files: plan.ClusterFiles{LiveUnknown: "timed out", Pods: same}, record: other, want: &no},
		"there is none at all":                  {files: plan.ClusterFiles{LiveUnknown: "timed out"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			f.Cluster.Status.ConnectionString = tc.record
			f.ConfigMap = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "sample-config"}, Data: map[string]string{"cluster-file": tc.record}}
			f.Pods = map[string]*corev1.Pod{"a": {}}
			v := lists.NewConnectionStringDriftView(meta, f, tc.files)
			if diff := cmp.Diff(tc.want, v.Matches); diff != "" {
				t.Error(diff)
			}
			var b bytes.Buffer
			if err := ui.WriteConnectionStringDrift(&b, v, ui.ListOptions{Now: noon}); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}
