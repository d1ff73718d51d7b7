package ui

import (
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// canReportTable has a column of subjects where any question has one.
func canReportTable(v lists.CanReport, o ListOptions) Table {
	subjects := slices.ContainsFunc(v.Items, func(i lists.CanItem) bool { return i.Subject != "" })
	columns := []string{"GATE", "OK", "QUESTION", "HAVE", "NEED"}
	if subjects {
		columns = append([]string{"SUBJECT"}, columns...)
	}
	t := Table{Header: o.header(columns)}
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
	fmt.Fprintln(w, o.in(color, v.Summary))
	for _, warning := range v.Warnings {
		fmt.Fprintf(w, "%s %s\n", o.in(yellow, "warning:"), warning)
	}
	t := canReportTable(v, o.ListOptions)
	if len(t.Rows) > 0 {
		if err := t.Write(w); err != nil {
			return err
		}
	}
	for _, f := range v.VersionFacts {
		fmt.Fprintf(w, "%s %s\n", o.in(bold, "fact:"), factWords(f))
	}
	for _, note := range v.Notes {
		fmt.Fprintf(w, "%s %s\n", o.in(bold, "note:"), note)
	}
	for _, command := range v.Next {
		fmt.Fprintf(w, "%s %s\n", o.in(bold, "next:"), command)
	}
	return nil
}

// factWords returns a fact on one line: what it is, its advice, its identity and its source.
func factWords(f versionfacts.Applying) string {
	uncertain := ""
	if f.Applies == versionfacts.Unknown {
		uncertain = fmt.Sprintf(", unknown whether %s is used", f.Condition)
	}
	return fmt.Sprintf("%s; %s [%s: %s%s] %s", f.Summary, f.Advice, f.ID, f.Consequence, uncertain, f.Sources[0])
}
