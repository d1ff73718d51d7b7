package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// upgrades returns the rules about versions.
func upgrades() []Rule {
	return []Rule{
		{
			Code: "UPGRADE-001", Severity: Warning, Title: "All processes run the desired version", Needs: findings.NeedsProcessList,
			Why:  "An upgrade is in progress or stuck; the plan shows what it waits for.",
			Find: otherVersions,
		},
		{
			Code: "UPGRADE-002", Severity: Warning, Title: "No clients with an incompatible protocol", Needs: findings.NeedsProcessList,
			Why:  "A client or process of another version cannot connect.",
			Find: incompatibleClients,
		},
		{
			Code: "UPGRADE-003", Severity: Warning, Title: "The running version has no known harmful defect", Needs: findings.NeedsProcessList,
			Why:  "A defect of this version can lose data, availability or a backup, or reports something wrong. docs/versions.md has all of them with their sources.",
			Find: knownDefects,
		},
		{
			Code: "UPGRADE-010", OfSpec: true, Severity: Error, Title: "The images have the desired version",
			Why:  "A tag in imageConfigs that names another version than spec.version keeps every pod from running it: passes end before anything with that image is created.",
			Find: otherImages,
		},
	}
}

func otherImages(f Facts) ([]Finding, string) {
	var found []Finding
	for _, err := range f.Cluster.ImageContradictions() {
		found = append(found, f.edit("foundationdbcluster/"+f.Cluster.Name, err.Field, err.Error()))
	}
	return found, ""
}

func otherVersions(f Facts) ([]Finding, string) {
	byVersion := map[string][]string{}
	for _, p := range f.Database.Status.ProcessList() {
		if version := strings.TrimSuffix(p.Version, "-PRERELEASE"); version != "" && version != f.Cluster.Spec.Version {
			byVersion[version] = append(byVersion[version], process(p))
		}
	}
	var found []Finding
	for _, version := range slices.Sorted(maps.Keys(byVersion)) {
		found = append(found, Finding{
			Subjects: byVersion[version], Message: fmt.Sprintf("runs %s, %s desired", version, f.Cluster.Spec.Version), Fix: f.fix("plan"),
		})
	}
	return found, ""
}

func incompatibleClients(f Facts) ([]Finding, string) {
	finding := Finding{Message: "its protocol is incompatible with the database", Fix: []string{"get", "pods", "-A", "-o", "wide"}}
	for _, address := range f.Database.Status.Cluster.IncompatibleConnections {
		finding.Subjects = append(finding.Subjects, "address/"+address)
	}
	return finding.IfAny(), ""
}

// knownDefects finds the harmful facts about the versions of the processes that report.
func knownDefects(f Facts) ([]Finding, string) {
	byVersion := map[fdb.Version][]string{}
	var untested reasons
	for _, p := range f.Database.Status.ProcessList() {
		if version, err := fdb.ParseVersion(p.Version); err == nil {
			byVersion[version] = append(byVersion[version], process(p))
		}
	}
	var found []Finding
	for _, version := range slices.SortedFunc(maps.Keys(byVersion), fdb.Version.Compare) {
		for _, fact := range versionfacts.Running(version, f.VersionUse(&f.Backups)) {
			switch {
			case !fact.Consequence.Harmful():
			case fact.Applies == versionfacts.Unknown:
				untested.add("", fmt.Sprintf("cannot determine whether %s is used, which decides %s", fact.Condition, fact.ID))
			default:
				found = append(found, Finding{
					Subjects: byVersion[version], Message: fmt.Sprintf("FoundationDB %s: %s; %s (%s, %s)", fact.Version, fact.Summary, fact.Advice, fact.ID, fact.Sources[0]),
					Fix: []string{"fdb", "version"},
				})
			}
		}
	}
	return found, untested.String()
}

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
