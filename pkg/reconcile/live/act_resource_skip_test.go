package live_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// patchReader keeps what patches say.
type patchReader struct {
	client.Client

	patches *[]string
}

func (c patchReader) Patch(ctx context.Context, o client.Object, p client.Patch, options ...client.PatchOption) error {
	text, err := p.Data(o)
	if err != nil {
		return err
	}
	*c.patches = append(*c.patches, string(text))
	return c.Client.Patch(ctx, o, p, options...)
}

// A default of ours in the spec of another user's resource is one that no user chose.
func TestAPauseWritesOneFieldOfTheSpec(t *testing.T) {
	f := newField(t, sample())
	f.begin()
	f.observe(plan.ClusterResource)
	var patches []string
	f.cluster.Client = patchReader{f.cluster.Client, &patches}
	pause := plan.Pause{By: "ann@laptop", At: sim.Noon, Reason: "slow commits"}
	for _, a := range []plan.Action{plan.SetSkip{Skip: true, Pause: pause}, plan.SetSkip{}} {
		if err := f.cluster.Act(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		p, paused := plan.PauseOf(f.resource())
		if want := a.(plan.SetSkip).Skip; paused != want || (want && p.Reason != pause.Reason) {
			t.Errorf("paused is %t: %+v", paused, p)
		}
	}
	const none = `"kubectl-fdb/paused-until":null`
	want := []string{
		`{"metadata":{"annotations":{"kubectl-fdb/paused-at":"` + sim.Noon.Format("2006-01-02T15:04:05Z") + `","kubectl-fdb/paused-by":"ann@laptop","kubectl-fdb/paused-reason":"slow commits",` + none + `}},"spec":{"skip":true}}`,
		`{"metadata":{"annotations":{"kubectl-fdb/paused-at":null,"kubectl-fdb/paused-by":null,"kubectl-fdb/paused-reason":null,` + none + `}},"spec":{"skip":false}}`,
	}
	if diff := cmp.Diff(want, patches); diff != "" {
		t.Errorf("patches (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(sample().Spec, f.resource().Spec); diff != "" {
		t.Errorf("the stored spec changed (-want +got):\n%s", diff)
	}
	// Later edits of the same pass build on it.
	if err := f.cluster.Act(t.Context(), plan.AddGroups{Groups: []plan.NewGroup{{ID: "storage-9", Class: v1beta2.ProcessClassStorage}}, At: sim.Noon}); err != nil {
		t.Error(err)
	}
}
