package stages

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// partial are the ways in which a document arrives without its processes and still reports an
// available database.
var partial = map[string]func(*fdb.Status){
	"its document timed out": func(s *fdb.Status) {
		s.Cluster.Processes = nil
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{Name: fdb.MessageIncompleteTimeout})
	},
	"its document was late": func(s *fdb.Status) {
		s.Cluster.Processes = nil
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{
			Name: fdb.MessageIncomplete, Reasons: []fdb.Reason{{Description: fdb.ReasonDeadlineExceeded}},
		})
	},
	"its document lists no process and gives no reason": func(s *fdb.Status) { s.Cluster.Processes = nil },
}

// TestNoStageRestsOnAPartialDocument compares each stage's decision on a partial document with its
// decision on none: every action with the first is also taken with the second.
func TestNoStageRestsOnAPartialDocument(t *testing.T) {
	given := map[string]func(testing.TB) plan.Snapshot{
		"a drained group": drainedStorage, "a group without objects": goneStorage, "a group to exclude": leavingStorage,
		"a group to exclude without a process": func(tb testing.TB) plan.Snapshot {
			tb.Helper()
			s := leavingStorage(tb)
			silentFor(&s, firstOf(s, "storage"), fdb.DeathNoticedAfter*10)
			return s
		},
		"groups of other control-plane instances without objects": inGlobalMode(goneStorage),
		"new knobs": newKnobs, "dead testers": testerGone, "an upgrade": upgrading, "new pods": outdatedStorage,
		"another engine": anotherEngine, "an excluded coordinator": excludedCoordinator, "a maintenance": maintained,
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
			for what, cut := range partial {
				s := from(t)
				cut(s.Database.Status)
				restsOnNothing(t, what, s)
			}
		})
	}
}

// TestNoStageRestsOnAPartialDocumentOfAnyCluster does so for clusters that are broken at random.
func TestNoStageRestsOnAPartialDocumentOfAnyCluster(t *testing.T) {
	for seed := range uint64(60) {
		s := anySnapshot(t, seed)
		if s.Database.Status == nil || s.Database.Status.NeverConfigured() {
			continue
		}
		for what, cut := range partial {
			cut(s.Database.Status)
			restsOnNothing(t, what, s)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func restsOnNothing(t *testing.T, what string, s plan.Snapshot) {
	t.Helper()
	without := s
	without.Database = plan.DatabaseFacts{Unreachable: "timed out", AsOf: s.Database.AsOf}
	for _, stage := range append(ClusterWith(Options{Adopt: true}), askedFor()...) {
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

// TestOthersProcessesHaveNotEndedByAPartialDocument tests the check alone: other checks refuse
// such a document as well.
func TestOthersProcessesHaveNotEndedByAPartialDocument(t *testing.T) {
	s := inGlobalMode(goneStorage)(t)
	members := []fdb.Member{{Instance: "dc2", Group: "dc2-storage-1"}}
	if check := (&removal{s: s}).othersGone(members); !check.OK {
		t.Fatalf("not by a complete document: %s", check.Evidence)
	}
	for what, cut := range partial {
		s := inGlobalMode(goneStorage)(t)
		cut(s.Database.Status)
		if check := (&removal{s: s}).othersGone(members); check.OK {
			t.Errorf("gone while %s", what)
		}
	}
}

// TestNoProcessIsMissingInAPartialDocument matters to UpdatePods, which stops at a pod with the desired
// spec whose processes do not report, and begins with zones that are down already.
func TestNoProcessIsMissingInAPartialDocument(t *testing.T) {
	s := healthyCluster(t)
	g := firstOf(s, "storage")
	dropProcess(&s, g)
	if !reportingProcesses(s.Database.Status).misses(g, s.Pod(g)) {
		t.Fatal("a server that a complete document lacks is not silent")
	}
	for what, cut := range partial {
		s := healthyCluster(t)
		cut(s.Database.Status)
		if reportingProcesses(s.Database.Status).misses(g, s.Pod(g)) {
			t.Errorf("silent while %s", what)
		}
	}
}
