package commandstest

import (
	"context"
	"encoding/json"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// throughClient is a simulated cluster whose resource is read through the client of an environment.
type throughClient struct {
	Simulated
	e *session.Env
}

// Observe implements reconcile.Observer.
func (s throughClient) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if err := s.Simulated.Observe(ctx, into, facets); err != nil || facets&plan.ClusterResource == 0 {
		return err
	}
	c, err := s.e.Client()
	if err != nil {
		return err
	}
	read := &v1beta2.FoundationDBCluster{}
	if err := c.Get(ctx, types.NamespacedName{Namespace: "fdb", Name: "sample"}, read); err != nil {
		return err
	}
	into.Cluster, into.InvalidSpec = read.NormalizedToRead(), plan.InvalidFields(read.Validate())
	return nil
}

// patch answers a merge patch as the API server does, which the fake client does not: with the object that it stores, or
// would store, without unknown fields, and with the generation of its spec.
func (g *Given) patch(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	u, is := o.(*unstructured.Unstructured)
	if !is || u.GroupVersionKind().Group != v1beta2.GroupVersion.Group {
		return c.Patch(ctx, o, p, opts...)
	}
	before := &v1beta2.FoundationDBCluster{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(u), before); err != nil {
		return err
	}
	current, err := json.Marshal(before)
	if err != nil {
		return err
	}
	patch, err := p.Data(o)
	if err != nil {
		return err
	}
	merged, err := jsonpatch.MergePatch(current, patch)
	if err != nil {
		return err
	}
	after := &v1beta2.FoundationDBCluster{}
	if err := json.Unmarshal(merged, after); err != nil {
		return err
	}
	if !cmp.Equal(before.Spec, after.Spec) {
		after.Generation++
	}
	var asked client.PatchOptions
	if asked.ApplyOptions(opts); len(asked.DryRun) == 0 {
		of := g.Cluster.Resource
		of.Spec, of.Generation, of.Annotations = after.Spec, after.Generation, after.Annotations
	}
	after.SetGroupVersionKind(u.GroupVersionKind())
	u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	return err
}
