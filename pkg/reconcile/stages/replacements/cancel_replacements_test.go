package replacements

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

const (
	keptGroup   = v1beta2.ProcessGroupID("storage-114")
	keptTarget  = "locality_instance_id:storage-114"
	includesIt  = "include " + keptTarget
	revertsIt   = "revert the mark for removal of storage-114"
	keptPodName = "sample-storage-114"
)

// drained marks the group as drained in the status too.
func drained(s *plan.Snapshot) {
	g := s.Cluster.ProcessGroup(keptGroup)
	g.SetExcluded(stagestest.Noon.Add(-time.Minute))
	g.SetCondition(v1beta2.ConditionResourcesTerminating, stagestest.Noon)
}

func podEnds(s *plan.Snapshot) { s.Pods[keptPodName].DeletionTimestamp = new(stagestest.NoonTime()) }

func claimEnds(s *plan.Snapshot) {
	s.Volumes[keptPodName+"-data"].DeletionTimestamp = new(stagestest.NoonTime())
}

func claimRemoved(s *plan.Snapshot) { delete(s.Volumes, keptPodName+"-data") }

// unmarked is a group that stays, and that a user excluded.
func unmarked(s *plan.Snapshot) {
	*s = plan.KeepGroups{Groups: []v1beta2.ProcessGroupID{keptGroup}}.Apply(*s)
}

func TestCancelReplacements(t *testing.T) {
	kept := stagestest.Kept(keptGroup)
	with := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return stagestest.All(append([]func(*plan.Snapshot){kept}, edits...)...)
	}
	tests := map[string]stagestest.RemovalCase{
		"does nothing without a list":                  {From: stagestest.DrainedStorage},
		"does nothing about a group that stays":        {From: stagestest.HealthyCluster, Given: kept},
		"reverts a mark where nothing is excluded yet": {From: stagestest.StorageMarkedForRemoval, Given: kept, Does: []string{revertsIt}},
		"includes before it reverts the mark":          {From: stagestest.DrainedStorage, Given: kept, Does: []string{includesIt, revertsIt}},
		"takes a group back that is drained":           {From: stagestest.DrainedStorage, Given: with(drained), Does: []string{includesIt, revertsIt}},
		"takes a group back whose exclusion is to be skipped": {From: stagestest.StorageMarkedForRemoval, Given: with(func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup(keptGroup).ExclusionSkipped = true
		}), Does: []string{revertsIt}},
		"includes nothing again after a run that ended before the mark was reverted": {
			From: stagestest.DrainedStorage, Given: with(func(s *plan.Snapshot) { s.Coordination.Exclusions = nil }), Does: []string{revertsIt},
		},
		"includes what a user excluded and nothing marks": {From: stagestest.DrainedStorage, Given: with(unmarked), Does: []string{includesIt}},
		"includes by every address that the group has or had": {
			From: stagestest.DrainedStorage, Given: with(func(s *plan.Snapshot) {
				s.Cluster.ProcessGroup(keptGroup).Addresses = []string{"10.1.0.14", "10.1.7.7"}
			}, stagestest.InForce("10.1.0.14:4501", "10.1.7.7", "10.9.9.9")),
			Does: []string{"include 10.1.0.14:4501 10.1.7.7 " + keptTarget, revertsIt},
		},
		"includes what the status document does not show yet": {From: stagestest.StorageMarkedForRemoval, Given: with(stagestest.InForce(keptTarget)), Does: []string{includesIt, revertsIt}},
		"leaves the exclusions of other groups alone":         {From: stagestest.DrainedStorage, Given: with(stagestest.InForce("locality_instance_id:storage-115")), Does: []string{includesIt, revertsIt}},
		"recreates a missing pod on its volume": {From: stagestest.DrainedStorage, Given: with(drained, func(s *plan.Snapshot) {
			delete(s.Pods, keptPodName)
			stagestest.DropProcess(s, s.Cluster.ProcessGroup(keptGroup))
		}), Does: []string{includesIt, revertsIt}},
		"needs no PVC of a class that has none": {From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("stateless-105").MarkForRemoval(stagestest.Noon)
			stagestest.All(stagestest.Kept("stateless-105"), stagestest.InForce())(s)
		}, Does: []string{"revert the mark for removal of stateless-105"}},
		"takes several back at once, in order": {From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-116").MarkForRemoval(stagestest.Noon)
			stagestest.Kept("storage-116", keptGroup, "storage-115")(s)
		}, Does: []string{includesIt, revertsIt + ", storage-116"}},
		"reverts a mark while there is no database": {From: stagestest.StorageMarkedForRemoval, Given: with(func(s *plan.Snapshot) {
			s.Cluster.Status.Configured, s.Cluster.Status.ConnectionString = false, ""
			s.Database = plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
			s.Coordination = plan.CoordinationFacts{}
		}), Does: []string{revertsIt}},

		// too late
		"too late once the PVC is being deleted":              {From: stagestest.DrainedStorage, Given: with(claimEnds), Holds: "storage-114 cannot be kept: its PVC is being deleted"},
		"too late once the PVC is deleted":                    {From: stagestest.DrainedStorage, Given: with(claimRemoved), Holds: "storage-114 cannot be kept: its PVC is deleted"},
		"too late once the pod is being deleted":              {From: stagestest.DrainedStorage, Given: with(podEnds), Holds: "storage-114 cannot be kept: its pod is being deleted"},
		"waits for the pod of a group that nothing marks":     {From: stagestest.DrainedStorage, Given: with(unmarked, podEnds), Holds: "storage-114 is included later: its pod is being deleted"},
		"leaves a pod that restarts and is not excluded":      {From: stagestest.StorageMarkedForRemoval, Given: with(unmarked, podEnds)},
		"keeps the others where it is too late for one group": {From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) { lateAndOthers(s) }, Does: []string{"revert the mark for removal of storage-115, storage-116"}, Holds: "storage-114 cannot be kept"},

		// contradictions
		"leaves a group alone that is also to be removed": {
			From: stagestest.DrainedStorage, Given: with(func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{keptGroup} }),
			Holds: "storage-114 is in spec.processGroupsToRemove and in spec.cancelReplacementsForInstance: remove it from one of them",
		},
		"also one that is to be removed without exclusion": {
			From: stagestest.HealthyCluster, Given: with(func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion = []v1beta2.ProcessGroupID{keptGroup}
			}),
			Holds: "storage-114 is in spec.processGroupsToRemoveWithoutExclusion and in spec.cancelReplacementsForInstance",
		},
		"keeps the others where one contradicts": {From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
			stagestest.Kept(keptGroup, "storage-115")(s)
			s.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{"storage-115"}
		}, Does: []string{revertsIt}, Holds: "storage-115 is in spec.processGroupsToRemove"},
		"leaves an exclusion alone that covers more": {
			From: stagestest.StorageMarkedForRemoval, Given: with(stagestest.InForce("locality_zoneid:node-14")),
			Holds: "storage-114 stays excluded: locality_zoneid:node-14 may cover other process groups; end it with `kubectl fdb include --target locality_zoneid:node-14`",
		},
		"and one of an address that another group has too": {
			From: stagestest.StorageMarkedForRemoval, Given: with(stagestest.InForce("10.1.0.14"), func(s *plan.Snapshot) { s.Cluster.ProcessGroup("log-101").Addresses = []string{"10.1.0.14"} }),
			Holds: "10.1.0.14 may cover other process groups",
		},
		"and one that was made as failed": {
			From: stagestest.DrainedStorage, Given: with(func(s *plan.Snapshot) { s.Coordination.FailedExclusions = []string{keptTarget} }),
			Holds: "was excluded as failed, which only `include failed` of fdbcli ends",
		},
		"a former address that another group has now does not count": {
			From: stagestest.StorageMarkedForRemoval, Given: with(stagestest.InForce("10.1.7.7"), func(s *plan.Snapshot) {
				s.Cluster.ProcessGroup(keptGroup).Addresses = []string{"10.1.0.14", "10.1.7.7"}
				s.Cluster.ProcessGroup("log-101").Addresses = []string{"10.1.7.7"}
			}), Does: []string{revertsIt},
		},
		"an address that two kept groups had is included": {
			From: stagestest.StorageMarkedForRemoval, Given: with(stagestest.InForce("10.1.0.14"), stagestest.Kept("log-101"), func(s *plan.Snapshot) {
				s.Cluster.ProcessGroup("log-101").Addresses = []string{"10.1.0.14"}
			}), Does: []string{"include 10.1.0.14", revertsIt},
		},
		"knows no group that is not in the status": {From: stagestest.StorageMarkedForRemoval, Given: stagestest.Kept("storage-9", keptGroup), Does: []string{revertsIt}},

		// the database
		"waits ten minutes after a recovery":            {From: stagestest.DrainedStorage, Given: with(stagestest.RecoveredAgo(599)), Holds: "inclusion of storage-114 waits: last recovery 9m59s ago, 10m0s required"},
		"a group that is not excluded does not wait":    {From: stagestest.StorageMarkedForRemoval, Given: with(stagestest.RecoveredAgo(5)), Does: []string{revertsIt}},
		"waits until the recovery is over":              {From: stagestest.DrainedStorage, Given: with(func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.Name = fdb.RecoveryAcceptingCommits }), Holds: "accepting_commits"},
		"waits while recoveries pile up":                {From: stagestest.DrainedStorage, Given: with(func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.ActiveGenerations = new(11) }), Holds: "11 active generations"},
		"waits while a restore has the database locked": {From: stagestest.DrainedStorage, Given: with(func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }), Holds: "locked"},
		"waits while the database is unavailable":       {From: stagestest.DrainedStorage, Given: with(func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }), Holds: "no process group can be included: no database status: timed out"},
		"waits while exclusions are unknown":            {From: stagestest.StorageMarkedForRemoval, Given: with(func(s *plan.Snapshot) { s.Coordination.ExclusionsRead = false }), Holds: "cannot determine which exclusions are in force"},
		"reverts the marks that do not wait": {From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-116").MarkForRemoval(stagestest.Noon)
			stagestest.All(stagestest.Kept(keptGroup, "storage-116"), stagestest.RecoveredAgo(30))(s)
		}, Does: []string{"revert the mark for removal of storage-116"}, Holds: "inclusion of storage-114 waits"},

		// global mode
		"withdraws what it announced, so that no other excludes the group again": {
			From: stagestest.InGlobalMode(stagestest.DrainedStorage), Given: with(
				stagestest.Listed("dc1", time.Hour, stagestest.Lists(fdb.PendingForRemoval, fdb.PendingForExclusion, fdb.ReadyForExclusion, fdb.PendingForInclusion), string(keptGroup)),
				stagestest.Listed("dc2", time.Hour, stagestest.Lists(fdb.PendingForRemoval), "dc2-storage-1")),
			Does: []string{"withdraw: pendingForExclusion storage-114, pendingForInclusion storage-114, pendingForRemoval storage-114, readyForExclusion storage-114", includesIt, revertsIt},
		},
		"leaves an address alone that another control-plane instance removes": {
			From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: with(stagestest.InForce("10.1.0.14"), func(s *plan.Snapshot) {
				s.Coordination.Lists.Addresses[fdb.Member{Instance: "dc2", Group: "dc2-storage-1"}] = []string{"10.1.0.14"}
			}), Holds: "10.1.0.14 may cover other process groups",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, CancelReplacements(plan.Options{})) })
	}
	for name, cut := range stagestest.Partial {
		t.Run("does nothing where "+name, func(t *testing.T) {
			stagestest.RemovalCase{
				From: stagestest.DrainedStorage, Given: with(func(s *plan.Snapshot) { cut(s.Database.Status) }), Holds: "no process group can be included",
			}.Check(t, CancelReplacements(plan.Options{}))
		})
	}
}

// lateAndOthers lists three groups, of which the first is being deleted.
func lateAndOthers(s *plan.Snapshot) {
	for _, id := range []v1beta2.ProcessGroupID{"storage-115", "storage-116"} {
		s.Cluster.ProcessGroup(id).MarkForRemoval(stagestest.Noon)
	}
	stagestest.All(stagestest.Kept(keptGroup, "storage-115", "storage-116"), claimEnds)(s)
}

// What only a user can resolve is not waited for; what time resolves is.
func TestWhichHoldsOfKeptGroupsRequireManualIntervention(t *testing.T) {
	listed := func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{keptGroup} }
	tests := map[string]struct {
		given  func(*plan.Snapshot)
		code   plan.HoldCode
		manual bool
	}{
		"too late":                   {claimEnds, plan.HoldTooLateToKeep, true},
		"in two lists":               {listed, plan.HoldSpecContradiction, true},
		"in two lists, and too late": {stagestest.All(listed, claimEnds), plan.HoldSpecContradiction, true},
		"covered by another":         {stagestest.InForce("locality_zoneid:node-14"), plan.HoldExclusionsKept, true},
		"a recovery":                 {stagestest.RecoveredAgo(5), plan.HoldCheckRefused, false},
		"unread exclusions":          {func(s *plan.Snapshot) { s.Coordination.ExclusionsRead = false }, plan.HoldExclusionsUnread, false},
		"a pod that ends":            {stagestest.All(unmarked, podEnds), plan.HoldPodsUnsettled, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.DrainedStorage(t)
			stagestest.Kept(keptGroup)(&s)
			tc.given(&s)
			d := CancelReplacements(plan.Options{}).Decide(s)
			if d.Hold == nil || d.Hold.Code != tc.code || d.Hold.Manual != tc.manual || d.Hold.Then != plan.CarryOn {
				t.Fatalf("hold %+v", d.Hold)
			}
			if diff := cmp.Diff([]string{string(keptGroup)}, d.Hold.Subjects); diff != "" {
				t.Errorf("subjects (-want +got):\n%s", diff)
			}
		})
	}
}

// The mark is reverted with everything that was recorded of the removal since.
func TestACanceledReplacementClearsAllRemovalState(t *testing.T) {
	s := stagestest.DrainedStorage(t)
	drained(&s)
	s.Cluster.ProcessGroup(keptGroup).ExclusionSkipped = true
	stagestest.Kept(keptGroup)(&s)
	for _, a := range CancelReplacements(plan.Options{}).Decide(s).Actions {
		if edit, ok := a.(plan.Edit); ok {
			s = edit.Apply(s)
		}
	}
	g := s.Cluster.ProcessGroup(keptGroup)
	if g.RemovalTimestamp != nil || g.ExclusionTimestamp != nil || g.ExclusionSkipped || g.HasCondition(v1beta2.ConditionResourcesTerminating) {
		t.Errorf("%+v", g)
	}
}

// The plan shows what would mark a group without the list, and which listed groups do not exist.
func TestKeptGroupChecksExplainTheAvoidedReplacement(t *testing.T) {
	const nothing = "by spec.cancelReplacementsForInstance; without it nothing would mark the process group"
	would := func(why string) string {
		return "by spec.cancelReplacementsForInstance; without it the next pass would mark the process group: " + why
	}
	failed := func(s *plan.Snapshot) {
		s.Cluster.ProcessGroup(keptGroup).SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-3*time.Hour))
	}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  map[string]string
	}{
		"nothing would mark it": {func(*plan.Snapshot) {}, map[string]string{"kept/storage-114": nothing}},
		"it differs":            {volumeSize("64G"), map[string]string{"kept/storage-114": would("the spec of the PVC differs")}},
		"it failed":             {failed, map[string]string{"kept/storage-114": would("it failed for more than 2h0m0s")}},
		"it failed, and nothing is replaced for that": {stagestest.All(failed, func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.Replacements.Enabled = new(bool)
		}), map[string]string{"kept/storage-114": nothing}},
		"its node is tainted": {stagestest.All(stagestest.Rule("drain", 0), func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup(keptGroup).SetCondition(v1beta2.ConditionNodeTaintReplacing, stagestest.Noon.Add(-time.Hour))
		}), map[string]string{"kept/storage-114": would("its node has been tainted for more than 30m0s")}},
		"it is to be removed": {func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{keptGroup} }, map[string]string{"kept/storage-114": would("it is in spec.processGroupsToRemove")}},
		"one does not exist": {stagestest.Kept("storage-9"), map[string]string{
			"kept/storage-114": nothing, "kept-exist": "storage-9 is not in the status, so there is nothing to keep; remove it from the list",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			stagestest.Kept(keptGroup)(&s)
			tc.given(&s)
			got := map[string]string{}
			for _, c := range CancelReplacements(plan.Options{}).Decide(s).Checks {
				got[c.Key()] = c.Evidence
				if c.OK != strings.HasPrefix(c.Key(), "kept/") {
					t.Errorf("%s is %t", c.Key(), c.OK)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("checks (-want +got):\n%s", diff)
			}
		})
	}
}

// Examples of the field's description, with its numbers.
func TestCanceledReplacementsMatchTheDocumentedExamples(t *testing.T) {
	s := exampleOfTheQuota(t)
	does := func(s plan.Snapshot) []string {
		return stagestest.Described(CancelReplacements(plan.Options{}).Decide(s))
	}

	if diff := cmp.Diff([]string{"include locality_instance_id:storage-1", "revert the mark for removal of storage-1, storage-2, storage-3"}, does(s)); diff != "" {
		t.Errorf("example 1 (-want +got):\n%s", diff)
	}
	after := plan.KeepGroups{Groups: s.Cluster.KeptProcessGroups()}.Apply(s)
	if diff := cmp.Diff([]string{"mark for removal: storage-4, storage-5, storage-6"}, stagestest.Described(ChooseRemovals.Decide(after))); diff != "" {
		t.Errorf("example 1, the surplus of 6 − 3 (-want +got):\n%s", diff)
	}

	late := exampleOfTheQuota(t)
	late.Volumes["sample-storage-2-data"].DeletionTimestamp = new(stagestest.NoonTime())
	d := CancelReplacements(plan.Options{}).Decide(late)
	if diff := cmp.Diff([]string{"include locality_instance_id:storage-1", "revert the mark for removal of storage-1, storage-3"}, stagestest.Described(d)); diff != "" {
		t.Errorf("example 2 (-want +got):\n%s", diff)
	}
	if d.Hold == nil || !d.Hold.Manual || d.Hold.Reason != "storage-2 cannot be kept: its PVC is being deleted" {
		t.Errorf("example 2 holds with %+v", d.Hold)
	}

	crashed := exampleOfTheQuota(t)
	crashed.Coordination.Exclusions = nil // the inclusion was done, and the run ended
	if diff := cmp.Diff([]string{"revert the mark for removal of storage-1, storage-2, storage-3"}, does(crashed)); diff != "" {
		t.Errorf("example 3 (-want +got):\n%s", diff)
	}
}

// exampleOfTheQuota is a double cluster of three storage groups, all of them marked for removal, of
// which the first is excluded. Their replacements have pods that cannot be scheduled, for lack of
// quota. The list keeps the three.
func exampleOfTheQuota(t *testing.T) plan.Snapshot {
	t.Helper()
	s := stagestest.HealthyCluster(t)
	for i, old := range []v1beta2.ProcessGroupID{"storage-114", "storage-115", "storage-116"} {
		renameGroup(t, &s, old, s.Cluster.ProcessGroupIDFor(v1beta2.ProcessClassStorage, i+1), i+14)
	}
	for n := 4; n <= 6; n++ {
		g := &v1beta2.ProcessGroupStatus{ProcessGroupID: s.Cluster.ProcessGroupIDFor(v1beta2.ProcessClassStorage, n), ProcessClass: v1beta2.ProcessClassStorage}
		g.SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-10*time.Minute))
		s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, g)
		stagestest.GivePod(t, &s, g, 20+n)
		s.Pod(g).Status = corev1.PodStatus{Phase: corev1.PodPending}
	}
	for _, id := range []v1beta2.ProcessGroupID{"storage-1", "storage-2", "storage-3"} {
		s.Cluster.ProcessGroup(id).MarkForRemoval(stagestest.Noon.Add(-10 * time.Minute))
	}
	stagestest.All(stagestest.InForce("locality_instance_id:storage-1"), stagestest.Excluding("locality_instance_id:storage-1", "storage-1"), stagestest.Kept("storage-1", "storage-2", "storage-3"))(&s)
	return s
}

// renameGroup gives a group of the healthy cluster another ID.
func renameGroup(t *testing.T, s *plan.Snapshot, old, id v1beta2.ProcessGroupID, n int) {
	t.Helper()
	g := s.Cluster.ProcessGroup(old)
	delete(s.Pods, g.PodName(s.Cluster))
	delete(s.Volumes, g.PVCName(s.Cluster))
	stagestest.EditProcess(s, g, func(p *fdb.Process) { p.Locality[fdb.LocalityInstanceID] = string(id) })
	g.ProcessGroupID = id
	stagestest.GivePod(t, s, g, n)
}
