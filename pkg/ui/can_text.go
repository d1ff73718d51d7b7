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
func canReportTable(v lists.CanReport, o ListOptions) Table {
	subjects := slices.ContainsFunc(v.Items, func(i lists.CanItem) bool { return i.Subject != "" })
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
	for _, c := range v.Items {
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

// WriteCan prints the answer in one line, and every question in a table.
func WriteCan(w io.Writer, v lists.CanReport, o CanOptions) error {
	color := map[lists.Answer]string{lists.AnswerYes: green, lists.AnswerNo: red, lists.AnswerUnknown: red}[v.Answer]
	layout.Line(w, "%s", o.in(color, v.Summary))
	for _, warning := range v.Warnings {
		layout.Entry(w, o.in(yellow, "warning:")+" ", warning)
	}
	t := canReportTable(v, o.ListOptions)
	if len(t.Rows) > 0 {
		if err := t.Write(w); err != nil {
			return err
		}
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
