package cluster

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// restartForUpgrade restarts every process of the database at once in a version with another
// protocol. No process may restart before all can start in it: processes of two protocols
// cannot work together. Every control-plane instance announces its own process groups; the
// one that holds the lock when all have announced restarts all of them.
func restartForUpgrade(s plan.Snapshot, b readings.Bounce) plan.Decision {
	if why := tooFew(&b, s); why != "" {
		return plan.Wait(plan.PodDelay, plan.HoldPodsUnsettled, why)
	}
	own := groupIDs(s)
	d := plan.Decision{}
	if announced := unannounced(s, own); len(announced) > 0 {
		d.Why = "all process groups of this control-plane instance can start in " + s.Cluster.Spec.Version
		d.Actions = append(d.Actions, plan.AnnounceUpgrade{Version: s.Cluster.Spec.Version, Groups: announced})
	}
	old := oldProcesses(s)
	if others := unready(s, old, own); len(others) > 0 {
		d.Hold = &plan.Hold{Code: plan.HoldOtherInstancesNotReady, RetryAfter: plan.PodDelay, Manual: !s.Cluster.LocksUsed(), Reason: notAnnounced(s, others)}
		return d
	}
	checked, ok := CheckRestart(s, fmt.Sprintf("%s can start in %s and have to restart together", phrase.CountOf(len(old), len(old), "process"), s.Cluster.Spec.Version))
	d.Checks = checked.Checks
	if !ok {
		d.Hold = checked.Hold
		return d
	}
	d.Why = fmt.Sprintf("all processes of all control-plane instances can start in %s, which is incompatible with %s", s.Cluster.Spec.Version, s.Cluster.RunningVersion())
	if len(b.Spared) > 0 {
		d.Why += "; " + keptFromRestarting(&b)
	}
	d.Actions = append(d.Actions, restartOf(s, old))
	d.Hold = &plan.Hold{Code: plan.HoldVersionNotSeen, Reason: "processes restart; the next pass reads their version", RetryAfter: plan.PodDelay}
	return d
}

// tooFew describes how many of the desired processes can restart; empty if all can.
func tooFew(b *readings.Bounce, s plan.Snapshot) string {
	want := 0
	for class, n := range s.Cluster.DesiredProcessCounts() {
		if !class.IsTester() {
			want += max(0, n-b.Missing[class]+b.MarkedForRemoval[class]-b.Excepted[class]) * s.Cluster.ServersPerPod(class)
		}
	}
	if len(b.Addresses) >= want {
		return ""
	}
	return fmt.Sprintf("%s can start in %s; all must restart together", phrase.CountOf(len(b.Addresses), want, "process"), s.Cluster.Spec.Version)
}

// groupIDs returns the process groups of this cluster, including those marked for removal.
func groupIDs(s plan.Snapshot) []v1beta2.ProcessGroupID {
	var own []v1beta2.ProcessGroupID
	for _, g := range s.Groups() {
		if !g.ProcessClass.IsTester() {
			own = append(own, g.ProcessGroupID)
		}
	}
	return own
}

// unannounced returns the groups that are not yet announced to the other control-plane
// instances; none where these do not share lists in the database.
func unannounced(s plan.Snapshot, own []v1beta2.ProcessGroupID) []v1beta2.ProcessGroupID {
	if !s.Cluster.LocksUsed() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(own), func(id v1beta2.ProcessGroupID) bool {
		return slices.Contains(s.Coordination.ReadyForUpgrade, id)
	})
}

// oldProcesses returns all processes of all control-plane instances that run another version
// than the desired one, except spared ones. One that has not reported its version yet counts.
func oldProcesses(s plan.Snapshot) []fdb.Process {
	return slices.DeleteFunc(s.Database.Status.ProcessList(), func(p fdb.Process) bool {
		id := v1beta2.ProcessGroupID(p.InstanceID())
		return v1beta2.ProcessClass(p.ClassType).IsTester() || readings.IsSpared(s, id) || readings.Released(p) == s.Cluster.Spec.Version
	})
}

// unready names the processes that are not announced as able to start in the new version.
func unready(s plan.Snapshot, old []fdb.Process, own []v1beta2.ProcessGroupID) []string {
	var names []string
	for _, p := range old {
		id := v1beta2.ProcessGroupID(p.InstanceID())
		ready := slices.Contains(own, id) || (s.Cluster.LocksUsed() && slices.Contains(s.Coordination.ReadyForUpgrade, id))
		if !ready || p.Address.IsZero() {
			names = append(names, fmt.Sprintf("%s (%s)", orNameless(p.InstanceID()), p.Address.HostPort()))
		}
	}
	return names
}

func orNameless(id string) string {
	if id == "" {
		return "a process without an ID"
	}
	return id
}

func notAnnounced(s plan.Snapshot, others []string) string {
	if s.Cluster.LocksUsed() {
		return fmt.Sprintf("not announced by their control-plane instances as able to start in %s: %s", s.Cluster.Spec.Version, readings.SomeOf(others))
	}
	return fmt.Sprintf("these processes are not part of this cluster and would be cut off in the old version: %s; "+
		"set spec.lockOptions.disableLocks to false in all resources that share the database, so that all restart together", readings.SomeOf(others))
}

func restartOf(s plan.Snapshot, old []fdb.Process) plan.Action {
	a := plan.RestartProcesses{UpgradeTo: s.Cluster.Spec.Version}
	for _, p := range old {
		id := v1beta2.ProcessGroupID(p.InstanceID())
		if !slices.Contains(a.Groups, id) {
			a.Groups = append(a.Groups, id)
		}
		a.Addresses = append(a.Addresses, p.Address)
	}
	return a
}
