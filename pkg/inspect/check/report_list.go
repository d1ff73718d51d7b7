package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

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
