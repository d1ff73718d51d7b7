package recovery

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

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
