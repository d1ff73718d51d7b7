package runbooks

import (
	"fmt"
	"io"
	"strings"
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

// Forecast is the document of `run --dry-run`.
type Forecast struct {
	inspect.Document
	// Runbook is the name of the runbook.
	Runbook string `json:"runbook"`
	// Digest is that of the runbook's file.
	Digest string `json:"digest"`
	// ApprovalDigest is what approvals without a plan approve: the runbook with its variables.
	ApprovalDigest string            `json:"approvalDigest"`
	Values         map[string]string `json:"values"`
	Steps          []ForecastStep    `json:"steps"`
}

// ForecastStep is what is known of a step before it runs.
type ForecastStep struct {
	Name      string           `json:"name"`
	Kind      runbook.StepKind `json:"kind"`
	Arguments []string         `json:"arguments,omitempty"`
	// Who has to approve; empty for other steps.
	Who string `json:"who,omitempty"`
	// Changes is true if the step may change objects or databases, or runs a program, and needs an approval.
	Changes bool `json:"changes"`
	// Forecast is the command that was run instead; empty if none was.
	Forecast []string `json:"forecast,omitempty"`
	// ExitCode is the exit code of the forecast; null without one.
	ExitCode *int `json:"exitCode"`
	// Output is what the forecast printed.
	Output string `json:"output,omitempty"`
	// Why there is no forecast; empty if there is one.
	Why NoForecast `json:"why,omitempty"`
	// Digest is what --approve requires now; null if it is unknown before the step. That of a plan
	// can differ at the time of the run.
	Digest *string `json:"digest"`
	// Compensate is the command that reverts the step.
	Compensate []string `json:"compensate,omitempty"`
}

// NoForecast is why a step has no forecast.
type NoForecast string

// The reasons for no forecast.
const (
	// NotNeeded means that the step has no command.
	NotNeeded NoForecast = "no-command"
	// NoDryRun means that the command has no dry run.
	NoDryRun NoForecast = "no-dry-run"
	// OnlyWaits means that the command waits.
	OnlyWaits NoForecast = "waits"
	// ValueUnknown means that a variable is only known after an earlier step.
	ValueUnknown NoForecast = "value-unknown"
)

// words are the reasons for users.
func (n NoForecast) words() string {
	switch n {
	case NotNeeded:
		return "no command"
	case NoDryRun:
		return "the command has no dry run"
	case OnlyWaits:
		return "it waits"
	case ValueUnknown:
		return "a variable is unknown before an earlier step"
	default:
		return ""
	}
}

// NewForecast returns a forecast without steps.
func NewForecast(m inspect.Metadata, now time.Time, book runbook.Checked, digest string) Forecast {
	return Forecast{
		Document: inspect.NewDocument("RunbookForecast", m, now, inspect.SourceLive), Runbook: book.Metadata.Name, Digest: digest,
		ApprovalDigest: runbook.ApprovalDigest(digest, book.Values), Values: book.Values, Steps: []ForecastStep{},
	}
}

// WriteForecast prints all steps.
func WriteForecast(w io.Writer, f Forecast) error {
	for i, s := range f.Steps {
		what := strings.Join(s.Arguments, " ")
		if s.Who != "" {
			what = "approval of " + s.Who
		}
		layout.Entry(w, fmt.Sprintf("%d. ", i+1), s.Name+": "+phrase.Or(what, string(s.Kind)))
		s.write(w)
	}
	_, err := layout.Fprintf(w, "%s: %s, nothing was changed\n", f.Runbook, phrase.Count(len(f.Steps), "step"))
	return err
}

func (s ForecastStep) write(w io.Writer) {
	const indent = "   "
	switch {
	case s.Digest != nil:
		layout.Entry(w, indent, "digest "+*s.Digest)
	case s.Who != "":
		layout.Entry(w, indent, "digest "+phrase.Unknown)
	}
	if s.ExitCode == nil && s.Who == "" {
		layout.Entry(w, indent, "not forecast: "+s.Why.words())
	}
	if s.ExitCode != nil {
		layout.Entry(w, indent, fmt.Sprintf("forecast: exit code %d of %s", *s.ExitCode, strings.Join(s.Forecast, " ")))
	}
	for line := range strings.Lines(s.Output) {
		fmt.Fprint(w, indent+"| "+strings.TrimRight(line, "\n")+"\n")
	}
	if len(s.Compensate) > 0 {
		layout.Entry(w, indent, "reverted by: "+strings.Join(s.Compensate, " "))
	}
}
