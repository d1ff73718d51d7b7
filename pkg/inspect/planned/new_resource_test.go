package planned_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// digests are those of the plans of all passes that create a cluster with a UID.
func digests(t *testing.T, uid types.UID, spec func(*v1beta2.FoundationDBClusterSpec)) (all []string) {
	t.Helper()
	w, err := simtest.Sample(1, func(c *v1beta2.FoundationDBCluster) {
		c.UID = uid
		spec(&c.Spec)
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		r := &planned.PlanRecorder{}
		preview := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Report: r.Report, Seed: 42}
		if _, err := preview.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		v := r.View(inspect.Metadata{})
		all = append(all, v.Digest)
		pass := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Actor: w, Report: func(reconcile.Event) {}, Seed: 42}
		done, err := pass.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if done.Settled() {
			return all
		}
		w.Tick(simtest.UntilNext(done))
	}
	t.Fatal("the cluster is not created after 20 passes")
	return nil
}

// Each dry run of an API server answers with another UID for a resource that does not exist.
func TestThePlansOfANewClusterDoNotDependOnItsUID(t *testing.T) {
	for name, spec := range map[string]func(*v1beta2.FoundationDBClusterSpec){
		"by default": func(*v1beta2.FoundationDBClusterSpec) {},
		"with services, two servers per pod and a detector": func(s *v1beta2.FoundationDBClusterSpec) {
			s.Routing = v1beta2.RoutingConfig{HeadlessService: new(true), PublicIPSource: new(v1beta2.PublicIPSourceService)}
			s.StorageServersPerPod = 2
			s.AutomationOptions.Replacements.FailureDetectionCronJob = &v1beta2.FailureDetectionCronJob{Enabled: new(true), Image: new("kubectl-fdb")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			one, other := digests(t, "11111111-0000", spec), digests(t, "22222222-0000", spec)
			if diff := cmp.Diff(one, other); diff != "" {
				t.Error(diff)
			}
		})
	}
}
