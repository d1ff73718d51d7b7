package proposal

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
)

const stream = `apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBCluster
metadata: {name: orders, namespace: fdb}
spec: {version: 7.3.79}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: pods, namespace: fdb}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: elsewhere, namespace: other}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: database}
value: 7
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: sandboxed}
handler: sandboxed
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/fast
---
apiVersion: v1
kind: Namespace
metadata: {name: fresh}
`

// admitting is an API server whose admission looks up what pods name, and refuses pods of a node selector.
func admitting(t *testing.T, c client.Client) client.Client {
	t.Helper()
	writes, is := c.(client.WithWatch)
	if !is {
		t.Fatal("no client to intercept")
	}
	resource := schema.GroupResource{Resource: "pods"}
	return interceptor.NewClient(writes, interceptor.Funcs{
		Create: func(ctx context.Context, below client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if o.GetNamespace() == "fresh" {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "fresh")
			}
			pod, is := o.(*corev1.Pod)
			if !is {
				return below.Create(ctx, o, options...)
			}
			for _, n := range needsOf(pod) {
				if err := below.Get(ctx, client.ObjectKeyFromObject(n.object), n.object.DeepCopy()); err != nil {
					return apierrors.NewForbidden(resource, pod.Name, err)
				}
			}
			if len(pod.Spec.NodeSelector) > 0 {
				return apierrors.NewForbidden(resource, pod.Name, context.Canceled)
			}
			return below.Create(ctx, o, options...)
		},
	})
}

// planning returns a client over the cluster of the stream, and what it is beside.
func planning(t *testing.T, c client.Client) (client.Client, *Change) {
	t.Helper()
	found, others, err := Files{Names: []string{"-"}}.Read(strings.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	change, err := Proposer{Client: c, Beside: NewBeside(others)}.Manifest(t.Context(), found[0])
	if err != nil {
		t.Fatal(err)
	}
	return Over(c, []*Change{change}), change
}

func needing(account, priority, runtimeClass string) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = "fdb", "orders-storage-1"
	pod.Spec.ServiceAccountName, pod.Spec.PriorityClassName = account, priority
	if runtimeClass != "" {
		pod.Spec.RuntimeClassName = &runtimeClass
	}
	return pod
}

// A plan of manifests is one of all of their objects: what is refused only since another object of them is not stored yet is
// planned, and the plan has what it assumes. What is refused anyway, or needs what the manifests do not have, is refused.
func TestAPlanAssumesTheOtherObjectsOfItsManifests(t *testing.T) {
	refused := needing("pods", "", "")
	refused.Spec.NodeSelector = map[string]string{"a": "b"}
	for name, tt := range map[string]struct {
		pod     *corev1.Pod
		stored  []schema.GroupVersionKind
		assumed []string
		refused bool
	}{
		"a ServiceAccount of the manifests":                 {pod: needing("pods", "", ""), assumed: []string{"ServiceAccount pods"}},
		"one that is stored":                                {pod: needing("pods", "", ""), stored: []schema.GroupVersionKind{serviceAccountKind}},
		"one that nothing has":                              {pod: needing("typo", "", ""), refused: true},
		"one of another namespace":                          {pod: needing("elsewhere", "", ""), refused: true},
		"all that admission looks up":                       {pod: needing("pods", "database", "sandboxed"), assumed: []string{"ServiceAccount pods", "PriorityClass database", "RuntimeClass sandboxed"}},
		"a priority class of the manifests":                 {pod: needing("pods", "database", ""), stored: []schema.GroupVersionKind{serviceAccountKind}, assumed: []string{"PriorityClass database"}},
		"a priority class that nothing has":                 {pod: needing("pods", "typo", ""), assumed: []string{"ServiceAccount pods"}, refused: true},
		"a pod that is refused with the ServiceAccount too": {pod: refused, assumed: []string{"ServiceAccount pods"}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := admitting(t, api(t, cluster()))
			for _, kind := range tt.stored {
				if err := c.Create(t.Context(), named(kind, "fdb", "pods")); err != nil {
					t.Fatal(err)
				}
			}
			over, change := planning(t, c)
			if err := over.Create(t.Context(), tt.pod, client.DryRunAll); (err != nil) != tt.refused {
				t.Errorf("error %v, want one: %t", err, tt.refused)
			}
			if diff := cmp.Diff(tt.assumed, planned.AssumedWords(change.View().Assumed), cmp.Transformer("none", func(s []string) string { return strings.Join(s, ", ") })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Only a plan assumes objects: what is written is written as it is, and nothing is stored before they exist.
func TestNothingIsStoredThatNeedsWhatOnlyTheManifestsHave(t *testing.T) {
	c := admitting(t, api(t, cluster()))
	over, change := planning(t, c)
	if err := over.Create(t.Context(), needing("pods", "", "")); err == nil {
		t.Error("a pod is written without its ServiceAccount")
	}
	if err := over.Create(t.Context(), needing("pods", "", ""), client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	if err := change.MayStore(); err == nil || !strings.Contains(err.Error(), "ServiceAccount pods") {
		t.Errorf("error %v, want one that names the ServiceAccount", err)
	}
	if err := c.Create(t.Context(), named(serviceAccountKind, "fdb", "pods")); err != nil {
		t.Fatal(err)
	}
	if err := change.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := change.MayStore(); err != nil {
		t.Errorf("after the ServiceAccount is stored: %v", err)
	}
}

// A storage class of the manifests exists for their plan, with all of its fields.
func TestAStorageClassOfTheManifestsIsListed(t *testing.T) {
	over, change := planning(t, api(t, cluster()))
	classes := &storagev1.StorageClassList{}
	if err := over.List(t.Context(), classes); err != nil {
		t.Fatal(err)
	}
	if len(classes.Items) != 1 || classes.Items[0].Name != "fast" || classes.Items[0].Provisioner != "example.com/fast" {
		t.Errorf("%+v", classes.Items)
	}
	if diff := cmp.Diff([]planned.AssumedObject{{Kind: "StorageClass", Name: "fast"}}, change.View().Assumed); diff != "" {
		t.Error(diff)
	}
}

// An API server cannot try a resource of a namespace that only the manifests have: its plan states that, and that
// no dry run was made.
func TestAResourceOfANamespaceOfTheManifestsIsPlanned(t *testing.T) {
	c := admitting(t, api(t, cluster()))
	found, others, err := Files{Names: []string{"-"}}.Read(strings.NewReader(strings.ReplaceAll(stream, "namespace: fdb", "namespace: fresh")))
	if err != nil {
		t.Fatal(err)
	}
	change, err := Proposer{Client: c, Beside: NewBeside(others)}.Manifest(t.Context(), found[0])
	if err != nil {
		t.Fatal(err)
	}
	want := []planned.AssumedObject{{Kind: "Namespace", Name: "fresh"}}
	if v := change.View(); !v.AdmissionUnknown || cmp.Diff(want, v.Assumed) != "" {
		t.Errorf("%+v", v)
	}
	if _, err := (Proposer{Client: c}).Manifest(t.Context(), found[0]); err == nil {
		t.Error("a namespace that nothing has is assumed")
	}
	namespace := &corev1.Namespace{}
	if err := Over(c, []*Change{change}).Get(t.Context(), client.ObjectKey{Name: "fresh"}, namespace); err != nil || namespace.Name != "fresh" {
		t.Errorf("error %v: %+v", err, namespace)
	}
}
