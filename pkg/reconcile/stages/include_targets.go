package stages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// Inclusion is what a person wants included again.
type Inclusion struct {
	Groups []v1beta2.ProcessGroupID
	// Targets are exclusions by their own names: localities and addresses.
	Targets []string
}

// IncludeTargets ends exclusions that no removal needs. One that a group needs which is on
// its way out is kept: data would come back to a volume that is about to be deleted. So is
// one of a process that reports and that the record does not know, because what another
// instance intends with it is not known here.
func IncludeTargets(i Inclusion) plan.Stage {
	return plan.Stage{
		Name:  plan.StageIncludeTargets,
		Reads: plan.Record | plan.Database | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			if available := safety.Available(s.Database); !available.OK {
				return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "nothing can be included", Detail: available.Evidence, RetryAfter: podDelay}}
			}
			if s.Database.Status.Cluster.Configuration == nil {
				return plan.Wait(podDelay, plan.HoldConfigurationUnknown, "which exclusions there are is not known: the status document does not tell the configuration")
			}
			if safety.ActsTogether(s.Cluster) && !s.Coordination.Lists.Read {
				return plan.Wait(exclusionRetry, plan.HoldSharedListsUnread, "nothing is included while it is not known what other instances remove: "+listsUnread)
			}
			targets, kept := i.sort(s)
			return include(s, plan.Include{Groups: i.Groups, Targets: targets}, kept)
		},
	}
}

func include(s plan.Snapshot, a plan.Include, kept []string) (d plan.Decision) {
	if len(kept) > 0 {
		d.Hold = &plan.Hold{Code: plan.HoldExclusionsKept, Human: true, Reason: "these exclusions stay: " + someOf(kept)}
	}
	if len(a.Targets) == 0 {
		return d
	}
	d.Checks = includeChecks(s)
	if refused, found := d.Refused(); found {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("%s are to be included, but not yet", someOf(a.Targets)), Detail: refused.Words(), RetryAfter: removalRetry}
		return d
	}
	d.Why, d.Actions = "a person wants them back", []plan.Action{a}
	return d
}

// sort tells the exclusions that may end from those that stay, and why.
func (i Inclusion) sort(s plan.Snapshot) (targets, kept []string) {
	wanted := slices.Clone(i.Targets)
	for _, id := range i.Groups {
		g := s.Cluster.ProcessGroup(id)
		if g == nil {
			continue
		}
		own := exclusionsNaming(s, g)
		wanted = append(wanted, own...)
		if other := excludedWith(s, g); len(own) == 0 && other != "" {
			kept = append(kept, fmt.Sprintf("%s, which is not about %s alone; name it with --target", other, id))
		}
	}
	slices.Sort(wanted)
	for _, target := range slices.Compact(wanted) {
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

// exclusionsInForce are those of the status document, which can lag, and those that were
// read in a transaction.
func exclusionsInForce(s plan.Snapshot) []string {
	return append(s.Database.Status.ExcludedTargets(), s.Coordination.Exclusions...)
}

// exclusionsNaming are the exclusions in force that are a group's alone: by its ID, and by
// an address that it has or had, with or without a port.
func exclusionsNaming(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []string {
	return slices.DeleteFunc(exclusionsInForce(s), func(target string) bool {
		return target != g.ExclusionString() && !slices.Contains(g.Addresses, hostIn(target))
	})
}

// excludedWith is an exclusion in force that covers a group together with others.
func excludedWith(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	for _, target := range exclusionsInForce(s) {
		if concerns(s, target, g) {
			return target
		}
	}
	return ""
}

// mustStay says why an exclusion may not end; empty when nothing is known to need it.
func mustStay(s plan.Snapshot, target string) string {
	if slices.Contains(s.Coordination.FailedExclusions, target) {
		return "because it was excluded as failed, which only fdbcli's include failed ends"
	}
	for _, g := range s.Groups() {
		if g.IsMarkedForRemoval() && concerns(s, target, g) {
			return fmt.Sprintf("because %s is marked for removal", g.ProcessGroupID)
		}
	}
	for _, p := range s.Database.Status.ProcessList() {
		id := v1beta2.ProcessGroupID(p.InstanceID())
		if id != "" && s.Cluster.ProcessGroup(id) == nil && matches(target, p) {
			return fmt.Sprintf("because the process at %s is of %s, which is not in the record of %s", p.Address.HostPort(), id, s.Cluster.Name)
		}
	}
	for _, m := range s.Coordination.Lists.Members(fdb.PendingForRemoval) {
		if target == localityPrefix+fdb.LocalityInstanceID+":"+m.Group || slices.Contains(s.Coordination.Lists.Addresses[m], hostIn(target)) {
			return fmt.Sprintf("because another instance removes %s", m.Group)
		}
	}
	return ""
}

// concerns reports whether an exclusion keeps a group out, or kept it out when it reported.
func concerns(s plan.Snapshot, target string, g *v1beta2.ProcessGroupStatus) bool {
	return target == g.ExclusionString() || slices.Contains(g.Addresses, hostIn(target)) ||
		target == localityPrefix+fdb.LocalityZoneID+":"+string(g.FaultDomain) ||
		slices.ContainsFunc(s.Database.Status.ProcessesOf(string(g.ProcessGroupID)), func(p fdb.Process) bool { return matches(target, p) })
}

// localityPrefix begins exclusions by locality.
const localityPrefix = "locality_"

// matches reports whether an exclusion is of a process.
func matches(target string, p fdb.Process) bool {
	if locality, is := strings.CutPrefix(target, localityPrefix); is {
		key, value, _ := strings.Cut(locality, ":")
		return value != "" && p.Locality[key] == value
	}
	return target == p.Address.Host || target == p.Address.HostPort()
}

// hostIn is the address of an exclusion without its port; empty for a locality.
func hostIn(target string) string {
	if strings.HasPrefix(target, localityPrefix) {
		return ""
	}
	if a, err := fdb.ParseAddress(target); err == nil {
		return a.Host
	}
	return target
}
