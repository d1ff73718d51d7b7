package fdb

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recorded reads one of the documents that a FoundationDB 7.3.79 printed, cut down
// to what is used.
func recorded(tb testing.TB, name string) *Status {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "status", name+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	s, err := ParseStatus(text)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// verdict is what the predicates say about a document.
type verdict struct {
	Available, NeverConfigured, FullyRecovered bool
	DataHealthy, LogsFull                      bool
	CoordinatorsReachable                      bool
	MinReplicas, Processes                     int
}

func verdictOf(s *Status) verdict {
	least, ok := s.MinReplicasRemaining()
	if !ok {
		least = -1
	}
	return verdict{
		Available: s.Available(), NeverConfigured: s.NeverConfigured(), FullyRecovered: s.FullyRecovered(),
		DataHealthy: s.DataHealthy(), LogsFull: s.LogsFullyReplicated(),
		CoordinatorsReachable: s.CoordinatorsReachable(), MinReplicas: least, Processes: len(s.ProcessList()),
	}
}

func TestPredicatesOfRecordedDocuments(t *testing.T) {
	healthy := verdict{
		Available: true, FullyRecovered: true, DataHealthy: true, LogsFull: true,
		CoordinatorsReachable: true, MinReplicas: 2, Processes: 12,
	}
	but := func(change func(*verdict)) verdict {
		v := healthy
		change(&v)
		return v
	}
	cases := map[string]struct {
		document string
		want     verdict
	}{
		"healthy": {"05-healthy", healthy},
		"no process at all": {
			"00-no-server-at-all",
			verdict{MinReplicas: -1},
		},
		"never configured": {
			"02-unconfigured",
			verdict{NeverConfigured: true, CoordinatorsReachable: true, MinReplicas: -1, Processes: 12},
		},
		"data distribution starting has no healthy key and no trackers": {
			"04-initializing-0",
			but(func(v *verdict) { v.FullyRecovered, v.DataHealthy, v.MinReplicas = false, false, -1 }),
		},
		"configurationMissing of a configured database is not never configured": {
			"63-all-logs-down",
			verdict{CoordinatorsReachable: true, MinReplicas: -1, Processes: 4},
		},
		"quorum lost": {
			"28-quorum-lost",
			verdict{MinReplicas: -1},
		},
		"a storage process dead for 8 s looks perfect but for its missing entry": {
			"70-one-storage-down-t08",
			but(func(v *verdict) { v.Processes, v.CoordinatorsReachable = 5, false }),
		},
		"one active generation with an old log set is not fully recovered, and its log has no address": {
			"91-dead-log-1",
			but(func(v *verdict) {
				v.FullyRecovered, v.LogsFull, v.Processes = false, false, 10
			}),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, verdictOf(recorded(t, c.document))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEveryRecordedDocumentParses(t *testing.T) {
	for _, file := range recordedDocuments(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) == 0 {
			continue // a run that timed out
		}
		if _, err := ParseStatus(text); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
}

// recordedDocuments are the full recorded documents, from FDB_RECORDINGS or from
// ../shared/recordings beside the repository, and the excerpts in testdata.
func recordedDocuments(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "status", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents in testdata (%v)", err)
	}
	root := os.Getenv("FDB_RECORDINGS")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "recordings")
	}
	more, err := filepath.Glob(filepath.Join(root, "*", "status", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(more) == 0 {
		t.Logf("NOT RUN on the full recordings: no */status/*.json under %s; set FDB_RECORDINGS", root)
	}
	return append(files, more...)
}

// ignoredClusterFacts are top-level facts that nothing here uses.
var ignoredClusterFacts = map[string]string{
	"active_tss_count":                   "testing storage servers are not handled",
	"idempotency_ids":                    "inside of the database",
	"lowest_compatible_protocol_version": "protocols are compared by line",
	"machines":                           "processes say the same",
	"newest_protocol_version":            "protocols are compared by line",
	"page_cache":                         "performance tuning",
	"version_epoch":                      "inside of the database",
}

func TestTopLevelStatusFieldsAreModeledOrListedAsIgnored(t *testing.T) {
	modeled := jsonKeys(t, Status{
		Client: ClientStatus{},
		Cluster: ClusterStatus{
			ProtocolVersion: "x", ConnectionString: "x", Generation: new(int64), ClusterControllerTimestamp: new(int64),
			DatabaseAvailable: new(bool), DatabaseLockState: &LockState{}, RecoveryState: &RecoveryState{},
			Configuration: &Configuration{}, FullReplication: new(bool), Data: &DataStatus{}, Logs: []LogGeneration{{}},
			FaultTolerance: &ZoneTolerance{}, QoS: &QoS{}, DatacenterLag: &Lag{}, LatencyProbe: &LatencyProbe{},
			Workload: &Workload{}, StorageWiggler: &StorageWiggler{}, BounceImpact: &BounceImpact{},
			Clients: &ClientsStatus{}, Messages: []Message{{}}, ActivePrimaryDC: "x", DegradedProcesses: new(int),
			IncompatibleConnections: []string{"x"}, MaintenanceZone: "x", MaintenanceSecondsRemaining: new(float64),
			DataDistributionDisabled: new(bool), DataDistributionDisabledForSSFailures: new(bool),
			DataDistributionDisabledForRebalance: new(bool), Processes: map[string]Process{"x": {}},
		},
	})
	for _, file := range recordedDocuments(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for section, keys := range topLevel(t, text) {
			for key := range keys {
				if !modeled[section][key] && ignoredClusterFacts[key] == "" {
					t.Errorf("%s: %s.%s is neither modeled nor knowingly ignored", filepath.Base(file), section, key)
				}
			}
		}
	}
}

func jsonKeys(t *testing.T, s Status) map[string]map[string]bool {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]map[string]bool{}
	for section, facts := range topLevel(t, text) {
		keys[section] = map[string]bool{}
		for key := range facts {
			keys[section][key] = true
		}
	}
	return keys
}

func topLevel(t *testing.T, text []byte) map[string]map[string]json.RawMessage {
	t.Helper()
	var sections map[string]map[string]json.RawMessage
	if json.Unmarshal(text, &sections) != nil {
		return nil // not a bare document: empty, or with text around it
	}
	return sections
}

func TestStatusMethodsOnRecordedDocuments(t *testing.T) {
	t.Run("maintenance", func(t *testing.T) {
		m, known := recorded(t, "30-maintenance-on").Maintenance()
		if m.Zone != "zone-5" || m.Remaining <= 0 || !known {
			t.Errorf("got %+v, %t", m, known)
		}
	})
	t.Run("no maintenance, and none that was read", func(t *testing.T) {
		s := recorded(t, "05-healthy")
		if m, known := s.Maintenance(); m.Active() || !known {
			t.Errorf("got %+v, %t", m, known)
		}
		s.Cluster.FullReplication = nil
		if m, known := s.Maintenance(); m.Active() || known {
			t.Errorf("got %+v, %t", m, known)
		}
	})
	t.Run("maintenance for longer than a Duration", func(t *testing.T) {
		s := recorded(t, "30-maintenance-on")
		s.Cluster.MaintenanceSecondsRemaining = new(1e10)
		if m, _ := s.Maintenance(); m.Zone != "zone-5" || m.Remaining <= 0 {
			t.Errorf("got %+v", m)
		}
	})
	t.Run("locked database", func(t *testing.T) {
		locked, uid, known := recorded(t, "50-locked").Locked()
		if !locked || !known || len(uid) != 32 {
			t.Errorf("got %v %q %v", locked, uid, known)
		}
	})
	t.Run("an excluded coordinator keeps its role", func(t *testing.T) {
		s := recorded(t, "11-excluded-coordinator")
		p := s.ProcessesOf("log-1")
		if len(p) != 1 || !p[0].IsExcluded() || !s.IsCoordinator(p[0]) {
			t.Errorf("got %+v", p)
		}
		if diff := cmp.Diff([]string{"127.0.2.11"}, s.ExcludedTargets()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("processes by group are those of each group", func(t *testing.T) {
		s := recorded(t, "11-excluded-coordinator")
		twin := s.Cluster.Processes[s.ProcessesOf("log-1")[0].ID]
		twin.ID, twin.Locality = "0", maps.Clone(twin.Locality) // sorted by process ID first, not by this one
		twin.Locality[LocalityProcessID] = "log-1-2"
		s.Cluster.Processes[twin.ID] = twin
		for id, got := range s.ProcessesByGroup() {
			if diff := cmp.Diff(s.ProcessesOf(id), got); diff != "" {
				t.Errorf("%s: %s", id, diff)
			}
		}
		if n := len(s.ProcessesByGroup()["log-1"]); n != 2 {
			t.Errorf("got %d processes of log-1, want 2", n)
		}
		if (*Status)(nil).ProcessesByGroup() != nil {
			t.Error("there are processes without a document")
		}
	})
	t.Run("a dying process' entry reports nothing", func(t *testing.T) {
		s := recorded(t, "70-one-storage-down-t01")
		unresponsive := 0
		for _, p := range s.ProcessList() {
			if !p.Reporting() {
				unresponsive++
			}
		}
		if unresponsive != 1 || !s.HasMessage(MessageUnreachableProcesses) {
			t.Errorf("got %d silent entries, messages %+v", unresponsive, s.Cluster.Messages)
		}
	})
	t.Run("a process that is stopped is listed without figures", func(t *testing.T) {
		s := recorded(t, "96-frozen-storage")
		if len(s.ProcessList()) != 9 || !s.Available() || s.Incomplete() || !s.HasMessage(MessageUnreachableProcesses) {
			t.Errorf("%d processes, available %t, incomplete %t, messages %+v", len(s.ProcessList()), s.Available(), s.Incomplete(), s.Cluster.Messages)
		}
		silent := slices.DeleteFunc(s.ProcessList(), func(p Process) bool { return p.Reporting() })
		if len(silent) != 1 || silent[0].ClassType != "storage" {
			t.Errorf("got %+v", silent)
		}
	})
	t.Run("with full disks no replicas are reported", func(t *testing.T) {
		s := recorded(t, "97-full-disks")
		if n, known := s.MinReplicasRemaining(); known || !s.Available() || s.Incomplete() {
			t.Errorf("%d replicas, available %t, incomplete %t", n, s.Available(), s.Incomplete())
		}
	})
	t.Run("roles are unknown if one kind of them could not be read", func(t *testing.T) {
		if !recorded(t, "05-healthy").RolesKnown() {
			t.Error("the roles of a healthy database are unknown")
		}
		for _, message := range []string{
			MessageUnreadableConfiguration, MessageFullReplicationTimeout, MessageStorageServersError, MessageLogServersError,
			MessageCommitProxiesError, MessageGRVProxiesError, MessageBlobWorkersError,
		} {
			s := recorded(t, "05-healthy")
			s.Cluster.Messages = append(s.Cluster.Messages, Message{Name: message})
			if s.RolesKnown() {
				t.Errorf("they are known with %s", message)
			}
		}
	})
	t.Run("the protocol is known without a quorum", func(t *testing.T) {
		p, ok := recorded(t, "28-quorum-lost").CoordinatorProtocol()
		want, _ := Version{Major: 7, Minor: 3}.Protocol()
		if !ok || p != want {
			t.Errorf("got %v %v, want %v", p, ok, want)
		}
	})
	t.Run("right after usable_regions=2 the data is healthy and the replication is not full", func(t *testing.T) {
		s := recorded(t, "regions-08-ur2-just")
		if !s.DataHealthy() || s.Cluster.FullReplication == nil || *s.Cluster.FullReplication {
			t.Errorf("got %v %v", s.DataHealthy(), s.Cluster.FullReplication)
		}
	})
	t.Run("replicas are unknown while a region reports none", func(t *testing.T) {
		s := recorded(t, "regions-08-ur2-just")
		if n, ok := s.MinReplicasRemaining(); ok {
			t.Errorf("got %d without the second region", n)
		}
		second := s.Cluster.Data.TeamTrackers[0]
		second.Primary = false
		both := []TeamTracker{s.Cluster.Data.TeamTrackers[0], second}
		for name, c := range map[string]struct {
			trackers []TeamTracker
			want     bool
		}{"both": {both, true}, "the second alone": {both[1:], false}} {
			s.Cluster.Data.TeamTrackers = c.trackers
			if n, ok := s.MinReplicasRemaining(); ok != c.want {
				t.Errorf("%s: got %d, %t", name, n, ok)
			}
		}
	})
	t.Run("TLS addresses", func(t *testing.T) {
		for _, p := range recorded(t, "85-tls-healthy").ProcessList() {
			public, err := PublicAddresses(p.CommandLine)
			if err != nil || len(public) != 1 || public[0] != p.Address || !p.Address.TLS {
				t.Errorf("got %v (%v), want %v", public, err, p.Address)
			}
		}
	})
	t.Run("engines of the storage servers", func(t *testing.T) {
		if diff := cmp.Diff(map[string]int{"ssd-2": 5}, recorded(t, "05-healthy").StorageEngines()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestStatusDocumentsOfOtherVersionsAreParsed has what 7.1 and 7.4 report differently from 7.3,
// according to their sources.
func TestStatusDocumentsOfOtherVersionsAreParsed(t *testing.T) {
	cases := map[string]struct {
		text    string
		engines map[string]int
	}{
		"7.1 has no storage metadata, another log engine, and no wiggler's state": {
			`{"client":{"database_status":{"available":true,"healthy":true}},"cluster":{
			"configuration":{"redundancy_mode":"double","storage_engine":"ssd-redwood-1-experimental","log_engine":2,"proxies":4},
			"storage_wiggler":{"primary":{"finished_round":0,"last_round_start_timestamp":0}},
			"processes":{"a":{"address":"10.1.0.1:4501","roles":[{"role":"storage","id":"1"}]}}}}`,
			map[string]int{"": 1},
		},
		"7.4 has lags, gray failures and key management": {
			`{"client":{"database_status":{"available":true,"healthy":true}},"cluster":{
			"configuration":{"redundancy_mode":"double","storage_engine":"memory-radixtree"},
			"gray_failure":{"excluded_servers":[{"address":"10.1.0.2:4501","time":"1.5"}]},"kms":{"kms_is_healthy":true},
			"consistency_scan":{"stats":{}},"logserver_lag":{},"storageserver_lag":{},
			"processes":{"a":{"address":"10.1.0.1:4501","roles":[{"role":"storage","id":"1","storage_metadata":{"storage_engine":"memory-radixtree"}}]}}}}`,
			map[string]int{"memory-radixtree": 1},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := ParseStatus([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.engines, s.StorageEngines()); diff != "" || !s.Available() {
				t.Errorf("available %v, engines %s", s.Available(), diff)
			}
			if _, ok := s.RecoveryAge(); ok {
				t.Error("the recovery's age is not reported")
			}
		})
	}
}

func TestUnknownRecoveryAgeIsNotZero(t *testing.T) {
	cases := map[string]struct {
		state *RecoveryState
		want  time.Duration
		ok    bool
	}{
		"no recovery state": {},
		"absent":            {state: &RecoveryState{}},
		"unknown":           {state: &RecoveryState{SecondsSinceLastRecovered: new(-1.0)}},
		"just now":          {state: &RecoveryState{SecondsSinceLastRecovered: new(0.0)}, ok: true},
		"some time ago":     {state: &RecoveryState{SecondsSinceLastRecovered: new(1.5)}, want: 1500 * time.Millisecond, ok: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := &Status{Cluster: ClusterStatus{RecoveryState: c.state}}
			age, ok := s.RecoveryAge()
			if age != c.want || ok != c.ok {
				t.Errorf("got %v %v, want %v %v", age, ok, c.want, c.ok)
			}
		})
	}
}

func TestCoordinatorsAreMatchedByIPAddressOrDNSName(t *testing.T) {
	s := &Status{Client: ClientStatus{Coordinators: CoordinatorsStatus{Coordinators: []CoordinatorStatus{
		{Address: Address{Host: "10.1.0.1", Port: 4501, FromHostname: true}},
		{Address: Address{Host: "a.example.svc", Port: 4501}},
	}}}}
	byIP := Process{Address: Address{Host: "10.1.0.1", Port: 4501}}
	byName := Process{
		Address:  Address{Host: "10.1.0.2", Port: 4501},
		Locality: map[string]string{LocalityDNSName: "a.example.svc"},
	}
	other := Process{Address: Address{Host: "10.1.0.3", Port: 4501}}
	if !s.IsCoordinator(byIP) || !s.IsCoordinator(byName) || s.IsCoordinator(other) {
		t.Errorf("got %v %v %v", s.IsCoordinator(byIP), s.IsCoordinator(byName), s.IsCoordinator(other))
	}
}

func TestInvalidStatusDocumentsAreRejected(t *testing.T) {
	cases := map[string]string{
		"nothing":            "",
		"words only":         "The database is available.\n",
		"cut short":          `{"client":{},"cluster":{"generation":1`,
		"no cluster section": `{"client":{}}`,
		"a number as text":   `{"client":{},"cluster":{"generation":"many"}}`,
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			if s, err := ParseStatus([]byte(text)); err == nil {
				t.Errorf("got %+v", s)
			}
		})
	}
}

func TestTextAroundTheDocumentIsSkipped(t *testing.T) {
	s, err := ParseStatus([]byte(">>> status json\n\n{\"client\":{},\"cluster\":{\"generation\":7}}\n>>> sleep 5\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Cluster.Generation == nil || *s.Cluster.Generation != 7 {
		t.Errorf("got %+v", s.Cluster)
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte(`{"client":{"coordinators":{"coordinators":[{"address":"10.1.0.1:4501(fromHostname)","reachable":true,"protocol":"0fdb00b073000000"}]}},"cluster":{"layers":{"_valid":false}}}`))
	f.Add([]byte("\nThe database is available.\n\n{\"client\":{},\"cluster\":{\"processes\":{\"a\":{\"address\":\"\",\"roles\":[{\"role\":\"log\"}]}},\"logs\":[{\"current\":true,\"log_interfaces\":[{}]}]}}"))
	for _, name := range []string{"00-no-server-at-all", "28-quorum-lost"} {
		text, err := os.ReadFile(filepath.Join("testdata", "status", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseStatus(text)
		if err != nil {
			return
		}
		verdictOf(s) // must not panic on whatever is absent
		s.RecoveryAge()
		s.CoordinatorProtocol()
		for _, p := range s.ProcessList() {
			s.IsCoordinator(p)
			s.ProcessesOf(p.InstanceID())
		}
		text, err = json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseStatus(text)
		if err != nil || verdictOf(again) != verdictOf(s) {
			t.Errorf("%s: verdict changed (%v)", text, err)
		}
	})
}

func TestAvailabilityOfRawStatusDocumentsMatchesTheParsedStatus(t *testing.T) {
	for _, name := range recordedDocuments(t) {
		document, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseStatus(document)
		if err != nil {
			continue // not every recording is one
		}
		if got := SaysAvailable(document); got != s.Available() {
			t.Errorf("%s: %t, and it is %t", name, got, s.Available())
		}
		if got, want := SaysNeverConfigured(document), s.NeverConfigured() && s.Client.Coordinators.QuorumReachable; got != want {
			t.Errorf("%s: never configured is %t, want %t", name, got, want)
		}
	}
}

// A database that was never configured is one whose coordinators answered.
func TestNeverConfiguredRequiresAReachableCoordinatorQuorum(t *testing.T) {
	const state = `"cluster":{"layers":{"_error":"configurationMissing"},"recovery_state":{"name":"configuration_never_created"}}`
	for document, want := range map[string]bool{
		`{"client":{"coordinators":{"quorum_reachable":true}},` + state + `}`:  true,
		`{"client":{"coordinators":{"quorum_reachable":false}},` + state + `}`: false,
		`{` + state + `}`: false,
		`{"client":{"coordinators":{"quorum_reachable":true}},` + state:                                                                                     false, // cut off
		`{"client":{"coordinators":{"quorum_reachable":true}},"cluster":{"layers":{"_error":"configurationMissing"}}}`:                                      false,
		`{"client":{"coordinators":{"quorum_reachable":true}},"cluster":{"recovery_state":{"description":"configuration_never_created","name":"reading"}}}`: false,
	} {
		if got := SaysNeverConfigured([]byte(document)); got != want {
			t.Errorf("%s: %t", document, got)
		}
	}
}
