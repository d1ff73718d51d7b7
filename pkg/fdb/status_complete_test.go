package fdb

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestIncompleteStatusDocumentsAreDetected changes one thing at a time in recorded documents.
func TestIncompleteStatusDocumentsAreDetected(t *testing.T) {
	incomplete := func(reasons ...string) Message {
		m := Message{Name: MessageIncomplete}
		for _, r := range reasons {
			m.Reasons = append(m.Reasons, Reason{Description: r})
		}
		return m
	}
	cases := map[string]struct {
		document string
		change   func(*Status)
		want     bool
	}{
		"complete": {"05-healthy", func(*Status) {}, false},
		"a remark about one process beside the full list": {"70-one-storage-down-t01", func(*Status) {}, false},
		"the client timed out": {"05-healthy", func(s *Status) {
			s.Client.Messages = append(s.Client.Messages, Message{Name: MessageIncompleteTimeout})
		}, true},
		"the cluster controller timed out": {"05-healthy", func(s *Status) {
			s.Cluster.Messages = append(s.Cluster.Messages, Message{Name: MessageIncompleteTimeout})
		}, true},
		"the deadline was exceeded": {"05-healthy", func(s *Status) {
			s.Cluster.Messages = append(s.Cluster.Messages, incomplete("Unknown performance state.", ReasonDeadlineExceeded))
		}, true},
		"the collection ended with an error": {"05-healthy", func(s *Status) {
			s.Cluster.Messages = append(s.Cluster.Messages, incomplete("Status collection threw: operation_failed"))
		}, true},
		"no answer of the cluster controller": {"05-healthy", func(s *Status) {
			s.Cluster = ClusterStatus{}
			s.Client.Messages = append(s.Client.Messages, Message{Name: "unreachable_cluster_controller"})
		}, true},
		"an error of the cluster controller": {"05-healthy", func(s *Status) {
			s.Cluster = ClusterStatus{}
			s.Client.Messages = append(s.Client.Messages, Message{Name: "status_incomplete_error"})
		}, true},
		"no cluster controller": {"28-quorum-lost", func(*Status) {}, false},
		"the deadline was exceeded, by the client's remark": {"05-healthy", func(s *Status) {
			s.Client.Messages = append(s.Client.Messages, incomplete(ReasonDeadlineExceeded))
		}, true},
		"the deadline as a reason of another remark": {"05-healthy", func(s *Status) {
			s.Cluster.Messages = append(s.Cluster.Messages, Message{Name: "other", Reasons: []Reason{{Description: ReasonDeadlineExceeded}}})
		}, false},
		"the deadline was exceeded and the database is unavailable": {"63-all-logs-down", func(s *Status) {
			s.Cluster.Messages = append(s.Cluster.Messages, incomplete(ReasonDeadlineExceeded))
		}, true},
		"available and without a list of processes": {"05-healthy", func(s *Status) { s.Cluster.Processes = nil }, true},
		"available with an empty list of processes": {"05-healthy", func(s *Status) { s.Cluster.Processes = map[string]Process{} }, true},
		"neither localities nor a recovery state, as with min_trace_severity": {"05-healthy", func(s *Status) {
			s.Cluster.RecoveryState = nil
			s.Cluster.Messages = append(s.Cluster.Messages, incomplete("Recovery Status unavailable."))
			for id, p := range s.Cluster.Processes {
				p.Locality = nil
				s.Cluster.Processes[id] = p
			}
		}, true},
		"localities without a recovery state": {"05-healthy", func(s *Status) {
			s.Cluster.RecoveryState = nil
			s.Cluster.Messages = append(s.Cluster.Messages, incomplete("Recovery Status unavailable."))
		}, false},
		"no locality beside a recovery state": {"05-healthy", func(s *Status) {
			s.Cluster.Messages = append(s.Cluster.Messages, incomplete("Unknown performance state."))
			for id, p := range s.Cluster.Processes {
				p.Locality = nil
				s.Cluster.Processes[id] = p
			}
		}, false},
		"unavailable and without a list of processes":      {"28-quorum-lost", func(*Status) {}, false},
		"never configured and without a list of processes": {"02-unconfigured", func(s *Status) { s.Cluster.Processes = nil }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := recorded(t, c.document)
			c.change(s)
			if got := s.Incomplete(); got != c.want {
				t.Errorf("incomplete %v, want %v", got, c.want)
			}
			if s.Incomplete() && s.ListsProcesses() {
				t.Error("an incomplete document is taken for a list of all processes")
			}
			if s.Incomplete() && s.RolesKnown() {
				t.Error("the roles of an incomplete document are taken for known")
			}
		})
	}
}

// withoutCluster are recorded documents of a client that the cluster controller did not answer.
var withoutCluster = []string{"regions-36-04-dc1-dead-1.json"}

// TestRecordedStatusDocumentsAreComplete guards against distrust of what a healthy, degraded,
// unavailable or new database prints.
func TestRecordedStatusDocumentsAreComplete(t *testing.T) {
	for _, file := range recordedDocuments(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) == 0 {
			continue // a run that timed out
		}
		s, err := ParseStatus(text)
		switch {
		case err != nil:
			t.Errorf("%s: %v", filepath.Base(file), err)
		case s.Incomplete() != slices.Contains(withoutCluster, filepath.Base(file)):
			t.Errorf("%s counts as incomplete or is not, want the opposite", filepath.Base(file))
		case s.ListsProcesses() != (s.Cluster.Processes != nil):
			t.Errorf("%s: its list of processes is distrusted", filepath.Base(file))
		}
	}
}
