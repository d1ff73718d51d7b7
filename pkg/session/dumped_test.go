package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

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

func TestReadsAreRepeatedWhileTheAPIServerCannotAnswer(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	tests := map[string]struct {
		err      error
		failures int
		took     time.Duration
		reads    int
		says     string
	}{
		"too many requests, then an answer":  {apierrors.NewTooManyRequestsError("busy"), 2, 3 * time.Second, 3, ""},
		"an internal error, then an answer":  {apierrors.NewInternalError(errors.New("etcd has no leader")), 1, time.Second, 2, ""},
		"unavailable, then an answer":        {apierrors.NewServiceUnavailable("starting"), 4, 15 * time.Second, 5, ""},
		"unavailable for longer":             {apierrors.NewServiceUnavailable("starting"), 9, 15 * time.Second, 5, "no answer after 5 attempts in 15s"},
		"forbidden, which is an answer":      {apierrors.NewForbidden(pods, "p", errors.New("no")), 9, 0, 1, "forbidden"},
		"an error that is not of the server": {errors.New("no route"), 9, 0, 1, "no route"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reads := 0
				fails := func() error {
					if reads++; reads <= tc.failures {
						return tc.err
					}
					return nil
				}
				c := retryingReads{interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
					Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
						return fails()
					},
				}), clock.RealClock{}}
				began := time.Now()
				err := c.Get(t.Context(), client.ObjectKey{Name: "p"}, &corev1.Pod{})
				if took := time.Since(began); took != tc.took || reads != tc.reads {
					t.Errorf("%d reads in %s, want %d in %s", reads, took, tc.reads, tc.took)
				}
				if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
					t.Errorf("got %v, want %q", err, tc.says)
				}
			})
		})
	}
}
