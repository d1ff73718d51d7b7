package status

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/activity"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// unreadableMessages are the complaints of a cluster whose configuration cannot
// be read.
func unreadableMessages(db *model.Database) []any {
	var messages []any
	if unreachable := Unreachable(db); len(unreachable) > 0 {
		messages = append(messages, unreachableMessage(unreachable))
	}
	for _, m := range []struct {
		instance             model.RoleInstance
		name, worker, reader string
	}{
		{instance: db.Roles.Distributor, name: "unreachable_dataDistributor_worker", worker: "data distributor"},
		{instance: db.Roles.Ratekeeper, name: "unreachable_ratekeeper_worker", worker: "ratekeeper"},
		{instance: db.Roles.Scan, name: "unreachable_consistencyScan_worker", worker: "consistencyScan"},
	} {
		if !m.instance.Taken() {
			messages = append(messages, message(m.name, fmt.Sprintf("Unable to locate the %s worker.", m.worker)))
		}
	}
	messages = append(messages,
		message("unreadable_configuration", "Unable to read database configuration."),
		message("fetch_consistency_scan_info_timeout", "Fetching consistency scan information timed out."))
	var reasons []string
	if processesIncomplete(db) {
		reasons = append(reasons, "Cannot retrieve all process status information.")
	}
	reasons = append(reasons, "Unable to retrieve idempotency ID status.",
		"Unable to retrieve version epoch information (Operation timed out).")
	return append(messages, incompleteMessage(reasons))
}

func incompleteMessage(reasons []string) Object {
	var each []any
	for _, r := range reasons {
		each = append(each, Object{"description": r})
	}
	m := message("status_incomplete", "Unable to retrieve all status information.")
	m["reasons"] = each
	return m
}

func unreachableMessage(unreachable []string) Object {
	var each []any
	for _, a := range unreachable {
		each = append(each, Object{"address": a})
	}
	m := message("unreachable_processes", "The cluster has some unreachable processes.")
	m["unreachable_processes"] = each
	return m
}

// Unreachable are the registered processes that do not answer.
func Unreachable(db *model.Database) []string {
	var unreachable []string
	for _, s := range db.Members {
		if !s.Alive() {
			unreachable = append(unreachable, s.Address().String())
		}
	}
	return unreachable
}

// processesIncomplete reports whether some process has not reported anything
// yet.
func processesIncomplete(db *model.Database) bool {
	return db.Faults.PartialStatus || slices.ContainsFunc(db.Members, func(s *model.Process) bool { return !reports(db, s) })
}

// cachesUnknown reports whether a storage or log process does not report its
// cache.
func cachesUnknown(db *model.Database) bool {
	return slices.ContainsFunc(db.Members, func(s *model.Process) bool {
		return (!s.Alive() && db.StorageOn(s) != nil) || (s.Alive() && !reports(db, s) && logsNow(db, s))
	})
}

func logsNow(db *model.Database, s *model.Process) bool {
	return len(db.Logs) > 0 && len(logRoles(db, s, db.Logs[0], activity.LogActivity{})) > 0
}

func readableMessages(db *model.Database) []any {
	var messages []any
	unreachable := Unreachable(db)
	if len(unreachable) > 0 {
		messages = append(messages, unreachableMessage(unreachable))
	}
	var reasons []string
	if processesIncomplete(db) {
		reasons = append(reasons, "Cannot retrieve all process status information.")
	}
	if cachesUnknown(db) {
		reasons = append(reasons, "Unknown cache statistics.")
	}
	if justRecruited(db) {
		reasons = append(reasons, "Unknown performance state.")
	}
	if len(reasons) > 0 {
		messages = append(messages, incompleteMessage(reasons))
	}
	return list(messages)
}
