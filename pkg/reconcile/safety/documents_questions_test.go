package safety

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// documentQuestion is a question that the status document answers.
type documentQuestion struct {
	// given changes the snapshot of answerable; nil for nothing.
	given func(*plan.Snapshot)
	// answer is yes where all of its checks hold; several where it has several, none for yes.
	answer func(plan.Snapshot) []plan.Check
	// reads are the sections without which the answer is no.
	reads []section
}

func (q documentQuestion) prepare(s *plan.Snapshot) {
	if q.given != nil {
		q.given(s)
	}
}

func (q documentQuestion) checks(s plan.Snapshot) []plan.Check { return q.answer(s) }
func (q documentQuestion) ask(s plan.Snapshot) bool            { return len(q.answer(s)) == 0 || Met(q.answer(s)) }

// withoutDocument are the questions that the status document does not answer, and why.
var withoutDocument = map[string]string{
	"EngineMigrates": "compares two configurations; what the reported one lacks is left to the database, which refuses it itself",
	"Always":         "rules without a question", "Never": "rules without a question", "Ask": "a rule without parts is refused", "eitherOf": "combines other questions",
	"DistributionHolds": "the spec", "RegionsAgree": "the specs of several resources", "drainsFirst": "the spec and the status of the resource", "VolumeStays": "the PVC",
	"SuccessorAccepted": "a dry run at the API server", "RecreationAccepted": "a dry run at the API server", "FirstObjectsAccepted": "a dry run at the API server", "StorageClassesExist": "objects of the API server", "SpecHolds": "the spec",
	"NewRecreationRoom": "asks nothing yet", "Fits": "quotas of the API server",
	"LockFree": "keys of the database", "LockFreeFor": "keys of the database", "HeldManually": "keys of the database",
	"NotDeleted": "the resource and its namespace", "Deletions": "the resource and its namespace", "PolicyOf": "the PersistentVolume",
	"LockAllowed": "keys of the database", "LockAllowedReads": "the spec", "Synchronized": "keys of the database", "Others": "keys of the database",
	"NoDatabaseYet":     "proven by a recovery state in the document, never by an absent one",
	"NeverCreated":      "files in the pods, where there is no document",
	"Excluded":          "an exclusion is proven by its presence; nothing rests on its absence alone",
	"EvictionKind":      "selects the rule; an unknown redundancy selects the strictest",
	"EvictionSettles":   "allows nothing: chooses between waiting and a replacement, which has gates of its own; asks withoutRoles",
	"HoldsNothing":      "the class",
	"Misnamed":          "a process is found by its presence; nothing rests on its absence",
	"NeverDisruptable":  "explains a refusal",
	"MayHoldData":       "the status of the resource",
	"OutageOf":          "dates what others found, for users only; no decision uses it",
	"UnnoticedLoss":     "part of FullFaultTolerance, which asks for a complete document first",
	"UseOf":             "collects facts for VersionChange",
	"JudgeCoordinators": "describes; CoordinatorsKnown precedes a change of coordinators", "Coordinates": "part of noCoordinator",
	"MachinesOfServers": "names the servers among the clients",
}

// gatesWithoutDocument are the gates that no question of this package answers by the status
// document, and what answers them.
var gatesWithoutDocument = map[plan.Gate]string{
	plan.GateDeny: "keys of the database", plan.GateLock: "keys of the database", plan.GateLockOwner: "the spec", plan.GateSync: "keys of the database",
	plan.GateLease: "a Lease", plan.GateOperator: "Deployments and Leases", plan.GatePlan: "the plan", plan.GateBackup: "backup tools", plan.GateRestore: "backup tools",
	plan.GateAudit:     "the audit file of this machine",
	plan.GateClock:     "answers of the API server",
	plan.GateAdmission: "a dry run at the API server",
	plan.GateDeletion:  "the resource and its namespace",
}

// answerable is leavable with every section that a question reads, in two regions.
func answerable(t *testing.T) plan.Snapshot {
	t.Helper()
	s := leavable(t)
	rest := `{"database_lock_state": {"locked": false}, "full_replication": true, "bounce_impact": {"can_clean_bounce": true}, "cluster_controller_timestamp": 1700000000,
		"qos": {"worst_data_lag_storage_server": {"seconds": 0.1}, "worst_durability_lag_storage_server": {"seconds": 5}, "worst_queue_bytes_log_server": 1000, "worst_queue_bytes_storage_server": 1000}}`
	if err := json.Unmarshal([]byte(rest), &s.Database.Status.Cluster); err != nil {
		t.Fatal(err)
	}
	second := s.Database.Status.Cluster.Data.TeamTrackers[0]
	second.Primary = false
	s.Database.Status.Cluster.Data.TeamTrackers = append(s.Database.Status.Cluster.Data.TeamTrackers, second)
	everyProcess(func(p *fdb.Process) { p.Locality[fdb.LocalityDCID] = "dc1" })(s.Database.Status)
	for _, g := range s.Groups() {
		s.Pods[g.PodName(s.Cluster)].Status.PodIP = g.Addresses[0]
		s.Pods[g.PodName(s.Cluster)].Status.PodIPs = []corev1.PodIP{{IP: g.Addresses[0]}}
	}
	return s
}

func one(ask func(plan.Snapshot) plan.Check) func(plan.Snapshot) []plan.Check {
	return func(s plan.Snapshot) []plan.Check { return []plan.Check{ask(s)} }
}

func ofDatabase(ask func(plan.DatabaseFacts) plan.Check) func(plan.Snapshot) []plan.Check {
	return func(s plan.Snapshot) []plan.Check { return []plan.Check{ask(s.Database)} }
}

func ofPod(id v1beta2.ProcessGroupID, ask func(Pod) plan.Check) func(plan.Snapshot) []plan.Check {
	return func(s plan.Snapshot) []plan.Check {
		return []plan.Check{ask(Pod{Snapshot: s, Group: s.Cluster.ProcessGroup(id)})}
	}
}

func yes(ask func(plan.Snapshot) bool) func(plan.Snapshot) []plan.Check {
	return func(s plan.Snapshot) []plan.Check { return []plan.Check{{OK: ask(s)}} }
}

// removedGroup makes log-1 a group whose process is missing for an hour.
func removedGroup(s *plan.Snapshot) {
	g := s.Cluster.ProcessGroup("log-1")
	delete(s.Database.Status.Cluster.Processes, "log-1")
	g.SetCondition(v1beta2.ConditionMissingProcesses, s.Now.Add(-time.Hour))
	s.Pods[g.PodName(s.Cluster)].CreationTimestamp.Time = s.Now.Add(-2 * time.Hour)
}

// twoRegions is a configuration whose second region may become primary.
func twoRegions() fdb.Configuration {
	return fdb.Configuration{RedundancyMode: "double", UsableRegions: 2, Regions: []fdb.Region{{DataCenters: []fdb.DataCenter{{ID: "dc1", Priority: 1}}}, {DataCenters: []fdb.DataCenter{{ID: "dc2"}}}}}
}

func inTwoRegions(s *plan.Snapshot) {
	configuration := twoRegions()
	s.Database.Status.Cluster.Configuration, s.Database.Status.Cluster.ActivePrimaryDC = &configuration, "dc1"
	s.Database.Status.Cluster.DatacenterLag = &fdb.Lag{Seconds: new(0.1)}
}

func oldVersion(s *plan.Snapshot) {
	everyProcess(func(p *fdb.Process) { p.Version = "7.1.10" })(s.Database.Status)
	edit("stateless-1", func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: fdb.RoleMaster}} })(s)
}

func questionsOfDocuments() map[string]documentQuestion {
	var (
		roles     = []section{ofRoles, ofStorage, ofLogs, ofMessages}
		reporting = []section{ofVersions, ofLocality, ofCluster}
		recovered = []section{ofRecovery, ofGenerations}
		tolerant  = join(reporting, []section{ofData, ofGenerations, ofCoordinator, ofQuorum, ofConfig})
		inDC1     = fdb.Configuration{RedundancyMode: "double", Regions: []fdb.Region{{DataCenters: []fdb.DataCenter{{ID: "dc1"}}}}}
		elsewhere = fdb.Address{Host: "10.7.7.7", Port: 4501}
		version   = func(text string) fdb.Version { v, _ := fdb.ParseVersion(text); return v } // a literal
	)
	return map[string]documentQuestion{
		"Available":        {answer: ofDatabase(Available)},
		"Unlocked":         {answer: ofDatabase(Unlocked), reads: []section{ofLock}},
		"FewGenerations":   {answer: ofDatabase(FewGenerations), reads: []section{ofRecovery}},
		"Recovered":        {answer: ofDatabase(Recovered), reads: []section{ofRecovery}},
		"DataHealthy":      {answer: ofDatabase(DataHealthy), reads: []section{ofData, ofMessages}},
		"LoadWithinLimits": {answer: ofDatabase(LoadWithinLimits), reads: []section{ofLoad}},
		"CleanBounce":      {answer: ofDatabase(CleanBounce), reads: []section{ofBounce}},
		"RecoveredFor": {
			answer: ofDatabase(func(d plan.DatabaseFacts) plan.Check { return RecoveredFor(d, time.Minute) }), reads: []section{ofRecovery, ofVersions},
		},
		"RecoveredFor:7.1.10": {
			given: oldVersion, answer: ofDatabase(func(d plan.DatabaseFacts) plan.Check { return RecoveredFor(d, time.Minute) }), reads: []section{ofUptimes, ofVersions, ofRoles},
		},
		"UpLongEnough": {
			answer: one(func(s plan.Snapshot) plan.Check { c, _ := UpLongEnough(s, time.Minute); return c }), reads: []section{ofRecovery, ofUptimes, ofVersions, ofLocality},
		},
		"ExclusionBudget": {
			answer: one(func(s plan.Snapshot) plan.Check { _, c := ExclusionBudget(s, v1beta2.ProcessClassStorage, 0); return c }), reads: reporting,
		},
		"UnresponsiveExclusion": {
			answer: one(func(s plan.Snapshot) plan.Check { return UnresponsiveExclusion(s, v1beta2.ProcessClassStorage, 0) }), reads: reporting,
		},
		"LongMissing": {
			given: removedGroup, answer: yes(func(s plan.Snapshot) bool { return LongMissing(s, s.Cluster.ProcessGroup("log-1")) }),
		},
		"Drained": {
			answer: one(func(s plan.Snapshot) plan.Check { return Drained(s, s.Cluster.ProcessGroup("log-1")) }), reads: join(roles, recovered, reporting),
		},
		"Drained:missing": {
			given: removedGroup, answer: one(func(s plan.Snapshot) plan.Check { return Drained(s, s.Cluster.ProcessGroup("log-1")) }),
			reads: join(roles, recovered, []section{ofConfig, ofData, ofAge}),
		},
		"Untouched": {
			answer: one(func(s plan.Snapshot) plan.Check { return Untouched(s, s.Cluster.ProcessGroup("storage-1")) }), reads: []section{ofConfig},
		},
		"StillRuns": {
			// Without a document RemovePods keeps the group by itself: "remembers a group while the database cannot be asked".
			given: removedGroup, answer: yes(func(s plan.Snapshot) bool {
				return s.Database.Status != nil && StillRuns(s, s.Cluster.ProcessGroup("log-1")) == ""
			}),
		},
		"RegionsReplicated": {answer: ofDatabase(RegionsReplicated), reads: join(roles, []section{ofReplication, ofData, ofConfig})},
		"PrimaryServes": {
			answer: ofDatabase(func(d plan.DatabaseFacts) plan.Check { return PrimaryServes(d, inDC1, "dc1") }),
		},
		"RegionEligible": {
			given: inTwoRegions, answer: ofDatabase(func(d plan.DatabaseFacts) plan.Check { return RegionEligible(d, "dc2") }), reads: []section{ofConfig},
		},
		"RegionsReached": {
			given: inTwoRegions, answer: ofDatabase(func(d plan.DatabaseFacts) plan.Check { return RegionsReached(d, twoRegions()) }), reads: []section{ofConfig},
		},
		"RegionCaughtUp": {given: inTwoRegions, answer: ofDatabase(RegionCaughtUp)},
		"ResourcesKnown": {
			answer: one(func(s plan.Snapshot) plan.Check {
				return ResourcesKnown(s.Database, plan.OtherClusterFacts{Read: true}, []*v1beta2.FoundationDBCluster{s.Cluster})
			}), reads: []section{ofLocality, ofCluster},
		},
		"StorageInRegions": {
			answer: ofDatabase(func(d plan.DatabaseFacts) plan.Check { return StorageInRegions(d, inDC1) }), reads: join(roles, []section{ofLocality}),
		},
		"CanHold": {
			answer: ofDatabase(func(d plan.DatabaseFacts) plan.Check { return CanHold(d, inDC1) }), reads: []section{ofVersions, ofLocality},
		},
		"OwnDatabase": {answer: one(OwnDatabase), reads: reporting},
		"DataElsewhere": {
			answer: one(func(s plan.Snapshot) plan.Check { return DataElsewhere(s, s.Cluster.ProcessGroup("storage-1")) }), reads: []section{ofData, ofRecovery, ofGenerations, ofConfig},
		},
		"ReplicaRemains": {
			answer: one(func(s plan.Snapshot) plan.Check { return ReplicaRemains(s, groupsOf(s, "storage-1")) }), reads: []section{ofData},
		},
		"ReplicaRemains:logs": {
			answer: one(func(s plan.Snapshot) plan.Check { return ReplicaRemains(s, groupsOf(s, "log-2")) }), reads: []section{ofGenerations},
		},
		"RestartedSince": {
			answer: yes(func(s plan.Snapshot) bool {
				return RestartedSince(s, s.Cluster.ProcessGroup("storage-1"), time.Unix(1600000000, 0)) == RestartDone
			}), reads: join(reporting, []section{ofUptimes, ofTime}),
		},
		"JustStarted": {answer: one(func(s plan.Snapshot) plan.Check { c, _ := JustStarted(s).Elsewhere(""); return c }), reads: []section{ofUptimes}},
		"Elsewhere":   {answer: one(func(s plan.Snapshot) plan.Check { c, _ := JustStarted(s).Elsewhere("z1"); return c }), reads: []section{ofUptimes}},
		"StaysAway": {
			answer: one(func(s plan.Snapshot) plan.Check { return StaysAway(s, []fdb.Address{elsewhere}) }), reads: []section{ofCoordinator},
		},
		"CoordinatorsKnown":      {answer: ofDatabase(CoordinatorsKnown), reads: []section{ofCoordinator}},
		"FullFaultTolerance":     {answer: one(FullFaultTolerance), reads: tolerant},
		"RecentProof":            {answer: one(RecentProof), reads: []section{ofAge, ofClock}},
		"MaintenanceKnown":       {answer: one(func(s plan.Snapshot) plan.Check { return MaintenanceKnown(s.Database) }), reads: []section{ofReplication}},
		"hasCopies":              {answer: one(hasCopies), reads: []section{ofConfig}},
		"noMaintenanceAnywhere":  {answer: ofPod("storage-1", noMaintenanceAnywhere), reads: []section{ofReplication}},
		"noMaintenanceElsewhere": {answer: ofPod("storage-1", noMaintenanceElsewhere), reads: []section{ofReplication}},
		"withoutRoles": {
			answer: ofPod("stateless-1", func(p Pod) plan.Check { return withoutRoles(p, fdb.RoleStorage, fdb.RoleLog) }), reads: join(roles, recovered, []section{ofVersions, ofLocality}),
		},
		"OthersUp": {answer: one(func(s plan.Snapshot) plan.Check { return OthersUp(s, s.Cluster.ProcessGroup("storage-1")) }), reads: reporting},
		"othersUp": {answer: ofPod("storage-1", othersUp), reads: reporting},
		"OthersOfClassUp": {
			answer: one(func(s plan.Snapshot) plan.Check { return OthersOfClassUp(s, s.Cluster.ProcessGroup("storage-1")) }), reads: reporting,
		},
		"spareOf":             {answer: ofPod("storage-1", spareOf), reads: reporting},
		"spaceElsewhere":      {answer: ofPod("storage-1", spaceElsewhere), reads: []section{ofRoles, ofStorage, ofLocality}},
		"noCoordinator":       {answer: ofPod("storage-1", noCoordinator), reads: []section{ofCoordinator}},
		"coordinatorsCanMove": {answer: ofPod("storage-2", coordinatorsCanMove), reads: []section{ofCoordinator, ofQuorum, ofVersions, ofLocality}},
		"MayEvict": {
			answer: func(s plan.Snapshot) []plan.Check { return MayEvict(s, s.Cluster.ProcessGroup("storage-1")) },
			reads:  join(roles, recovered, tolerant, []section{ofAge, ofClock, ofUptimes, ofReplication}),
		},
		"MayReplace": {
			answer: func(s plan.Snapshot) []plan.Check { return MayReplace(s, s.Cluster.ProcessGroup("storage-1")) },
			reads:  join(reporting, []section{ofRoles, ofStorage, ofCoordinator}),
		},
		"MayLoseAnyPod": {answer: MayLoseAnyPod, reads: join(tolerant, []section{ofAge, ofClock, ofUptimes, ofReplication})},
		"VersionChange": {
			answer: func(s plan.Snapshot) []plan.Check { return VersionChange(s, version("7.4.5"), version("7.4.7")) }, reads: join(roles, []section{ofConfig}),
		},
		"factCheck": {
			answer: func(s plan.Snapshot) []plan.Check { return VersionChange(s, version("7.3.75"), version("7.3.79")) }, reads: join(roles, []section{ofConfig}),
		},
	}
}

func groupsOf(s plan.Snapshot, ids ...v1beta2.ProcessGroupID) []*v1beta2.ProcessGroupStatus {
	var groups []*v1beta2.ProcessGroupStatus
	for _, id := range ids {
		groups = append(groups, s.Cluster.ProcessGroup(id))
	}
	return groups
}

func join(sections ...[]section) []section {
	var all []section
	for _, s := range sections {
		all = append(all, s...)
	}
	return all
}
