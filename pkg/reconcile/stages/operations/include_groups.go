package operations

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
)

// Inclusion is what a user requests to include again.
type Inclusion struct {
	Groups []v1beta2.ProcessGroupID
	// Targets are exclusions by locality or address.
	Targets []string
}

// IncludeTargets returns a stage that ends exclusions that no removal needs. An exclusion of a
// group that is marked for removal is kept: data would move back to a volume that is deleted
// next, unless the spec keeps the group. So is one of a reporting process that is not in the status, because the intention of
// its control-plane instance is unknown here.
func IncludeTargets(i Inclusion) plan.Stage {
	return plan.Stage{
		Name:  plan.StageIncludeTargets,
		Reads: plan.ClusterResource | readings.KeptFacets | plan.Database | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			if available := safety.Available(s.Database); !available.OK {
				return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "nothing can be included", Detail: available.Evidence, RetryAfter: plan.PodDelay}}
			}
			if s.Database.Status.Cluster.Configuration == nil {
				return plan.Wait(plan.PodDelay, plan.HoldConfigurationUnknown, "cannot determine which exclusions exist: the status document does not report the configuration")
			}
			if safety.ActsTogether(s.Cluster) && !s.Coordination.Lists.Read {
				return plan.Wait(cluster.ExclusionRetry, plan.HoldSharedListsUnread, "cannot determine what other control-plane instances remove: "+readings.ListsUnread)
			}
			targets, kept := i.Classify(s)
			return include(s, plan.Include{Groups: i.Groups, Targets: targets}, kept)
		},
	}
}

func include(s plan.Snapshot, a plan.Include, kept []string) (d plan.Decision) {
	if len(kept) > 0 {
		d.Hold = &plan.Hold{Code: plan.HoldExclusionsKept, Manual: true, Reason: "exclusions kept: " + readings.SomeOf(kept)}
	}
	if len(a.Targets) == 0 {
		return d
	}
	d.Checks = cluster.IncludeChecks(s)
	if refused, found := d.Refused(); found {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("inclusion of %s waits", readings.SomeOf(a.Targets)), Detail: refused.Evidence, RetryAfter: cluster.RemovalRetry}
		return d
	}
	d.Why, d.Actions = plan.RequestedByUser, []plan.Action{a}
	return d
}

// Classify splits the exclusions into those that may end and those that stay, with the reason.
func (i Inclusion) Classify(s plan.Snapshot) (targets, kept []string) {
	requested := slices.Clone(i.Targets)
	for _, id := range i.Groups {
		g := s.Cluster.ProcessGroup(id)
		if g == nil {
			continue
		}
		own := exclusionsNaming(s, g)
		requested = append(requested, own...)
		if other := excludedWith(s, g); len(own) == 0 && other != "" {
			kept = append(kept, fmt.Sprintf("%s, which covers more than %s; name it with --target", other, id))
		}
	}
	slices.Sort(requested)
	for _, target := range slices.Compact(requested) {
		switch why := mustStay(s, target); {
		case !slices.Contains(exclusionsInForce(s), target):
		case why != "":
			kept = append(kept, target+", "+why)
		default:
			targets = append(targets, target)
		}
	}
	return targets, kept
}

// exclusionsInForce returns those of the status document, which can lag, and those that were
// read in a transaction.
func exclusionsInForce(s plan.Snapshot) []string {
	return append(s.Database.Status.ExcludedTargets(), s.Coordination.Exclusions...)
}

// exclusionsNaming returns the exclusions in force of one group only: by its ID, and by an
// address that it has or had, with or without a port.
func exclusionsNaming(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []string {
	return slices.DeleteFunc(exclusionsInForce(s), func(target string) bool {
		return target != g.ExclusionString() && !slices.Contains(g.Addresses, readings.HostIn(target))
	})
}

// excludedWith returns an exclusion in force that covers a group together with others.
func excludedWith(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	for _, target := range exclusionsInForce(s) {
		if readings.Concerns(s, target, g) {
			return target
		}
	}
	return ""
}

// mustStay returns why an exclusion may not end; empty when nothing is known to need it.
func mustStay(s plan.Snapshot, target string) string {
	if slices.Contains(s.Coordination.FailedExclusions, target) {
		return "because it was excluded as failed, which only `include failed` of fdbcli ends"
	}
	for _, g := range s.Groups() {
		if g.IsMarkedForRemoval() && readings.Concerns(s, target, g) && !readings.KeptNow(s, g) {
			return fmt.Sprintf("because %s is marked for removal", g.ProcessGroupID)
		}
	}
	for _, p := range s.Database.Status.ProcessList() {
		id := v1beta2.ProcessGroupID(p.InstanceID())
		if id != "" && s.Cluster.ProcessGroup(id) == nil && readings.Matches(target, p) {
			return fmt.Sprintf("because the process at %s belongs to %s, which is not in the status of %s", p.Address.HostPort(), id, s.Cluster.Name)
		}
	}
	for _, m := range s.Coordination.Lists.Members(fdb.PendingForRemoval) {
		if target == readings.LocalityPrefix+fdb.LocalityInstanceID+":"+m.Group || slices.Contains(s.Coordination.Lists.Addresses[m], readings.HostIn(target)) {
			return fmt.Sprintf("because another control-plane instance removes %s", m.Group)
		}
	}
	return ""
}

// KeepAndInclude returns a stage that takes process groups back, excluded or not, as
// CancelReplacements does for those that the spec keeps. It does so once: whatever marked a group
// before marks it again in the next pass.
func KeepAndInclude(groups []v1beta2.ProcessGroupID) plan.Stage {
	return plan.Stage{
		Name:  plan.StageKeepGroups,
		Reads: replacements.KeepReads,
		Decide: func(s plan.Snapshot) plan.Decision {
			return replacements.Keep(s, groups, plan.RequestedByUser)
		},
	}
}
