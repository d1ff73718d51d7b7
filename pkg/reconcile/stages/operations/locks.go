package operations

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
)

// ChangeDenyList returns a stage that adds a control-plane instance to the deny list in the database for
// a user, or removes it. Other entries stay as they are. It needs no lock: the list exists for a
// control-plane instance that holds the lock and never releases it. The user and the reason are
// recorded beside the list.
func ChangeDenyList(entry v1beta2.LockDenyListEntry, user, reason string) plan.Stage {
	return plan.Stage{
		Name:  plan.StageChangeDenyList,
		Reads: plan.ClusterResource | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			c := s.Cluster
			switch {
			case !c.LocksUsed():
				return plan.Decision{Hold: &plan.Hold{Code: plan.HoldLocksDisabled, Manual: true, Reason: "locks are not used here, so the deny list has no effect; see spec.lockOptions.disableLocks"}}
			case !s.Coordination.Read:
				return plan.Wait(plan.PodDelay, plan.HoldDenyListUnknown, "the deny list in the database could not be read")
			case slices.Contains(s.Coordination.DenyList, entry.ID) != entry.Allow:
				return plan.Decision{}
			case entry.Allow:
				return plan.Decision{Why: plan.RequestedByUser, Actions: []plan.Action{plan.UpdateDenyList{Allow: []string{entry.ID}}}}
			}
			note := fdb.Denial{By: user, At: s.Now, Reason: reason}
			return plan.Decision{Why: plan.RequestedByUser, Actions: []plan.Action{plan.UpdateDenyList{Deny: []string{entry.ID}, Note: note}}}
		},
	}
}

// lockSlack is the difference between remaining and requested time of a lock within which it
// is not set again.
const lockSlack = 30 * time.Second

// HoldLock returns a stage that holds the database lock for a user for a time, under the ID of
// the cluster's control-plane instance. Whether that is allowed is decided when the lock is
// taken, in the same transaction.
func HoldLock(user string, d time.Duration) plan.Stage {
	return plan.Stage{
		Name:  plan.StageHoldLock,
		Reads: plan.ClusterResource | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			if hold := lockUnusable(s); hold != nil {
				return plan.Decision{Hold: hold}
			}
			found := s.Coordination.Lock
			if safety.HeldManually(s, user) && (found.End.Sub(s.Now)-d).Abs() <= lockSlack {
				return plan.Decision{}
			}
			free, _ := safety.LockFreeFor(s, user)
			return plan.Decision{
				Why: plan.RequestedByUser, Checks: []plan.Check{free},
				Actions: []plan.Action{plan.HoldLock{Owner: s.Cluster.LockOwner(), User: user, For: d}},
			}
		},
	}
}

// lockUnusable returns why the lock cannot be taken or released; nil if it can.
func lockUnusable(s plan.Snapshot) *plan.Hold {
	switch {
	case !s.Cluster.LocksUsed():
		return &plan.Hold{Code: plan.HoldLocksDisabled, Manual: true, Reason: "locks are not used here; set spec.lockOptions.disableLocks to false, and spec.processGroupIDPrefix, where several control-plane instances share the database"}
	case !s.Cluster.Status.Configured:
		return &plan.Hold{Code: plan.HoldNoDatabase, Manual: true, Reason: "there is no database yet, and so no lock"}
	case !s.Coordination.Read:
		return &plan.Hold{Code: plan.HoldLockUnread, Reason: "the lock in the database could not be read", RetryAfter: plan.PodDelay}
	default:
		return nil
	}
}

// ReleaseLock returns a stage that clears the lock for a user, if it is still the observed one.
// This cluster's own lock is released only once the status document shows everything that a
// run took down: until then other runs would read a healthy database.
func ReleaseLock(user string) plan.Stage {
	return releaseLock(plan.ReleaseLock{User: user})
}

// ReleaseLockByForce returns a stage that also clears a lock that has expired or is denied, and
// one that another user holds for this cluster.
func ReleaseLockByForce(user string) plan.Stage {
	return releaseLock(plan.ReleaseLock{User: user, Force: true})
}

func releaseLock(release plan.ReleaseLock) plan.Stage {
	return plan.Stage{
		Name:  plan.StageReleaseLock,
		Reads: plan.ClusterResource | plan.Pods | plan.Database | plan.Coordination,
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
					Reason:     fmt.Sprintf("the lock is held: %s; it expires at %s", refused.Evidence, found.End.UTC().Format(time.RFC3339)),
					RetryAfter: cluster.PodUpdateRetry,
				}
				return d
			}
			d.Why = plan.RequestedByUser + "; " + lockLeft(s, *found)
			seen := release
			seen.Seen = *found
			d.Actions = []plan.Action{seen}
			return d
		},
	}
}

// lockLeft describes for how long a lock is still in force, and why if it is not.
func lockLeft(s plan.Snapshot, l fdb.Lock) string {
	left := l.End.Sub(s.Now).Round(time.Second)
	switch {
	case l.ExpiredAt(s.Now):
		return fmt.Sprintf("the lock of %s expired %s ago", l.Holder(), -left)
	case l.MayBeTakenOver(s.Coordination.DenyList, s.Now):
		return fmt.Sprintf("%s holds the lock for %s more, and is on the deny list", l.Holder(), left)
	default:
		return fmt.Sprintf("%s holds the lock for %s more", l.Holder(), left)
	}
}

// releaseChecks returns the checks before a release. A lock that may be taken over protects
// nothing, and the lock of another control-plane instance protects nothing of this cluster.
func releaseChecks(s plan.Snapshot, found fdb.Lock) []plan.Check {
	if found.MayBeTakenOver(s.Coordination.DenyList, s.Now) || found.Owner != s.Cluster.LockOwner() {
		return nil
	}
	shown := plan.Check{ID: plan.CheckLossNoticed, Question: "does the database report all that was taken down?", Gate: plan.GateReplicas, OK: true, Evidence: "no pod of a stateful class is starting or terminating"}
	left := found.End.Sub(s.Now).Round(time.Second)
	switch reasons := cluster.UnsettledPods(s); {
	case len(reasons) > 0:
		shown.OK, shown.Evidence = false, readings.SomeOf(reasons)
	case found.User() == "" && left <= fdb.DeathNoticedAfter:
		// A pass that deleted pods leaves its lock like this.
		shown.OK, shown.Evidence = false, fmt.Sprintf("a pass may hold the lock for %s more, until the database reports what it took down", left)
	}
	return []plan.Check{safety.FullFaultTolerance(s), safety.RecentProof(s), shown}
}
