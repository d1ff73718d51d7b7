package recovery

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// CheckID identifies a check of a verification.
type CheckID string

// The checks.
const (
	CheckOneDatabase CheckID = "one-database"
	CheckQuorum      CheckID = "quorum"
	CheckAvailable   CheckID = "available"
	CheckReplication CheckID = "replication"
	CheckProcesses   CheckID = "processes"
)

// Check is one check of a verification, and its evidence.
type Check struct {
	ID       CheckID `json:"id"`
	Holds    bool    `json:"holds"`
	Evidence string  `json:"evidence"`
}

// Health is what the database reports of itself, besides the facts.
type Health struct {
	// Replicated is whether all data has its copies.
	Replicated bool
	// Reporting are the IDs of the process groups whose processes report.
	Reporting map[string]bool
	// Why is why there is no report; empty if there is one.
	Why string
}

// HealthOf returns what a complete status document reports.
func HealthOf(d plan.DatabaseFacts) Health {
	h := Health{Reporting: map[string]bool{}, Why: d.Why()}
	switch {
	case d.Status == nil:
		return h
	case d.Status.Incomplete():
		h.Why = "the status document is incomplete"
		return h
	}
	h.Replicated = isTrue(d.Status.Cluster.FullReplication)
	for _, p := range d.Status.ProcessList() {
		h.Reporting[p.InstanceID()] = true
	}
	return h
}

// AllReport reports whether every process group with data reports to the database.
func AllReport(f Facts, h Health) bool { return processes(f, h).Holds }

// NewVerificationView verifies a cluster after a recovery. What is unknown does not hold.
func NewVerificationView(m inspect.Metadata, asOf time.Time, f Facts, h Health) VerificationView {
	v := VerificationView{Document: inspect.NewDocument("RecoveryVerification", m, asOf, inspect.SourceLive)}
	v.Items = []Check{oneDatabase(f), hasQuorum(f), available(f), replicated(h), processes(f, h)}
	v.Verified = true
	for _, c := range v.Items {
		v.Verified = v.Verified && c.Holds
	}
	return v
}

// oneDatabase checks that all connection strings are the same, and all pods could be read.
func oneDatabase(f Facts) Check {
	c := Check{ID: CheckOneDatabase}
	texts, unread := f.strings(), 0
	for _, g := range f.Groups {
		if g.Files == nil {
			unread++
		}
	}
	switch {
	case len(texts) != 1:
		c.Evidence = fmt.Sprintf("%s, 1 required: %s", phrase.Count(len(texts), "connection string"), listed(texts))
	case unread > 0:
		c.Evidence = fmt.Sprintf("%s could not be read", phrase.CountOf(unread, len(f.Groups), "pod"))
	case !f.asks(f.Recorded):
		c.Evidence = "the database was not queried with the coordinators of the status"
	default:
		c.Holds, c.Evidence = true, fmt.Sprintf("status, ConfigMap and %s have the same connection string", phrase.Count(len(f.Groups), "pod"))
	}
	return c
}

func hasQuorum(f Facts) Check {
	c := Check{ID: CheckQuorum, Holds: isTrue(f.Quorum)}
	answering := 0
	for _, coordinator := range f.Coordinators {
		if isTrue(coordinator.Reachable) {
			answering++
		}
	}
	c.Evidence = fmt.Sprintf("%s answer, %d required", phrase.CountOf(answering, len(f.Coordinators), "coordinator"), quorum(f))
	return c
}

func available(f Facts) Check {
	evidence := "the database is available"
	if !isTrue(f.Available) {
		evidence = phrase.Or(f.Unknown, "the database is not available")
	}
	return Check{ID: CheckAvailable, Holds: isTrue(f.Available), Evidence: evidence}
}

func replicated(h Health) Check {
	evidence := "all data has its copies"
	if !h.Replicated {
		evidence = phrase.Or(h.Why, "not all data has its copies")
	}
	return Check{ID: CheckReplication, Holds: h.Replicated, Evidence: evidence}
}

// processes checks that every process group with data reports: one with another database would not.
func processes(f Facts, h Health) Check {
	var missing []string
	for _, g := range f.Groups {
		if g.Stateful && !h.Reporting[g.ID] {
			missing = append(missing, g.ID)
		}
	}
	if len(missing) > 0 {
		return Check{ID: CheckProcesses, Evidence: phrase.Count(len(missing), "process group") + " with data not reporting: " + phrase.List(missing)}
	}
	return Check{ID: CheckProcesses, Holds: true, Evidence: "every process group with data reports"}
}

// ReportView is the document of `recover collect`.
type ReportView struct {
	inspect.Document
	Assessment Assessment `json:"assessment"`
	Facts      Facts      `json:"facts"`
}

// PlanView is the document of `recover plan`.
type PlanView struct {
	inspect.Document
	// Digests are those of all other fields of the document, by name.
	Digests map[string]string `json:"digests,omitempty"`
	Plan    Plan              `json:"plan"`
}

// VerificationView is the document of `recover verify`.
type VerificationView struct {
	inspect.Document
	// Verified is true if every check holds.
	Verified bool    `json:"verified"`
	Items    []Check `json:"items"`
}

// NewReportView makes the document of collected facts.
func NewReportView(m inspect.Metadata, asOf time.Time, f Facts, warnings []string) ReportView {
	v := ReportView{Document: inspect.NewDocument("RecoveryReport", m, asOf, inspect.SourceLive), Assessment: Assess(f), Facts: f}
	v.Warnings = append(v.Warnings, warnings...)
	return v
}

// NewPlanView makes the document of a plan.
func NewPlanView(m inspect.Metadata, asOf time.Time, p Plan, warnings []string) PlanView {
	v := PlanView{Document: inspect.NewDocument("RecoveryPlan", m, asOf, inspect.SourceLive), Plan: p}
	v.Warnings = append(v.Warnings, warnings...)
	return v
}

// Sealed returns the plan with the digests of its fields, for a file.
func (v PlanView) Sealed() (PlanView, error) {
	v.Digests = nil
	var err error
	v.Digests, err = inspect.Seal(v)
	return v, err
}
