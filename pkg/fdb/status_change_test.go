package fdb

import "testing"

// TestOnlyWhatAWaitMayBeForIsAChangeOfTheStatus changes one thing of a document at a time.
func TestOnlyWhatAWaitMayBeForIsAChangeOfTheStatus(t *testing.T) {
	process := func(edit func(*Process)) func(*Status) {
		return func(s *Status) {
			p := s.Cluster.Processes["a"]
			edit(&p)
			s.Cluster.Processes["a"] = p
		}
	}
	tests := map[string]struct {
		edit    func(*Status)
		changed bool
	}{
		"nothing":                           {func(*Status) {}, false},
		"a process runs longer":             {process(func(p *Process) { p.UptimeSeconds = new(400.0) }), false},
		"a process stores more":             {process(func(p *Process) { p.Roles = []Role{{Role: RoleStorage, StoredBytes: new(int64(7))}} }), false},
		"more data is moving":               {func(s *Status) { s.Cluster.Data.MovingData = &MovingData{InFlightBytes: new(int64(9))} }, false},
		"the recovery is older":             {func(s *Status) { s.Cluster.RecoveryState.SecondsSinceLastRecovered = new(99.0) }, false},
		"a new process reports":             {func(s *Status) { s.Cluster.Processes["b"] = Process{CommandLine: "x"} }, true},
		"a process is no longer listed":     {func(s *Status) { delete(s.Cluster.Processes, "a") }, true},
		"another process has its place":     {func(s *Status) { delete(s.Cluster.Processes, "a"); s.Cluster.Processes["b"] = Process{} }, true},
		"a process stopped reporting":       {process(func(p *Process) { p.CommandLine = "" }), true},
		"a process gave up its roles":       {process(func(p *Process) { p.Roles = nil }), true},
		"a process took another role":       {process(func(p *Process) { p.Roles = append(p.Roles, Role{Role: RoleLog}) }), true},
		"a process is excluded":             {process(func(p *Process) { p.Excluded = new(true) }), true},
		"a process is under maintenance":    {process(func(p *Process) { p.UnderMaintenance = new(true) }), true},
		"a process was restarted":           {process(func(p *Process) { p.UptimeSeconds = new(5.0) }), true},
		"a process runs another version":    {process(func(p *Process) { p.Version = "7.3.80" }), true},
		"a process runs with other options": {process(func(p *Process) { p.CommandLine = "fdbserver --knob" }), true},
		"the database recovers":             {func(s *Status) { s.Cluster.RecoveryState.Name = RecoveryAcceptingCommits }, true},
		"the database has recovered again":  {func(s *Status) { s.Cluster.Generation = new(int64(14)) }, true},
		"an old generation of logs is left": {func(s *Status) { s.Cluster.Logs = append(s.Cluster.Logs, LogGeneration{}) }, true},
		"data is no longer healthy":         {func(s *Status) { s.Cluster.Data.State.Healthy = new(false) }, true},
		"a replica is missing":              {func(s *Status) { s.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = new(1) }, true},
		"fewer zones may fail":              {func(s *Status) { s.Cluster.FaultTolerance.WithoutLosingData = new(0) }, true},
		"a zone is under maintenance":       {func(s *Status) { s.Cluster.MaintenanceZone = "z" }, true},
		"a coordinator is unreachable":      {func(s *Status) { s.Client.Coordinators.Coordinators[0].Reachable = false }, true},
		"coordinators have changed":         {func(s *Status) { s.Cluster.ConnectionString = "a:c@10.0.0.1:4501" }, true},
		"an exclusion has ended":            {func(s *Status) { s.Cluster.Configuration.ExcludedServers = nil }, true},
		"the database is locked":            {func(s *Status) { s.Cluster.DatabaseLockState = &LockState{Locked: true} }, true},
		"the database is unavailable":       {func(s *Status) { s.Client.DatabaseStatus.Available = false }, true},
		"the other region is the primary":   {func(s *Status) { s.Cluster.ActivePrimaryDC = "dc2" }, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			now := quietStatus()
			tc.edit(now)
			if got := now.ChangedSince(quietStatus()); got != tc.changed {
				t.Errorf("changed: %v, want %v", got, tc.changed)
			}
		})
	}
}

// quietStatus is the document of a database in which nothing happens.
func quietStatus() *Status {
	return &Status{
		Client: ClientStatus{
			DatabaseStatus: DatabaseStatus{Available: true, Healthy: true},
			Coordinators:   CoordinatorsStatus{QuorumReachable: true, Coordinators: []CoordinatorStatus{{Reachable: true}}},
		},
		Cluster: ClusterStatus{
			ConnectionString: "a:b@10.0.0.1:4501", Generation: new(int64(12)),
			RecoveryState:  &RecoveryState{Name: RecoveryFullyRecovered, SecondsSinceLastRecovered: new(42.0)},
			Logs:           []LogGeneration{{Current: true}},
			FaultTolerance: &ZoneTolerance{WithoutLosingData: new(1)},
			Configuration:  &Configuration{ExcludedServers: []ExcludedServer{{Locality: "locality_instance_id:storage-1"}}},
			Data: &DataStatus{
				State:        &DataState{Healthy: new(true)},
				TeamTrackers: []TeamTracker{{Primary: true, State: DataState{MinReplicasRemaining: new(2)}}},
			},
			Processes: map[string]Process{"a": {
				CommandLine: "fdbserver", Version: "7.3.79", Locality: map[string]string{LocalityInstanceID: "storage-1"},
				UptimeSeconds: new(300.0), Roles: []Role{{Role: RoleStorage, StoredBytes: new(int64(5))}},
			}},
		},
	}
}
