package fdb

import "slices"

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
