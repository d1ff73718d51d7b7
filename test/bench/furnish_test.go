package bench

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// furnish puts a stable cluster into the sandbox.
func (b *box) furnish(tb testing.TB, c *benchCluster) {
	tb.Helper()
	ctx := tb.Context()
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	must(b.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Resource.Namespace}}))
	made := c.Resource.DeepCopy()
	made.UID, made.ResourceVersion = "", ""
	must(b.client.Create(ctx, made))
	own := func(o client.Object) { b.adopt(o, made.UID) }

	own(c.ConfigMap)
	must(b.client.Create(ctx, c.ConfigMap))
	for _, s := range c.Services {
		own(s)
		must(b.client.Create(ctx, s))
	}
	for _, claim := range c.Volumes {
		own(claim)
	}
	must(inParallel(ctx, several, slices.Collect(maps.Values(c.Volumes)), func(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
		return b.client.Create(ctx, claim)
	}))
	b.start(tb, c, own)
	must(inParallel(ctx, several, slices.Collect(maps.Values(c.Pods)), func(ctx context.Context, pod *corev1.Pod) error {
		if pod.Name == c.requested.Name {
			return nil
		}
		own(pod)
		status := pod.Status
		if err := b.client.Create(ctx, pod); err != nil {
			return err
		}
		pod.Status = status
		return b.client.Status().Update(ctx, pod)
	}))
	b.replaceProgram(tb, document, c.status)
	made.Status = c.Resource.Status
	must(b.client.Status().Update(ctx, made))
}

// adopt makes a simulated object one of the cluster in the sandbox.
func (b *box) adopt(o client.Object, owner types.UID) {
	o.SetUID("")
	o.SetResourceVersion("")
	references := o.GetOwnerReferences()
	for i := range references {
		references[i].UID = owner
	}
	o.SetOwnerReferences(references)
}

// start makes the sandbox run the pod that serves the status, and takes over its address.
// It is older than all others by a second, so that no other pod is chosen.
func (b *box) start(tb testing.TB, c *benchCluster, own func(client.Object)) {
	tb.Helper()
	pod := c.requested.DeepCopy()
	own(pod)
	was := pod.Status.PodIP
	if err := b.client.Create(tb.Context(), pod); err != nil {
		tb.Fatal(err)
	}
	b.must(tb, "kubectl", "wait", "--for=condition=Ready", "--timeout=60s", "-n", pod.Namespace, "pod/"+pod.Name)
	if err := b.client.Get(tb.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
		tb.Fatal(err)
	}
	c.move(tb, was, pod.Status.PodIP)
	time.Sleep(1100 * time.Millisecond)
}

const several = 16

// inParallel does the same for all, so many at a time.
func inParallel[T any](ctx context.Context, atATime int, all []T, do func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	for _, one := range all {
		group.Go(func() error { return do(ctx, one) })
	}
	return group.Wait()
}
