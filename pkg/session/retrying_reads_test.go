package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

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
