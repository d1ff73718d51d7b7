package stages

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// inGlobalMode returns a cluster of control-plane instance dc1 that acts together with others. Its
// lists are read and empty.
func inGlobalMode(from func(testing.TB) plan.Snapshot) func(testing.TB) plan.Snapshot {
	return func(tb testing.TB) plan.Snapshot {
		tb.Helper()
		s := from(tb)
		s.Cluster.Spec.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
		s.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
		s.Coordination.Read = true
		s.Coordination.Lists = plan.ListFacts{
			Read: true, Entries: map[fdb.SharedList]map[fdb.Member]time.Time{}, Addresses: map[fdb.Member][]string{},
		}
		return s
	}
}

// listed adds groups of a control-plane instance to lists, a while ago.
func listed(instance string, ago time.Duration, lists []fdb.SharedList, groups ...string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, list := range lists {
			if s.Coordination.Lists.Entries[list] == nil {
				s.Coordination.Lists.Entries[list] = map[fdb.Member]time.Time{}
			}
			for _, group := range groups {
				s.Coordination.Lists.Entries[list][fdb.Member{Instance: instance, Group: group}] = noon.Add(-ago)
			}
		}
	}
}

func lists(l ...fdb.SharedList) []fdb.SharedList { return l }

func unread(s *plan.Snapshot) { s.Coordination.Lists = plan.ListFacts{} }

func TestUpdateStatusInGlobalMode(t *testing.T) {
	edit := func(id v1beta2.ProcessGroupID, how func(*v1beta2.ProcessGroupStatus)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { how(s.Cluster.ProcessGroup(id)) }
	}
	condition := func(id v1beta2.ProcessGroupID, c v1beta2.ProcessGroupConditionType, ago time.Duration) func(*plan.Snapshot) {
		return edit(id, func(g *v1beta2.ProcessGroupStatus) { g.SetCondition(c, noon.Add(-ago)) })
	}
	restarting := listed("dc1", time.Hour, lists(fdb.PendingForRestart, fdb.ReadyForRestart), "storage-114", "storage-115", "storage-116")
	leaving := listed("dc1", time.Hour, lists(fdb.PendingForRemoval, fdb.PendingForInclusion), "storage-114")
	addresses := func(instance, group string, ips ...string) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Coordination.Lists.Addresses[fdb.Member{Instance: instance, Group: group}] = ips
		}
	}
	known := addresses("dc1", "storage-114", "10.1.0.14")
	tests := map[string]removalCase{
		"lists nothing of a reconciled cluster": {from: inGlobalMode(healthyCluster)},
		"lists nothing in local mode":           {from: newKnobs},
		"lists who has to restart": {
			from: inGlobalMode(newKnobs), does: []string{"announce: pendingForRestart storage-114, storage-115, storage-116"},
		},
		"leaves entries alone that are right": {from: inGlobalMode(newKnobs), given: restarting},
		"removes reconciled groups from the lists": {
			from: inGlobalMode(healthyCluster), given: restarting,
			does: []string{"withdraw: pendingForRestart storage-114, storage-115, storage-116, readyForRestart storage-114, storage-115, storage-116"},
		},
		"takes off what it listed under a former prefix": {
			from: inGlobalMode(healthyCluster), given: all(
				edit("storage-114", func(g *v1beta2.ProcessGroupStatus) { g.ProcessGroupID = "kc1-storage-114" }),
				listed("kc1", time.Hour, lists(fdb.PendingForRestart), "kc1-storage-114", "kc1-storage-9"), addresses("kc1", "kc1-storage-114", "10.1.0.14"),
			), does: []string{`withdraw: pendingForRestart kc1-storage-114; all with the former prefix "kc1"; remove the addresses of kc1-storage-114`},
		},
		"does not list who is long missing": {
			from: inGlobalMode(newKnobs), given: all(restarting, condition("storage-114", v1beta2.ConditionMissingProcesses, 31*time.Second)),
			does: []string{"withdraw: pendingForRestart storage-114, readyForRestart storage-114"},
		},
		"does not list whose pod cannot start": {
			from: inGlobalMode(newKnobs), given: all(restarting, condition("storage-114", v1beta2.ConditionPodPending, 6*time.Minute)),
			does: []string{"withdraw: pendingForRestart storage-114, readyForRestart storage-114"},
		},
		"does not list what the spec keeps from restarting": {
			from: inGlobalMode(newKnobs), given: all(restarting, func(s *plan.Snapshot) {
				s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
			}), does: []string{"withdraw: pendingForRestart storage-114, readyForRestart storage-114"},
		},
		"lists no group where the spec wants no restarts": {
			from: inGlobalMode(newKnobs), given: func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.KillProcesses = new(bool) },
		},
		"withdraws ready groups when one of them is not ready any more": {
			from: inGlobalMode(newKnobs), given: all(restarting, condition("log-101", v1beta2.ConditionIncorrectConfigMap, time.Minute)),
			does: []string{"withdraw: readyForRestart storage-114, storage-115, storage-116"},
		},
		"withdraws a ready group whose pod has to be recreated": {
			from: inGlobalMode(newKnobs), given: all(restarting, condition("storage-114", v1beta2.ConditionIncorrectPodSpec, time.Minute)),
			does: []string{"withdraw: readyForRestart storage-114"},
		},
		"withdraws ready groups during an upgrade": {
			from: inGlobalMode(newKnobs), given: all(restarting, func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }),
			does: []string{"withdraw: readyForRestart storage-114, storage-115, storage-116"},
		},
		"lists who has to be excluded": {
			from: inGlobalMode(leavingStorage),
			does: []string{"announce: pendingForExclusion storage-114, pendingForInclusion storage-114, pendingForRemoval storage-114; set addresses of storage-114: 10.1.0.14"},
		},
		"lists who is excluded as to be included only": {
			from: inGlobalMode(drainedStorage), given: all(known, listed("dc1", time.Hour, lists(fdb.PendingForExclusion, fdb.ReadyForExclusion), "storage-114")),
			does: []string{"announce: pendingForInclusion storage-114, pendingForRemoval storage-114; withdraw: pendingForExclusion storage-114, readyForExclusion storage-114"},
		},
		"lists who was never excluded as ready for inclusion": {
			from: inGlobalMode(leavingStorage), given: all(known, leaving, edit("storage-114", func(g *v1beta2.ProcessGroupStatus) {
				g.ExclusionSkipped = true
				g.SetExcluded(noon)
			})), does: []string{"announce: readyForInclusion storage-114"},
		},
		"does not call a group ready for inclusion whose pod terminates": {
			from: inGlobalMode(drainedStorage), given: all(known, leaving, condition("storage-114", v1beta2.ConditionResourcesTerminating, time.Minute), edit("storage-114", func(g *v1beta2.ProcessGroupStatus) { g.SetExcluded(noon) })),
		},
		"does not list removed groups for a restart": {
			from: inGlobalMode(newKnobs), given: all(restarting, known, leaving, listed("dc1", time.Hour, lists(fdb.PendingForExclusion), "storage-114"), edit("storage-114", func(g *v1beta2.ProcessGroupStatus) {
				g.MarkForRemoval(noon)
				g.SetCondition(v1beta2.ConditionResourcesTerminating, noon)
			})), does: []string{"withdraw: pendingForRestart storage-114, readyForRestart storage-114"},
		},
		"takes a group that stays off all lists of what leaves": {
			from: inGlobalMode(healthyCluster), given: all(known, leaving, listed("dc1", time.Hour, lists(fdb.ReadyForExclusion), "storage-114")),
			does: []string{"withdraw: pendingForInclusion storage-114, pendingForRemoval storage-114, readyForExclusion storage-114; remove the addresses of storage-114"},
		},
		"forgets groups that vanished": {
			from: inGlobalMode(healthyCluster), given: all(listed("dc1", time.Hour, lists(fdb.PendingForRemoval, fdb.ReadyForInclusion), "storage-1"), addresses("dc1", "storage-1", "10.9.9.9")),
			does: []string{"withdraw: pendingForRemoval storage-1, readyForInclusion storage-1; remove the addresses of storage-1"},
		},
		"leaves entries of other control-plane instances alone": {
			from: inGlobalMode(healthyCluster), given: all(
				listed("dc10", time.Hour, fdb.SharedLists(), "dc10-storage-1", "storage-114"), listed("", time.Hour, fdb.SharedLists(), "storage-1", "storage-114"),
				addresses("dc10", "dc10-storage-1", "10.9.9.9"), addresses("", "storage-114", "10.9.9.8"),
			),
		},
		"leaves entries of other control-plane instances alone without a name of its own": {
			from: inGlobalMode(healthyCluster), given: all(
				func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupIDPrefix = "" },
				listed("dc2", time.Hour, fdb.SharedLists(), "dc2-storage-1"), addresses("dc2", "dc2-storage-1", "10.9.9.9"),
			),
		},
		"never lists a tester": {
			from: inGlobalMode(leavingStorage), given: edit("storage-114", func(g *v1beta2.ProcessGroupStatus) {
				g.ProcessClass = v1beta2.ProcessClassTest
				g.SetCondition(v1beta2.ConditionIncorrectCommandLine, noon)
			}),
		},
		"waits while the lists cannot be read":    {from: inGlobalMode(newKnobs), given: unread, holds: "could not be read"},
		"waits while the database is unavailable": {from: inGlobalMode(newKnobs), given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }},
	}
	for name, tc := range tests {
		// The status is taken as it is, so that a row can break one thing in it.
		tells := plan.Stage{Decide: func(s plan.Snapshot) plan.Decision { return publishSharedLists(s, s.Cluster.Status, plan.Decision{}) }}
		t.Run(name, func(t *testing.T) { tc.check(t, tells) })
	}
}

// The shared lists describe the status that is written, not the one before it.
func TestSharedListsDescribeTheStatusThatIsWritten(t *testing.T) {
	s := inGlobalMode(healthyCluster)(t)
	s.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{"storage-114"}
	for _, stage := range []plan.Stage{updateStatus, reportStatus} {
		d := stage.Decide(s)
		if len(d.Actions) != 2 || plan.KindOf(d.Actions[0]) != "WriteStatus" || !strings.HasPrefix(d.Actions[1].Describe(), "announce: pendingForExclusion storage-114, ") {
			t.Errorf("wants %v", described(d))
		}
	}
}

func TestExcludeInstancesInGlobalMode(t *testing.T) {
	const (
		announce = "announce: pendingForExclusion storage-114, readyForExclusion storage-114"
		ours     = "exclude storage-114 (locality_instance_id:storage-114)"
		both     = "exclude storage-114, dc2-storage-1 (locality_instance_id:storage-114 locality_instance_id:dc2-storage-1)"
	)
	exclusion := lists(fdb.PendingForExclusion, fdb.ReadyForExclusion)
	own := listed("dc1", time.Minute, exclusion, "storage-114")
	theirs := listed("dc2", time.Minute, exclusion, "dc2-storage-1")
	theirPending := func(ago time.Duration) func(*plan.Snapshot) {
		return listed("dc2", ago, lists(fdb.PendingForExclusion), "dc2-storage-2")
	}
	byAddress := func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool) }
	address := func(s *plan.Snapshot) {
		s.Coordination.Lists.Addresses[fdb.Member{Instance: "dc2", Group: "dc2-storage-1"}] = []string{"10.2.0.1", "10.2.0.2"}
	}
	tests := map[string]removalCase{
		"announces before it excludes":                          {from: inGlobalMode(leavingStorage), given: theirs, does: []string{announce}, holds: "the common exclusion follows"},
		"excludes those of all control-plane instances at once": {from: inGlobalMode(leavingStorage), given: all(own, theirs), does: []string{both}},
		"excludes its own when no other has any":                {from: inGlobalMode(leavingStorage), given: own, does: []string{ours}},
		"waits for the stable time":                             {from: inGlobalMode(leavingStorage), given: all(own, listed("dc2", 20*time.Second, exclusion, "dc2-storage-1")), holds: "dc2-storage-1 was listed 20s ago"},
		"waits for a group of another control-plane instance":   {from: inGlobalMode(leavingStorage), given: all(own, theirs, theirPending(time.Minute)), holds: "not both pending and ready: dc2-storage-2"},
		"goes on without those that do not get ready":           {from: inGlobalMode(leavingStorage), given: all(listed("dc1", time.Hour, exclusion, "storage-114"), theirPending(5*time.Minute)), does: []string{ours}},
		"leaves out who is ready and not pending":               {from: inGlobalMode(leavingStorage), given: all(listed("dc1", time.Hour, exclusion, "storage-114"), listed("dc2", time.Hour, lists(fdb.ReadyForExclusion), "dc2-storage-2")), does: []string{ours}},
		"excludes by the addresses that others tell":            {from: inGlobalMode(leavingStorage), given: all(own, theirs, byAddress, address), does: []string{"exclude storage-114, dc2-storage-1 (10.1.0.14 10.2.0.1 10.2.0.2)"}},
		"excludes by ID a group without an address":             {from: inGlobalMode(leavingStorage), given: all(own, theirs, byAddress), does: []string{"exclude storage-114, dc2-storage-1 (10.1.0.14 locality_instance_id:dc2-storage-1)"}},
		"announces no more than the redundancy allows": {
			from: inGlobalMode(leavingStorage), given: func(s *plan.Snapshot) {
				for _, id := range []v1beta2.ProcessGroupID{"storage-115", "storage-116"} {
					s.Cluster.ProcessGroup(id).MarkForRemoval(noon)
				}
			}, does: []string{"announce: pendingForExclusion storage-114, storage-115, readyForExclusion storage-114, storage-115"}, holds: "follows",
		},
		"keeps the place that was announced": {
			from: inGlobalMode(leavingStorage), given: all(listed("dc1", time.Hour, exclusion, "storage-116", "storage-115"), listed("dc1", time.Hour, lists(fdb.PendingForExclusion), "storage-114"), func(s *plan.Snapshot) {
				for _, id := range []v1beta2.ProcessGroupID{"storage-115", "storage-116"} {
					s.Cluster.ProcessGroup(id).MarkForRemoval(noon)
				}
			}), does: []string{"exclude storage-115, storage-116 (locality_instance_id:storage-115 locality_instance_id:storage-116)"}, holds: "1 more process group waits",
		},
		"withdraws what the redundancy does not allow any more": {
			from: inGlobalMode(leavingStorage), given: all(own, theirs, func(s *plan.Snapshot) {
				s.Groups()[len(s.Groups())-1].SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Minute))
			}), does: []string{"withdraw: readyForExclusion storage-114"}, holds: "follows",
		},
		"withdraws a ready coordinator": {
			from: inGlobalMode(leavingStorage), given: all(own, theirs, func(s *plan.Snapshot) {
				s.Database.Status.Client.Coordinators.Coordinators[0].Address.Host = "10.1.0.14"
			}), does: []string{"withdraw: readyForExclusion storage-114"}, holds: "coordinators move first",
		},
		"leaves another control-plane instance's coordinator to that": {
			from: inGlobalMode(leavingStorage), given: all(own, theirs, address, func(s *plan.Snapshot) {
				s.Database.Status.Client.Coordinators.Coordinators[0].Address.Host = "10.2.0.1"
			}), does: []string{ours}, holds: "left to other control-plane instances, since they are coordinators or have no address: dc2-storage-1",
		},
		"does not believe another control-plane instance about its own groups": {
			from: inGlobalMode(leavingStorage), given: all(own, listed("dc2", time.Minute, exclusion, "storage-115")), does: []string{ours},
		},
		"does nothing for others alone":        {from: inGlobalMode(healthyCluster), given: theirs},
		"waits after a recovery":               {from: inGlobalMode(leavingStorage), given: all(own, theirs, recoveredAgo(119)), holds: "1m59s ago"},
		"waits while the lists cannot be read": {from: inGlobalMode(leavingStorage), given: unread, holds: "could not be read"},
		"looks at no list in local mode": {from: leavingStorage, given: func(s *plan.Snapshot) {
			s.Coordination.Lists = plan.ListFacts{Read: true, Entries: map[fdb.SharedList]map[fdb.Member]time.Time{}}
			theirs(s)
		}, does: []string{ours}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, excludeInstances) })
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
	restart := lists(fdb.PendingForRestart, fdb.ReadyForRestart)
	own := listed("dc1", time.Minute, restart, "storage-114", "storage-115", "storage-116")
	theirs := all(otherReports, listed("dc2", time.Minute, restart, "dc2-storage-1"))
	tests := map[string]removalCase{
		"announces before it restarts":                              {from: inGlobalMode(newKnobs), given: theirs, does: []string{announce}, holds: "the common restart follows"},
		"restarts those of all control-plane instances at once":     {from: inGlobalMode(newKnobs), given: all(own, theirs), does: []string{everyone}},
		"restarts its own when no other has to":                     {from: inGlobalMode(newKnobs), given: all(own, otherReports), does: []string{ours}},
		"waits for the stable time":                                 {from: inGlobalMode(newKnobs), given: all(own, listed("dc2", 29*time.Second, restart, "dc2-storage-1")), holds: "dc2-storage-1 was listed 29s ago"},
		"never restarts without those that are pending":             {from: inGlobalMode(newKnobs), given: all(own, theirs, listed("dc2", 24*time.Hour, lists(fdb.PendingForRestart), "dc2-log-1")), holds: "not both pending and ready: dc2-log-1"},
		"waits for the addresses of another control-plane instance": {from: inGlobalMode(newKnobs), given: all(own, listed("dc2", time.Minute, restart, "dc2-storage-1")), holds: "restart of dc2-storage-1, and the database does not report their addresses"},
		"does not announce before the database is stable":           {from: inGlobalMode(newKnobs), given: recoveredAgo(599), holds: "last recovery 9m59s ago"},
		"waits after a recovery, whoever is ready":                  {from: inGlobalMode(newKnobs), given: all(own, theirs, recoveredAgo(599)), holds: "last recovery 9m59s ago"},
		"does nothing for others alone":                             {from: inGlobalMode(healthyCluster), given: theirs},
		"does not take another's word for its own groups":           {from: inGlobalMode(newKnobs), given: all(own, listed("dc2", time.Minute, restart, "log-101")), does: []string{ours}},
		"neither announces nor restarts what is to be spared": {from: inGlobalMode(newKnobs), given: all(listed("dc1", time.Minute, restart, "storage-115", "storage-116"), func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
		}), does: []string{"restart 2 processes of storage-115, storage-116 at once"}},
		"goes by the announcements of upgrades during one": {
			from: inGlobalMode(upgrading), given: all(theirs, listed("dc1", time.Minute, restart, "storage-114")), holds: "would be cut off in the old version: dc2-storage-1",
		},
		"waits while the lists cannot be read": {from: inGlobalMode(newKnobs), given: unread, holds: "could not be read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, bounceProcesses) })
	}
}

// A common restart removes the announcements of every group that restarts, and of no other. In local
// mode none is removed.
func TestACommonRestartUsesUpWhatWasAnnounced(t *testing.T) {
	restart := lists(fdb.PendingForRestart, fdb.ReadyForRestart)
	s := inGlobalMode(newKnobs)(t)
	all(listed("dc1", time.Minute, restart, "storage-114", "storage-115", "storage-116"), otherReports, listed("dc2", time.Minute, restart, "dc2-storage-1"))(&s)
	used := func(d plan.Decision) string {
		var words []string
		for _, a := range d.Actions {
			for _, m := range a.(plan.RestartProcesses).Announced {
				words = append(words, m.Instance+"/"+m.Group)
			}
		}
		return strings.Join(words, " ")
	}
	if got := used(bounceProcesses.Decide(s)); got != "dc1/storage-114 dc1/storage-115 dc1/storage-116 dc2/dc2-storage-1" {
		t.Errorf("used up %s", got)
	}
	s.Cluster.Spec.AutomationOptions.SynchronizationMode = nil
	if got := used(bounceProcesses.Decide(s)); got != "" {
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
	gone := func(s *plan.Snapshot) {
		g := s.Cluster.ProcessGroup("storage-114")
		delete(s.Pods, g.PodName(s.Cluster))
		delete(s.Volumes, g.PVCName(s.Cluster))
		dropProcess(s, g)
		g.SetExcluded(noon.Add(-time.Hour))
	}
	goneGlobally := inGlobalMode(func(tb testing.TB) plan.Snapshot {
		tb.Helper()
		s := drainedStorage(tb)
		gone(&s)
		return s
	})
	inclusion := lists(fdb.PendingForInclusion, fdb.ReadyForInclusion)
	own := listed("dc1", time.Minute, inclusion, "storage-114")
	theirs := all(listed("dc2", time.Minute, inclusion, "dc2-storage-1"), func(s *plan.Snapshot) {
		s.Coordination.Lists.Addresses[fdb.Member{Instance: "dc2", Group: "dc2-storage-1"}] = []string{"10.2.0.1", "10.2.0.2"}
		c := s.Database.Status.Cluster.Configuration
		c.ExcludedServers = append(c.ExcludedServers, fdb.ExcludedServer{Locality: "locality_instance_id:dc2-storage-1"}, fdb.ExcludedServer{Address: "10.2.0.1"})
	})
	tests := map[string]removalCase{
		"announces removed groups before they are included":     {from: goneGlobally, given: theirs, does: []string{announce}, holds: "the common inclusion follows"},
		"includes those of all control-plane instances at once": {from: goneGlobally, given: all(own, theirs), does: []string{both, off}},
		"includes its own when no other has any":                {from: goneGlobally, given: own, does: []string{ours, off}},
		"waits for the stable time":                             {from: goneGlobally, given: all(listed("dc1", 29*time.Second, inclusion, "storage-114"), theirs), holds: "storage-114 was listed 29s ago"},
		"waits for a group of another control-plane instance":   {from: goneGlobally, given: all(own, theirs, listed("dc2", 24*time.Hour, lists(fdb.PendingForInclusion), "dc2-log-1")), holds: "not both pending and ready: dc2-log-1"},
		"waits for a process that still runs":                   {from: goneGlobally, given: all(own, theirs, otherReports), holds: "dc2-storage-1 still reports"},
		"announces nothing of which something is left":          {from: inGlobalMode(leavingStorage), given: theirs, holds: "is not excluded"},
		"leaves it to a later pass after a recovery":            {from: goneGlobally, given: all(own, theirs, recoveredAgo(599)), later: both},
		"announces nothing whose server still runs": {from: goneGlobally, given: all(theirs, func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Processes["zombie"] = drainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
		}), holds: "its process still runs at 10.1.0.14:4501"},
		"does not take another's word for its own groups": {from: goneGlobally, given: all(own, listed("dc2", time.Minute, inclusion, "storage-115"), func(s *plan.Snapshot) {
			c := s.Database.Status.Cluster.Configuration
			c.ExcludedServers = append(c.ExcludedServers, fdb.ExcludedServer{Locality: "locality_instance_id:storage-115"})
		}), does: []string{ours, off}},
		"forgets a group whose exclusion another control-plane instance ended": {from: goneGlobally, given: all(own, func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Configuration.ExcludedServers = nil
		}), does: []string{"remove storage-114 from the status", off}},
		"waits while the lists cannot be read": {from: goneGlobally, given: unread, holds: "could not be read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, removePods) })
	}
}

func TestChangeCoordinatorsInGlobalMode(t *testing.T) {
	// Of the three storage groups that are eligible one does not report; the third place is left to a
	// process of another control-plane instance.
	needsAnother := inGlobalMode(func(tb testing.TB) plan.Snapshot {
		tb.Helper()
		s := healthyCluster(tb)
		s.Cluster.Spec.CoordinatorSelection = []v1beta2.CoordinatorSelectionSetting{{ProcessClass: v1beta2.ProcessClassStorage, Priority: 1}}
		dropProcess(&s, s.Cluster.ProcessGroup("storage-114"))
		otherReports(&s)
		other := s.Database.Status.Cluster.Processes["other"]
		other.CommandLine = "/usr/bin/fdbserver --public_address=10.2.0.1:4501"
		other.Locality[fdb.LocalityZoneID] = "node-99"
		s.Database.Status.Cluster.Processes["other"] = other
		return s
	})
	const another = "change coordinators to 10.2.0.1:4501 10.1.0.15:4501 10.1.0.16:4501 and store the new connection string"
	tests := map[string]removalCase{
		"chooses a process of another control-plane instance":      {from: needsAnother, given: listed("dc2", time.Hour, lists(fdb.PendingForRestart), "dc2-storage-1"), does: []string{another}},
		"chooses none that another control-plane instance removes": {from: needsAnother, given: listed("dc2", time.Hour, lists(fdb.PendingForRemoval), "dc2-storage-1"), holds: "no better coordinators are available"},
		"waits while the lists cannot be read":                     {from: needsAnother, given: unread, holds: "could not be read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, changeCoordinators) })
	}
}
