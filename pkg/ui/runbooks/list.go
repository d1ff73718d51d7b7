package runbooks

import (
	"io"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// List is the document of `run --list`.
type List struct {
	inspect.Document
	Items []Item `json:"items"`
}

// Item is one runbook.
type Item struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Steps is the number of steps.
	Steps int `json:"steps"`
	// Vars are the variables that --var sets.
	Vars []runbook.Variable `json:"vars"`
}

// NewList returns an empty list.
func NewList(m inspect.Metadata) List {
	return List{Document: inspect.NewDocument("RunbookList", m, time.Time{}, inspect.SourceLive), Items: []Item{}}
}

// NewItem describes a runbook.
func NewItem(r *runbook.Runbook) Item {
	return Item{Name: r.Metadata.Name, Description: r.Metadata.Description, Steps: len(r.Steps), Vars: append([]runbook.Variable{}, r.Vars...)}
}

// WriteList prints a row per runbook.
func WriteList(w io.Writer, l List, t ui.Table) error {
	t.Columns = []layout.Column{{Name: "NAME"}, {Name: "VARS", Min: 10}, {Name: "DESCRIPTION", Min: 20}}
	for _, item := range l.Items {
		vars := make([]string, len(item.Vars))
		for i, v := range item.Vars {
			vars[i] = v.Name
			if !v.Required {
				vars[i] += "?"
			}
		}
		t.Rows = append(t.Rows, []string{item.Name, phrase.List(vars), item.Description})
	}
	return t.Write(w)
}

// Kinds are the kinds of documents of this package.
func Kinds() []ui.Kind {
	return []ui.Kind{
		{Name: "Runbook", PrintedBy: "run --print, and what run reads", Document: runbook.Runbook{}, Input: runbook.APIVersion},
		{Name: "RunbookForecast", PrintedBy: "run --dry-run", Document: Forecast{}},
		{Name: "RunbookList", PrintedBy: "run --list", Document: List{}},
		{Name: "RunbookReport", PrintedBy: "run, and its --report json=FILE", Document: Report{}},
	}
}
