package evictionhook

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// fixed observes a snapshot.
type fixed struct {
	snap  func() plan.Snapshot
	err   error
	reads int
}

func (f *fixed) Observe(_ context.Context, into *plan.Snapshot, facets plan.Facet) error {
	f.reads++
	*into = f.snap().Without(plan.Everything &^ facets)
	return f.err
}

// judging are Rules over a healthy cluster of the given state.
func judging(t *testing.T, edits ...func(*plan.Snapshot)) (*Rules, *fixed, *clocktesting.FakeClock) {
	t.Helper()
	f := &fixed{snap: func() plan.Snapshot {
		s := stagestest.HealthyCluster(t)
		for name, pod := range s.Pods {
			pod.UID = types.UID("uid-of-" + name)
		}
		for _, edit := range edits {
			edit(&s)
		}
		return s
	}}
	clock := clocktesting.NewFakeClock(stagestest.Noon)
	return &Rules{Clock: clock, Observer: func(types.NamespacedName) (reconcile.Observer, error) { return f, nil }}, f, clock
}

func evictionOfPod(pod string) Eviction {
	return Eviction{Cluster: types.NamespacedName{Namespace: "fdb", Name: "sample"}, Pod: pod, UID: types.UID("uid-of-" + pod)}
}

// The rules are those of drain and can drain, and two that only concern other clients.
func TestTheEvictionWebhookUsesTheDrainRules(t *testing.T) {
	group := func(id v1beta2.ProcessGroupID, edit func(*plan.Snapshot, *v1beta2.ProcessGroupStatus)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { edit(s, s.Cluster.ProcessGroup(id)) }
	}
	for name, tc := range map[string]struct {
		pod    string
		given  []func(*plan.Snapshot)
		refuse plan.CheckID // empty: allowed
	}{
		"a storage pod of a healthy cluster": {"sample-storage-116", nil, ""},
		"a coordinator":                      {"sample-log-101", nil, plan.CheckNoCoordinator},
		"a log that is not drained":          {"sample-log-104", nil, plan.CheckDrained},
		"a stateless pod":                    {"sample-stateless-105", nil, ""},
		"a storage pod while another one is missing": {"sample-storage-116", []func(*plan.Snapshot){
			group("storage-115", func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) { delete(s.Pods, g.PodName(s.Cluster)) }),
		}, plan.CheckAnyOf},
		"a stateless pod while another one is missing": {"sample-stateless-105", []func(*plan.Snapshot){
			group("stateless-106", func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) { delete(s.Pods, g.PodName(s.Cluster)) }),
		}, plan.CheckClassUp},
		"a stateless pod while another one terminates": {"sample-stateless-105", []func(*plan.Snapshot){
			group("stateless-106", func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
				s.Pod(g).DeletionTimestamp = new(stagestest.NoonTime())
			}),
		}, plan.CheckClassUp},
		"a stateless pod right after a recovery": {"sample-stateless-105", []func(*plan.Snapshot){
			func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = new(5.0) },
		}, plan.CheckRecoveryAge},
		"a pod that a user isolated": {"sample-stateless-105", []func(*plan.Snapshot){
			group("stateless-105", func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
				s.Pod(g).Annotations[v1beta2.AnnotationIsolateProcessGroup] = "true"
			}),
		}, plan.CheckNotIsolated},
		"any pod of a database that does not answer": {"sample-storage-116", []func(*plan.Snapshot){
			func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} },
		}, plan.CheckStatusRecent},
	} {
		t.Run(name, func(t *testing.T) {
			given := append([]func(*plan.Snapshot){rolesKnown}, tc.given...)
			r, _, _ := judging(t, given...)
			checks, err := r.Decide(t.Context(), evictionOfPod(tc.pod), 0)
			if err != nil {
				t.Fatal(err)
			}
			refused := refusedOf(checks)
			if tc.refuse == "" && (len(refused) > 0 || len(checks) == 0) {
				t.Errorf("refused by %+v", refused)
			}
			if tc.refuse != "" && !slices.ContainsFunc(refused, func(c plan.Check) bool { return c.ID == tc.refuse }) {
				t.Errorf("refused by %+v, want %s", refused, tc.refuse)
			}
		})
	}
}

// rolesKnown gives processes roles, so that it is known which hold data.
func rolesKnown(s *plan.Snapshot) {
	for _, g := range s.Groups() {
		role := map[v1beta2.ProcessClass]string{"storage": "storage", "log": "log", "stateless": "commit_proxy"}[g.ProcessClass]
		stagestest.EditProcess(s, g, func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: role}} })
	}
}

func TestAnEvictionOfAnUnobservedPodIsNotDecided(t *testing.T) {
	r, f, _ := judging(t)
	other := evictionOfPod("sample-storage-116")
	other.UID = "another"
	for name, e := range map[string]Eviction{"recreated": other, "of no group": evictionOfPod("sample-storage-999")} {
		if checks, err := r.Decide(t.Context(), e, 0); err == nil {
			t.Errorf("%s: %+v", name, checks)
		}
	}
	f.snap = func() plan.Snapshot {
		s := stagestest.HealthyCluster(t)
		s.Pods = map[string]*corev1.Pod{}
		return s
	}
	if checks, err := r.Decide(t.Context(), evictionOfPod("sample-storage-116"), 1); err == nil {
		t.Errorf("deleted: %+v", checks)
	}
}

func TestCachedFactsAreReusedWithinAnEvictionEpoch(t *testing.T) {
	r, f, clock := judging(t)
	decide := func(epoch Epoch) {
		t.Helper()
		if _, err := r.Decide(t.Context(), evictionOfPod("sample-storage-116"), epoch); err != nil {
			t.Fatal(err)
		}
	}
	for i, step := range []struct {
		epoch Epoch
		wait  time.Duration
		reads int
	}{{0, 0, 1}, {0, reuseFor - 1, 1}, {0, 1, 2}, {1, 0, 3}, {1, 0, 3}, {NoEpoch, 0, 4}, {NoEpoch, 0, 5}, {1, 0, 5}, {0, 0, 6}, {0, -time.Hour, 7}} {
		clock.SetTime(clock.Now().Add(step.wait))
		if decide(step.epoch); f.reads != step.reads {
			t.Errorf("step %d: read %d times, want %d", i, f.reads, step.reads)
		}
	}
}

func TestAnEvictionIsNotDecidedIfTheObservationFails(t *testing.T) {
	r, f, _ := judging(t)
	f.err = errors.New("no API server")
	for range 2 {
		if checks, err := r.Decide(t.Context(), evictionOfPod("sample-storage-116"), 0); err == nil {
			t.Errorf("%+v", checks)
		}
	}
	r.Observer = func(types.NamespacedName) (reconcile.Observer, error) { return nil, errors.New("no client") }
	r.seen = nil
	if _, err := r.Decide(t.Context(), evictionOfPod("sample-storage-116"), 0); err == nil {
		t.Error("no observer")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := r.observedOf(types.NamespacedName{Namespace: "fdb", Name: "sample"})
	o.turn <- struct{}{}
	if _, err := r.Decide(ctx, evictionOfPod("sample-storage-116"), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-o.turn
}

// Before there is a database every pod may go.
func TestPodsMayBeEvictedBeforeADatabaseExists(t *testing.T) {
	r, _, _ := judging(t, func(s *plan.Snapshot) {
		s.Cluster.Status.Configured, s.Cluster.Status.ConnectionString = false, ""
		s.Database = plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
	})
	if checks, err := r.Decide(t.Context(), evictionOfPod("sample-stateless-105"), 0); err != nil || !safety.Met(checks) {
		t.Errorf("%+v, %v", checks, err)
	}
}
