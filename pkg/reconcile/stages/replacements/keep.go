package replacements

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
)

// KeepReads are the facets that Keep reads.
const KeepReads = plan.ClusterResource | readings.KeptFacets | plan.Database | plan.Coordination

// Keep reverts the removal of process groups: it ends their exclusions, and then reverts their
// marks. A mark is reverted only when no exclusion of its group is in force, by a
// read in a transaction, or right after the inclusion was read back: a run that ends between the
// two leaves the mark, and the next one continues. The opposite order would leave a group that
// stays and holds no data.
//
// A group whose objects are being deleted is not kept: its data would move to a volume that is
// deleted next. Nor is one that the spec lists for removal. Both need a user.
func Keep(s plan.Snapshot, groups []v1beta2.ProcessGroupID, why string) plan.Decision {
	k := keeping{s: s, keep: groups}
	for _, id := range groups {
		if g := s.Cluster.ProcessGroup(id); g != nil {
			k.sort(g)
		}
	}
	return k.decision(why)
}

// keeping sorts the groups that are to stay.
type keeping struct {
	s    plan.Snapshot
	keep []v1beta2.ProcessGroupID
	// unmark are marked and not excluded; include are excluded, marked or not.
	unmark, include []*v1beta2.ProcessGroupStatus
	targets         []string
	// listed, late and covered need a user; ending waits for the end of objects.
	listed, late, covered, ending readings.Waits
}

func (k *keeping) sort(g *v1beta2.ProcessGroupStatus) {
	own, other := exclusionsOf(k.s, g, k.keep)
	field, going := readings.ListedForRemoval(k.s.Cluster, g.ProcessGroupID), readings.ObjectsGo(k.s, g)
	switch {
	case field != "":
		k.listed.Add(g.ProcessGroupID, "%s", k.contradiction(g.ProcessGroupID, field))
	case !g.IsMarkedForRemoval() && len(own) == 0 && other == "": // it stays
	case going != "" && g.IsMarkedForRemoval():
		k.late.Add(g.ProcessGroupID, "%s cannot be kept: %s", g.ProcessGroupID, going)
	case going != "":
		k.ending.Add(g.ProcessGroupID, "%s is included later: %s", g.ProcessGroupID, going)
	case other != "":
		k.covered.Add(g.ProcessGroupID, "%s stays excluded: %s", g.ProcessGroupID, other)
	case len(own) > 0:
		k.include, k.targets = append(k.include, g), append(k.targets, own...)
	default:
		k.unmark = append(k.unmark, g)
	}
}

// contradiction names the fields that list a group for removal and to be kept.
func (k *keeping) contradiction(id v1beta2.ProcessGroupID, field string) string {
	if k.s.Cluster.KeepsFromReplacement(id) {
		return fmt.Sprintf("%s is in %s and in %s: remove it from one of them", id, field, readings.KeepField)
	}
	return fmt.Sprintf("%s is in %s: remove it from there first", id, field)
}

// decision includes and reverts as much as the database allows.
func (k *keeping) decision(why string) plan.Decision {
	var d plan.Decision
	if len(k.unmark)+len(k.include) > 0 && !safety.NoDatabaseYet(k.s) {
		if d.Hold = k.unknown(); d.Hold != nil {
			d.Checks = []plan.Check{safety.Available(k.s.Database)}
			d.Hold = k.removalChoice(d.Hold)
			return d
		}
	}
	var waiting *plan.Hold
	if len(k.include) > 0 {
		d.Checks = cluster.IncludeChecks(k.s)
		if refused, found := d.Refused(); found {
			waiting = k.inclusionWaits(refused)
			k.include, k.targets = nil, nil
		}
	}
	d.Actions = k.actions()
	if len(d.Actions) > 0 {
		d.Why = why
	}
	d.Hold = k.removalChoice(waiting)
	return d
}

// unknown holds while the exclusions in force are unknown; nil when they were read.
func (k *keeping) unknown() *plan.Hold {
	subjects := phrase.Strings(readings.IDsOf(slices.Concat(k.include, k.unmark)))
	if available := safety.Available(k.s.Database); !available.OK {
		return &plan.Hold{Code: plan.HoldDatabaseUnavailable, Subjects: subjects, Reason: "no process group can be included", Detail: available.Evidence, RetryAfter: plan.PodDelay}
	}
	if !k.s.Coordination.ExclusionsRead {
		return &plan.Hold{Code: plan.HoldExclusionsUnread, Subjects: subjects, Reason: "cannot determine which exclusions are in force", RetryAfter: plan.PodDelay}
	}
	return nil
}

func (k *keeping) inclusionWaits(refused plan.Check) *plan.Hold {
	return &plan.Hold{
		Code: plan.HoldCheckRefused, Subjects: phrase.Strings(readings.IDsOf(k.include)), RetryAfter: cluster.RemovalRetry,
		Reason: fmt.Sprintf("inclusion of %s waits", readings.SomeOf(readings.IDsOf(k.include))), Detail: refused.Evidence,
	}
}

// actions first withdraw the announcements, so that no other control-plane instance excludes the
// groups again, then include, and then revert the marks.
func (k *keeping) actions() []plan.Action {
	marked := slices.DeleteFunc(slices.Concat(k.include, k.unmark), func(g *v1beta2.ProcessGroupStatus) bool { return !g.IsMarkedForRemoval() })
	slices.SortFunc(marked, func(a, b *v1beta2.ProcessGroupStatus) int {
		return slices.Index(k.keep, a.ProcessGroupID) - slices.Index(k.keep, b.ProcessGroupID)
	})
	var actions []plan.Action
	if change := readings.Withdrawal(k.s, readings.IDsOf(marked)); !change.IsEmpty() {
		actions = append(actions, change)
	}
	if len(k.targets) > 0 {
		slices.Sort(k.targets)
		actions = append(actions, plan.Include{Groups: readings.IDsOf(k.include), Targets: slices.Compact(k.targets)})
	}
	if len(marked) > 0 {
		actions = append(actions, plan.KeepGroups{Groups: readings.IDsOf(marked)})
	}
	return actions
}

// removalChoice adds to a hold what needs a user, which comes first.
func (k *keeping) removalChoice(waiting *plan.Hold) *plan.Hold {
	holds := []*plan.Hold{
		k.listed.Hold(plan.HoldSpecContradiction, "", 0), k.late.Hold(plan.HoldTooLateToKeep, "", 0), k.covered.Hold(plan.HoldExclusionsKept, "", 0),
		k.ending.Hold(plan.HoldPodsUnsettled, "", plan.PodDelay), waiting,
	}
	const needUser = 3
	var all *plan.Hold
	for i, h := range holds {
		if h == nil {
			continue
		}
		h.Manual = i < needUser
		if all == nil {
			all = h
			continue
		}
		all.Reason, all.Detail = all.Text()+"; "+h.Text(), ""
		all.Subjects = append(all.Subjects, h.Subjects...)
		all.RetryAfter = max(all.RetryAfter, h.RetryAfter)
	}
	return all
}

// exclusionsOf returns the exclusions in force that are a group's own: by its ID, and by every
// address that it has or had. other describes one that covers the group, and that an inclusion of
// the group cannot end: it covers others as well, or was made as failed. Without a status
// document both are empty, and nothing is done.
func exclusionsOf(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, keep []v1beta2.ProcessGroupID) (own []string, other string) {
	if s.Database.Status == nil {
		return nil, ""
	}
	for _, target := range s.Coordination.Exclusions {
		if !readings.Concerns(s, target, g) {
			continue
		}
		host := readings.HostIn(target)
		shared := sharedWith(s, target, g, keep)
		switch {
		case slices.Contains(s.Coordination.FailedExclusions, target):
			other = target + " was excluded as failed, which only `include failed` of fdbcli ends"
		case target == g.ExclusionString(), slices.Contains(g.Addresses, host) && shared == "":
			own = append(own, target)
		case !slices.Contains(g.Addresses, host), isAt(s, g, host):
			other = fmt.Sprintf("%s may cover other process groups; end it with `kubectl fdb include --target %s`", target, target)
		}
	}
	return own, other
}

// sharedWith returns another process group that an exclusion covers; empty for none. Groups that
// are kept as well do not count.
func sharedWith(s plan.Snapshot, target string, g *v1beta2.ProcessGroupStatus, keep []v1beta2.ProcessGroupID) string {
	host := readings.HostIn(target)
	foreign := func(id string) bool {
		return id != string(g.ProcessGroupID) && !slices.Contains(keep, v1beta2.ProcessGroupID(id))
	}
	for _, other := range s.Groups() {
		if foreign(string(other.ProcessGroupID)) && (slices.Contains(other.Addresses, host) || isAt(s, other, host)) {
			return string(other.ProcessGroupID)
		}
	}
	for _, m := range slices.SortedFunc(maps.Keys(s.Coordination.Lists.Addresses), fdb.Member.Compare) {
		if foreign(m.Group) && slices.Contains(s.Coordination.Lists.Addresses[m], host) {
			return m.Group
		}
	}
	for _, p := range s.Database.Status.ProcessList() {
		if p.InstanceID() != "" && foreign(p.InstanceID()) && readings.Matches(target, p) {
			return p.InstanceID()
		}
	}
	return ""
}

// isAt reports whether a group's pod has an address now. An address that cannot be determined may
// be this one.
func isAt(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, host string) bool {
	pod := s.Pod(g)
	if pod == nil {
		return false
	}
	addresses, err := objects.PublicIPs(pod)
	return err != nil || slices.Contains(addresses, host)
}

// CancelReplacements takes the process groups back that spec.cancelReplacementsForInstance lists.
// It runs before every stage that marks, adds or drains process groups, so that these see the
// groups as they will be, and after the deny list is updated, since an inclusion takes the lock.
//
// No other stage marks a listed group. The checks of this one show what would mark it without the
// list. A listed group that is not in the status is reported, and needs nothing.
func CancelReplacements(o plan.Options) plan.Stage {
	return plan.Stage{
		Name:  plan.StageCancelReplacements,
		Reads: KeepReads,
		Decide: func(s plan.Snapshot) plan.Decision {
			ids := s.Cluster.KeptProcessGroups()
			if len(ids) == 0 {
				return plan.Decision{}
			}
			d := Keep(s, ids, readings.KeepField+" keeps "+phrase.List(ids))
			d.Checks = append(keptChecks(s, o), d.Checks...)
			return d
		},
	}
}

// keptChecks reports listed groups that do not exist, and for the others what would mark them.
func keptChecks(s plan.Snapshot, o plan.Options) []plan.Check {
	var checks []plan.Check
	if unknown := Unknown(s.Cluster); len(unknown) > 0 {
		checks = append(checks, plan.Check{
			ID: plan.CheckKeptExist, Question: "are all process groups of " + readings.KeepField + " in the status?",
			Evidence: fmt.Sprintf("%s %s not in the status, so there is nothing to keep; remove %s from the list", phrase.List(unknown), phrase.Is(len(unknown)), phrase.Either(len(unknown), "it", "them")),
		})
	}
	reasons := MarkReasons(s, o)
	for _, id := range s.Cluster.KeptProcessGroups() {
		if s.Cluster.ProcessGroup(id) == nil {
			continue
		}
		c := plan.Check{ID: plan.CheckKept, Subject: string(id), Question: fmt.Sprintf("is %s kept?", id), OK: true, Evidence: "by " + readings.KeepField + "; without it nothing would mark the process group"}
		if why := reasons[id]; len(why) > 0 {
			c.Have = phrase.Count(len(why), "reason")
			c.Evidence = fmt.Sprintf("by %s; without it the next pass would mark the process group: %s", readings.KeepField, strings.Join(why, "; "))
		}
		checks = append(checks, c)
	}
	return checks
}

// Unknown returns the listed groups that are not in the status, sorted.
func Unknown(c *v1beta2.FoundationDBCluster) []v1beta2.ProcessGroupID {
	var unknown []v1beta2.ProcessGroupID
	for _, id := range c.KeptProcessGroups() {
		if c.ProcessGroup(id) == nil {
			unknown = append(unknown, id)
		}
	}
	return unknown
}

// MarkReasons returns why the next pass would mark each of the listed groups without the list. It
// reads the same facets as CancelReplacements.
func MarkReasons(s plan.Snapshot, o plan.Options) map[v1beta2.ProcessGroupID][]string {
	reasons := map[v1beta2.ProcessGroupID][]string{}
	if len(s.Cluster.KeptProcessGroups()) == 0 {
		return reasons
	}
	add := func(id v1beta2.ProcessGroupID, why string) { reasons[id] = append(reasons[id], why) }
	inspect := readings.NewInspection(s, o)
	failed := failedAndKept(s)
	for _, id := range s.Cluster.KeptProcessGroups() {
		g := s.Cluster.ProcessGroup(id)
		if g == nil {
			continue
		}
		if field := readings.ListedForRemoval(s.Cluster, id); field != "" {
			add(id, "it is in "+field)
		}
		if differs, err := inspect.Group(g); err == nil && differs != "" {
			add(id, differs)
		}
		if why := failed[id]; why != "" {
			add(id, why)
		}
	}
	return reasons
}
