package live_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// inRegions returns a resource with the regions dc1 and dc2.
func inRegions(c *v1beta2.FoundationDBCluster) *v1beta2.FoundationDBCluster {
	c.Spec.DatabaseConfiguration.Regions = []v1beta2.Region{{Datacenters: []v1beta2.DataCenter{{ID: "dc1", Priority: 1}}}, {Datacenters: []v1beta2.DataCenter{{ID: "dc2"}}}}
	return c
}

// exchanged returns the change of the priorities of a resource.
func exchanged(t *testing.T, c *v1beta2.FoundationDBCluster) plan.RegionsResource {
	t.Helper()
	regions := c.DeepCopy().Spec.DatabaseConfiguration.Regions
	regions[0].Datacenters[0].Priority, regions[1].Datacenters[0].Priority = 0, 1
	r, differs := plan.NewRegionsResource(c, regions)
	if !differs {
		t.Fatal("nothing differs")
	}
	return r
}

// Only the priorities are patched, of each resource in turn, and only of the version that was decided on.
func TestOnlyRegionPrioritiesArePatched(t *testing.T) {
	f := newField(t, inRegions(sample()))
	f.begin()
	f.observe(plan.ClusterResource)
	other := inRegions(sample())
	other.ObjectMeta = metav1.ObjectMeta{Name: "other", Namespace: f.resource().Namespace}
	if err := f.cluster.Client.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	var patches []string
	f.cluster.Client = patchReader{f.cluster.Client, &patches}
	a := plan.SetPriorities{Cluster: f.resource().Name, To: "dc2", Resources: []plan.RegionsResource{exchanged(t, other), exchanged(t, f.resource())}}
	before := f.resource()
	if err := f.cluster.Act(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for _, patch := range patches {
		if _, rest, _ := strings.Cut(patch, "},"); rest != `{"op":"add","path":"/spec/databaseConfiguration/regions/0/datacenters/0/priority","value":0},{"op":"add","path":"/spec/databaseConfiguration/regions/1/datacenters/0/priority","value":1}]` {
			t.Errorf("patch %s", patch)
		}
	}
	want := before.Spec.DeepCopy()
	want.DatabaseConfiguration.Regions = a.Resources[1].Regions
	if diff := cmp.Diff(*want, f.resource().Spec); diff != "" {
		t.Errorf("the spec (-want +got):\n%s", diff)
	}
	if err := f.cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(other), other); err != nil || other.Spec.DatabaseConfiguration.Regions[1].Datacenters[0].Priority != 1 {
		t.Errorf("%v: %+v", err, other.Spec.DatabaseConfiguration.Regions)
	}
	if len(patches) != 2 {
		t.Errorf("%d patches", len(patches))
	}
}

// ignoringPatches accepts patches and changes nothing.
type ignoringPatches struct{ client.Client }

func (ignoringPatches) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return nil
}

func TestRegionPrioritiesAreNotSetInAChangedResource(t *testing.T) {
	for name, change := range map[string]func(*plan.RegionsResource){
		"another generation": func(r *plan.RegionsResource) { r.Generation++ },
		"another resource":   func(r *plan.RegionsResource) { r.UID = types.UID("other") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, inRegions(sample()))
			f.begin()
			f.observe(plan.ClusterResource)
			r := exchanged(t, f.resource())
			change(&r)
			err := f.cluster.Act(t.Context(), plan.SetPriorities{Cluster: r.Name, Resources: []plan.RegionsResource{r}})
			if !apierrors.IsConflict(err) {
				t.Errorf("%v", err)
			}
			if got := f.resource().Spec.DatabaseConfiguration.Regions[1].Datacenters[0].Priority; got != 0 {
				t.Errorf("priority %d", got)
			}
		})
	}
	t.Run("a patch without an effect", func(t *testing.T) {
		f := newField(t, inRegions(sample()))
		f.begin()
		f.observe(plan.ClusterResource)
		r := exchanged(t, f.resource())
		f.cluster.Client = ignoringPatches{f.cluster.Client}
		if err := f.cluster.Act(t.Context(), plan.SetPriorities{Cluster: r.Name, Resources: []plan.RegionsResource{r}}); err == nil || !strings.Contains(err.Error(), "accepted the patch, but") {
			t.Errorf("%v", err)
		}
	})
}
