package check

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// maxNamed is how many subjects a row names before it only counts them.
const maxNamed = 2

// columns are those of findings.
var columns = []layout.Column{
	{Name: "RULE"},
	{Name: "SEVERITY"},
	{Name: "SUBJECT", Min: 20},
	{Name: "COUNT", Drop: 1},
	{Name: "SINCE", Drop: 2},
	{Name: "MESSAGE", Below: true},
	{Name: "FIX", Below: true},
}

// WriteTable prints a row per finding, and one for all rules that were not evaluated for the
// same reason. Wide tables have all subjects, and a row for each rule.
func WriteTable(w io.Writer, r check.Report, o ui.ListOptions) error {
	t := ui.Table{NoHeaders: o.NoHeaders, Columns: columns, Rows: rowsOf(r, o)}
	if len(t.Rows) == 0 {
		return nil
	}
	return t.Write(w)
}

func rowsOf(r check.Report, o ui.ListOptions) [][]string {
	var rows [][]string
	for _, item := range r.Items {
		for _, f := range item.Findings {
			rows = append(rows, []string{item.Rule, string(item.Severity), subjectsOf(f, o), strconv.Itoa(f.Count), sinceOf(f, o), f.Message, f.Fix})
		}
		if o.Wide {
			rows = append(rows, restOf(item)...)
		}
	}
	if o.Wide {
		return rows
	}
	return append(rows, notCheckedIn(r)...)
}

// restOf returns the row of a rule without findings, or that was evaluated in part.
func restOf(i check.Item) [][]string {
	switch {
	case i.Outcome == check.Failed && i.Reason == "":
		return nil
	case i.Outcome == check.Failed:
		return [][]string{{i.Rule, string(check.NotChecked), "-", "-", "-", i.Reason, "-"}}
	case i.Reason != "":
		return [][]string{{i.Rule, string(i.Outcome), "-", "-", "-", i.Reason, "-"}}
	default:
		return [][]string{{i.Rule, string(i.Outcome), "-", "-", "-", i.Title, "-"}}
	}
}

// notCheckedIn returns a row for all rules that were not evaluated for the same reason.
func notCheckedIn(r check.Report) [][]string {
	var reasons []string
	rules := map[string][]string{}
	for _, item := range r.Items {
		if item.Reason == "" || item.Outcome == check.Skipped {
			continue
		}
		if rules[item.Reason] == nil {
			reasons = append(reasons, item.Reason)
		}
		rules[item.Reason] = append(rules[item.Reason], "rule/"+item.Rule)
	}
	var rows [][]string
	for _, reason := range reasons {
		codes := rules[reason]
		rows = append(rows, []string{"-", string(check.NotChecked), someOf(codes), strconv.Itoa(len(codes)), "-", reason, "-"})
	}
	return rows
}

// subjectsOf returns the subjects of a finding; of one about a manifest the place, with the subjects only in wide tables.
func subjectsOf(f check.FindingView, o ui.ListOptions) string {
	all := f.Subjects
	if f.File != "" {
		all = []string{placeOf(f)}
	}
	switch {
	case !o.Wide:
		return someOf(all)
	case f.File != "":
		all = append(all, f.Subjects...)
	}
	return allOf(all)
}

// placeOf returns the file and the line of a finding about a manifest.
func placeOf(f check.FindingView) string {
	if f.Line == 0 {
		return f.File
	}
	return f.File + ":" + strconv.Itoa(f.Line)
}

func allOf(subjects []string) string { return strings.Join(subjects, ",") }

func someOf(subjects []string) string {
	if len(subjects) <= maxNamed+1 {
		return allOf(subjects)
	}
	return fmt.Sprintf("%s,+%d", strings.Join(subjects[:maxNamed], ","), len(subjects)-maxNamed)
}

func sinceOf(f check.FindingView, o ui.ListOptions) string {
	switch {
	case f.Since == nil:
		return phrase.Nothing
	case o.Absolute:
		return f.Since.Format(time.RFC3339)
	default:
		return phrase.Duration(o.Now.Sub(*f.Since))
	}
}

// WriteRules prints the rules themselves: their titles, and the meaning of a finding.
func WriteRules(w io.Writer, rules []check.Rule, o ui.ListOptions) error {
	t := ui.Table{NoHeaders: o.NoHeaders, Columns: []layout.Column{
		{Name: "RULE"},
		{Name: "SEVERITY"},
		{Name: "TITLE", Min: 24},
		{Name: "MEANING", Below: true},
	}}
	for _, r := range rules {
		t.Rows = append(t.Rows, []string{r.Code, string(r.Severity), r.Title, r.Why})
	}
	return t.Write(w)
}

// WriteTables prints the findings of all clusters in one table.
func WriteTables(w io.Writer, l check.ReportList, o ui.ListOptions) error {
	t := ui.Table{NoHeaders: o.NoHeaders, Columns: slices.Concat([]layout.Column{{Name: "CLUSTER", Min: 16}}, columns)}
	for _, r := range l.Items {
		if r.Problem != "" {
			t.Rows = append(t.Rows, []string{r.Name(), "-", string(check.NotChecked), "-", "-", "-", r.Problem, "-"})
		}
		for _, row := range rowsOf(r, o) {
			t.Rows = append(t.Rows, append([]string{r.Name()}, row...))
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t.Write(w)
}
