package safety

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// leavable is a double database of which every rule lets each group go that it can: its
// coordinators are storage-2 to storage-4, and log-1 is excluded and drained.
func leavable(t *testing.T) plan.Snapshot {
	t.Helper()
	processes := map[string]any{}
	s := plan.Snapshot{Now: evening, Pods: map[string]*corev1.Pod{}, Volumes: map[string]*corev1.PersistentVolumeClaim{}}
	s.Cluster = &v1beta2.FoundationDBCluster{Spec: v1beta2.FoundationDBClusterSpec{
		Version: "7.3.79", ProcessCounts: v1beta2.ProcessCounts{Storage: 4, Log: 3, Stateless: 1},
	}}
	s.Cluster.Name = "sample"
	s.Cluster.Status.Configured = true
	for i, id := range []v1beta2.ProcessGroupID{"storage-1", "storage-2", "storage-3", "storage-4", "log-1", "log-2", "log-3", "log-4", "stateless-1", "coordinator-1", "test-1"} {
		class, number, _ := strings.Cut(string(id), "-")
		address := fmt.Sprintf("10.0.0.%d", i+1)
		roles := map[string][]map[string]any{
			"storage": {{"role": "storage", "kvstore_used_bytes": 10 << 30, "kvstore_available_bytes": 80 << 30, "kvstore_total_bytes": 100 << 30}},
			"log":     {{"role": "log"}}, "stateless": {{"role": "commit_proxy"}},
		}[class]
		if id == "log-1" {
			roles = nil
		}
		if roles == nil {
			roles = []map[string]any{}
		}
		processes[string(id)] = map[string]any{
			"address": address + ":4501", "class_type": class, "command_line": "x", "version": "7.3.79", "uptime_seconds": 3600, "roles": roles, "excluded": id == "log-1",
			"locality": map[string]string{"instance_id": string(id), "zoneid": "z" + number},
		}
		g := &v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: v1beta2.ProcessClass(class), Addresses: []string{address}, FaultDomain: v1beta2.FaultDomain("z" + number)}
		s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, g)
		s.Pods[g.PodName(s.Cluster)] = &corev1.Pod{}
		s.Volumes[g.PVCName(s.Cluster)] = &corev1.PersistentVolumeClaim{}
	}
	text, err := json.Marshal(processes)
	if err != nil {
		t.Fatal(err)
	}
	status, err := fdb.ParseStatus(fmt.Appendf(nil, `{
		"client": {"coordinators": {"quorum_reachable": true, "coordinators": [
			{"address": "10.0.0.2:4501", "reachable": true}, {"address": "10.0.0.3:4501", "reachable": true}, {"address": "10.0.0.4:4501", "reachable": true}]},
			"database_status": {"available": true, "healthy": true}},
		"cluster": {"full_replication": true, "recovery_state": {"name": "fully_recovered", "active_generations": 1, "seconds_since_last_recovered": 3600},
			"logs": [{"current": true, "log_replication_factor": 2, "log_fault_tolerance": 1}],
			"configuration": {"redundancy_mode": "double", "excluded_servers": [{"locality": "locality_instance_id:log-1"}]},
			"data": {"state": {"name": "healthy", "healthy": true}, "team_trackers": [{"primary": true, "state": {"name": "healthy", "healthy": true, "min_replicas_remaining": 2}}]},
			"processes": %s, "layers": {"_valid": true}}}`, text))
	if err != nil {
		t.Fatal(err)
	}
	s.Database = plan.DatabaseFacts{Status: status, AsOf: evening}
	s.Coordination = plan.CoordinationFacts{ExclusionsRead: true, Exclusions: []string{"locality_instance_id:log-1"}}
	s.Cluster.ProcessGroup("log-1").MarkForRemoval(evening.Add(-time.Hour))
	return s
}

func edit(id string, change func(*fdb.Process)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		p := s.Database.Status.Cluster.Processes[id]
		change(&p)
		s.Database.Status.Cluster.Processes[id] = p
	}
}

func single(s *plan.Snapshot) {
	s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeSingle
}

func drainedStorage(s *plan.Snapshot) {
	edit("storage-1", func(p *fdb.Process) { p.Excluded, p.Roles = new(true), nil })(s)
	s.Coordination.Exclusions = append(s.Coordination.Exclusions, "locality_instance_id:storage-1")
}

func both(first, second func(*plan.Snapshot)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { first(s); second(s) }
}

// later is when the status document is too old to rely on.
func later(s *plan.Snapshot) { s.Now = evening.Add(2 * time.Minute) }

func unchanged(*plan.Snapshot) {}

func TestWhichPodsMayBeEvictedOrReplaced(t *testing.T) {
	tests := map[string]struct {
		group          v1beta2.ProcessGroupID
		given          func(*plan.Snapshot)
		evict, replace bool
	}{
		"a storage pod that keeps its volume":       {"storage-1", unchanged, true, true},
		"a coordinator is replaced and not evicted": {"storage-2", unchanged, false, true},
		"a drained storage pod, whatever else is down": {"storage-1", both(drainedStorage, func(s *plan.Snapshot) {
			delete(s.Pods, "sample-log-3")
			s.Volumes = nil
		}), true, true},
		"a log that is drained":                       {"log-1", unchanged, true, true},
		"a log is replaced, and not evicted":          {"log-2", unchanged, false, true},
		"a stateless pod":                             {"stateless-1", unchanged, true, true},
		"a pod of the coordinator class that is none": {"coordinator-1", unchanged, true, true},
		"a tester":                                        {"test-1", unchanged, true, true},
		"data without a copy is only replaced":            {"storage-1", single, false, true},
		"a log without a copy is only replaced":           {"log-2", single, false, true},
		"a drained log of a single database":              {"log-1", single, true, true},
		"a tester while the database does not answer":     {"test-1", func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, true, true},
		"nothing else while the database does not answer": {"stateless-1", func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false, false},
		"anything before there is a database": {"storage-2", func(s *plan.Snapshot) {
			s.Cluster.Status.Configured, s.Database = false, plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
		}, true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			tc.given(&s)
			g := s.Cluster.ProcessGroup(tc.group)
			evict, replace := MayEvict(s, g), MayReplace(s, g)
			if Met(evict) != tc.evict || Met(replace) != tc.replace {
				t.Errorf("evict %+v\nreplace %+v\nwant %t and %t", evict, replace, tc.evict, tc.replace)
			}
			for _, c := range slices.Concat(evict, replace) {
				if c.Question == "" || c.Evidence == "" {
					t.Errorf("a check without words: %+v", c)
				}
			}
		})
	}
}

// evictionRefusals break one thing each. The question named is then the only one of
// the rule, but for the way out by being drained, that is not met.
var evictionRefusals = map[string]struct {
	group     v1beta2.ProcessGroupID
	given     func(*plan.Snapshot)
	replaced  bool // ask MayReplace, not MayEvict
	refusedBy string
}{
	"a storage pod on facts of two minutes ago":                   {"storage-1", later, false, "the facts are fresh"},
	"a stateless pod on old facts":                                {"stateless-1", later, false, "the facts are fresh"},
	"a drained log on old facts":                                  {"log-1", later, false, "the facts are fresh"},
	"a coordinator's pod on old facts":                            {"coordinator-1", later, false, "the facts are fresh"},
	"a drained log of a single database on old facts":             {"log-1", both(single, later), false, "the facts are fresh"},
	"a coordinator's pod of an unavailable database":              {"coordinator-1", func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, false, "the database is available"},
	"a new coordinator's group while another of its class drains": {"coordinator-1", func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Coordinator = 2 }, true, "enough others of its class are up"},
	"a log that is not drained":                                   {"log-2", unchanged, false, "drained"},
	"a log whose exclusion is in progress":                        {"log-1", func(s *plan.Snapshot) { s.Coordination.InProgressExclusions = []string{"10.0.0.5:4501"} }, false, "drained"},
	"a log of a single database that is not drained":              {"log-2", single, false, "drained"},
	"a stateless pod a minute after a recovery":                   {"stateless-1", func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = new(60.0) }, false, "the last recovery was at least 2 min ago"},
	"a stateless pod of an unavailable database":                  {"stateless-1", func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, false, "the database is available"},
	"a stateless pod that was given a log":                        {"stateless-1", edit("stateless-1", func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: "log"}} }), false, "it has no role with data"},
	"a stateless pod that was given data":                         {"stateless-1", edit("stateless-1", func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: "storage"}} }), false, "it has no role with data"},
	"a coordinator's pod that was given data":                     {"coordinator-1", edit("coordinator-1", func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: "storage"}} }), false, "it has no role with data"},
	"a storage pod that was given a log":                          {"storage-1", edit("storage-1", func(p *fdb.Process) { p.Roles = append(p.Roles, fdb.Role{Role: "log"}) }), false, "it is no log"},
	"a storage pod without a volume":                              {"storage-1", func(s *plan.Snapshot) { delete(s.Volumes, "sample-storage-1-data") }, false, "it keeps its volume"},
	"a storage pod whose volume is being deleted":                 {"storage-1", func(s *plan.Snapshot) { s.Volumes["sample-storage-1-data"].DeletionTimestamp = &metav1.Time{} }, false, "it keeps its volume"},
	"a storage pod that is not recreated":                         {"storage-1", func(s *plan.Snapshot) { s.Groups()[0].MarkForRemoval(evening) }, false, "it keeps its volume"},
	"a storage pod while a replica is missing": {"storage-1", func(s *plan.Snapshot) {
		s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = new(1)
	}, false, "the database is fully fault tolerant"},
	"a storage pod while another's terminates":               {"storage-1", func(s *plan.Snapshot) { s.Pods["sample-storage-3"].DeletionTimestamp = &metav1.Time{} }, false, "all other fault domains are up"},
	"a storage pod while another has none":                   {"storage-1", func(s *plan.Snapshot) { delete(s.Pods, "sample-log-3") }, false, "all other fault domains are up"},
	"a storage pod while another has not reported for long":  {"storage-1", both(edit("storage-3", func(p *fdb.Process) { p.Version = "" }), missingFor("storage-3", time.Hour)), false, "all other fault domains are up"},
	"a storage pod while one of nowhere has no pod":          {"storage-1", both(func(s *plan.Snapshot) { delete(s.Pods, "sample-log-2") }, func(s *plan.Snapshot) { s.Cluster.ProcessGroup("log-2").FaultDomain = "" }), false, "all other fault domains are up"},
	"a storage pod while another's process has just started": {"storage-1", edit("storage-3", func(p *fdb.Process) { p.UptimeSeconds = new(12.0) }), false, "their storage and log processes have been up for 90 s"},
	"a storage pod while a log's process has just started":   {"storage-1", edit("log-3", func(p *fdb.Process) { p.UptimeSeconds = new(12.0) }), false, "their storage and log processes have been up for 90 s"},
	"a storage pod beside another zone's maintenance":        {"storage-1", func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = "z2" }, false, "no other zone is under maintenance"},
	"a coordinator": {"storage-2", unchanged, false, "the coordinators have moved away"},
	"a log while the coordinators are unknown":         {"log-1", func(s *plan.Snapshot) { s.Database.Status.Client.Coordinators.Coordinators = nil }, false, "the coordinators have moved away"},
	"a new group while a log of its class drains":      {"log-2", func(s *plan.Snapshot) { s.Cluster.ProcessGroup("log-3").MarkForRemoval(evening) }, true, "enough others of its class are up"},
	"a new group while another may come back":          {"storage-1", missingFor("storage-3", time.Minute), true, "enough others of its class are up"},
	"a new group while disks are nearly full":          {"storage-1", disks(8 << 30), true, "the others have space for its data"},
	"a new group while a disk does not tell":           {"storage-1", edit("storage-3", func(p *fdb.Process) { p.Roles[0].KVStoreAvailableBytes = nil }), true, "the others have space for its data"},
	"a single group while its database is unavailable": {"log-2", both(single, func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }), true, "the database is available"},
	"a single group that the spec lets go with its data": {"storage-1", both(single, func(s *plan.Snapshot) {
		s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion = []v1beta2.ProcessGroupID{"storage-1"}
	}), true, "it is drained before its removal"},
	"a coordinator that has nowhere to move": {"storage-2", fewZones, true, "the coordinators can move away"},
	"a coordinator while another does not report": {"storage-2", func(s *plan.Snapshot) {
		s.Database.Status.Client.Coordinators.Coordinators[1].Reachable = false
	}, true, "the coordinators can move away"},
}

func missingFor(id v1beta2.ProcessGroupID, unresponsive time.Duration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Cluster.ProcessGroup(id).SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-unresponsive))
	}
}

func disks(free int64) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, p := range s.Database.Status.Cluster.Processes {
			for i := range p.Roles {
				p.Roles[i].KVStoreAvailableBytes = &free
			}
		}
	}
}

// fewZones leaves two fault domains besides that of storage-2.
func fewZones(s *plan.Snapshot) {
	for id := range s.Database.Status.Cluster.Processes {
		edit(id, func(p *fdb.Process) {
			if p.Zone() != "z1" && p.Zone() != "z2" {
				p.Locality["zoneid"] = "z3"
			}
			if p.Zone() == "z2" && id != "storage-2" {
				p.Locality["zoneid"] = "z1"
			}
		})(s)
	}
}

func TestWhichPodsMayNotBeEvictedOrReplaced(t *testing.T) {
	for name, tc := range evictionRefusals {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			tc.given(&s)
			g := s.Cluster.ProcessGroup(tc.group)
			checks, rules := MayEvict(s, g), []Condition[Pod]{ruleOf(EvictionKind(s, g)).Evict, ruleOf(kindCoordinator).Evict}
			if tc.replaced {
				checks, rules = MayReplace(s, g), []Condition[Pod]{ruleOf(EvictionKind(s, g)).Replace, ruleOf(kindCoordinator).Replace}
			}
			if Met(checks) {
				t.Fatalf("nothing keeps it: %+v", checks)
			}
			var unmet []string
			for _, question := range questionsOf(rules...) {
				if !question.ask(Pod{Snapshot: s, Group: g}).OK {
					unmet = append(unmet, question.name)
				}
			}
			if tc.refusedBy != "drained" {
				unmet = slices.DeleteFunc(unmet, func(q string) bool { return q == "drained" })
			}
			if diff := cmp.Diff([]string{tc.refusedBy}, unmet); diff != "" {
				t.Errorf("%s\n%+v", diff, checks)
			}
		})
	}
}

func questionsOf(conditions ...Condition[Pod]) []Condition[Pod] {
	var all []Condition[Pod]
	for _, c := range conditions {
		if c.ask != nil {
			all = append(all, c)
		}
		all = append(all, questionsOf(slices.Concat(c.all, c.any)...)...)
	}
	return all
}

// Every question of every rule is the only one that refuses somewhere: taken out of its
// rule, a row above would let a pod go.
func TestEveryEvictionRuleCheckIsNeeded(t *testing.T) {
	type place struct {
		kind, question string
		replaced       bool
	}
	shown := map[place]bool{}
	for _, tc := range evictionRefusals {
		s := leavable(t)
		tc.given(&s)
		kind := EvictionKind(s, s.Cluster.ProcessGroup(tc.group))
		shown[place{kind, tc.refusedBy, tc.replaced}] = true
		shown[place{kindCoordinator, tc.refusedBy, tc.replaced}] = true
	}
	for _, r := range EvictionRules() {
		for replaced, condition := range map[bool]Condition[Pod]{false: r.Evict, true: r.Replace} {
			for _, q := range questionsOf(condition) {
				at := place{r.Kind, q.name, replaced}
				wayOut := q.name == "drained" && r.Kind == kindStorage // lets a pod go and keeps none
				if q.name != "always" && !wayOut && !shown[at] {
					t.Errorf("no row shows that %q of %s (replaced: %t) matters", q.name, r.Kind, replaced)
				}
			}
		}
	}
}

// Data moves because of an eviction only where waiting would not make it possible.
func TestARefusedEvictionSettlesOnlyIfThePodMayLeaveWithItsData(t *testing.T) {
	settles := map[string]bool{
		"a storage pod while another's process has just started": true,
		"a storage pod while another's terminates":               true,
		"a storage pod while a replica is missing":               true,
		"a storage pod beside another zone's maintenance":        true,
		"a coordinator":                               true,
		"a storage pod that was given a log":          false,
		"a storage pod without a volume":              false,
		"a storage pod whose volume is being deleted": false,
		"a storage pod that is not recreated":         false,
		"a coordinator's pod that was given data":     false,
		"a stateless pod that was given data":         false,
	}
	for name, want := range settles {
		row, found := evictionRefusals[name]
		if !found {
			t.Errorf("there is no refusal of %s", name)
			continue
		}
		s := leavable(t)
		row.given(&s)
		if got := EvictionSettles(s, s.Cluster.ProcessGroup(row.group)); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
	for name, given := range map[string]struct {
		group v1beta2.ProcessGroupID
		edit  func(*plan.Snapshot)
	}{
		"a log":               {"log-2", unchanged},
		"data without a copy": {"storage-1", single},
		"unknown roles":       {"storage-1", func(s *plan.Snapshot) { s.Database.Status = nil }},
	} {
		s := leavable(t)
		given.edit(&s)
		if EvictionSettles(s, s.Cluster.ProcessGroup(given.group)) {
			t.Errorf("%s settles", name)
		}
	}
}

func TestWhichEvictionRuleAppliesToAProcessClass(t *testing.T) {
	s := leavable(t)
	for class, want := range map[v1beta2.ProcessClass]string{
		"storage": kindStorage, "log": kindLog, "transaction": kindLog, "stateless": kindStateless, "cluster_controller": kindStateless,
		"router": kindStateless, "coordinator": kindCoordination, "test": kindTest, "unset": kindStorage, "unknown": kindStorage,
	} {
		if got := kindOf(s, class); got != want {
			t.Errorf("%s: got %s, want %s", class, got, want)
		}
	}
	s.Database.Status.Cluster.Configuration.RedundancyMode = "single"
	if got := kindOf(s, "storage"); got != kindSingle {
		t.Errorf("with single in force and double wanted: got %s", got)
	}
}

func TestUnreachableNodeTolerationsMatchTheProcessClass(t *testing.T) {
	c := &v1beta2.FoundationDBCluster{}
	for class, want := range map[v1beta2.ProcessClass]int64{"storage": 300, "log": 300, "coordinator": 300, "stateless": 15, "test": 15} {
		got := TolerationsFor(c, class)
		for i, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
			if diff := cmp.Diff(corev1.Toleration{Key: key, Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &want}, got[i]); diff != "" {
				t.Errorf("%s: %s", class, diff)
			}
		}
	}
	c.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeSingle
	if got := TolerationsFor(c, "storage"); got[0].TolerationSeconds != nil || got[1].TolerationSeconds != nil {
		t.Errorf("data without a copy leaves its node after a while: %+v", got)
	}
	if got := TolerationsFor(c, "stateless"); *got[0].TolerationSeconds != 15 {
		t.Errorf("a stateless pod of a single database: %+v", got)
	}
}

func TestADatabaseStatusOlderThanAMinuteIsNoProof(t *testing.T) {
	for age, want := range map[time.Duration]bool{0: true, time.Minute: true, time.Minute + time.Nanosecond: false, -time.Nanosecond: false} {
		s := draining(t)
		s.Database.AsOf = evening.Add(-age)
		if c := RecentProof(s); c.OK != want || c.Evidence == "" {
			t.Errorf("%s: %+v, want %t", age, c, want)
		}
	}
	if c := RecentProof(plan.Snapshot{Database: plan.DatabaseFacts{Unreachable: "timed out"}}); c.OK || c.Evidence != "no database status: timed out" {
		t.Errorf("without a document: %+v", c)
	}
}

func TestWhichRecoveryStatesAllowAnInclusion(t *testing.T) {
	for state, want := range map[string]bool{
		fdb.RecoveryFullyRecovered: true, fdb.RecoveryAllLogsRecruited: true, "accepting_commits": false, "storage_recovered": false, "": false,
	} {
		d := healthy(t)
		d.Status.Cluster.RecoveryState.Name = state
		if c := Recovered(d); c.OK != want || c.Evidence != "recovery state is "+phrase.Or(state, phrase.Unknown) {
			t.Errorf("%q: %+v, want %t", state, c, want)
		}
	}
	if c := Recovered(plan.DatabaseFacts{Unreachable: "timed out"}); c.OK || c.Evidence != "no database status: timed out" {
		t.Errorf("without a document: %+v", c)
	}
}
