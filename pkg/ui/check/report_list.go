package check

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
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
			words = append(words, r.name()+": "+r.Text())
		}
	}
	if len(words) == 0 {
		return phrase.Count(len(l.Items), "cluster") + " checked; all passed"
	}
	return fmt.Sprintf("%s checked, %d not passed: %s", phrase.Count(len(l.Items), "cluster"), len(words), strings.Join(words, "; "))
}

func (r Report) name() string { return r.Metadata.Namespace + "/" + r.Metadata.Cluster }

// WriteTables prints the findings of all clusters in one table.
func WriteTables(w io.Writer, l ReportList, o ui.ListOptions) error {
	t := ui.Table{NoHeaders: o.NoHeaders, Columns: slices.Concat([]layout.Column{{Name: "CLUSTER", Min: 16}}, columns)}
	for _, r := range l.Items {
		if r.Problem != "" {
			t.Rows = append(t.Rows, []string{r.name(), "-", string(NotChecked), "-", "-", "-", r.Problem, "-"})
		}
		for _, row := range r.rows(o) {
			t.Rows = append(t.Rows, append([]string{r.name()}, row...))
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t.Write(w)
}
