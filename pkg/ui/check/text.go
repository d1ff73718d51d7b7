// Package check prints the report of `check`: as tables, Markdown, JUnit and SARIF.
package check

import (
	"fmt"
	"io"
	"regexp"
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
			rows = append(rows, []string{item.Rule, string(item.Severity), subjectsOf(f, o), strconv.Itoa(f.Count), sinceOf(f, o), messageOf(f), f.Fix})
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

// messageOf returns the message of a finding, and what its line must be.
func messageOf(f check.FindingView) string {
	if f.Correction == nil {
		return f.Message
	}
	return f.Message + " (the line must be: " + strings.TrimSpace(f.Correction.After) + ")"
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

// WriteMarkdowns prints the reports of several clusters, one after the other.
func WriteMarkdowns(w io.Writer, l check.ReportList, o ui.ListOptions) error {
	for n, r := range l.Items {
		if n > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if err := WriteMarkdown(w, r, o); err != nil {
			return err
		}
	}
	return nil
}

// WriteMarkdown prints a report for a comment or the summary page of a CI system.
func WriteMarkdown(w io.Writer, r check.Report, o ui.ListOptions) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s/%s: %s\n\n%s\n", inline(r.Metadata.Namespace), inline(r.Metadata.Cluster), inline(string(r.Verdict)), inline(sentence(r.Text())))
	o.Wide = false
	for n, row := range rowsOf(r, o) {
		if n == 0 {
			b.WriteString("\n| rule | severity | subject | count | since | message | fix |\n|---|---|---|---|---|---|---|\n")
		}
		for i := range row {
			text := inline(row[i])
			if fix := i == len(row)-1; fix && row[i] != "" && row[i] != phrase.Nothing {
				text = code(row[i])
			}
			row[i] = cell(text)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func sentence(words string) string { return strings.ToUpper(words[:1]) + words[1:] + "." }

// markup matches what begins a link, an image, a mention, code, HTML or emphasis.
var markup = regexp.MustCompile("[`@\\[\\]<>&*~#\\\\]|://|www\\.")

// inline returns a text that a page shows as it is: one with markup as code, in which nothing of it has a
// meaning. Text of a cluster must not load an image into a comment, or call its readers.
func inline(text string) string {
	if text = phrase.VisibleLine(text); markup.MatchString(text) {
		return code(text)
	}
	return text
}

// code returns a text as code, between more backticks than it has.
func code(text string) string {
	text = phrase.VisibleLine(text)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// cell returns what inline or code returned for a table cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// Kinds returns the kinds of documents of this package.
func Kinds() []ui.Kind {
	return []ui.Kind{
		{Name: "CheckReport", PrintedBy: "check", Document: check.Report{}},
		{Name: "CheckReportList", PrintedBy: "check -A", Document: check.ReportList{}},
		{Name: "CheckRuleList", PrintedBy: "check --list", Document: check.RuleList{}},
	}
}
