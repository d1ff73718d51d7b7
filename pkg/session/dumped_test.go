package session

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestSidecarReportsAreReplayedFromADump(t *testing.T) {
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: name}}
	}
	want := plan.PodReport{Variables: map[string]string{"FDB_PUBLIC_IP": "10.1.0.1", "API_TOKEN": "hunter2sidecar"}, Hashes: map[string]string{"fdb.cluster": "abc"}, Present: map[string]bool{"bin/7.3.79/fdbserver": true}}
	queried := 0
	query := func(_ context.Context, p *corev1.Pod, _ []string) (plan.PodReport, error) {
		queried++
		if p.Name == "broken" {
			return plan.PodReport{}, errors.New("forward a port to broken: refused")
		}
		return want, nil
	}
	d := dumps.New()
	d.Manifest.Clusters = []dumps.Cluster{}
	writing := &Dumped{Facts: &dumps.Facts{Dump: d, Live: fake.NewFakeClient()}}
	for range 2 {
		got, err := writing.sidecars(query)(t.Context(), pod("a"), nil)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	}
	if _, err := writing.sidecars(query)(t.Context(), pod("broken"), nil); err == nil {
		t.Error("a sidecar that does not answer is no error")
	}
	if queried != 2 {
		t.Errorf("queried %d times", queried)
	}
	if err := dumps.Redact(d, "salt"); err != nil {
		t.Fatal(err)
	}
	want.Variables["API_TOKEN"] = "REDACTED"
	reading := NewDumped(d)
	got, err := reading.sidecars(nil)(t.Context(), pod("a"), nil)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := reading.sidecars(nil)(t.Context(), pod("broken"), nil); err == nil || err.Error() != "forward a port to broken: refused" {
		t.Errorf("got %v", err)
	}
	if _, err := reading.sidecars(nil)(t.Context(), pod("unknown"), nil); err == nil {
		t.Error("a sidecar that the dump lacks is no error")
	}
}
