package stagestest

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Partial are the ways in which a document arrives without its processes and still reports an
// available database.
var Partial = map[string]func(*fdb.Status){
	"its document timed out": func(s *fdb.Status) {
		s.Cluster.Processes = nil
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{Name: fdb.MessageIncompleteTimeout})
	},
	"its document was late": func(s *fdb.Status) {
		s.Cluster.Processes = nil
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{
			Name: fdb.MessageIncomplete, Reasons: []fdb.Reason{{Description: fdb.ReasonDeadlineExceeded}},
		})
	},
	"its document lists no process and gives no reason": func(s *fdb.Status) { s.Cluster.Processes = nil },
}
