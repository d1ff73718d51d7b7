package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// canReportTable has a column of subjects where any question has one.
func canReportTable(items []lists.CanItem, o ListOptions) Table {
	subjects := slices.ContainsFunc(items, func(i lists.CanItem) bool { return i.Subject != "" })
	columns := []layout.Column{
		{Name: "GATE"},
		{Name: "OK"},
		{Name: "QUESTION", Below: true, Min: 30},
		{Name: "HAVE", Below: true},
		{Name: "NEED", Below: true},
	}
	if subjects {
		columns = append([]layout.Column{{Name: "SUBJECT"}}, columns...)
	}
	t := o.table(columns)
	for _, c := range items {
		row := []string{phrase.Or(string(c.Gate), phrase.Nothing), okCell(c), c.Question, inspect.OneLine(c.Evidence), phrase.Or(c.Need, "yes")}
		if subjects {
			row = append([]string{phrase.Or(c.Subject, phrase.Nothing)}, row...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func okCell(c lists.CanItem) string {
	if c.Waits {
		return "waits"
	}
	if c.Unknown {
		return phrase.UnknownCell
	}
	return phrase.YesNo(&c.OK, phrase.UnknownCell)
}

// CanOptions is how an answer is printed.
type CanOptions struct {
	ListOptions
}

// notPassed returns the checks without those that passed, and the number of those.
func notPassed(items []lists.CanItem) (rest []lists.CanItem, passed int) {
	rest = slices.DeleteFunc(slices.Clone(items), func(i lists.CanItem) bool { return i.OK })
	return rest, len(items) - len(rest)
}

// WriteCan prints the answer in one line, the checks that did not pass in a table, and the number of the others; with
// Wide all checks.
func WriteCan(w io.Writer, v lists.CanReport, o CanOptions) error {
	color := map[lists.Answer]string{lists.AnswerYes: green, lists.AnswerNo: red, lists.AnswerUnknown: red}[v.Answer]
	layout.Line(w, "%s", o.in(color, v.Summary))
	for _, warning := range v.Warnings {
		layout.Entry(w, o.in(yellow, "warning:")+" ", warning)
	}
	items, passed := v.Items, 0
	if !o.Wide {
		items, passed = notPassed(v.Items)
	}
	if len(items) > 0 {
		if err := canReportTable(items, o.ListOptions).Write(w); err != nil {
			return err
		}
	}
	if passed > 0 {
		layout.Line(w, "%s passed; -o wide lists them", phrase.Count(passed, "check"))
	}
	for _, f := range v.VersionFacts {
		layout.Entry(w, o.in(bold, "fact:")+" ", factWords(f))
	}
	for _, note := range v.Notes {
		layout.Entry(w, o.in(bold, "note:")+" ", note)
	}
	for _, command := range v.Next {
		layout.Entry(w, o.in(bold, "next:")+" ", command)
	}
	return nil
}

// factWords returns a fact on one line: what it is, its advice, its identity and its source.
func factWords(f versionfacts.Applying) string {
	uncertain := ""
	if f.Applies == versionfacts.Unknown {
		uncertain = fmt.Sprintf(", unknown whether %s is used", f.Condition)
	}
	return fmt.Sprintf("%s; %s [%s: %s%s] %s", f.Summary, f.Advice, f.ID, f.Consequence, uncertain, firstSource(f.Sources))
}

// WriteVersion prints a line per fact, and a row per database.
func WriteVersion(w io.Writer, v lists.VersionView, o ListOptions) error {
	layout.Line(w, "Client: %s (%s, %s)", v.Client.Version, v.Client.Go, v.Client.Platform)
	if v.Server == "" {
		return nil
	}
	layout.Line(w, "Server: %s", v.Server)
	layout.Line(w, "Resources: %s", phrase.Or(strings.Join(v.Served, ", "), "none: the FoundationDB resource definitions are not installed"))
	layout.Line(w, "Operators: %s", operatorWords(v))
	if len(v.Clusters) == 0 {
		return nil
	}
	t := o.table([]layout.Column{
		{Name: "NAMESPACE", Min: 8},
		{Name: "NAME", Min: 12},
		{Name: "SPEC"},
		{Name: "RUNNING"},
		{Name: "PROCESSES", Drop: 2, Min: 10},
		{Name: "FDBCLI", Drop: 3, Min: 10},
		{Name: "ASOF", Drop: 1},
	})
	for _, c := range v.Clusters {
		t.Rows = append(t.Rows, []string{c.Namespace, c.Name, c.Spec, phrase.Or(c.Running, phrase.Nothing), lists.Words(c.Processes), lists.Words(c.Tools), o.time(c.AsOf)})
	}
	if err := t.Write(w); err != nil {
		return err
	}
	facts := versionFacts(v, o)
	if len(facts.Rows) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return facts.Write(w)
}

// versionFacts has a row for each known fact about a running version, once for all databases.
func versionFacts(v lists.VersionView, o ListOptions) Table {
	t := o.table([]layout.Column{
		{Name: "VERSION"},
		{Name: "CONSEQUENCE"},
		{Name: "FACT"},
		{Name: "SUMMARY", Below: true},
		{Name: "SOURCE", Below: true},
	})
	for _, c := range v.Clusters {
		for _, f := range c.Facts {
			summary := f.Summary
			if f.Applies == versionfacts.Unknown {
				summary = fmt.Sprintf("if %s is used, which is unknown: %s", f.Condition, f.Summary)
			}
			row := []string{f.Version, string(f.Consequence), f.ID, summary, firstSource(f.Sources)}
			if !slices.ContainsFunc(t.Rows, func(seen []string) bool { return slices.Equal(seen, row) }) {
				t.Rows = append(t.Rows, row)
			}
		}
	}
	return t
}

// firstSource returns the source to print; recordings of other versions may have none.
func firstSource(sources []string) string {
	if len(sources) == 0 {
		return phrase.Unknown
	}
	return sources[0]
}

func operatorWords(v lists.VersionView) string {
	if v.Operators == nil {
		return phrase.Unknown
	}
	cells := make([]string, len(v.Operators))
	for i, o := range v.Operators {
		cells[i] = fmt.Sprintf("%s/%s %s (%s ready)", o.Namespace, o.Name, phrase.Or(o.Version, phrase.UnknownCell), phrase.Count(o.Ready, "pod"))
	}
	return phrase.Or(strings.Join(cells, ", "), "none")
}
