package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// availability returns the rules about availability, now and after the next failure.
func availability() []Rule {
	first := []Rule{
		{
			Code: "AVAIL-001", Severity: Critical, Title: "The database is available",
			Why:  "Clients can neither read nor write. Nothing else is repaired until it is available.",
			Find: available,
		},
	}
	return slices.Concat(first, rulesOf(inspect.DataRules()), []Rule{
		{
			Code: "AVAIL-004", Severity: Warning, Title: "Storage and log processes keep up", Needs: findings.NeedsAvailableDatabase,
			Why: "Lag above a minute or queues above 250 MiB slow down writes, and most changes wait until both are lower.",
			Find: func(f Facts) ([]Finding, string) {
				return with(f.refused(safety.LoadWithinLimits(f.Database)))
			},
		},
		{
			Code: "AVAIL-005", Severity: Error, Title: "The database is not locked", Needs: findings.NeedsAvailableDatabase,
			Why:  "A restore, disaster recovery or a user locked it: requests of applications fail.",
			Find: func(f Facts) ([]Finding, string) { return with(f.refused(safety.Unlocked(f.Database))) },
		},
		{
			Code: "AVAIL-006", Severity: Warning, Title: "Few active log generations", Needs: findings.NeedsAvailableDatabase,
			Why:  "Many log generations mean repeated recoveries; no change that causes another one starts.",
			Find: func(f Facts) ([]Finding, string) { return with(f.refused(safety.FewGenerations(f.Database))) },
		},
		{
			Code: "AVAIL-007", Severity: Warning, Title: "No database messages", Needs: findings.NeedsStatusDocument,
			Why:  "FoundationDB reports problems that it detected itself.",
			Find: messages,
		},
		{
			Code: "AVAIL-008", Severity: Warning, Title: "No zone is under maintenance", Needs: findings.NeedsAvailableDatabase,
			Why:  "Data of a zone under maintenance is not copied elsewhere if its processes fail. Maintenance that was left on hides failures until it expires.",
			Find: maintenance,
		},
		{
			Code: "AVAIL-009", Severity: Error, Title: "No knob hides data from the status document",
			Why: "FoundationDB builds its status document from trace events of severity 10. If knob_min_trace_severity is higher, the document has neither the recovery state nor the localities of processes, and every pass waits forever. " +
				"Remove the parameter, run a pass, then restart the processes by deleting their pods, one fault domain at a time.",
			Find: hidingKnobs,
		},
		{
			Code: "AVAIL-010", Severity: Critical, Title: "The database starts transactions", Needs: findings.NeedsAvailableDatabase,
			Why:  "Ratekeeper starts fewer transactions than clients request, or none at all when disks are full: for its clients, a database without transactions is unavailable.",
			Find: startsTransactions,
		},
		{
			Code: "AVAIL-011", Severity: Error, Title: "Data distribution replaces lost copies", Needs: findings.NeedsAvailableDatabase,
			Why: "Data distribution was switched off, as a whole or for failures of storage processes: a process that fails is not replaced, and the next failure can lose data.",
			Find: func(f Facts) ([]Finding, string) {
				return with(f.restricted(inspect.RestrictionDataDistribution, inspect.RestrictionStorageFailures))
			},
		},
	}, rulesOf(inspect.HealthRules()))
}

// refused returns a finding for a safety check that failed.
func (f Facts) refused(c plan.Check) []Finding {
	if c.OK {
		return nil
	}
	return one(database, c.Evidence, f.fix("status")...)
}

func available(f Facts) ([]Finding, string) {
	switch f.Status.State {
	case inspect.StateUnknown:
		return nil, inspect.NoAnswer(f.Database)
	case inspect.StateNotConfigured:
		return with(one(database, f.Status.Summary, f.fix("plan")...))
	case inspect.StateUnavailable:
		return with(one(database, f.Status.Summary, f.fix("status")...))
	case inspect.StateHealthy, inspect.StateDegraded:
	}
	return nil, ""
}

// restricted returns a finding for each restriction with one of the codes, with the command that ends it.
func (f Facts) restricted(codes ...inspect.RestrictionCode) []Finding {
	var found []Finding
	for _, r := range f.Status.Restrictions {
		if slices.Contains(codes, r.Code) && r.Effect != inspect.UnknownEffect {
			found = append(found, one(database, r.Text(), append([]string{"fdb"}, r.Command...)...)...)
		}
	}
	return found
}

// startsTransactions reports nothing where the limit is unknown, which is no finding and no pass.
func startsTransactions(f Facts) ([]Finding, string) {
	for _, r := range f.Status.Restrictions {
		if r.Code == inspect.RestrictionNoTransactions && r.Effect == inspect.UnknownEffect {
			return nil, r.Message
		}
	}
	return with(f.restricted(inspect.RestrictionNoTransactions, inspect.RestrictionRatekeeper))
}

func messages(f Facts) ([]Finding, string) {
	var found []Finding
	for _, m := range slices.Concat(f.Database.Status.Client.Messages, f.Database.Status.Cluster.Messages) {
		message := m.Name
		if m.Description != "" {
			message += ": " + m.Description
		}
		found = append(found, Finding{Subjects: []string{database}, Message: message, Fix: f.fix("status")})
	}
	return found, ""
}

func maintenance(f Facts) ([]Finding, string) {
	m, known := f.Database.Status.Maintenance()
	switch {
	case !known:
		return nil, "the database does not report whether a zone is under maintenance"
	case !m.Active():
		return nil, ""
	}
	return with(one("zone/"+m.Zone, fmt.Sprintf("under maintenance for %s more", m.Remaining), "fdb", "maintenance", "off", f.Cluster.Name))
}

func hidingKnobs(f Facts) ([]Finding, string) {
	places := f.TraceEventsSuppressedBy()
	if len(places) == 0 {
		return nil, ""
	}
	return with(one(database, "knob_min_trace_severity above 10 hides data from the status document: "+strings.Join(places, ", "), "edit", "foundationdbcluster", f.Cluster.Name))
}
