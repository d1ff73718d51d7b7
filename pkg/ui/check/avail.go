package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// availability are the rules about the database serving, now and after the next failure.
func availability() []Rule {
	return []Rule{
		{
			Code: "AVAIL-001", Severity: Critical, Title: "The database serves",
			Why:  "Nobody can read or write. Nothing else is repaired before this.",
			find: serves,
		},
		{
			Code: "AVAIL-002", Severity: Error, Title: "As many zones may fail as the redundancy promises", needs: serving,
			Why:  "The next failure can cost availability or data. Zones of silent processes count, which the database itself shows late.",
			find: toleratesFailures,
		},
		{
			Code: "AVAIL-003", Severity: Error, Title: "All data has its copies", needs: serving,
			Why:  "Data distribution is still copying, or cannot.",
			find: copies,
		},
		{
			Code: "AVAIL-004", Severity: Warning, Title: "Storage servers and logs keep up", needs: serving,
			Why: "Lag beyond a minute or queues beyond 250 MiB slow writes down, and most changes wait until they are gone.",
			find: func(f Facts) ([]Finding, string) {
				return with(f.refused(safety.LoadWithinLimits(f.Database)))
			},
		},
		{
			Code: "AVAIL-005", Severity: Error, Title: "The database is not locked", needs: serving,
			Why:  "A restore, disaster recovery or a person locked it: applications get errors.",
			find: func(f Facts) ([]Finding, string) { return with(f.refused(safety.Unlocked(f.Database))) },
		},
		{
			Code: "AVAIL-006", Severity: Warning, Title: "Past recoveries are over", needs: serving,
			Why:  "Many log generations mean recoveries in a row; nothing that causes another one starts.",
			find: func(f Facts) ([]Finding, string) { return with(f.refused(safety.FewGenerations(f.Database))) },
		},
		{
			Code: "AVAIL-007", Severity: Warning, Title: "The database makes no remarks", needs: databaseWord,
			Why:  "FoundationDB names what it found wrong by itself.",
			find: remarks,
		},
		{
			Code: "AVAIL-008", Severity: Warning, Title: "No zone is under maintenance", needs: serving,
			Why:  "Data of a zone under maintenance is not copied elsewhere when its servers fail. Maintenance that somebody left on hides failures until it runs out.",
			find: maintenance,
		},
		{
			Code: "AVAIL-009", Severity: Error, Title: "No knob blinds the status document",
			Why: "FoundationDB makes its status document from trace events of severity 10. With knob_min_trace_severity above that the document reports neither the recovery state nor the configuration, and every pass waits for ever. " +
				"Remove the parameter, run a pass, then restart the processes by deleting their pods, one fault domain at a time.",
			find: blindingKnobs,
		},
	}
}

// refused is a finding for a check that does not hold.
func (f Facts) refused(c plan.Check) []Finding {
	if c.OK {
		return nil
	}
	return one(database, c.Evidence, f.fix("status")...)
}

func serves(f Facts) ([]Finding, string) {
	switch f.Status.State {
	case ui.StateUnknown:
		return nil, "no answer from the database: " + f.Database.Why()
	case ui.StateNotConfigured:
		return with(one(database, f.Status.Summary, f.fix("plan")...))
	case ui.StateUnavailable:
		return with(one(database, f.Status.Summary, f.fix("status")...))
	case ui.StateHealthy, ui.StateDegraded:
	}
	return nil, ""
}

func toleratesFailures(f Facts) ([]Finding, string) {
	t := f.Status.FaultTolerance
	switch {
	case t.Zones == nil:
		return nil, "the database does not tell how many zones may fail"
	case *t.Zones >= t.Desired:
		return nil, ""
	}
	message := fmt.Sprintf("%s may fail, %d when all is well", phrase.Count(*t.Zones, "more zone"), t.Desired)
	return with(one(database, message, f.fix("status")...))
}

// copies leaves out that data distribution is starting: for some seconds after each
// recovery it says nothing of its health, and all data still has its copies.
func copies(f Facts) ([]Finding, string) {
	switch d := f.Status.Database; {
	case d.Replicas != nil && *d.Replicas < d.ReplicasDesired:
		return with(one(database, "some data has "+phrase.CountOf(max(0, *d.Replicas), d.ReplicasDesired, "copy"), f.fix("status")...))
	case d.FullReplication == nil:
		return nil, "the database does not tell whether all data has its copies"
	case !*d.FullReplication:
		return with(one(database, "not all data has its copies", f.fix("status")...))
	case d.DataHealthy != nil && !*d.DataHealthy:
		return with(one(database, "data distribution is at "+d.DataState, f.fix("status")...))
	default:
		return nil, ""
	}
}

func remarks(f Facts) ([]Finding, string) {
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
	m := f.Database.Status.Maintenance()
	if !m.Active() {
		return nil, ""
	}
	return with(one("zone/"+m.Zone, fmt.Sprintf("under maintenance for %s more", m.Remaining), f.listGroups("--zone", m.Zone)...))
}

func blindingKnobs(f Facts) ([]Finding, string) {
	places := f.BlindedBy()
	if len(places) == 0 {
		return nil, ""
	}
	return with(one(database, "knob_min_trace_severity above 10 blinds the status document: "+strings.Join(places, ", "), "edit", "foundationdbcluster", f.Cluster.Name))
}
