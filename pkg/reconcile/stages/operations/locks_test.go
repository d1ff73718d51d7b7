package operations

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// lockedTogether returns a cluster of one of several control-plane instances; dc3 is on the deny list.
func lockedTogether(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := stagestest.HealthyCluster(tb)
	s.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
	s.Cluster.Spec.LockOptions.DisableLocks = new(bool)
	s.Coordination.Read, s.Coordination.DenyList = true, []string{"dc3"}
	return s
}

func TestChangeDenyList(t *testing.T) {
	tests := map[string]struct {
		stagestest.RemovalCase
		owner string
		deny  bool
	}{
		"denies the lock to a control-plane instance": {stagestest.RemovalCase{From: lockedTogether, Does: []string{"deny the lock to dc2"}}, "dc2", true},
		"allows it again":                                {stagestest.RemovalCase{From: lockedTogether, Does: []string{"allow the lock to dc3 again"}}, "dc3", false},
		"does nothing about who is denied":               {stagestest.RemovalCase{From: lockedTogether}, "dc3", true},
		"does nothing about who is allowed":              {stagestest.RemovalCase{From: lockedTogether}, "dc2", false},
		"not where no locks are used":                    {stagestest.RemovalCase{From: stagestest.HealthyCluster, Holds: "locks are not used here"}, "dc2", true},
		"waits while the list in the database is unread": {stagestest.RemovalCase{From: lockedTogether, Given: func(s *plan.Snapshot) { s.Coordination = plan.CoordinationFacts{} }, Holds: "could not be read"}, "dc2", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.Check(t, ChangeDenyList(v1beta2.LockDenyListEntry{ID: tc.owner, Allow: !tc.deny}, "me@here", "it is lost"))
		})
	}
}

// lockOf sets the owner of the lock for a time, held manually by a user if one is given.
func lockOf(owner, user string, left time.Duration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		l := fdb.Lock{Owner: owner, Start: s.Now.Add(-time.Hour), End: s.Now.Add(left), Nonce: "run"}
		if user != "" {
			l.Nonce = fdb.NonceByHand(user, "n")
		}
		s.Coordination.Lock = &l
	}
}

func TestHoldLock(t *testing.T) {
	const hold = "hold the lock as dc1 for 30m0s, manually for ann@a"
	tests := map[string]stagestest.RemovalCase{
		"takes a lock that is free":              {From: lockedTogether, Does: []string{hold}},
		"does nothing about one that is kept":    {From: lockedTogether, Given: lockOf("dc1", "ann@a", 30*time.Minute-5*time.Second)},
		"sets the time again":                    {From: lockedTogether, Given: lockOf("dc1", "ann@a", time.Minute), Does: []string{hold}},
		"asks the database who may have it":      {From: lockedTogether, Given: lockOf("dc2", "", time.Minute), Does: []string{hold}},
		"not where no locks are used":            {From: stagestest.HealthyCluster, Holds: "set spec.lockOptions.disableLocks to false"},
		"not where there is no database":         {From: lockedTogether, Given: func(s *plan.Snapshot) { s.Cluster.Status.Configured = false }, Holds: "no database yet"},
		"waits while the lock could not be read": {From: lockedTogether, Given: func(s *plan.Snapshot) { s.Coordination = plan.CoordinationFacts{} }, Holds: "could not be read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, HoldLock("ann@a", 30*time.Minute)) })
	}
}

func TestHoldLockChecksTheCurrentLockHolder(t *testing.T) {
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
		pod := s.Pod(stagestest.FirstOf(*s, v1beta2.ProcessClassStorage))
		pod.DeletionTimestamp = &metav1.Time{Time: s.Now.Add(-time.Second)}
	}
	mine := lockOf("dc1", "ann@a", 10*time.Minute)
	tests := map[string]struct {
		stagestest.RemovalCase
		releases bool
	}{
		"a lock that was taken manually":                         {stagestest.RemovalCase{From: lockedTogether, Given: mine}, true},
		"what a run left that was killed":                        {stagestest.RemovalCase{From: lockedTogether, Given: lockOf("dc1", "", 10*time.Minute)}, true},
		"not what a pass leaves until a death shows":             {stagestest.RemovalCase{From: lockedTogether, Given: lockOf("dc1", "", 80*time.Second), Holds: "a pass may hold the lock for 1m20s more"}, false},
		"not while the database misses copies":                   {stagestest.RemovalCase{From: lockedTogether, Given: both(mine, lostReplica), Holds: "some data has 1 of"}, false},
		"not while a pod is on its way down":                     {stagestest.RemovalCase{From: lockedTogether, Given: both(mine, terminating), Holds: "terminating"}, false},
		"not while the database does not answer":                 {stagestest.RemovalCase{From: lockedTogether, Given: both(mine, func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }), Holds: "timed out"}, false},
		"not on an old status document":                          {stagestest.RemovalCase{From: lockedTogether, Given: both(mine, func(s *plan.Snapshot) { s.Now = s.Now.Add(2 * time.Minute) }), Holds: "the next pass reads a new one"}, false},
		"a lock that may be taken over, however the database is": {stagestest.RemovalCase{From: lockedTogether, Given: both(lockOf("dc1", "ann@a", -time.Minute), lostReplica)}, true},
		"nothing where it is free":                               {stagestest.RemovalCase{From: lockedTogether}, false},
		"another's is decided in the transaction":                {stagestest.RemovalCase{From: lockedTogether, Given: lockOf("dc2", "", time.Minute)}, true},
		"a lock that could not be read is not cleared":           {stagestest.RemovalCase{From: lockedTogether, Given: func(s *plan.Snapshot) { s.Coordination = plan.CoordinationFacts{} }, Holds: "could not be read"}, false},
		"none where no locks are used":                           {stagestest.RemovalCase{From: stagestest.HealthyCluster, Holds: "locks are not used here"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := tc.From(t)
			if tc.Given != nil {
				tc.Given(&s)
			}
			d := ReleaseLockByForce("ann@a").Decide(s)
			if got := stagestest.Reason(d); !strings.Contains(got, tc.Holds) || (tc.Holds == "") != (got == "") {
				t.Errorf("holds with %q, want %q", got, tc.Holds)
			}
			if (len(d.Actions) == 1) != tc.releases {
				t.Fatalf("does %v", stagestest.Described(d))
			}
			if tc.releases && !d.Actions[0].(plan.ReleaseLock).Seen.Same(*s.Coordination.Lock) {
				t.Errorf("releases another lock than the one that was seen")
			}
		})
	}
}
