package lists

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Answer is the answer of `can`.
type Answer string

// The answers.
const (
	AnswerYes Answer = "yes"
	AnswerNo  Answer = "no"
	// AnswerUnknown is the answer without facts to decide by; it allows nothing.
	AnswerUnknown Answer = "unknown"
)

// CanReport is the document of `can`: every check, and the conclusion.
type CanReport struct {
	inspect.Document
	// Verb is the operation: "delete".
	Verb string `json:"verb"`
	// Subjects are the objects of the operation.
	Subjects []string `json:"subjects"`
	Answer   Answer   `json:"answer"`
	// Summary is the answer and what decided it, in one line.
	Summary string `json:"summary"`
	// Items are the checks in their order.
	Items []CanItem `json:"items"`
	// VersionFacts are known facts about an upgrade, those of the new version included that
	// are not also about the running one; null for other operations.
	VersionFacts []versionfacts.Applying `json:"versionFacts" schema:"nullable"`
	// Notes are what to know before the operation.
	Notes []string `json:"notes"`
	// Next are whole commands: how to do it, or how to find out more.
	Next []string `json:"next"`
}

// CanInput are the facts of an answer.
type CanInput struct {
	inspect.Facts
	// Verb and What complete "whether … may be …": "delete", "pod/x may be deleted".
	Verb, What string
	Subjects   []string
	Checks     []CanItem
	// VersionFacts are facts about an upgrade; nil for other operations.
	VersionFacts []versionfacts.Applying
	Notes        []string
	// NeedsDatabase makes the answer unknown while the database does not answer.
	NeedsDatabase bool
	// Do is the command that performs the operation; empty where it is another program's.
	Do []string
	// Instead are commands that may help where the answer is no.
	Instead []string
	inspect.Commands
}

// CanItem is one check.
type CanItem struct {
	// Subject is the process group, or the known fact about versions, that the check is about;
	// empty for the whole operation.
	Subject string `json:"subject,omitempty"`
	// Waits is true for a check that is not OK and will be by itself: the operation waits for it.
	Waits bool `json:"waits,omitempty"`
	// Unknown is true for a check that is not OK because its facts could not be read.
	Unknown bool `json:"unknown,omitempty"`
	plan.Check
}

// About makes items of checks.
func About(subject string, checks []plan.Check) []CanItem {
	items := make([]CanItem, len(checks))
	for i, c := range checks {
		items[i] = CanItem{Subject: subject, Check: c}
	}
	return items
}

// AboutFacts makes items of checks, with the known facts about versions that some are about as
// their subjects.
func AboutFacts(checks []plan.Check) []CanItem {
	items := About("", checks)
	for i, c := range checks {
		if c.ID == plan.CheckVersionFact {
			items[i].Subject = c.Subject
		}
	}
	return items
}

// words returns the question and its answer as one clause.
func (i CanItem) words() string {
	if i.Subject == "" {
		return inspect.CheckWords(i.Check)
	}
	return i.Subject + ": " + inspect.CheckWords(i.Check)
}

// NewCanReport makes the document. One no is enough for a no, and without one a check that is unknown for
// unknown; without an answer from the database there is neither.
func NewCanReport(m inspect.Metadata, in CanInput) CanReport {
	v := CanReport{
		Document: inspect.NewDocument("CanReport", m, in.Now, inspect.SourceLive), Verb: in.Verb, Subjects: inspect.OrEmpty(in.Subjects),
		Answer: AnswerYes, Items: inspect.OrEmpty(in.Checks), Notes: inspect.OrEmpty(in.Notes), VersionFacts: in.VersionFacts, Next: inspect.OrEmpty(in.Do),
	}
	v.Warnings = append(v.Warnings, in.Warnings...)
	v.Summary = "yes: " + in.What + " now"
	at := slices.IndexFunc(in.Checks, func(c CanItem) bool { return !c.OK && !c.Waits && !c.Unknown })
	unknown := slices.IndexFunc(in.Checks, func(c CanItem) bool { return c.Unknown })
	switch {
	case in.NeedsDatabase && in.Database.Status == nil:
		v.Answer = AnswerUnknown
		v.Summary = "unknown: " + inspect.NoAnswer(in.Database)
	case at >= 0:
		v.Answer = AnswerNo
		v.Summary = "no: " + in.Checks[at].words()
	case unknown >= 0:
		v.Answer = AnswerUnknown
		v.Summary = "unknown: " + in.Checks[unknown].words()
	}
	if v.Answer != AnswerYes {
		v.Next = append(slices.Clone(in.Instead), in.FDB("why", m.Cluster))
	}
	return v
}

// AccessView is the document of `auth can-i`.
type AccessView struct {
	inspect.Document
	// Allowed is whether every required permission is granted.
	Allowed bool             `json:"allowed"`
	Items   []PermissionView `json:"items"`
}

// PermissionView is one permission that a command needs.
type PermissionView struct {
	Command string `json:"command"`
	Verb    string `json:"verb"`
	// Resource is as kubectl writes it: "foundationdbclusters.apps.foundationdb.org/status".
	Resource string `json:"resource"`
	// Namespace is null for a permission in all namespaces.
	Namespace *string `json:"namespace"`
	Allowed   bool    `json:"allowed"`
	// Required is true where the command fails without it.
	Required bool `json:"required"`
	// Without is what the command leaves out without it; empty where it is required.
	Without string `json:"without,omitempty"`
}

// NewAccessView makes the document of the permissions that were checked.
func NewAccessView(m inspect.Metadata, items []PermissionView, now time.Time) AccessView {
	v := AccessView{Document: inspect.NewDocument("AccessReview", m, now, inspect.SourceLive), Allowed: true, Items: inspect.OrEmpty(items)}
	for _, p := range items {
		v.Allowed = v.Allowed && (p.Allowed || !p.Required)
	}
	return v
}
