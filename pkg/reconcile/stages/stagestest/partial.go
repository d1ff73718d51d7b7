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
	"its collection ended with an error": func(s *fdb.Status) {
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{
			Name: fdb.MessageIncomplete, Reasons: []fdb.Reason{{Description: "Status collection threw: operation_failed"}},
		})
	},
	"its document was late, with some processes": func(s *fdb.Status) {
		for id := range s.Cluster.Processes {
			delete(s.Cluster.Processes, id)
			break
		}
		s.Cluster.Messages = append(s.Cluster.Messages, fdb.Message{
			Name: fdb.MessageIncomplete, Reasons: []fdb.Reason{{Description: fdb.ReasonDeadlineExceeded}},
		})
	},
}

// Lacking are documents with processes that lack a section, or a field of every process.
var Lacking = map[string]func(*fdb.Status){
	"roles":          EachProcess(func(p *fdb.Process) { p.Roles = nil }),
	"localities":     EachProcess(func(p *fdb.Process) { p.Locality = nil }),
	"versions":       EachProcess(func(p *fdb.Process) { p.Version, p.CommandLine = "", "" }),
	"uptimes":        EachProcess(func(p *fdb.Process) { p.UptimeSeconds = nil }),
	"recovery_state": func(s *fdb.Status) { s.Cluster.RecoveryState = nil },
	"data":           func(s *fdb.Status) { s.Cluster.Data = nil },
	"logs":           func(s *fdb.Status) { s.Cluster.Logs = nil },
	"coordinators":   func(s *fdb.Status) { s.Client.Coordinators.Coordinators = nil },
	"lock state":     func(s *fdb.Status) { s.Cluster.DatabaseLockState = nil },
	"configuration":  func(s *fdb.Status) { s.Cluster.Configuration = nil },
}

// EachProcess returns a change of every process of a document.
func EachProcess(change func(*fdb.Process)) func(*fdb.Status) {
	return func(s *fdb.Status) {
		for id, p := range s.Cluster.Processes {
			change(&p)
			s.Cluster.Processes[id] = p
		}
	}
}
