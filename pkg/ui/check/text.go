package check

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
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
func WriteTable(w io.Writer, r Report, o ui.ListOptions) error {
	t := ui.Table{NoHeaders: o.NoHeaders, Columns: columns, Rows: r.rows(o)}
	if len(t.Rows) == 0 {
		return nil
	}
	return t.Write(w)
}

func (r Report) rows(o ui.ListOptions) [][]string {
	var rows [][]string
	for _, item := range r.Items {
		for _, f := range item.Findings {
			subjects := f.subjects()
			if o.Wide {
				subjects = f.allSubjects()
			}
			rows = append(rows, []string{item.Rule, string(item.Severity), subjects, strconv.Itoa(f.Count), f.since(o), f.Message, f.Fix})
		}
		if o.Wide {
			rows = append(rows, item.rest()...)
		}
	}
	if o.Wide {
		return rows
	}
	return append(rows, r.notChecked()...)
}

// rest returns the row of a rule without findings, or that was evaluated in part.
func (i Item) rest() [][]string {
	switch {
	case i.Outcome == Failed && i.Reason == "":
		return nil
	case i.Outcome == Failed:
		return [][]string{{i.Rule, string(NotChecked), "-", "-", "-", i.Reason, "-"}}
	case i.Reason != "":
		return [][]string{{i.Rule, string(i.Outcome), "-", "-", "-", i.Reason, "-"}}
	default:
		return [][]string{{i.Rule, string(i.Outcome), "-", "-", "-", i.Title, "-"}}
	}
}

// notChecked returns a row for all rules that were not evaluated for the same reason.
func (r Report) notChecked() [][]string {
	var reasons []string
	rules := map[string][]string{}
	for _, item := range r.Items {
		if item.Reason == "" || item.Outcome == Skipped {
			continue
		}
		if rules[item.Reason] == nil {
			reasons = append(reasons, item.Reason)
		}
		rules[item.Reason] = append(rules[item.Reason], "rule/"+item.Rule)
	}
	var rows [][]string
	for _, reason := range reasons {
		codes := FindingView{Subjects: rules[reason]}
		rows = append(rows, []string{"-", string(NotChecked), codes.subjects(), strconv.Itoa(len(codes.Subjects)), "-", reason, "-"})
	}
	return rows
}

func (f FindingView) allSubjects() string { return strings.Join(f.Subjects, ",") }

func (f FindingView) subjects() string {
	if len(f.Subjects) <= maxNamed+1 {
		return f.allSubjects()
	}
	return fmt.Sprintf("%s,+%d", strings.Join(f.Subjects[:maxNamed], ","), len(f.Subjects)-maxNamed)
}

func (f FindingView) since(o ui.ListOptions) string {
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
func WriteRules(w io.Writer, rules []Rule, o ui.ListOptions) error {
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

// RuleList is the document of `check --list`.
type RuleList struct {
	inspect.Document
	Items []RuleView `json:"items"`
}

// RuleView is one rule.
type RuleView struct {
	Rule        string   `json:"rule"`
	Family      string   `json:"family"`
	Severity    Severity `json:"severity"`
	Title       string   `json:"title"`
	Explanation string   `json:"explanation"`
}

// NewRuleList returns the document.
func NewRuleList(m inspect.Metadata, rules []Rule) RuleList {
	l := RuleList{Document: inspect.NewDocument("CheckRuleList", m, time.Time{}, inspect.SourceLive), Items: []RuleView{}}
	for _, r := range rules {
		l.Items = append(l.Items, RuleView{r.Code, r.Family(), r.Severity, r.Title, r.Why})
	}
	return l
}

// Named returns the rules of these codes or families, or all without names; unknown is the
// first name that no rule has.
func Named(names []string) (rules []Rule, unknown string) {
	for _, name := range names {
		known := false
		for _, r := range Rules() {
			known = known || named(r, []string{name})
		}
		if !known {
			return nil, name
		}
	}
	for _, r := range Rules() {
		if len(names) == 0 || named(r, names) {
			rules = append(rules, r)
		}
	}
	return rules, ""
}
