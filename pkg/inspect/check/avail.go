package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// availability returns the rules about availability, now and after the next failure.
func availability() []Rule {
	return []Rule{
		{
			Code: "AVAIL-001", Severity: Critical, Title: "The database is available",
			Why:  "Clients can neither read nor write. Nothing else is repaired until it is available.",
			Find: available,
		},
		{
			Code: "AVAIL-002", Severity: Error, Title: "Fault tolerance matches the redundancy mode", Needs: findings.NeedsAvailableDatabase,
			Why:  "The next failure can cost availability or data. A zone with a process that does not report counts as failed, although FoundationDB notices it late.",
			Find: toleratesFailures,
		},
		{
			Code: "AVAIL-003", Severity: Error, Title: "All data is fully replicated", Needs: findings.NeedsAvailableDatabase,
			Why:  "Data distribution is still copying data, or cannot.",
			Find: copies,
		},
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
	}
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

func toleratesFailures(f Facts) ([]Finding, string) {
	t := f.Status.FaultTolerance
	switch {
	case t.Zones == nil:
		return nil, "the fault tolerance is unknown"
	case *t.Zones >= t.Desired:
		return nil, ""
	}
	message := fmt.Sprintf("%s may fail, %d desired", phrase.Count(*t.Zones, "more zone"), t.Desired)
	return with(one(database, message, f.fix("status")...))
}

// copies does not report data distribution that is starting: for some seconds after each
// recovery its health is not reported, and all data is still fully replicated.
func copies(f Facts) ([]Finding, string) {
	switch d := f.Status.Database; {
	case d.Replicas != nil && *d.Replicas < d.ReplicasDesired:
		return with(one(database, "some data has "+phrase.CountOf(max(0, *d.Replicas), d.ReplicasDesired, "replica"), f.fix("status")...))
	case d.FullReplication == nil:
		return nil, "whether all data is fully replicated is unknown"
	case !*d.FullReplication:
		return with(one(database, "not all data is fully replicated", f.fix("status")...))
	case d.DataHealthy != nil && !*d.DataHealthy:
		return with(one(database, "data distribution is in state "+d.DataState, f.fix("status")...))
	default:
		return nil, ""
	}
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
