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
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

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

// resourcesThrough is a client that reads FoundationDB resources through the client of an environment.
type resourcesThrough struct {
	client.Client
	e *session.Env
}

// Get implements client.Client.
func (c resourcesThrough) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	from, err := c.of(into)
	if err != nil {
		return err
	}
	return from.Get(ctx, key, into, options...)
}

// List implements client.Client.
func (c resourcesThrough) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	from, err := c.of(into)
	if err != nil {
		return err
	}
	return from.List(ctx, into, options...)
}

func (c resourcesThrough) of(o runtime.Object) (client.Client, error) {
	gvk, err := apiutil.GVKForObject(o, c.Scheme())
	if err != nil || gvk.Group != v1beta2.GroupVersion.Group {
		return c.Client, err
	}
	return c.e.Client()
}

// isOfVault reports whether the vault has the object: a backup or a restore.
func (g *Given) isOfVault(o runtime.Object) bool {
	if !g.Proposes || g.resources == nil {
		return false
	}
	gvk, err := apiutil.GVKForObject(o, g.resources.Scheme())
	return err == nil && gvk.Group == v1beta2.GroupVersion.Group && gvk.Kind != "FoundationDBCluster"
}

// get reads an object.
func (g *Given) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if g.isOfVault(o) {
		return g.resources.Get(ctx, key, o, opts...)
	}
	return c.Get(ctx, key, o, opts...)
}

// create answers with the UID and the generation of the API server, which the fake client does not set.
func (g *Given) create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	var asked client.CreateOptions
	asked.ApplyOptions(opts)
	if err := g.stores(o, asked.DryRun); err != nil {
		return err
	}
	o.SetUID(types.UID("uid of " + o.GetName()))
	o.SetGeneration(1)
	return g.resources.Create(ctx, o, opts...)
}

// stores is called before a change of a resource is stored, or would be.
func (g *Given) stores(o client.Object, dryRun []string) error {
	if g.OnStore == nil {
		return nil
	}
	return g.OnStore(o.GetName(), len(dryRun) > 0)
}

// patch answers a merge patch as the API server does, which the fake client does not: with the object that it stores, or
// would store, without unknown fields, and with the generation of its spec.
func (g *Given) patch(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	u, is := o.(*unstructured.Unstructured)
	if !is || u.GroupVersionKind().Group != v1beta2.GroupVersion.Group {
		return c.Patch(ctx, o, p, opts...)
	}
	var asked client.PatchOptions
	asked.ApplyOptions(opts)
	if err := g.stores(o, asked.DryRun); err != nil {
		return err
	}
	before, after := resourceOf(u.GetKind()), resourceOf(u.GetKind())
	if err := g.get(ctx, c, client.ObjectKeyFromObject(u), before); err != nil {
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
	if err := json.Unmarshal(merged, after); err != nil {
		return err
	}
	if !cmp.Equal(specOf(before), specOf(after)) {
		after.SetGeneration(before.GetGeneration() + 1)
	}
	if len(asked.DryRun) == 0 {
		if err := g.persist(ctx, after); err != nil {
			return err
		}
	}
	after.GetObjectKind().SetGroupVersionKind(u.GroupVersionKind())
	u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	return err
}

// persist stores a changed resource.
func (g *Given) persist(ctx context.Context, after client.Object) error {
	c, is := after.(*v1beta2.FoundationDBCluster)
	if !is {
		return g.resources.Update(ctx, after)
	}
	of := g.Cluster.Resource
	of.Spec, of.Generation, of.Annotations = c.Spec, c.Generation, c.Annotations
	return nil
}

// resourceOf returns an empty resource of a kind.
func resourceOf(kind string) client.Object {
	switch kind {
	case "FoundationDBBackup":
		return &v1beta2.FoundationDBBackup{}
	case "FoundationDBRestore":
		return &v1beta2.FoundationDBRestore{}
	default:
		return &v1beta2.FoundationDBCluster{}
	}
}

func specOf(o client.Object) any {
	switch o := o.(type) {
	case *v1beta2.FoundationDBBackup:
		return o.Spec
	case *v1beta2.FoundationDBRestore:
		return o.Spec
	case *v1beta2.FoundationDBCluster:
		return o.Spec
	}
	return nil
}
