package live_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// shells run programs on this machine instead of in a pod, and keep their command lines.
type shells struct {
	ran *[]admin.Command
	err error
}

func (s shells) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	*s.ran = append(*s.ran, c)
	if s.err != nil {
		return admin.Result{}, s.err
	}
	return admin.LocalExec{}.Run(ctx, c)
}

func (s shells) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("no program is talked to")
}

func TestNameResolutionRunsInOnePod(t *testing.T) {
	f := settled(t)
	if _, err := f.cluster.ReadNames(t.Context(), []string{"localhost"}); err == nil {
		t.Error("there are no pods before the cluster is read")
	}
	f.observe(plan.ClusterResource | plan.Pods)
	var ran []admin.Command
	f.cluster.Transport = func(*corev1.Pod) admin.Transport { return shells{ran: &ran} }
	got, err := f.cluster.ReadNames(t.Context(), []string{"localhost"})
	if n, looked := got.Of("localhost"); err != nil || !looked || n.Failed > 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if len(ran) != 1 || !ran[0].Reads || !slices.Contains(ran[0].Argv, "localhost") {
		t.Errorf("want one command that only reads, got %v", ran)
	}
}

func TestNameResolutionIsRetriedInAnotherPod(t *testing.T) {
	f := settled(t)
	f.observe(plan.ClusterResource | plan.Pods)
	var lost, ran []admin.Command
	first := true
	f.cluster.Transport = func(*corev1.Pod) admin.Transport {
		defer func() { first = false }()
		if first {
			return shells{ran: &lost, err: &admin.TransportError{Started: true, Where: "pod", Err: errors.New("EOF")}}
		}
		return shells{ran: &ran}
	}
	if _, err := f.cluster.ReadNames(t.Context(), []string{"localhost"}); err != nil || len(lost) != 1 || len(ran) != 1 {
		t.Errorf("%d and %d commands: %v", len(lost), len(ran), err)
	}
	for _, pod := range f.observe(plan.ClusterResource | plan.Pods).Pods {
		pod.Status.Phase = corev1.PodPending
	}
	if _, err := f.cluster.ReadNames(t.Context(), []string{"localhost"}); err == nil || !strings.Contains(err.Error(), "no running pod can run fdbcli") {
		t.Errorf("got %v", err)
	}
}
