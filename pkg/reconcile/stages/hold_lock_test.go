package stages

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// lockOf sets the owner of the lock for a time, held manually by a user if one is given.
func lockOf(owner, person string, left time.Duration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		l := fdb.Lock{Owner: owner, Start: s.Now.Add(-time.Hour), End: s.Now.Add(left), Nonce: "run"}
		if person != "" {
			l.Nonce = fdb.NonceByHand(person, "n")
		}
		s.Coordination.Lock = &l
	}
}

func TestHoldLock(t *testing.T) {
	const hold = "hold the lock as dc1 for 30m0s, manually for ann@a"
	tests := map[string]removalCase{
		"takes a lock that is free":              {from: lockedTogether, does: []string{hold}},
		"does nothing about one that is kept":    {from: lockedTogether, given: lockOf("dc1", "ann@a", 30*time.Minute-5*time.Second)},
		"sets the time again":                    {from: lockedTogether, given: lockOf("dc1", "ann@a", time.Minute), does: []string{hold}},
		"asks the database who may have it":      {from: lockedTogether, given: lockOf("dc2", "", time.Minute), does: []string{hold}},
		"not where no locks are used":            {from: healthyCluster, holds: "set spec.lockOptions.disableLocks to false"},
		"not where there is no database":         {from: lockedTogether, given: func(s *plan.Snapshot) { s.Cluster.Status.Configured = false }, holds: "no database yet"},
		"waits while the lock could not be read": {from: lockedTogether, given: func(s *plan.Snapshot) { s.Coordination = plan.CoordinationFacts{} }, holds: "could not be read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, HoldLock("ann@a", 30*time.Minute)) })
	}
}

func TestTheLockHolderIsShownBeforeItIsHeld(t *testing.T) {
	s := lockedTogether(t)
	lockOf("dc2", "", time.Minute)(&s)
	d := HoldLock("ann@a", time.Hour).Decide(s)
	if len(d.Checks) != 1 || d.Checks[0].OK || d.Checks[0].Gate != plan.GateLock {
		t.Errorf("checks: %v", d.Checks)
	}
}

func TestReleaseLock(t *testing.T) {
	both := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	terminating := func(s *plan.Snapshot) {
		pod := s.Pod(firstOf(*s, v1beta2.ProcessClassStorage))
		pod.DeletionTimestamp = &metav1.Time{Time: s.Now.Add(-time.Second)}
	}
	mine := lockOf("dc1", "ann@a", 10*time.Minute)
	tests := map[string]struct {
		removalCase
		releases bool
	}{
		"a lock that was taken manually":                         {removalCase{from: lockedTogether, given: mine}, true},
		"what a run left that was killed":                        {removalCase{from: lockedTogether, given: lockOf("dc1", "", 10*time.Minute)}, true},
		"not what a pass leaves until a death shows":             {removalCase{from: lockedTogether, given: lockOf("dc1", "", 80*time.Second), holds: "a pass may hold the lock for 1m20s more"}, false},
		"not while the database misses copies":                   {removalCase{from: lockedTogether, given: both(mine, lostReplica), holds: "some data has 1 of"}, false},
		"not while a pod is on its way down":                     {removalCase{from: lockedTogether, given: both(mine, terminating), holds: "terminating"}, false},
		"not while the database does not answer":                 {removalCase{from: lockedTogether, given: both(mine, func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }), holds: "timed out"}, false},
		"not on an old status document":                          {removalCase{from: lockedTogether, given: both(mine, func(s *plan.Snapshot) { s.Now = s.Now.Add(2 * time.Minute) }), holds: "the next pass reads a new one"}, false},
		"a lock that may be taken over, however the database is": {removalCase{from: lockedTogether, given: both(lockOf("dc1", "ann@a", -time.Minute), lostReplica)}, true},
		"nothing where it is free":                               {removalCase{from: lockedTogether}, false},
		"another's is decided in the transaction":                {removalCase{from: lockedTogether, given: lockOf("dc2", "", time.Minute)}, true},
		"a lock that could not be read is not cleared":           {removalCase{from: lockedTogether, given: func(s *plan.Snapshot) { s.Coordination = plan.CoordinationFacts{} }, holds: "could not be read"}, false},
		"none where no locks are used":                           {removalCase{from: healthyCluster, holds: "locks are not used here"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := tc.from(t)
			if tc.given != nil {
				tc.given(&s)
			}
			d := ReleaseLock("ann@a", true).Decide(s)
			if got := reason(d); !strings.Contains(got, tc.holds) || (tc.holds == "") != (got == "") {
				t.Errorf("holds with %q, want %q", got, tc.holds)
			}
			if (len(d.Actions) == 1) != tc.releases {
				t.Fatalf("does %v", described(d))
			}
			if tc.releases && !d.Actions[0].(plan.ReleaseLock).Seen.Same(*s.Coordination.Lock) {
				t.Errorf("releases another lock than the one that was seen")
			}
		})
	}
}
