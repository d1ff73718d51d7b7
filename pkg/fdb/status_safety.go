package fdb

import (
	"slices"
	"strings"
	"time"
)

// DeathNoticedAfter is the maximum time that a storage process can be dead before the
// database's own numbers show it. Recorded on FoundationDB 7.3.79: 66 to 70 s, during
// which replication and fault tolerance are reported as full.
const DeathNoticedAfter = 90 * time.Second

// Messages that make parts of the document unreliable.
const (
	MessageUnreadableConfiguration = "unreadable_configuration"
	MessageFullReplicationTimeout  = "full_replication_timeout"
	MessageStorageServersError     = "storage_servers_error"
	MessageLogServersError         = "log_servers_error"
	MessageCommitProxiesError      = "commit_proxies_error"
	MessageGRVProxiesError         = "grv_proxies_error"
	MessageBlobWorkersError        = "blob_workers_error"
	MessageUnreachableProcesses    = "unreachable_processes"
)

// RolesKnown reports whether the roles of processes are complete. Whether they
// are current requires FullyRecovered too. Some process of every database has one: a document
// without any role does not report them.
func (s *Status) RolesKnown() bool {
	return !s.Incomplete() && s.anyRole() && !s.HasMessage(MessageUnreadableConfiguration, MessageFullReplicationTimeout,
		MessageStorageServersError, MessageLogServersError, MessageCommitProxiesError, MessageGRVProxiesError, MessageBlobWorkersError)
}

// DataHealthy reports whether the primary's data is healthy. It is not reported
// while data distribution starts, which counts as unhealthy.
func (s *Status) DataHealthy() bool {
	state, ok := s.DataState()
	return ok && state.Healthy != nil && *state.Healthy
}

// DataState returns the state of the primary's data.
func (s *Status) DataState() (state DataState, ok bool) {
	if s.Cluster.Data == nil || s.Cluster.Data.State == nil {
		return DataState{}, false
	}
	return *s.Cluster.Data.State, true
}

// MinReplicasRemaining returns the fewest replicas that any piece of data has in
// any region; ok is false unless the team tracker of every region reports: one that has not
// logged an event yet is absent from the list. It keeps its full value for about a minute
// after a storage process died.
func (s *Status) MinReplicasRemaining() (least int, ok bool) {
	if s.Cluster.Data == nil {
		return 0, false
	}
	regions := map[bool]bool{} // by whether it is the primary one
	for _, tracker := range s.Cluster.Data.TeamTrackers {
		n := tracker.State.MinReplicasRemaining
		if n == nil {
			return 0, false
		}
		if len(regions) == 0 || *n < least {
			least = *n
		}
		regions[tracker.Primary] = true
	}
	remote := s.Cluster.Configuration != nil && s.Cluster.Configuration.UsableRegions > 1
	return least, regions[true] && (regions[false] || !remote)
}

// RegionReplicas returns the fewest replicas that any piece of data has in the region with the most of them; ok is
// false unless the team tracker of a region reports. It is as late as MinReplicasRemaining.
func (s *Status) RegionReplicas() (least int, ok bool) {
	if s.Cluster.Data == nil {
		return 0, false
	}
	for _, tracker := range s.Cluster.Data.TeamTrackers {
		if n := tracker.State.MinReplicasRemaining; n != nil {
			least, ok = max(least, *n), true
		}
	}
	return least, ok
}

// LogReplicas returns the fewest replicas that any set of logs of any generation
// keeps; ok is false unless every generation reports.
func (s *Status) LogReplicas() (least int, ok bool) {
	for _, l := range s.Cluster.Logs {
		if l.ReplicationFactor == nil {
			return 0, false
		}
		for _, n := range []*int{l.ReplicationFactor, l.RemoteReplicationFactor, l.SatelliteReplicationFactor} {
			if n != nil && *n > 0 && (!ok || *n < least) {
				least, ok = *n, true
			}
		}
	}
	return least, ok
}

// LogsFullyReplicated reports whether every log set of every generation can lose as
// many logs as its replication allows.
func (s *Status) LogsFullyReplicated() bool {
	return len(s.Cluster.Logs) > 0 &&
		!slices.ContainsFunc(s.Cluster.Logs, func(l LogGeneration) bool { return !l.FullyReplicated() })
}

// FullyReplicated reports whether the generation's local log set, and its remote and
// satellite ones if it has them, are complete.
func (l LogGeneration) FullyReplicated() bool {
	return l.ReplicationFactor != nil &&
		complete(l.ReplicationFactor, l.FaultTolerance) &&
		complete(l.RemoteReplicationFactor, l.RemoteFaultTolerance) &&
		complete(l.SatelliteReplicationFactor, l.SatelliteFaultTolerance)
}

// complete reports whether a log set with this replication, absent or 0 for no such
// set, tolerates one failure less than it has replicas.
func complete(replication, tolerance *int) bool {
	if replication == nil || *replication == 0 {
		return true
	}
	return tolerance != nil && *tolerance+1 == *replication
}

// ReasonNotFullyRecovered is the reason of a bounce impact until the last recovery is
// complete, and the only one that FoundationDB has.
const ReasonNotFullyRecovered = "cluster hasn't fully recovered yet"

// CanCleanBounce reports whether all processes can be restarted at once; known is
// false when not reported.
func (s *Status) CanCleanBounce() (can, known bool) {
	if s.Cluster.BounceImpact == nil || s.Cluster.BounceImpact.CanCleanBounce == nil {
		return false, false
	}
	return *s.Cluster.BounceImpact.CanCleanBounce, true
}

// StorageEngines counts storage servers by their actual engine. Those that do
// not report it, as before 7.3, count under "".
func (s *Status) StorageEngines() map[string]int {
	engines := map[string]int{}
	for _, p := range s.Cluster.Processes {
		for _, r := range p.Roles {
			if r.Role != RoleStorage || (r.TSS != nil && *r.TSS) { // testing storage servers have an engine of their own
				continue
			}
			engine := ""
			if r.StorageMetadata != nil {
				engine = r.StorageMetadata.StorageEngine
			}
			engines[engine]++
		}
	}
	return engines
}

// Messages of an incomplete status document.
const (
	// MessageIncompleteTimeout is the message of a client that timed out.
	MessageIncompleteTimeout = "status_incomplete_timeout"
	// MessageIncomplete lists what the cluster controller could not collect. It also occurs
	// with a complete list of processes, so it is inconclusive without its reasons.
	MessageIncomplete = "status_incomplete"
	// ReasonDeadlineExceeded is the reason of MessageIncomplete when the collection as a
	// whole was late, from 7.3.78 and 7.4.7. Any part of the document can be absent then.
	ReasonDeadlineExceeded = "Status collection deadline exceeded."
	// reasonThrown begins the reason of MessageIncomplete when the collection ended with an error, from the same
	// versions: the document has what was collected until then. Source: clusterGetStatus of
	// fdbserver/Status.actor.cpp.
	reasonThrown = "Status collection threw: "
)

// noClusterSection are the messages of a client that got no answer of the cluster controller, or none that it
// could read: the document has nothing about the database. Source: clusterStatusFetcher and
// statusFetcherImpl of fdbclient/StatusClient.actor.cpp.
var noClusterSection = []string{"server_overloaded", "unreachable_cluster_controller", "status_incomplete_error", "status_incomplete_cluster"}

// Incomplete reports whether the document is incomplete, so that absence proves nothing.
// An available database always has processes; a document without them is incomplete even
// without a message. An unavailable or never configured database can lack them for other
// reasons. A document with neither a recovery state nor the locality of any process comes from a
// database that suppresses the trace events it is made from (knob_min_trace_severity): its processes
// run, and belong to no process group.
func (s *Status) Incomplete() bool {
	return s.HasMessage(MessageIncompleteTimeout) || s.HasClientMessage(MessageIncompleteTimeout) ||
		s.CutShort() || (s.Available() && len(s.Cluster.Processes) == 0) || s.LacksTraceEvents() || s.lacksCluster()
}

// lacksCluster reports whether the client got no document of the cluster controller.
func (s *Status) lacksCluster() bool {
	return s.RecoveryName() == "" && len(s.Cluster.Processes) == 0 && s.HasClientMessage(noClusterSection...)
}

// LacksTraceEvents reports whether the cluster controller could not collect everything, and lists processes
// without any locality and no recovery state. In the first seconds of a database, processes lack
// localities beside a recovery state.
func (s *Status) LacksTraceEvents() bool {
	if s.RecoveryName() != "" || !s.HasMessage(MessageIncomplete) {
		return false
	}
	for _, p := range s.Cluster.Processes {
		if len(p.Locality) > 0 {
			return false
		}
	}
	return len(s.Cluster.Processes) > 0
}

// CutShort reports whether the cluster controller ended the collection at its deadline, or after an error.
// The database may serve all the same.
func (s *Status) CutShort() bool {
	late := func(r Reason) bool {
		return r.Description == ReasonDeadlineExceeded || strings.HasPrefix(r.Description, reasonThrown)
	}
	return slices.ContainsFunc(slices.Concat(s.Cluster.Messages, s.Client.Messages), func(m Message) bool {
		return m.Name == MessageIncomplete && slices.ContainsFunc(m.Reasons, late)
	})
}

// MessageClientIssues lists what clients report about themselves.
const MessageClientIssues = "client_issues"

// OnlyClientsHaveIssues reports whether the database does not call itself healthy for no other reason than issues
// of clients: any message of the cluster or of a process has that effect. Coordinators report the issue of
// a client for up to ten minutes after the client ended (CLIENT_REGISTER_INTERVAL).
func (s *Status) OnlyClientsHaveIssues() bool {
	if s.Healthy() || !s.DataHealthy() || len(s.Cluster.Messages) == 0 {
		return false
	}
	for _, m := range s.Cluster.Messages {
		if m.Name != MessageClientIssues {
			return false
		}
	}
	for _, p := range s.Cluster.Processes {
		if len(p.Messages) > 0 {
			return false
		}
	}
	return true
}

// anyRole reports whether any process has a role, as some process of every database has.
func (s *Status) anyRole() bool {
	for _, p := range s.Cluster.Processes {
		if len(p.Roles) > 0 {
			return true
		}
	}
	return false
}

// StaleAfter is for how long a database may answer with status documents of the same time: they have it in whole
// seconds, and each is created for its request.
const StaleAfter = 5 * time.Second

// Staleness notices a database that answers with the same status document in every read. Such a document shows
// nothing of what was done since: what is restarted because of it would be restarted again.
type Staleness struct {
	created, since time.Time
}

// Of returns for how long the time of the documents had not changed when the read of one began. It is 0 for a document
// that has another time than the one before, or none. Only equal times count: a cluster controller on another machine may
// have a clock that is behind. And the end of a read does not count: it may come long after the document was created.
func (s *Staleness) Of(status *Status, began, ended time.Time) time.Duration {
	created, reported := status.Time()
	if !reported || !created.Equal(s.created) {
		*s = Staleness{created, ended}
		return 0
	}
	return max(0, began.Sub(s.since))
}
