package stages

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestAPartialStatusAllowsNoAdditionalAction compares each stage's decision on a partial document with its
// decision on none: every action with the first is also taken with the second.
func TestAPartialStatusAllowsNoAdditionalAction(t *testing.T) {
	given := map[string]func(testing.TB) plan.Snapshot{
		"a drained group": stagestest.DrainedStorage, "a group without objects": stagestest.RemovableStorage, "a group to exclude": stagestest.StorageMarkedForRemoval,
		"a group to exclude without a process": func(tb testing.TB) plan.Snapshot {
			tb.Helper()
			s := stagestest.StorageMarkedForRemoval(tb)
			stagestest.UnresponsiveFor(&s, stagestest.FirstOf(s, "storage"), fdb.DeathNoticedAfter*10)
			return s
		},
		"groups of other control-plane instances without objects": stagestest.InGlobalMode(stagestest.RemovableStorage),
		"new knobs": stagestest.NewKnobs, "dead testers": stagestest.DeadTester, "an upgrade": stagestest.Upgrading, "new pods": stagestest.OutdatedStorage,
		"another engine": stagestest.AnotherEngine, "an excluded coordinator": stagestest.ExcludedCoordinator, "a maintenance": stagestest.Maintained,
		"everything": func(tb testing.TB) plan.Snapshot {
			tb.Helper()
			s := inNeedOfEverything(tb)
			s.Coordination.Read, s.Coordination.ExclusionsRead = true, true
			s.Coordination.Exclusions = s.Database.Status.ExcludedTargets()
			return s
		},
	}
	for name, from := range given {
		t.Run(name, func(t *testing.T) {
			for what, cut := range stagestest.Partial {
				s := from(t)
				cut(s.Database.Status)
				restsOnNothing(t, what, s)
			}
		})
	}
}

// TestAPartialStatusAllowsNoAdditionalActionOnRandomClusters does so for clusters that are broken at random.
func TestAPartialStatusAllowsNoAdditionalActionOnRandomClusters(t *testing.T) {
	tested := 0
	for seed := range uint64(60) {
		for what, cut := range stagestest.Partial {
			s := stagestest.AnySnapshot(t, seed)
			if s.Database.Status == nil || s.Database.Status.NeverConfigured() {
				continue
			}
			tested++
			cut(s.Database.Status)
			restsOnNothing(t, what, s)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if least := 20 * len(stagestest.Partial); tested < least {
		t.Errorf("%d partial documents tested, want %d at least", tested, least)
	}
}

func restsOnNothing(t *testing.T, what string, s plan.Snapshot) {
	t.Helper()
	without := s
	without.Database = plan.DatabaseFacts{Unreachable: "timed out", AsOf: s.Database.AsOf}
	for _, stage := range append(ClusterWith(plan.Options{Adopt: true}), requestedFor()...) {
		may := written(t, stage.Decide(without))
		for _, action := range written(t, stage.Decide(s)) {
			if !slices.Contains(may, action) {
				t.Errorf("%s while %s: does %s\nwithout a document: %s", stage.Name, what, action, cmp.Diff(nil, may))
			}
		}
	}
}

// written returns a decision's actions in full.
func written(t *testing.T, d plan.Decision) []string {
	t.Helper()
	var all []string
	for _, a := range d.Actions {
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, plan.KindOf(a)+" "+string(text))
	}
	return all
}
