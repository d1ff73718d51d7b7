package ui

import (
	"fmt"
	"io"
	"slices"

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
	Paint
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
