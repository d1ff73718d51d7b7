package stages

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// lockSlack is how far the time that is left of a lock may be from the one asked for
// without being set anew.
const lockSlack = 30 * time.Second

// HoldLock has a person keep the database's lock for a time, under the name of the cluster's
// instance. Who may have it is decided when it is taken, in the same transaction.
func HoldLock(person string, d time.Duration) plan.Stage {
	return plan.Stage{
		Name:  plan.StageHoldLock,
		Reads: plan.Record | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			if hold := lockUnusable(s); hold != nil {
				return plan.Decision{Hold: hold}
			}
			found := s.Coordination.Lock
			if safety.HeldByHand(s, person) && (found.End.Sub(s.Now)-d).Abs() <= lockSlack {
				return plan.Decision{}
			}
			free, _ := safety.LockFreeFor(s, person)
			return plan.Decision{
				Why: "a person asks for it", Checks: []plan.Check{free},
				Actions: []plan.Action{plan.HoldLock{Owner: s.Cluster.LockOwner(), Person: person, For: d}},
			}
		},
	}
}

// lockUnusable says why there is no lock that anybody could take or give back; nil when there is.
func lockUnusable(s plan.Snapshot) *plan.Hold {
	switch {
	case !s.Cluster.LocksUsed():
		return &plan.Hold{Code: plan.HoldLocksDisabled, Human: true, Reason: "no locks are used here, so one keeps nobody away; set spec.lockOptions.disableLocks to false, and spec.processGroupIDPrefix, where several instances share the database"}
	case !s.Cluster.Status.Configured:
		return &plan.Hold{Code: plan.HoldNoDatabase, Human: true, Reason: "there is no database yet, and so no lock"}
	case !s.Coordination.Read:
		return &plan.Hold{Code: plan.HoldLockUnread, Reason: "the lock in the database could not be read", RetryAfter: podDelay}
	default:
		return nil
	}
}

// ReleaseLock clears the lock for a person, if it is still the one that was looked at. Of
// this instance's own, others are let in only once the database shows whatever this one took
// down: until then they would see a complete database. Force also clears what another
// instance may not use any more, and what another person keeps for this instance.
func ReleaseLock(person string, force bool) plan.Stage {
	return plan.Stage{
		Name:  plan.StageReleaseLock,
		Reads: plan.Record | plan.Pods | plan.Database | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			if hold := lockUnusable(s); hold != nil {
				return plan.Decision{Hold: hold}
			}
			found := s.Coordination.Lock
			if found == nil {
				return plan.Decision{}
			}
			d := plan.Decision{Checks: releaseChecks(s, *found)}
			if refused, ok := d.Refused(); ok {
				d.Hold = &plan.Hold{
					Code:       plan.HoldCheckRefused,
					Reason:     fmt.Sprintf("the lock is kept: %s; it runs out by itself at %s", refused.Words(), found.End.UTC().Format(time.RFC3339)),
					RetryAfter: podUpdateRetry,
				}
				return d
			}
			d.Why = "a person asks for it; " + lockLeft(s, *found)
			d.Actions = []plan.Action{plan.ReleaseLock{Seen: *found, Person: person, Force: force}}
			return d
		},
	}
}

// lockLeft says for how long a lock still keeps others away, and why if it does not.
func lockLeft(s plan.Snapshot, l fdb.Lock) string {
	left := l.End.Sub(s.Now).Round(time.Second)
	switch {
	case l.ExpiredAt(s.Now):
		return fmt.Sprintf("%s had it until %s ago", l.Holder(), -left)
	case l.MayBeTakenOver(s.Coordination.DenyList, s.Now):
		return fmt.Sprintf("%s has it for %s more, and is on the deny list", l.Holder(), left)
	default:
		return fmt.Sprintf("%s has it for %s more", l.Holder(), left)
	}
}

// releaseChecks are asked before others are let in. A lock that anybody may have already
// protects nothing, and of another's nothing is let go that it relies on.
func releaseChecks(s plan.Snapshot, found fdb.Lock) []plan.Check {
	if found.MayBeTakenOver(s.Coordination.DenyList, s.Now) || found.Owner != s.Cluster.LockOwner() {
		return nil
	}
	shown := plan.Check{ID: plan.CheckLossNoticed, Question: "does the database show all that was taken down?", Gate: plan.GateReplicas, OK: true, Evidence: "no pod of a stateful class is on its way up or down"}
	left := found.End.Sub(s.Now).Round(time.Second)
	switch reasons := unsettledPods(s); {
	case len(reasons) > 0:
		shown.OK, shown.Evidence = false, someOf(reasons)
	case found.Person() == "" && left <= fdb.DeathNoticedAfter:
		// A pass that took pods down leaves its lock like this.
		shown.OK, shown.Evidence = false, fmt.Sprintf("a pass may have left the lock for its last %s, until what it took down shows", left)
	}
	return []plan.Check{safety.FullFaultTolerance(s), safety.RecentProof(s), shown}
}
