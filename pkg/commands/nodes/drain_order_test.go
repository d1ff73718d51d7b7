package nodes_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// A drain excludes what has a volume before it evicts what has none: the recovery after an
// eviction would make the exclusion wait for two more minutes, the coordinators for five.
func TestDrainExcludesStorageAndLogsBeforeEvictingStatelessPods(t *testing.T) {
	for _, class := range []v1beta2.ProcessClass{v1beta2.ProcessClassStorage, v1beta2.ProcessClassLog} {
		t.Run(string(class), func(t *testing.T) {
			g := commandstest.Roomy(t)
			node := g.NodeOf(class)
			for _, group := range g.Cluster.Resource.Status.ProcessGroups {
				if group.ProcessClass == v1beta2.ProcessClassStateless {
					g.Cluster.Pods["sample-"+string(group.ProcessGroupID)].Spec.NodeName = node
				}
			}
			g.Cluster.Tick(20 * time.Minute) // the last recovery is long ago
			began := g.Cluster.Now()
			var order []string
			var excluded time.Duration
			g.Cluster.Refuse = func(a plan.Action) error { // called for all, and refuses none
				switch a.(type) { //nolint:gochecksumtype // the order of these alone is tested
				case plan.Exclude:
					order, excluded = append(order, "exclude"), g.Cluster.Now().Sub(began)
				case plan.ChangeCoordinators:
					order = append(order, "move coordinators")
				case plan.DeletePods:
					order = append(order, "evict")
				}
				return nil
			}
			if code := g.Run("drain", node, "-c", "sample", "--yes", "--timeout", "3h"); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			want := map[v1beta2.ProcessClass][]string{ // the first log process is a coordinator, the first storage process is not
				v1beta2.ProcessClassStorage: {"exclude", "evict"}, v1beta2.ProcessClassLog: {"move coordinators", "exclude", "evict"},
			}[class]
			if diff := cmp.Diff(want, slices.Compact(order)); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
			if most := map[v1beta2.ProcessClass]time.Duration{v1beta2.ProcessClassStorage: time.Minute, v1beta2.ProcessClassLog: 4 * time.Minute}[class]; excluded > most {
				t.Errorf("excluded after %s, want %s at most", excluded, most)
			}
		})
	}
}
