package fdb

import (
	"slices"
	"strings"
)

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
