package status

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// missingProcesses: a process of the group does not report to the database.
var missingProcesses = condition{v1beta2.ConditionMissingProcesses, func(f GroupFacts) (verdict, error) {
	if !f.databaseAnswers {
		return keep, nil // a snapshot without any process proves nothing about one
	}
	return verdictOf(len(f.processes) < f.servers), nil
}}

// markedAsExcluded: a process of a group that should stay is excluded. One is enough, whether the
// others of the pod report or not; that none is shows only when all report.
var markedAsExcluded = condition{v1beta2.ConditionProcessIsMarkedAsExcluded, func(f GroupFacts) (verdict, error) {
	if !f.databaseAnswers {
		return keep, nil
	}
	for _, p := range f.processes {
		if p.IsExcluded() {
			return holds, nil
		}
	}
	if !f.allReport() {
		return keep, nil
	}
	return cleared, nil
}}

// ioError: a process reports that its disk failed or hung.
var ioError = condition{v1beta2.ConditionProcessHasIOError, func(f GroupFacts) (verdict, error) {
	if !f.allReport() {
		return keep, nil
	}
	for _, p := range f.processes {
		for _, m := range p.Messages {
			if strings.EqualFold(m.Name, "io_error") || strings.EqualFold(m.Name, "io_timeout") {
				return holds, nil
			}
		}
	}
	return cleared, nil
}}

// highRunLoopBusy: never set. The threshold is a flag of the operator, by default "never",
// and nothing here sets another one. A condition that an operator with such a flag left in
// the status is cleared as soon as all processes report, as when an operator without the flag
// takes over: otherwise it would cause a replacement.
var highRunLoopBusy = condition{v1beta2.ConditionProcessHasHighRunLoopBusy, func(f GroupFacts) (verdict, error) {
	if !f.allReport() {
		return keep, nil
	}
	return cleared, nil
}}

func (f GroupFacts) allReport() bool { return f.databaseAnswers && len(f.processes) == f.servers }
