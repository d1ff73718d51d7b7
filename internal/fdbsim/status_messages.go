package fdbsim

import (
	"fmt"
	"slices"
)

// unreadableMessages are the complaints of a cluster whose configuration cannot
// be read.
func (db *database) unreadableMessages() []any {
	var messages []any
	if gone := db.unreachable(); len(gone) > 0 {
		messages = append(messages, unreachableMessage(gone))
	}
	for _, m := range []struct {
		seat                 seat
		name, worker, reader string
	}{
		{seat: db.crew.distributor, name: "unreachable_dataDistributor_worker", worker: "data distributor"},
		{seat: db.crew.ratekeeper, name: "unreachable_ratekeeper_worker", worker: "ratekeeper"},
		{seat: db.crew.scan, name: "unreachable_consistencyScan_worker", worker: "consistencyScan"},
	} {
		if !m.seat.taken() {
			messages = append(messages, message(m.name, fmt.Sprintf("Unable to locate the %s worker.", m.worker)))
		}
	}
	messages = append(messages,
		message("unreadable_configuration", "Unable to read database configuration."),
		message("fetch_consistency_scan_info_timeout", "Fetching consistency scan information timed out."))
	var reasons []string
	if db.processesIncomplete() {
		reasons = append(reasons, "Cannot retrieve all process status information.")
	}
	reasons = append(reasons, "Unable to retrieve idempotency ID status.",
		"Unable to retrieve version epoch information (Operation timed out).")
	return append(messages, incompleteMessage(reasons))
}

func incompleteMessage(reasons []string) object {
	var each []any
	for _, r := range reasons {
		each = append(each, object{"description": r})
	}
	m := message("status_incomplete", "Unable to retrieve all status information.")
	m["reasons"] = each
	return m
}

func unreachableMessage(gone []string) object {
	var each []any
	for _, a := range gone {
		each = append(each, object{"address": a})
	}
	m := message("unreachable_processes", "The cluster has some unreachable processes.")
	m["unreachable_processes"] = each
	return m
}

// unreachable are the registered processes that do not answer.
func (db *database) unreachable() []string {
	var gone []string
	for _, s := range db.members {
		if !s.alive() {
			gone = append(gone, s.address().String())
		}
	}
	return gone
}

// processesIncomplete reports whether some process has not said anything about
// itself.
func (db *database) processesIncomplete() bool {
	return db.faults.PartialStatus || slices.ContainsFunc(db.members, func(s *server) bool { return !db.reports(s) })
}

// cachesUnknown reports whether a storage or log process says nothing about its
// cache.
func (db *database) cachesUnknown() bool {
	return slices.ContainsFunc(db.members, func(s *server) bool {
		return (!s.alive() && db.storageOn(s) != nil) || (s.alive() && !db.reports(s) && db.logsNow(s))
	})
}

func (db *database) logsNow(s *server) bool {
	return len(db.logs) > 0 && len(db.logRoles(s, db.logs[0])) > 0
}

func (db *database) readableMessages() []any {
	var messages []any
	gone := db.unreachable()
	if len(gone) > 0 {
		messages = append(messages, unreachableMessage(gone))
	}
	var reasons []string
	if db.processesIncomplete() {
		reasons = append(reasons, "Cannot retrieve all process status information.")
	}
	if db.cachesUnknown() {
		reasons = append(reasons, "Unknown cache statistics.")
	}
	if db.justRecruited() {
		reasons = append(reasons, "Unknown performance state.")
	}
	if len(reasons) > 0 {
		messages = append(messages, incompleteMessage(reasons))
	}
	return list(messages)
}
