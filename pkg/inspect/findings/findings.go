// Package findings is the vocabulary of what is wrong with a cluster. A rule over facts gives findings, and each
// command that shows one takes it from its rule.
package findings

import (
	"slices"
	"strings"
	"time"
)

// Severity is how severe the findings of a rule are.
type Severity string

// The severities, from the least severe.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Error    Severity = "error"
	Critical Severity = "critical"
)

// Severities returns all severities, from the least severe.
func Severities() []Severity { return []Severity{Info, Warning, Error, Critical} }

// AtLeast reports whether a severity is as severe as another, or more.
func (s Severity) AtLeast(other Severity) bool {
	return slices.Index(Severities(), s) >= slices.Index(Severities(), other)
}

// Finding is one problem that a rule found, about one or more subjects.
type Finding struct {
	// Code is that of the rule, and Severity how severe it is; a rule sets neither itself.
	Code     string
	Severity Severity
	// Subjects are the affected objects: "processgroup/storage-1", "database".
	Subjects []string
	// Groups are the process groups of the subjects, where they have some.
	Groups []string
	// Message is the evidence in one sentence.
	Message string
	// Since is when it began; zero if unknown.
	Since time.Time
	// Causes are the codes of findings about the same process groups that explain it.
	Causes []string
	// Fix is a command line without "kubectl", as arguments: what to run or to read next. Only
	// a user runs it.
	Fix []string
	// Field is the path of the field of the resource that is wrong, such as spec.version; empty where none is named.
	Field string
}

// Began moves the start of a finding to an earlier time.
func (f *Finding) Began(at time.Time) {
	if !at.IsZero() && (f.Since.IsZero() || at.Before(f.Since)) {
		f.Since = at
	}
}

// IfAny returns the finding if it has any subjects.
func (f Finding) IfAny() []Finding {
	if len(f.Subjects) == 0 {
		return nil
	}
	return []Finding{f}
}

// Need is what a rule needs to be evaluated.
type Need int

// What a rule can need.
const (
	NeedsNothing Need = iota
	// NeedsStatusDocument is a status document of the database.
	NeedsStatusDocument
	// NeedsProcessList is a status document that lists the processes that report.
	NeedsProcessList
	// NeedsAvailableDatabase is a database that reports that it is available.
	NeedsAvailableDatabase
	// NeedsCurrentConditions are process groups with up-to-date conditions.
	NeedsCurrentConditions
	// NeedsSharedLists are the lock and the lists that control-plane instances keep in the database.
	NeedsSharedLists
)

// Rule is one check of facts, which should find nothing.
type Rule[F any] struct {
	// Code identifies the rule permanently: its family and a number.
	Code     string
	Severity Severity
	// Title is what should be true, without a full stop.
	Title string
	// Why is the meaning of a finding.
	Why string
	// Severe reports whether findings are errors, of a rule with warnings; nil for never.
	Severe func(F) bool
	// Needs is what the rule requires.
	Needs Need
	// OfSpec is true if the resource alone answers the rule, so that a manifest can be checked before it is applied.
	OfSpec bool
	// Find evaluates the rule. Untested is why it could not do so, or only in part; the
	// findings count even then.
	Find func(f F) (found []Finding, untested string)
}

// Family returns the part of the code that names the subject of a rule.
func (r Rule[F]) Family() string {
	family, _, _ := strings.Cut(r.Code, "-")
	return family
}

// SeverityOf returns the severity of the findings of a rule.
func (r Rule[F]) SeverityOf(f F) Severity {
	if r.Severe != nil && r.Severe(f) {
		return Error
	}
	return r.Severity
}

// Of returns what a rule finds, with its code and severity.
func (r Rule[F]) Of(f F) (found []Finding, untested string) {
	found, untested = r.Find(f)
	for i := range found {
		found[i].Code, found[i].Severity = r.Code, r.SeverityOf(f)
	}
	return found, untested
}

// Within returns rules over facts as rules over larger facts that contain them.
func Within[Larger, F any](rules []Rule[F], part func(Larger) F) []Rule[Larger] {
	all := make([]Rule[Larger], len(rules))
	for i, r := range rules {
		all[i] = Rule[Larger]{Code: r.Code, Severity: r.Severity, Title: r.Title, Why: r.Why, Needs: r.Needs, OfSpec: r.OfSpec}
		all[i].Find = func(f Larger) ([]Finding, string) { return r.Find(part(f)) }
		if r.Severe != nil {
			all[i].Severe = func(f Larger) bool { return r.Severe(part(f)) }
		}
	}
	return all
}

// Database is the database as a subject.
const Database = "database"

// ProcessGroup returns a process group as a subject.
func ProcessGroup[S ~string](id S) string { return "processgroup/" + string(id) }

// Pod returns a pod as a subject.
func Pod(name string) string { return "pod/" + name }

// Claim returns a PVC as a subject.
func Claim(name string) string { return "persistentvolumeclaim/" + name }

// Node returns a node as a subject.
func Node(name string) string { return "node/" + name }

// View is a finding as documents have it.
type View struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Subjects []string `json:"subjects"`
	// Since is when it began; null if unknown.
	Since   *time.Time `json:"since"`
	Message string     `json:"message"`
	// Causes are the codes of findings that explain it; absent where none does.
	Causes []string `json:"causes,omitempty"`
}

// View returns the finding as documents have it.
func (f Finding) View() View {
	v := View{Code: f.Code, Severity: f.Severity, Subjects: f.Subjects, Message: f.Message, Causes: f.Causes}
	if !f.Since.IsZero() {
		since := f.Since.UTC()
		v.Since = &since
	}
	return v
}
