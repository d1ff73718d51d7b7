package bench

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// unplaced is a cluster of so many groups for whose pods there is no node and for whose
// claims there is no volume: what is measured is creating them, and not what follows.
func unplaced(groups int) *v1beta2.FoundationDBCluster {
	c := resource(namespace, groups)
	c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {
		VolumeClaimTemplate: claimOfClass("unused"),
		PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"no-node": "has-this"}, Containers: []corev1.Container{{Name: v1beta2.ContainerMain}},
		}},
	}}
	c.UID, c.Generation = "", 0
	return c
}

// The first pass over 500 groups, which creates all of their objects, beside a bare client
// that creates the same objects as many at a time.
func BenchmarkCreationOf500(b *testing.B) {
	const groups = 500
	sandbox := newBox(b)
	for b.Loop() {
		sandbox.create(b, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		sandbox.create(b, unplaced(groups))
		pass := sandbox.fdb(b, "reconcile", clusterName, "--yes")
		copies := sandbox.copiesOf(b, "elsewhere")
		if pods := slices.IndexFunc(copies, func(o client.Object) bool { _, is := o.(*corev1.Pod); return is }); len(copies)-pods != groups {
			b.Fatalf("%d pods, want %d: exit code %d\n%s%s", len(copies)-pods, groups, pass.code, tail(pass.stdout), tail(pass.stderr))
		}
		sandbox.create(b, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}})
		bare := sandbox.createAll(b, copies)
		b.ReportMetric(pass.took.Seconds(), "pass-s")
		b.ReportMetric(bare.Seconds(), "bare-s")
		b.ReportMetric(float64(pass.took)/float64(bare), "pass/bare")
		b.ReportMetric(float64(len(copies))/pass.took.Seconds(), "objects/s")
	}
}

func (b *box) create(tb testing.TB, o client.Object) {
	tb.Helper()
	if err := b.client.Create(tb.Context(), o); err != nil {
		tb.Fatal(err)
	}
}

// copiesOf are the claims and then the pods of the cluster, to be made in another namespace.
func (b *box) copiesOf(tb testing.TB, elsewhere string) []client.Object {
	tb.Helper()
	var claims corev1.PersistentVolumeClaimList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&claims, &pods} {
		if err := b.client.List(tb.Context(), list, client.InNamespace(namespace)); err != nil {
			tb.Fatal(err)
		}
	}
	var all []client.Object
	for i := range claims.Items {
		all = append(all, &claims.Items[i])
	}
	for i := range pods.Items {
		pods.Items[i].Spec.NodeName = ""
		all = append(all, &pods.Items[i])
	}
	for _, o := range all {
		o.SetNamespace(elsewhere)
		o.SetUID("")
		o.SetResourceVersion("")
		o.SetOwnerReferences(nil)
		o.SetManagedFields(nil)
		o.SetFinalizers(nil)
	}
	return all
}

// createAll creates objects as many at a time as a pass does, and returns how long it
// took.
func (b *box) createAll(tb testing.TB, all []client.Object) time.Duration {
	tb.Helper()
	const atATime = 8
	begun := time.Now()
	err := inParallel(tb.Context(), atATime, all, func(ctx context.Context, o client.Object) error { return b.client.Create(ctx, o) })
	if err != nil {
		tb.Fatal(err)
	}
	return time.Since(begun)
}
