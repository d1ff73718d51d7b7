package fdb

import (
	"cmp"
	"regexp"
	"slices"
	"time"
)

// Available reports whether the database takes transactions.
func (s *Status) Available() bool { return s.Client.DatabaseStatus.Available }

// Healthy reports whether the tool found nothing to remark. It stays true for about
// a minute after a storage process died.
func (s *Status) Healthy() bool { return s.Client.DatabaseStatus.Healthy }

// RecoveryName is the name of the recovery state; empty when not reported.
func (s *Status) RecoveryName() string {
	if s.Cluster.RecoveryState == nil {
		return ""
	}
	return s.Cluster.RecoveryState.Name
}

// NeverConfigured reports whether no database was ever created here. Only the name
// of the recovery state tells: the layers' error configurationMissing is also shown
// by a configured database that is unavailable.
func (s *Status) NeverConfigured() bool { return s.RecoveryName() == RecoveryNeverCreated }

// FullyRecovered reports whether roles can be trusted: the last recovery is complete
// and only the current generation of logs is left. The number of active generations
// does not tell, it is 1 while an old generation is still needed.
func (s *Status) FullyRecovered() bool {
	return s.RecoveryName() == RecoveryFullyRecovered && len(s.Cluster.Logs) == 1 && s.Cluster.Logs[0].Current
}

// ActiveGenerations is how many log generations the recovery counts.
func (s *Status) ActiveGenerations() (n int, ok bool) {
	if s.Cluster.RecoveryState == nil || s.Cluster.RecoveryState.ActiveGenerations == nil {
		return 0, false
	}
	return *s.Cluster.RecoveryState.ActiveGenerations, true
}

// RecoveryAge is how long ago the last recovery ended; ok is false when unknown.
// Reliable from FoundationDB 7.1.22; see Version.HasRecoveryAge.
func (s *Status) RecoveryAge() (age time.Duration, ok bool) {
	if s.Cluster.RecoveryState == nil {
		return 0, false
	}
	return seconds(s.Cluster.RecoveryState.SecondsSinceLastRecovered)
}

// StartOf is when a process started, by the clock of the cluster controller: no other clock
// runs as the database's uptimes do. An uptime moves in steps of 5 s, so the process may
// have started so much earlier. ok is false when the document does not tell.
func (s *Status) StartOf(p Process) (start time.Time, ok bool) {
	now, told := s.Time()
	uptime, known := p.Uptime()
	return now.Add(-uptime), told && known
}

// Time is when the document was made, by the clock of the cluster controller; ok is false
// when the document does not tell.
func (s *Status) Time() (now time.Time, ok bool) {
	if s.Cluster.ClusterControllerTimestamp == nil {
		return time.Time{}, false
	}
	return time.Unix(*s.Cluster.ClusterControllerTimestamp, 0).UTC(), true
}

// ListsProcesses reports whether the document has a list of processes, and a complete one.
// While no quorum of coordinators or no cluster controller answers it has none, which does
// not mean that nothing runs; nor does a process that an incomplete document lacks.
func (s *Status) ListsProcesses() bool {
	return s != nil && s.Cluster.Processes != nil && !s.Incomplete()
}

// ProcessList is all processes, ordered by process group, process and ID.
func (s *Status) ProcessList() []Process {
	return s.processesThat(func(Process) bool { return true }, len(s.Cluster.Processes))
}

// ProcessesThat are those that match, in the order of ProcessList.
func (s *Status) ProcessesThat(match func(Process) bool) []Process {
	return s.processesThat(match, 1)
}

// processesThat is about so many processes of the list. What is not asked for is not
// sorted: of a thousand groups each asks for its own.
func (s *Status) processesThat(match func(Process) bool, about int) []Process {
	// The keys are sorted rather than the processes, which are large: a pass over a
	// thousand of them asks for this list several times.
	type key struct{ instance, process, id string }
	keys := make([]key, 0, about)
	for id, p := range s.Cluster.Processes {
		if match(p) {
			keys = append(keys, key{p.InstanceID(), p.Locality[LocalityProcessID], id})
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if c := cmp.Compare(a.instance, b.instance); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.id, b.id))
	})
	processes := make([]Process, len(keys))
	for i, k := range keys {
		processes[i] = s.Cluster.Processes[k.id]
	}
	return processes
}

// ProcessesOf are the processes of one process group. A process that has not
// reported its localities yet, or died some seconds ago, belongs to nobody.
func (s *Status) ProcessesOf(instanceID string) []Process {
	if instanceID == "" {
		return nil
	}
	return s.processesThat(func(p Process) bool { return p.InstanceID() == instanceID }, 1)
}

// Coordinators are the coordinators as a connection string would list them: the
// mark that one came from a host name is gone.
func (s *Status) Coordinators() []Address {
	coordinators := make([]Address, len(s.Client.Coordinators.Coordinators))
	for i, c := range s.Client.Coordinators.Coordinators {
		coordinators[i] = c.Address
		coordinators[i].FromHostname = false
	}
	return coordinators
}

// IsCoordinator reports whether the process listens on a coordinator's address or
// plays the role.
func (s *Status) IsCoordinator(p Process) bool {
	if p.HasRole(RoleCoordinator) {
		return true
	}
	return slices.ContainsFunc(s.Coordinators(), p.ListensAt)
}

// CoordinatorsReachable reports whether every coordinator, and so a quorum, answers.
func (s *Status) CoordinatorsReachable() bool {
	all := s.Client.Coordinators.Coordinators
	return s.Client.Coordinators.QuorumReachable && len(all) > 0 &&
		!slices.ContainsFunc(all, func(c CoordinatorStatus) bool { return !c.Reachable })
}

// CoordinatorProtocol is the protocol that the coordinators speak, known even when
// the tool speaks another one; ok is false when none answers or they disagree.
func (s *Status) CoordinatorProtocol() (protocol Protocol, ok bool) {
	for _, c := range s.Client.Coordinators.Coordinators {
		if c.Protocol == "" {
			continue
		}
		p, err := ParseProtocol(c.Protocol)
		if err != nil || (ok && p != protocol) {
			return 0, false
		}
		protocol, ok = p, true
	}
	return protocol, ok
}

// ExcludedTargets are the exclusions in force, failed ones included.
func (s *Status) ExcludedTargets() []string {
	if s.Cluster.Configuration == nil {
		return nil
	}
	targets := make([]string, len(s.Cluster.Configuration.ExcludedServers))
	for i, e := range s.Cluster.Configuration.ExcludedServers {
		targets[i] = e.Target()
	}
	return targets
}

// Locked reports whether a restore, disaster recovery or a person locked the
// database, and with which UID; known is false when the document does not say.
func (s *Status) Locked() (locked bool, uid string, known bool) {
	if s.Cluster.DatabaseLockState == nil {
		return false, "", false
	}
	return s.Cluster.DatabaseLockState.Locked, s.Cluster.DatabaseLockState.LockUID, true
}

// Maintenance is the zone under maintenance as the document has it.
func (s *Status) Maintenance() Maintenance {
	remaining, _ := seconds(s.Cluster.MaintenanceSecondsRemaining)
	return Maintenance{Zone: s.Cluster.MaintenanceZone, Remaining: remaining}
}

// HasMessage reports whether the cluster makes any of the named remarks.
func (s *Status) HasMessage(names ...string) bool {
	return slices.ContainsFunc(s.Cluster.Messages, func(m Message) bool { return slices.Contains(names, m.Name) })
}

// HasClientMessage reports whether the tool makes any of the named remarks.
func (s *Status) HasClientMessage(names ...string) bool {
	return slices.ContainsFunc(s.Client.Messages, func(m Message) bool { return slices.Contains(names, m.Name) })
}

// Maintenance is FoundationDB's maintenance mode; it has one zone at a time.
type Maintenance struct {
	// Zone is empty when no zone is under maintenance.
	Zone      string
	Remaining time.Duration
	// Disabled says that data distribution for storage failures is off, so that
	// maintenance mode cannot be used.
	Disabled bool
}

// Active reports whether a zone is under maintenance.
func (m Maintenance) Active() bool { return m.Zone != "" }

// availability is where a status document says whether the database is available. Parsing all
// of it takes its time.
var availability = regexp.MustCompile(`"database_status"\s*:\s*\{[^{}]*"available"\s*:\s*true\b`)

// SaysAvailable reports whether a status document, as the tool printed it, calls the database
// available.
func SaysAvailable(document []byte) bool { return availability.Match(document) }
