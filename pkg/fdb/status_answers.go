package fdb

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Available reports whether the database accepts transactions.
func (s *Status) Available() bool { return s.Client.DatabaseStatus.Available }

// Healthy reports whether the tool reports the database as healthy. It stays true
// for about a minute after a storage process died.
func (s *Status) Healthy() bool { return s.Client.DatabaseStatus.Healthy }

// RecoveryName returns the name of the recovery state; empty when not
// reported.
func (s *Status) RecoveryName() string {
	if s.Cluster.RecoveryState == nil {
		return ""
	}
	return s.Cluster.RecoveryState.Name
}

// NeverConfigured reports whether no database was ever created here. Only the name
// of the recovery state is reliable: a configured database that is unavailable also
// reports the layers' error configurationMissing.
func (s *Status) NeverConfigured() bool { return s.RecoveryName() == RecoveryNeverCreated }

// FullyRecovered reports whether roles can be trusted: the last recovery is complete
// and only the current generation of logs is left. The number of active generations
// is not sufficient, it is 1 while an old generation is still needed.
func (s *Status) FullyRecovered() bool {
	return s.RecoveryName() == RecoveryFullyRecovered && len(s.Cluster.Logs) == 1 && s.Cluster.Logs[0].Current
}

// ActiveGenerations returns how many log generations the recovery counts.
func (s *Status) ActiveGenerations() (n int, ok bool) {
	if s.Cluster.RecoveryState == nil || s.Cluster.RecoveryState.ActiveGenerations == nil {
		return 0, false
	}
	return *s.Cluster.RecoveryState.ActiveGenerations, true
}

// RecoveryAge returns how long ago the last recovery ended; ok is false when
// unknown. Reliable from FoundationDB 7.1.22; see Version.HasRecoveryAge.
func (s *Status) RecoveryAge() (age time.Duration, ok bool) {
	if s.Cluster.RecoveryState == nil {
		return 0, false
	}
	return seconds(s.Cluster.RecoveryState.SecondsSinceLastRecovered)
}

// StartOf returns when a process started, by the clock of the cluster controller, on which
// the database's uptimes are based. An uptime advances in steps of 5 s, so the process may
// have started that much earlier. ok is false when not reported.
func (s *Status) StartOf(p Process) (start time.Time, ok bool) {
	now, reported := s.Time()
	uptime, known := p.Uptime()
	return now.Add(-uptime), reported && known
}

// Time returns when the document was created, by the clock of the cluster controller; ok
// is false when not reported.
func (s *Status) Time() (now time.Time, ok bool) {
	if s.Cluster.ClusterControllerTimestamp == nil {
		return time.Time{}, false
	}
	return time.Unix(*s.Cluster.ClusterControllerTimestamp, 0).UTC(), true
}

// ListsProcesses reports whether the document has a complete list of processes. It has
// none without a quorum of coordinators or a cluster controller, which does not mean that
// no process runs; neither does a process missing from an incomplete document.
func (s *Status) ListsProcesses() bool {
	return s != nil && s.Cluster.Processes != nil && !s.Incomplete()
}

// ProcessList returns all processes, ordered by process group, process and
// ID.
func (s *Status) ProcessList() []Process {
	return s.processesThat(func(Process) bool { return true }, len(s.Cluster.Processes))
}

// ProcessesThat returns the processes that match, in the order of
// ProcessList.
func (s *Status) ProcessesThat(match func(Process) bool) []Process {
	return s.processesThat(match, 1)
}

// processesThat returns the processes that match, approximately about of them.
// Others are not sorted, since it is called for each of a thousand groups.
func (s *Status) processesThat(match func(Process) bool, about int) []Process {
	// The keys are sorted rather than the processes, which are large: a pass over a
	// thousand of them calls this several times.
	type key struct{ instance, process, id string }
	keys := make([]key, 0, about)
	for id, p := range s.Cluster.Processes {
		if match(p) {
			keys = append(keys, key{p.InstanceID(), p.Locality[LocalityProcessID], id})
		}
	}
	stable.Sort(keys, func(a, b key) int {
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

// ProcessesOf returns the processes of one process group. A process that has
// not reported its localities yet, or died some seconds ago, belongs to none.
func (s *Status) ProcessesOf(instanceID string) []Process {
	if instanceID == "" {
		return nil
	}
	return s.processesThat(func(p Process) bool { return p.InstanceID() == instanceID }, 1)
}

// ProcessesByGroup returns what ProcessesOf returns of each process group, for callers that ask for
// many; nil without a document.
func (s *Status) ProcessesByGroup() map[string][]Process {
	if s == nil {
		return nil
	}
	byGroup := map[string][]Process{}
	for _, p := range s.Cluster.Processes {
		if id := p.InstanceID(); id != "" {
			byGroup[id] = append(byGroup[id], p)
		}
	}
	for _, processes := range byGroup { // sorting a few of each is cheaper than sorting all
		stable.Sort(processes, func(a, b Process) int {
			return cmp.Or(cmp.Compare(a.Locality[LocalityProcessID], b.Locality[LocalityProcessID]), cmp.Compare(a.ID, b.ID))
		})
	}
	return byGroup
}

// Coordinators returns the coordinators as in a connection string, without
// "(fromHostname)".
func (s *Status) Coordinators() []Address {
	coordinators := make([]Address, len(s.Client.Coordinators.Coordinators))
	for i, c := range s.Client.Coordinators.Coordinators {
		coordinators[i] = c.Address
		coordinators[i].FromHostname = false
	}
	return coordinators
}

// IsCoordinator reports whether the process listens on a coordinator's address or
// has the role.
func (s *Status) IsCoordinator(p Process) bool {
	if p.HasRole(RoleCoordinator) {
		return true
	}
	return slices.ContainsFunc(s.Coordinators(), p.ListensAt)
}

// CoordinatorsReachable reports whether every coordinator, and so a quorum, is
// reachable.
func (s *Status) CoordinatorsReachable() bool {
	all := s.Client.Coordinators.Coordinators
	return s.Client.Coordinators.QuorumReachable && len(all) > 0 &&
		!slices.ContainsFunc(all, func(c CoordinatorStatus) bool { return !c.Reachable })
}

// CoordinatorProtocol returns the protocol of the coordinators, known even when
// the tool uses another one; ok is false when none responds or they differ.
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

// ExcludedTargets returns the exclusions in force, including failed ones.
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

// Locked reports whether a restore, disaster recovery or a user locked the
// database, and with which UID; known is false when not reported.
func (s *Status) Locked() (locked bool, uid string, known bool) {
	if s.Cluster.DatabaseLockState == nil {
		return false, "", false
	}
	return s.Cluster.DatabaseLockState.Locked, s.Cluster.DatabaseLockState.LockUID, true
}

// Maintenance returns the reported zone under maintenance. The zone is read together with full_replication;
// when that takes longer than 5 s, MessageFullReplicationTimeout is reported instead of both, and known
// is false. Source: loadConfiguration of fdbserver/Status.actor.cpp.
func (s *Status) Maintenance() (m Maintenance, known bool) {
	remaining, _ := seconds(s.Cluster.MaintenanceSecondsRemaining)
	m = Maintenance{Zone: s.Cluster.MaintenanceZone, Remaining: remaining}
	return m, m.Zone != "" || s.Cluster.FullReplication != nil
}

// HasMessage reports whether the cluster has any of the named messages.
func (s *Status) HasMessage(names ...string) bool {
	return slices.ContainsFunc(s.Cluster.Messages, func(m Message) bool { return slices.Contains(names, m.Name) })
}

// HasClientMessage reports whether the client section has any of the named
// messages.
func (s *Status) HasClientMessage(names ...string) bool {
	return slices.ContainsFunc(s.Client.Messages, func(m Message) bool { return slices.Contains(names, m.Name) })
}

// Maintenance is FoundationDB's maintenance mode; it has one zone at a time.
type Maintenance struct {
	// Zone is empty when no zone is under maintenance.
	Zone      string
	Remaining time.Duration
	// Disabled is true if data distribution for storage failures is off, so that
	// maintenance mode cannot be used.
	Disabled bool
}

// Active reports whether a zone is under maintenance.
func (m Maintenance) Active() bool { return m.Zone != "" }

// availability matches a status document of an available database. Parsing all of it is
// expensive.
var availability = regexp.MustCompile(`"database_status"\s*:\s*\{[^{}]*"available"\s*:\s*true\b`)

// incompatible is printed by `status` when processes use another protocol than fdbcli. The document
// is then that of a database without a quorum, and has no protocol of a coordinator. Recorded with
// fdbcli 7.3.79 on servers of 7.4.6, and the other way round.
const incompatible = "WARNING: One or more of the processes in the cluster is incompatible with this version of fdbcli."

// SaysIncompatible reports whether fdbcli printed on stderr that it cannot connect to processes
// because of their protocol.
func SaysIncompatible(stderr []byte) bool { return bytes.Contains(stderr, []byte(incompatible)) }

// SaysAvailable reports whether a status document, as the tool printed it, reports the
// database as available.
func SaysAvailable(document []byte) bool { return availability.Match(document) }

// SaysNeverConfigured reports whether a status document, as the tool printed it, reports that no
// database was ever created here, and that a quorum of the coordinators was reached: they know.
func SaysNeverConfigured(document []byte) bool {
	if !bytes.Contains(document, []byte(`"`+RecoveryNeverCreated+`"`)) { // most documents are long, and need no parsing
		return false
	}
	s, err := ParseStatus(document)
	return err == nil && s.NeverConfigured() && s.Client.Coordinators.QuorumReachable
}
