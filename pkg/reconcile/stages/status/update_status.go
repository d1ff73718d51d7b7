package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// UpdateStatus updates the status to the observed state, before any stage relies on it.
var UpdateStatus = plan.Stage{Name: plan.StageUpdateStatus, Reads: statusReads, Decide: recordStatus}

// ReportStatus does the same at the end of a pass, and reports what is not reconciled.
var ReportStatus = plan.Stage{
	Name:  plan.StageUpdateStatus,
	Reads: statusReads,
	Decide: func(s plan.Snapshot) plan.Decision {
		d := recordStatus(s)
		if d.Hold != nil {
			return d
		}
		for _, a := range d.Actions {
			if edit, ok := a.(plan.Edit); ok {
				s = edit.Apply(s)
			}
		}
		if left := unreconciled(s); len(left) > 0 {
			d.Hold = &plan.Hold{Code: plan.HoldNotReconciled, Reason: "not reconciled yet: " + readings.SomeOf(left), RetryAfter: plan.PodDelay, Follows: true}
		}
		return d
	},
}

// statusReads are also what later stages of a pass read, so that it is read at once; budgets are
// read only for the clusters that request one.
const statusReads = plan.Everything &^ plan.DisruptionBudgets

// recordStatus decides to write the status that results from the facts, if it differs from the
// present one.
func recordStatus(s plan.Snapshot) plan.Decision {
	if len(s.InvalidSpec) > 0 {
		return plan.Decision{} // the other stages of such a pass do not need the status of now
	}
	status, err := NewStatus(s)
	if err != nil {
		return readings.InvalidSpec(err)
	}
	if status.ConnectionString == "" {
		if lost := readings.LostDatabase(s); lost != nil {
			return plan.Decision{Hold: lost}
		}
	}
	d := plan.Decision{Checks: taintsKnown(s)}
	if !plan.SameStatus(status, s.Cluster.Status) {
		d.Why = "the status differs from the observed state"
		d.Actions = []plan.Action{plan.WriteStatus{
			Cluster: s.Cluster.Name, Changes: statusChanges(s.Cluster.Status, status), Status: status,
			KeysStay: plan.SharedKeysStay(s.Cluster, status), Bookkeeping: plan.OnlyBookkeeping(s.Cluster.Status, status),
		}}
	}
	return withdrawAnnouncements(s, PublishSharedLists(s, status, recordTaints(s, status, d)))
}

// NewStatus returns the status that results from the observed facts.
//
// While a configured database does not answer, only its health changes: every other conclusion
// needs the database, and the last known one is better than a guess.
func NewStatus(s plan.Snapshot) (v1beta2.FoundationDBClusterStatus, error) {
	if s.Cluster.Status.Configured && !s.Database.Available() {
		unavailable := *s.Cluster.Status.DeepCopy()
		unavailable.Health.Available, unavailable.Health.Healthy = false, false
		return unavailable, nil
	}
	// The working copy: later results, such as desired pod specs, depend on the version and the
	// addresses in the status.
	s.Cluster = s.Cluster.DeepCopy()
	unseen := !s.Cluster.Status.Health.Available && s.Database.Available()
	s.Cluster.Status = startingStatus(s.Cluster)
	recordDatabase(&s)
	recordDenyList(&s)
	if err := recordGroups(&s); err != nil {
		return v1beta2.FoundationDBClusterStatus{}, err
	}
	if unseen {
		countFromNow(s.Groups(), s.Now)
	}
	if err := recordObjects(&s); err != nil {
		return v1beta2.FoundationDBClusterStatus{}, err
	}
	Gaps(s).ApplyTo(&s.Cluster.Status)
	return s.Cluster.Status, nil
}

// countFromNow begins again to count for how long processes are missing, in the first look at the database after one that showed
// nothing: they may have reported in between, and ended a moment ago. Pods are seen all the time.
func countFromNow(groups []*v1beta2.ProcessGroupStatus, now time.Time) {
	for _, g := range groups {
		for _, c := range g.ProcessGroupConditions {
			if c.Type == v1beta2.ConditionMissingProcesses {
				c.Timestamp = now.Unix()
			}
		}
	}
}

// startingStatus keeps what cannot be observed: the process groups, the connection string, the
// reconciled generation and that the database was configured.
func startingStatus(c *v1beta2.FoundationDBCluster) v1beta2.FoundationDBClusterStatus {
	old := c.Status
	status := v1beta2.FoundationDBClusterStatus{
		ProcessGroups:          old.ProcessGroups,
		ConnectionString:       old.ConnectionString,
		RunningVersion:         old.RunningVersion,
		Configured:             old.Configured,
		DatabaseConfiguration:  old.DatabaseConfiguration,
		Locks:                  old.Locks,
		StorageServersPerDisk:  []int{c.ServersPerPod(v1beta2.ProcessClassStorage)},
		LogServersPerDisk:      []int{c.ServersPerPod(v1beta2.ProcessClassLog)},
		ImageTypes:             []v1beta2.ImageType{c.ImageType()},
		HasListenIPsForAllPods: c.NeedsExplicitListenAddress(),
	}
	status.Generations.Reconciled = old.Generations.Reconciled
	if c.Spec.MainContainer.EnableTLS {
		status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: true}
	} else {
		status.RequiredAddresses = v1beta2.RequiredAddressSet{NonTLS: true}
	}
	return status
}

// recordObjects compares the objects that the cluster has once: the ConfigMap and the headless
// service.
func recordObjects(s *plan.Snapshot) error {
	want, err := objects.ConfigMap(s.Cluster)
	if err != nil {
		return err
	}
	s.Cluster.Status.HasIncorrectConfigMap = s.ConfigMap == nil || len(readings.DifferingKeys(s.ConfigMap, want)) > 0 ||
		!objects.ContainsMetadata(s.ConfigMap.ObjectMeta, want.ObjectMeta)
	missing := s.Services[s.Cluster.HeadlessServiceName()] == nil && objects.HeadlessService(s.Cluster) != nil
	s.Cluster.Status.HasIncorrectServiceConfig = missing || readings.SuperfluousService(*s) != nil
	return nil
}

// statusChanges describes the differences between two statuses, the most important ones first.
func statusChanges(old, fresh v1beta2.FoundationDBClusterStatus) []string {
	var changes []string
	add := func(differs bool, format string, args ...any) {
		if differs {
			changes = append(changes, fmt.Sprintf(format, args...))
		}
	}
	add(old.Configured != fresh.Configured, "configured %t", fresh.Configured)
	add(old.Health != fresh.Health, "available %t, healthy %t, fully replicated %t", fresh.Health.Available, fresh.Health.Healthy, fresh.Health.FullReplication)
	add(old.RunningVersion != fresh.RunningVersion, "running version %s", fresh.RunningVersion)
	add(old.ConnectionString != fresh.ConnectionString, "connection string %s", fresh.ConnectionString)
	if words := groupChanges(old.ProcessGroups, fresh.ProcessGroups); words != "" {
		changes = append(changes, words)
	}
	add(old.Generations.Reconciled != fresh.Generations.Reconciled, "generation %d reconciled", fresh.Generations.Reconciled)
	add(len(changes) == 0 && fresh.DesiredProcessGroups > 0, "%s reconciled", phrase.CountOf(fresh.ReconciledProcessGroups, fresh.DesiredProcessGroups, "process group"))
	add(len(changes) == 0, "state of the cluster's objects")
	return changes
}

// groupChanges counts the process groups whose entries change.
func groupChanges(old, fresh []*v1beta2.ProcessGroupStatus) string {
	before := map[v1beta2.ProcessGroupID]*v1beta2.ProcessGroupStatus{}
	for _, g := range old {
		before[g.ProcessGroupID] = g
	}
	var changed []string
	for _, g := range fresh {
		if !plan.SameGroup(before[g.ProcessGroupID], g) {
			changed = append(changed, fmt.Sprintf("%s %s", g.ProcessGroupID, conditionWords(g)))
		}
	}
	if len(changed) == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s)", phrase.Count(len(changed), "process group"), readings.SomeOf(changed))
}

func conditionWords(g *v1beta2.ProcessGroupStatus) string {
	if len(g.ProcessGroupConditions) == 0 {
		return "no conditions"
	}
	words := make([]string, len(g.ProcessGroupConditions))
	for i, c := range g.ProcessGroupConditions {
		words[i] = string(c.Type)
	}
	slices.Sort(words)
	return strings.Join(words, "+")
}

// withdrawAnnouncements withdraws, before any other change, what this control-plane instance
// announced for a version that is not in its spec any more. Another control-plane instance would
// restart its process groups with all others, and they would start in the old version, which is
// incompatible with the new one.
func withdrawAnnouncements(s plan.Snapshot, d plan.Decision) plan.Decision {
	for _, version := range slices.Sorted(maps.Keys(s.Coordination.Announced)) {
		if version == s.Cluster.Spec.Version && readings.IncompatibleUpgrade(s.Cluster) {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(s.Coordination.Announced[version]), func(id v1beta2.ProcessGroupID) bool {
			return s.Cluster.ProcessGroup(id) == nil && !readings.IsOwnAndRemoved(s, id)
		})
		if len(own) > 0 {
			d.Why = cmp.Or(d.Why, "version "+version+" is not in the spec any more")
			d.Actions = append([]plan.Action{plan.WithdrawUpgrade{Version: version, Groups: own}}, d.Actions...)
		}
	}
	return d
}

// unreconciled describes what keeps the cluster from being reconciled, one short sentence each. It
// is empty for a reconciled cluster.
func unreconciled(s plan.Snapshot) []string {
	gaps := Gaps(s)
	left := gaps.Reasons
	if !s.Cluster.Status.Configured {
		left = append(left, groupsLeft(s.Groups())...)
	}
	if why := s.Database.Why(); why != "" && len(left) > 0 {
		left = append(left, "the state of the database is unknown: "+why)
	}
	return left
}

// groupsLeft counts groups by condition: "5 process groups with MissingProcesses".
func groupsLeft(groups []*v1beta2.ProcessGroupStatus) []string {
	counts := map[v1beta2.ProcessGroupConditionType]int{}
	for _, g := range groups {
		for _, c := range g.ProcessGroupConditions {
			if !c.Type.IsInformational() {
				counts[c.Type]++
			}
		}
	}
	var left []string
	for _, t := range slices.Sorted(maps.Keys(counts)) {
		left = append(left, phrase.Count(counts[t], "process group")+" with "+string(t))
	}
	return left
}

// taintsKnown checks, for specs with rules about taints, whether the node of every pod could be read.
// Otherwise the conditions of the group stay unchanged: an unreadable node is neither clean nor
// tainted.
func taintsKnown(s plan.Snapshot) []plan.Check {
	if len(s.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions) == 0 {
		return nil
	}
	c := plan.Check{ID: plan.CheckTaintsKnown, Question: "are the taints of all nodes known?"}
	var unread []string
	for _, g := range s.Groups() {
		pod := s.Pod(g)
		if pod != nil && pod.Spec.NodeName != "" && s.Nodes[pod.Spec.NodeName] == nil {
			unread = append(unread, fmt.Sprintf("%s on %s", g.ProcessGroupID, pod.Spec.NodeName))
		}
	}
	switch {
	case s.NodesHidden != "":
		c.Evidence = s.NodesHidden + "; recorded taints stay unchanged"
	case len(unread) > 0:
		c.Evidence = fmt.Sprintf("node not found: %s; their recorded taints stay unchanged", readings.SomeOf(unread))
	default:
		c.OK, c.Evidence = true, phrase.Count(len(s.Nodes), "node")+" read"
	}
	return []plan.Check{c}
}

// recordTaints records on each pod since when its node has which taints: the status has one time for
// all of them. It changes nothing where the taints are unknown, and while conditions are not
// updated.
func recordTaints(s plan.Snapshot, status v1beta2.FoundationDBClusterStatus, d plan.Decision) plan.Decision {
	if s.Cluster.Status.Configured && !s.Database.Available() {
		return d
	}
	s.Cluster = s.Cluster.DeepCopy()
	s.Cluster.Status = status
	for _, g := range s.Groups() {
		f := GroupFacts{S: s, Group: g, pod: s.Pod(g)}
		if f.pod == nil || f.pod.DeletionTimestamp != nil || f.UnderMaintenance() {
			continue
		}
		clocks, known := f.taintClocks()
		if len(clocks) > 0 && !g.HasCondition(v1beta2.ConditionNodeTaintDetected) {
			continue // conditions of a drained group are not evaluated: nothing dates its taints
		}
		seen, recorded := plan.TaintsSeen(f.pod)
		if fresh := f.seen(clocks); known && (recorded != (len(fresh) > 0) || !maps.Equal(seen, fresh)) {
			d.Why = cmp.Or(d.Why, "the taints of nodes differ from the recorded ones")
			d.Actions = append(d.Actions, plan.RecordTaints{Pod: f.pod.Name, Seen: fresh})
		}
	}
	return d
}

// seen returns the keys of the present taints with the times since when they exist. A key without a
// time counts from now on.
func (f GroupFacts) seen(clocks []safety.TaintClock) map[string]int64 {
	seen := map[string]int64{}
	for _, clock := range clocks {
		if clock.Since.IsZero() {
			clock.Since = f.S.Now
		}
		seen[clock.Key] = clock.Since.Unix()
	}
	return seen
}
