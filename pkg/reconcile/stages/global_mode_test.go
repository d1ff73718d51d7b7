package stages

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
)

func unread(s *plan.Snapshot) { s.Coordination.Lists = plan.ListFacts{} }

func TestUpdateStatusInGlobalMode(t *testing.T) {
	edit := func(id v1beta2.ProcessGroupID, how func(*v1beta2.ProcessGroupStatus)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { how(s.Cluster.ProcessGroup(id)) }
	}
	condition := func(id v1beta2.ProcessGroupID, c v1beta2.ProcessGroupConditionType, ago time.Duration) func(*plan.Snapshot) {
		return edit(id, func(g *v1beta2.ProcessGroupStatus) { g.SetCondition(c, stagestest.Noon.Add(-ago)) })
	}
	restarting := stagestest.Listed("dc1", time.Hour, stagestest.Lists(fdb.PendingForRestart, fdb.ReadyForRestart), "storage-114", "storage-115", "storage-116")
	marked := stagestest.Listed("dc1", time.Hour, stagestest.Lists(fdb.PendingForRemoval, fdb.PendingForInclusion), "storage-114")
	addresses := func(instance, group string, ips ...string) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Coordination.Lists.Addresses[fdb.Member{Instance: instance, Group: group}] = ips
		}
	}
	known := addresses("dc1", "storage-114", "10.1.0.14")
	tests := map[string]stagestest.RemovalCase{
		"lists nothing of a reconciled cluster": {From: stagestest.InGlobalMode(stagestest.HealthyCluster)},
		"lists nothing in local mode":           {From: stagestest.NewKnobs},
		"lists who has to restart": {
			From: stagestest.InGlobalMode(stagestest.NewKnobs), Does: []string{"announce: pendingForRestart storage-114, storage-115, storage-116"},
		},
		"leaves entries alone that are right": {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: restarting},
		"removes reconciled groups from the lists": {
			From: stagestest.InGlobalMode(stagestest.HealthyCluster), Given: restarting,
			Does: []string{"withdraw: pendingForRestart storage-114, storage-115, storage-116, readyForRestart storage-114, storage-115, storage-116"},
		},
		"takes off what it listed under a former prefix": {
			From: stagestest.InGlobalMode(stagestest.HealthyCluster), Given: stagestest.All(
				edit("storage-114", func(g *v1beta2.ProcessGroupStatus) { g.ProcessGroupID = "kc1-storage-114" }),
				stagestest.Listed("kc1", time.Hour, stagestest.Lists(fdb.PendingForRestart), "kc1-storage-114", "kc1-storage-9"), addresses("kc1", "kc1-storage-114", "10.1.0.14"),
			), Does: []string{`withdraw: pendingForRestart kc1-storage-114; all with the former prefix "kc1"; remove the addresses of kc1-storage-114`},
		},
		"does not list who is long missing": {
			From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(restarting, condition("storage-114", v1beta2.ConditionMissingProcesses, 31*time.Second)),
			Does: []string{"withdraw: pendingForRestart storage-114, readyForRestart storage-114"},
		},
		"does not list whose pod cannot start": {
			From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(restarting, condition("storage-114", v1beta2.ConditionPodPending, 6*time.Minute)),
			Does: []string{"withdraw: pendingForRestart storage-114, readyForRestart storage-114"},
		},
		"does not list what the spec keeps from restarting": {
			From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(restarting, func(s *plan.Snapshot) {
				s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
			}), Does: []string{"withdraw: pendingForRestart storage-114, readyForRestart storage-114"},
		},
		"lists no group where the spec wants no restarts": {
			From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.KillProcesses = new(bool) },
		},
		"withdraws ready groups when one of them is not ready any more": {
			From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(restarting, condition("log-101", v1beta2.ConditionIncorrectConfigMap, time.Minute)),
			Does: []string{"withdraw: readyForRestart storage-114, storage-115, storage-116"},
		},
		"withdraws a ready group whose pod has to be recreated": {
			From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(restarting, condition("storage-114", v1beta2.ConditionIncorrectPodSpec, time.Minute)),
			Does: []string{"withdraw: readyForRestart storage-114"},
		},
		"withdraws ready groups during an upgrade": {
			From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(restarting, func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }),
			Does: []string{"withdraw: readyForRestart storage-114, storage-115, storage-116"},
		},
		"lists who has to be excluded": {
			From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval),
			Does: []string{"announce: pendingForExclusion storage-114, pendingForInclusion storage-114, pendingForRemoval storage-114; set addresses of storage-114: 10.1.0.14"},
		},
		"lists who is excluded as to be included only": {
			From: stagestest.InGlobalMode(stagestest.DrainedStorage), Given: stagestest.All(known, stagestest.Listed("dc1", time.Hour, stagestest.Lists(fdb.PendingForExclusion, fdb.ReadyForExclusion), "storage-114")),
			Does: []string{"announce: pendingForInclusion storage-114, pendingForRemoval storage-114; withdraw: pendingForExclusion storage-114, readyForExclusion storage-114"},
		},
		"lists who was never excluded as ready for inclusion": {
			From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(known, marked, edit("storage-114", func(g *v1beta2.ProcessGroupStatus) {
				g.ExclusionSkipped = true
				g.SetExcluded(stagestest.Noon)
			})), Does: []string{"announce: readyForInclusion storage-114"},
		},
		"does not call a group ready for inclusion whose pod terminates": {
			From: stagestest.InGlobalMode(stagestest.DrainedStorage), Given: stagestest.All(known, marked, condition("storage-114", v1beta2.ConditionResourcesTerminating, time.Minute), edit("storage-114", func(g *v1beta2.ProcessGroupStatus) { g.SetExcluded(stagestest.Noon) })),
		},
		"does not list removed groups for a restart": {
			From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(restarting, known, marked, stagestest.Listed("dc1", time.Hour, stagestest.Lists(fdb.PendingForExclusion), "storage-114"), edit("storage-114", func(g *v1beta2.ProcessGroupStatus) {
				g.MarkForRemoval(stagestest.Noon)
				g.SetCondition(v1beta2.ConditionResourcesTerminating, stagestest.Noon)
			})), Does: []string{"withdraw: pendingForRestart storage-114, readyForRestart storage-114"},
		},
		"takes a group that stays off all lists of what leaves": {
			From: stagestest.InGlobalMode(stagestest.HealthyCluster), Given: stagestest.All(known, marked, stagestest.Listed("dc1", time.Hour, stagestest.Lists(fdb.ReadyForExclusion), "storage-114")),
			Does: []string{"withdraw: pendingForInclusion storage-114, pendingForRemoval storage-114, readyForExclusion storage-114; remove the addresses of storage-114"},
		},
		"takes a group that the spec keeps off all lists of what leaves": {
			From: stagestest.InGlobalMode(stagestest.DrainedStorage), Given: stagestest.All(known, marked, stagestest.Kept("storage-114")),
			Does: []string{"withdraw: pendingForInclusion storage-114, pendingForRemoval storage-114; remove the addresses of storage-114"},
		},
		"forgets groups that vanished": {
			From: stagestest.InGlobalMode(stagestest.HealthyCluster), Given: stagestest.All(stagestest.Listed("dc1", time.Hour, stagestest.Lists(fdb.PendingForRemoval, fdb.ReadyForInclusion), "storage-1"), addresses("dc1", "storage-1", "10.9.9.9")),
			Does: []string{"withdraw: pendingForRemoval storage-1, readyForInclusion storage-1; remove the addresses of storage-1"},
		},
		"leaves entries of other control-plane instances alone": {
			From: stagestest.InGlobalMode(stagestest.HealthyCluster), Given: stagestest.All(
				stagestest.Listed("dc10", time.Hour, fdb.SharedLists(), "dc10-storage-1", "storage-114"), stagestest.Listed("", time.Hour, fdb.SharedLists(), "storage-1", "storage-114"),
				addresses("dc10", "dc10-storage-1", "10.9.9.9"), addresses("", "storage-114", "10.9.9.8"),
			),
		},
		"leaves entries of other control-plane instances alone without a name of its own": {
			From: stagestest.InGlobalMode(stagestest.HealthyCluster), Given: stagestest.All(
				func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupIDPrefix = "" },
				stagestest.Listed("dc2", time.Hour, fdb.SharedLists(), "dc2-storage-1"), addresses("dc2", "dc2-storage-1", "10.9.9.9"),
			),
		},
		"never lists a tester": {
			From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: edit("storage-114", func(g *v1beta2.ProcessGroupStatus) {
				g.ProcessClass = v1beta2.ProcessClassTest
				g.SetCondition(v1beta2.ConditionIncorrectCommandLine, stagestest.Noon)
			}),
		},
		"waits while the lists cannot be read":    {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: unread, Holds: "could not be read"},
		"waits while the database is unavailable": {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }},
	}
	for name, tc := range tests {
		// The status is taken as it is, so that a row can break one thing in it.
		reports := plan.Stage{Decide: func(s plan.Snapshot) plan.Decision {
			return status.PublishSharedLists(s, s.Cluster.Status, plan.Decision{})
		}}
		t.Run(name, func(t *testing.T) { tc.Check(t, reports) })
	}
}

// The shared lists describe the status that is written, not the one before it.
func TestGlobalModeListsMatchTheNewStatus(t *testing.T) {
	s := stagestest.InGlobalMode(stagestest.HealthyCluster)(t)
	s.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{"storage-114"}
	for _, stage := range []plan.Stage{status.UpdateStatus, status.ReportStatus} {
		d := stage.Decide(s)
		if len(d.Actions) != 2 || plan.KindOf(d.Actions[0]) != "WriteStatus" || !strings.HasPrefix(d.Actions[1].Describe(), "announce: pendingForExclusion storage-114, ") {
			t.Errorf("wants %v", stagestest.Described(d))
		}
	}
}

func TestTheExclusionStageInGlobalMode(t *testing.T) {
	const (
		announce = "announce: pendingForExclusion storage-114, readyForExclusion storage-114"
		ours     = "exclude storage-114 (locality_instance_id:storage-114)"
		both     = "exclude storage-114, dc2-storage-1 (locality_instance_id:storage-114 locality_instance_id:dc2-storage-1)"
	)
	exclusion := stagestest.Lists(fdb.PendingForExclusion, fdb.ReadyForExclusion)
	own := stagestest.Listed("dc1", time.Minute, exclusion, "storage-114")
	theirs := stagestest.Listed("dc2", time.Minute, exclusion, "dc2-storage-1")
	theirPending := func(ago time.Duration) func(*plan.Snapshot) {
		return stagestest.Listed("dc2", ago, stagestest.Lists(fdb.PendingForExclusion), "dc2-storage-2")
	}
	byAddress := func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool) }
	address := func(s *plan.Snapshot) {
		s.Coordination.Lists.Addresses[fdb.Member{Instance: "dc2", Group: "dc2-storage-1"}] = []string{"10.2.0.1", "10.2.0.2"}
	}
	tests := map[string]stagestest.RemovalCase{
		"announces before it excludes":                          {From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: theirs, Does: []string{announce}, Holds: "the common exclusion follows"},
		"excludes those of all control-plane instances at once": {From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(own, theirs), Does: []string{both}},
		"excludes its own when no other has any":                {From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: own, Does: []string{ours}},
		"waits for the stable time":                             {From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(own, stagestest.Listed("dc2", 20*time.Second, exclusion, "dc2-storage-1")), Holds: "dc2-storage-1 was listed 20s ago"},
		"waits for a group of another control-plane instance":   {From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(own, theirs, theirPending(time.Minute)), Holds: "not both pending and ready: dc2-storage-2"},
		"goes on without those that do not get ready":           {From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(stagestest.Listed("dc1", time.Hour, exclusion, "storage-114"), theirPending(5*time.Minute)), Does: []string{ours}},
		"leaves out who is ready and not pending":               {From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(stagestest.Listed("dc1", time.Hour, exclusion, "storage-114"), stagestest.Listed("dc2", time.Hour, stagestest.Lists(fdb.ReadyForExclusion), "dc2-storage-2")), Does: []string{ours}},
		"excludes by the addresses that others tell":            {From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(own, theirs, byAddress, address), Does: []string{"exclude storage-114, dc2-storage-1 (10.1.0.14 10.2.0.1 10.2.0.2)"}},
		"excludes by ID a group without an address":             {From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(own, theirs, byAddress), Does: []string{"exclude storage-114, dc2-storage-1 (10.1.0.14 locality_instance_id:dc2-storage-1)"}},
		"announces no more than the redundancy allows": {
			From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: func(s *plan.Snapshot) {
				for _, id := range []v1beta2.ProcessGroupID{"storage-115", "storage-116"} {
					s.Cluster.ProcessGroup(id).MarkForRemoval(stagestest.Noon)
				}
			}, Does: []string{"announce: pendingForExclusion storage-114, storage-115, readyForExclusion storage-114, storage-115"}, Holds: "follows",
		},
		"keeps the place that was announced": {
			From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(stagestest.Listed("dc1", time.Hour, exclusion, "storage-116", "storage-115"), stagestest.Listed("dc1", time.Hour, stagestest.Lists(fdb.PendingForExclusion), "storage-114"), func(s *plan.Snapshot) {
				for _, id := range []v1beta2.ProcessGroupID{"storage-115", "storage-116"} {
					s.Cluster.ProcessGroup(id).MarkForRemoval(stagestest.Noon)
				}
			}), Does: []string{"exclude storage-115, storage-116 (locality_instance_id:storage-115 locality_instance_id:storage-116)"}, Holds: "1 more process group waits",
		},
		"withdraws what the redundancy does not allow any more": {
			From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(own, theirs, func(s *plan.Snapshot) {
				s.Groups()[len(s.Groups())-1].SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Minute))
			}), Does: []string{"withdraw: readyForExclusion storage-114"}, Holds: "follows",
		},
		"withdraws a ready coordinator": {
			From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(own, theirs, func(s *plan.Snapshot) {
				s.Database.Status.Client.Coordinators.Coordinators[0].Address.Host = "10.1.0.14"
			}), Does: []string{"withdraw: readyForExclusion storage-114"}, Holds: "coordinators move first",
		},
		"leaves another control-plane instance's coordinator to that": {
			From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(own, theirs, address, func(s *plan.Snapshot) {
				s.Database.Status.Client.Coordinators.Coordinators[0].Address.Host = "10.2.0.1"
			}), Does: []string{ours}, Holds: "left to other control-plane instances, since they are coordinators or have no address: dc2-storage-1",
		},
		"does not believe another control-plane instance about its own groups": {
			From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(own, stagestest.Listed("dc2", time.Minute, exclusion, "storage-115")), Does: []string{ours},
		},
		"does nothing for others alone":        {From: stagestest.InGlobalMode(stagestest.HealthyCluster), Given: theirs},
		"waits after a recovery":               {From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: stagestest.All(own, theirs, stagestest.RecoveredAgo(119)), Holds: "1m59s ago"},
		"waits while the lists cannot be read": {From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: unread, Holds: "could not be read"},
		"looks at no list in local mode": {From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
			s.Coordination.Lists = plan.ListFacts{Read: true, Entries: map[fdb.SharedList]map[fdb.Member]time.Time{}}
			theirs(s)
		}, Does: []string{ours}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, cluster.ExcludeInstances) })
	}
}

// otherReports adds a process of another control-plane instance to the status document.
func otherReports(s *plan.Snapshot) {
	up := 3600.0
	s.Database.Status.Cluster.Processes["other"] = fdb.Process{
		Address: fdb.Address{Host: "10.2.0.1", Port: 4501}, ClassType: "storage", CommandLine: "/usr/bin/fdbserver", Version: "7.3.79", UptimeSeconds: &up,
		Locality: map[string]string{fdb.LocalityInstanceID: "dc2-storage-1"},
	}
}

func TestBounceProcessesInGlobalMode(t *testing.T) {
	const (
		three    = "storage-114, storage-115, storage-116"
		announce = "announce: pendingForRestart " + three + ", readyForRestart " + three
		ours     = "restart 3 processes of " + three + " at once"
		everyone = "restart 4 processes of " + three + ", dc2-storage-1 at once"
	)
	restart := stagestest.Lists(fdb.PendingForRestart, fdb.ReadyForRestart)
	own := stagestest.Listed("dc1", time.Minute, restart, "storage-114", "storage-115", "storage-116")
	theirs := stagestest.All(otherReports, stagestest.Listed("dc2", time.Minute, restart, "dc2-storage-1"))
	tests := map[string]stagestest.RemovalCase{
		"announces before it restarts":                              {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: theirs, Does: []string{announce}, Holds: "the common restart follows"},
		"restarts those of all control-plane instances at once":     {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(own, theirs), Does: []string{everyone}},
		"restarts its own when no other has to":                     {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(own, otherReports), Does: []string{ours}},
		"waits for the stable time":                                 {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(own, stagestest.Listed("dc2", 29*time.Second, restart, "dc2-storage-1")), Holds: "dc2-storage-1 was listed 29s ago"},
		"never restarts without those that are pending":             {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(own, theirs, stagestest.Listed("dc2", 24*time.Hour, stagestest.Lists(fdb.PendingForRestart), "dc2-log-1")), Holds: "not both pending and ready: dc2-log-1"},
		"waits for the addresses of another control-plane instance": {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(own, stagestest.Listed("dc2", time.Minute, restart, "dc2-storage-1")), Holds: "restart of dc2-storage-1, and the database does not report their addresses"},
		"does not announce before the database is stable":           {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.RecoveredAgo(599), Holds: "last recovery 9m59s ago"},
		"waits after a recovery, whoever is ready":                  {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(own, theirs, stagestest.RecoveredAgo(599)), Holds: "last recovery 9m59s ago"},
		"does nothing for others alone":                             {From: stagestest.InGlobalMode(stagestest.HealthyCluster), Given: theirs},
		"does not take another's word for its own groups":           {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(own, stagestest.Listed("dc2", time.Minute, restart, "log-101")), Does: []string{ours}},
		"neither announces nor restarts what is to be spared": {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: stagestest.All(stagestest.Listed("dc1", time.Minute, restart, "storage-115", "storage-116"), func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
		}), Does: []string{"restart 2 processes of storage-115, storage-116 at once"}},
		"goes by the announcements of upgrades during one": {
			From: stagestest.InGlobalMode(stagestest.Upgrading), Given: stagestest.All(theirs, stagestest.Listed("dc1", time.Minute, restart, "storage-114")), Holds: "would be cut off in the old version: dc2-storage-1",
		},
		"waits while the lists cannot be read": {From: stagestest.InGlobalMode(stagestest.NewKnobs), Given: unread, Holds: "could not be read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, cluster.BounceProcesses) })
	}
}

// A common restart removes the announcements of every group that restarts, and of no other. In local
// mode none is removed.
func TestARestartInGlobalModeClearsItsAnnouncements(t *testing.T) {
	restart := stagestest.Lists(fdb.PendingForRestart, fdb.ReadyForRestart)
	s := stagestest.InGlobalMode(stagestest.NewKnobs)(t)
	stagestest.All(stagestest.Listed("dc1", time.Minute, restart, "storage-114", "storage-115", "storage-116"), otherReports, stagestest.Listed("dc2", time.Minute, restart, "dc2-storage-1"))(&s)
	used := func(d plan.Decision) string {
		var words []string
		for _, a := range d.Actions {
			for _, m := range a.(plan.RestartProcesses).Announced {
				words = append(words, m.Instance+"/"+m.Group)
			}
		}
		return strings.Join(words, " ")
	}
	if got := used(cluster.BounceProcesses.Decide(s)); got != "dc1/storage-114 dc1/storage-115 dc1/storage-116 dc2/dc2-storage-1" {
		t.Errorf("used up %s", got)
	}
	s.Cluster.Spec.AutomationOptions.SynchronizationMode = nil
	if got := used(cluster.BounceProcesses.Decide(s)); got != "" {
		t.Errorf("used up %s in local mode", got)
	}
}

func TestRemovePodsInGlobalMode(t *testing.T) {
	const (
		announce = "announce: pendingForInclusion storage-114, readyForInclusion storage-114"
		ours     = "include locality_instance_id:storage-114 and remove storage-114 from the status"
		both     = "include locality_instance_id:storage-114 locality_instance_id:dc2-storage-1 10.2.0.1 and remove storage-114 from the status"
		off      = "withdraw: pendingForInclusion storage-114, readyForInclusion storage-114"
	)
	removed := func(s *plan.Snapshot) {
		g := s.Cluster.ProcessGroup("storage-114")
		delete(s.Pods, g.PodName(s.Cluster))
		delete(s.Volumes, g.PVCName(s.Cluster))
		stagestest.DropProcess(s, g)
		g.SetExcluded(stagestest.Noon.Add(-time.Hour))
	}
	removedGlobally := stagestest.InGlobalMode(func(tb testing.TB) plan.Snapshot {
		tb.Helper()
		s := stagestest.DrainedStorage(tb)
		removed(&s)
		return s
	})
	inclusion := stagestest.Lists(fdb.PendingForInclusion, fdb.ReadyForInclusion)
	own := stagestest.Listed("dc1", time.Minute, inclusion, "storage-114")
	theirs := stagestest.All(stagestest.Listed("dc2", time.Minute, inclusion, "dc2-storage-1"), func(s *plan.Snapshot) {
		s.Coordination.Lists.Addresses[fdb.Member{Instance: "dc2", Group: "dc2-storage-1"}] = []string{"10.2.0.1", "10.2.0.2"}
		c := s.Database.Status.Cluster.Configuration
		c.ExcludedServers = append(c.ExcludedServers, fdb.ExcludedServer{Locality: "locality_instance_id:dc2-storage-1"}, fdb.ExcludedServer{Address: "10.2.0.1"})
	})
	tests := map[string]stagestest.RemovalCase{
		"announces removed groups before they are included":     {From: removedGlobally, Given: theirs, Does: []string{announce}, Holds: "the common inclusion follows"},
		"includes those of all control-plane instances at once": {From: removedGlobally, Given: stagestest.All(own, theirs), Does: []string{both, off}},
		"includes its own when no other has any":                {From: removedGlobally, Given: own, Does: []string{ours, off}},
		"waits for the stable time":                             {From: removedGlobally, Given: stagestest.All(stagestest.Listed("dc1", 29*time.Second, inclusion, "storage-114"), theirs), Holds: "storage-114 was listed 29s ago"},
		"waits for a group of another control-plane instance":   {From: removedGlobally, Given: stagestest.All(own, theirs, stagestest.Listed("dc2", 24*time.Hour, stagestest.Lists(fdb.PendingForInclusion), "dc2-log-1")), Holds: "not both pending and ready: dc2-log-1"},
		"waits for a process that still runs":                   {From: removedGlobally, Given: stagestest.All(own, theirs, otherReports), Holds: "dc2-storage-1 still reports"},
		"announces nothing of which something is left":          {From: stagestest.InGlobalMode(stagestest.StorageMarkedForRemoval), Given: theirs, Holds: "is not excluded"},
		"leaves it to a later pass after a recovery":            {From: removedGlobally, Given: stagestest.All(own, theirs, stagestest.RecoveredAgo(599)), Later: both},
		"announces nothing whose server still runs": {From: removedGlobally, Given: stagestest.All(theirs, func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Processes["zombie"] = stagestest.DrainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
		}), Holds: "its process still runs at 10.1.0.14:4501"},
		"does not take another's word for its own groups": {From: removedGlobally, Given: stagestest.All(own, stagestest.Listed("dc2", time.Minute, inclusion, "storage-115"), func(s *plan.Snapshot) {
			c := s.Database.Status.Cluster.Configuration
			c.ExcludedServers = append(c.ExcludedServers, fdb.ExcludedServer{Locality: "locality_instance_id:storage-115"})
		}), Does: []string{ours, off}},
		"forgets a group whose exclusion another control-plane instance ended": {From: removedGlobally, Given: stagestest.All(own, func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Configuration.ExcludedServers = nil
		}), Does: []string{"remove storage-114 from the status", off}},
		"waits while the lists cannot be read": {From: removedGlobally, Given: unread, Holds: "could not be read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, cluster.RemovePods) })
	}
}

func TestChangeCoordinatorsInGlobalMode(t *testing.T) {
	// Of the three storage groups that are eligible one does not report; the third place is left to a
	// process of another control-plane instance.
	needsAnother := stagestest.InGlobalMode(func(tb testing.TB) plan.Snapshot {
		tb.Helper()
		s := stagestest.HealthyCluster(tb)
		s.Cluster.Spec.CoordinatorSelection = []v1beta2.CoordinatorSelectionSetting{{ProcessClass: v1beta2.ProcessClassStorage, Priority: 1}}
		stagestest.DropProcess(&s, s.Cluster.ProcessGroup("storage-114"))
		otherReports(&s)
		other := s.Database.Status.Cluster.Processes["other"]
		other.CommandLine = "/usr/bin/fdbserver --public_address=10.2.0.1:4501"
		other.Locality[fdb.LocalityZoneID] = "node-99"
		s.Database.Status.Cluster.Processes["other"] = other
		return s
	})
	const another = "change coordinators to 10.2.0.1:4501 10.1.0.15:4501 10.1.0.16:4501 and store the new connection string"
	tests := map[string]stagestest.RemovalCase{
		"chooses a process of another control-plane instance":      {From: needsAnother, Given: stagestest.Listed("dc2", time.Hour, stagestest.Lists(fdb.PendingForRestart), "dc2-storage-1"), Does: []string{another}},
		"chooses none that another control-plane instance removes": {From: needsAnother, Given: stagestest.Listed("dc2", time.Hour, stagestest.Lists(fdb.PendingForRemoval), "dc2-storage-1"), Holds: "no better coordinators are available"},
		"waits while the lists cannot be read":                     {From: needsAnother, Given: unread, Holds: "could not be read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, cluster.ChangeCoordinators) })
	}
}
