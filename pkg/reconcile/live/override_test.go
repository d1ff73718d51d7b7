package live_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestAnOverrideGrantsTheLockWithoutAProcessGroupIDPrefix(t *testing.T) {
	f := sharing(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessGroupIDPrefix = "" })
	f.observe(plan.ClusterResource)
	f.cluster.Overrides = map[plan.Gate]string{plan.GateLockOwner: "the only instance"}
	if err := f.cluster.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lock := f.lockIn(fdb.DefaultLockPrefix); lock == nil || lock.Owner != "" {
		t.Errorf("the lock is %+v, want one without an owner's name", lock)
	}
}

func TestTheOperatorGateIsPassedOnlyByItsOwnOverride(t *testing.T) {
	for gate, allowed := range map[plan.Gate]bool{plan.GateOperator: true, plan.GateLockOwner: false} {
		f := newField(t, sharing(t).resource(), operator(nil), election(time.Second, nil))
		f.observe(plan.ClusterResource)
		f.cluster.Overrides = map[plan.Gate]string{gate: "it was scaled down a moment ago"}
		checks, err := f.cluster.Gates(t.Context(), live.GateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if checks[0].OK != allowed {
			t.Errorf("with %s overridden: allowed %t (%s), want %t", gate, checks[0].OK, checks[0].Evidence, allowed)
		}
	}
}

// TestOverriddenGatesArePartOfTheSnapshot observes with an override and without one.
func TestOverriddenGatesArePartOfTheSnapshot(t *testing.T) {
	f := sharing(t)
	if got := f.observe(plan.ClusterResource).Overrides; len(got) != 0 {
		t.Errorf("without an override: %v", got)
	}
	f.cluster.Overrides = map[plan.Gate]string{plan.GateConfig: "a test cluster"}
	if got := f.observe(plan.ClusterResource).Overrides[plan.GateConfig]; got != "a test cluster" {
		t.Errorf("the reason is %q", got)
	}
}
