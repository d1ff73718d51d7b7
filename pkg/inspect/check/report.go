package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Report is the document of `check`: what each rule found.
type Report struct {
	inspect.Document
	// FailOn is the least severity of findings for which a report fails.
	FailOn Severity `json:"failOn"`
	// Verdict is passed, failed, or unknown: no finding is severe enough, and a rule that
	// could have one was not evaluated.
	Verdict Verdict `json:"verdict"`
	Summary Summary `json:"summary"`
	// Problem is why the cluster could not be checked; empty if it could.
	Problem string `json:"problem,omitempty"`
	Items   []Item `json:"items"`
}

// Verdict is the result of a report.
type Verdict string

// The results of a report.
const (
	VerdictPassed     Verdict = "passed"
	VerdictFailed     Verdict = "failed"
	VerdictCannotTell Verdict = "unknown"
)

// Outcome is the result of one rule.
type Outcome string

// The outcomes of a rule.
const (
	Passed Outcome = "passed"
	Failed Outcome = "failed"
	// NotChecked was not evaluated, or only in part; that never counts as passed.
	NotChecked Outcome = "not-checked"
	// Skipped was left out by the user.
	Skipped Outcome = "skipped"
)

// Summary counts rules by their outcome, and findings by their severity.
type Summary struct {
	Passed     int `json:"passed"`
	Failed     int `json:"failed"`
	NotChecked int `json:"notChecked"`
	Skipped    int `json:"skipped"`

	Critical int `json:"critical"`
	Error    int `json:"error"`
	Warning  int `json:"warning"`
	Info     int `json:"info"`
}

// Item is one rule and its outcome.
type Item struct {
	Rule     string   `json:"rule"`
	Family   string   `json:"family"`
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`
	// Explanation is the meaning of a finding.
	Explanation string  `json:"explanation"`
	Outcome     Outcome `json:"outcome"`
	// Reason is why the rule was skipped or not evaluated.
	Reason   string        `json:"reason,omitempty"`
	Findings []FindingView `json:"findings"`
}

// FindingView is one finding.
type FindingView struct {
	Subjects []string `json:"subjects"`
	Count    int      `json:"count"`
	// Since is when it began; null if unknown.
	Since   *time.Time `json:"since"`
	Message string     `json:"message"`
	// Fix is a whole command line: what to run or to read next.
	Fix string `json:"fix"`
	// Field is the path of the field of the resource that is wrong; absent where the finding names none.
	Field string `json:"field,omitempty"`
	// File and Line are where the manifest has it; absent in a report about a stored resource, and the line where it is unknown.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Correction is what the line is and must be; absent where its author has to decide.
	Correction *Correction `json:"correction,omitempty"`
}

// Options are the rules to evaluate, and how to report on them.
type Options struct {
	// Only are the codes or families to evaluate; empty for all.
	Only []string
	// Skip has the reasons for leaving out rules, by code or family.
	Skip map[string]string
	// FailOn is the least severity of findings for which a report fails.
	FailOn Severity
	// Command returns a whole command line for the arguments after "kubectl".
	Command func(words ...string) string
	// Place returns where the manifest of a subject has a field; nil in a report about stored resources.
	Place func(subject, field string) Place
}

// AsksFor reports whether any rule of these codes and families is evaluated, so that its facts
// have to be read.
func (o Options) AsksFor(names ...string) bool {
	return slices.ContainsFunc(Rules(), func(r Rule) bool {
		_, skipped := o.skipped(r)
		return named(r, names) && !skipped && (len(o.Only) == 0 || named(r, o.Only))
	})
}

// skipped returns the reason for leaving out a rule, and whether there is one.
func (o Options) skipped(r Rule) (reason string, skipped bool) {
	if reason, skipped = o.Skip[r.Code]; skipped {
		return reason, true
	}
	reason, skipped = o.Skip[r.Family()]
	return reason, skipped
}

// NewReport evaluates every selected rule.
func NewReport(m inspect.Metadata, f Facts, o Options) Report {
	f = f.withNodes()
	r := Report{Document: inspect.NewDocument("CheckReport", m, f.Now, inspect.SourceLive), FailOn: o.FailOn, Items: []Item{}}
	r.Warnings = append(r.Warnings, f.Warnings...)
	for _, rule := range Rules() {
		if len(o.Only) > 0 && !named(rule, o.Only) || !f.Manifests.selects(rule) {
			continue
		}
		r.Items = append(r.Items, o.evaluate(rule, f))
	}
	r.count()
	return r
}

func named(r Rule, names []string) bool {
	return slices.Contains(names, r.Code) || slices.Contains(names, r.Family())
}

func (o Options) evaluate(r Rule, f Facts) Item {
	item := Item{Rule: r.Code, Family: r.Family(), Severity: r.Severity, Title: r.Title, Explanation: r.Why, Outcome: Passed, Findings: []FindingView{}}
	if reason, skipped := o.skipped(r); skipped {
		item.Outcome, item.Reason = Skipped, reason
		return item
	}
	item.Severity = r.SeverityOf(f)
	var found []Finding
	if item.Reason = cmp.Or(f.Manifests.lacks(r), f.Lacks(r.Needs)); item.Reason == "" {
		found, item.Reason = r.Of(f)
	}
	for _, finding := range found {
		item.Findings = append(item.Findings, o.view(finding))
	}
	switch {
	case len(found) > 0:
		item.Outcome = Failed
	case item.Reason != "":
		item.Outcome = NotChecked
	}
	return item
}

func (o Options) view(g Finding) FindingView {
	v := FindingView{Subjects: g.Subjects, Count: len(g.Subjects), Message: g.Message, Field: g.Field}
	if len(g.Fix) > 0 {
		v.Fix = o.Command(g.Fix...)
	}
	if o.Place != nil {
		at := o.Place(g.Subjects[0], g.Field)
		if v.File, v.Line = at.File, at.Line; g.Field != "" { // else the fix is of a stored object
			v.Fix, v.Correction = at.Edit, at.Correction
		}
	}
	if !g.Since.IsZero() {
		since := g.Since.UTC()
		v.Since = &since
	}
	return v
}

// count fills in the summary and the verdict.
func (r *Report) count() {
	r.Verdict = VerdictPassed
	for _, item := range r.Items {
		r.Summary.add(item)
		bad := item.Severity.AtLeast(r.FailOn)
		switch {
		case bad && len(item.Findings) > 0:
			r.Verdict = VerdictFailed
		case bad && item.Outcome == NotChecked && r.Verdict == VerdictPassed:
			r.Verdict = VerdictCannotTell
		}
	}
}

func (s *Summary) add(item Item) {
	switch item.Outcome {
	case Passed:
		s.Passed++
	case Failed:
		s.Failed++
	case NotChecked:
		s.NotChecked++
	case Skipped:
		s.Skipped++
	}
	switch n := len(item.Findings); item.Severity {
	case Critical:
		s.Critical += n
	case Error:
		s.Error += n
	case Warning:
		s.Warning += n
	case Info:
		s.Info += n
	}
}

// Text returns the summary on one line.
func (r Report) Text() string {
	if r.Problem != "" {
		return "not checked: " + r.Problem
	}
	var bad []string
	for _, part := range []struct {
		n    int
		what Severity
	}{{r.Summary.Critical, Critical}, {r.Summary.Error, Error}, {r.Summary.Warning, Warning}, {r.Summary.Info, Info}} {
		if part.n > 0 {
			bad = append(bad, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	words := "nothing found"
	if len(bad) > 0 {
		words = "found: " + strings.Join(bad, ", ")
	}
	words += fmt.Sprintf("; %s passed, %d failed", phrase.Count(r.Summary.Passed, "rule"), r.Summary.Failed)
	if r.Summary.NotChecked > 0 {
		words += fmt.Sprintf(", %d not checked", r.Summary.NotChecked)
	}
	if r.Summary.Skipped > 0 {
		words += fmt.Sprintf(", %d skipped", r.Summary.Skipped)
	}
	return words
}

// ReportList is the document of `check -A`: the report of each cluster.
type ReportList struct {
	inspect.Document
	// FailOn is the least severity of findings for which a report fails.
	FailOn Severity `json:"failOn"`
	// Verdict is the worst of all: failed, then unknown, then passed.
	Verdict Verdict  `json:"verdict"`
	Items   []Report `json:"items"`
}

// NewProblem returns the report about a cluster that could not be checked.
func NewProblem(m inspect.Metadata, problem string, failOn Severity) Report {
	return Report{Document: inspect.NewDocument("CheckReport", m, time.Time{}, inspect.SourceLive), FailOn: failOn, Verdict: VerdictCannotTell, Problem: problem, Items: []Item{}}
}

// NewReportList returns the document.
func NewReportList(m inspect.Metadata, asOf time.Time, reports []Report, failOn Severity) ReportList {
	l := ReportList{Document: inspect.NewDocument("CheckReportList", m, asOf, inspect.SourceLive), FailOn: failOn, Verdict: VerdictPassed, Items: append([]Report{}, reports...)}
	for _, r := range reports {
		switch {
		case r.Verdict == VerdictFailed, r.Verdict == VerdictCannotTell && l.Verdict == VerdictPassed:
			l.Verdict = r.Verdict
		}
	}
	return l
}

// Text returns the summary of each cluster that has not passed, on one line.
func (l ReportList) Text() string {
	var words []string
	for _, r := range l.Items {
		if r.Verdict != VerdictPassed {
			words = append(words, r.Name()+": "+r.Text())
		}
	}
	if len(words) == 0 {
		return phrase.Count(len(l.Items), "cluster") + " checked; all passed"
	}
	return fmt.Sprintf("%s checked, %d not passed: %s", phrase.Count(len(l.Items), "cluster"), len(words), strings.Join(words, "; "))
}

// Name returns the namespace and the name of the cluster, after its site where there are several.
func (r Report) Name() string { return r.Metadata.Subject() }
