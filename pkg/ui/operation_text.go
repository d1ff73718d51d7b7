package ui

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit/history"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteOperations prints a row per operation.
func WriteOperations(w io.Writer, v inspect.OperationListView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "NAMESPACE", Drop: 3},
		{Name: "CLUSTER"},
		{Name: "ID", Drop: 4},
		{Name: "COMMAND", Min: 16},
		{Name: "USER", Drop: 1, Min: 8},
		{Name: "STARTED"},
		{Name: "STATE"},
		{Name: "PROGRESS", Drop: 2, Min: 16},
	})
	for _, i := range v.Items {
		t.Rows = append(t.Rows, operationRow(i, o))
	}
	return t.Write(w)
}

func operationRow(i inspect.OperationItem, o ListOptions) []string {
	if i.Operation == nil {
		return []string{i.Namespace, i.Cluster, phrase.UnknownCell, phrase.UnknownCell, phrase.UnknownCell, phrase.UnknownCell, phrase.UnknownCell, phrase.UnknownCell}
	}
	v := *i.Operation
	started := phrase.UnknownCell
	switch {
	case v.Since != nil && o.Absolute:
		started = v.Since.Format(time.RFC3339)
	case v.Since != nil:
		started = phrase.Duration(o.Now.Sub(*v.Since))
	}
	return []string{
		i.Namespace, i.Cluster, phrase.Or(v.ID, phrase.Nothing), v.Command, v.By(), started, operationState(v), phrase.Or(strings.Join(operationProgress(v.Progress), ", "), phrase.Nothing),
	}
}

func operationState(v inspect.OperationView) string {
	switch {
	case !v.Active:
		return "lost"
	case v.Abort != nil:
		return "aborting"
	default:
		return "active"
	}
}

// operationProgress returns what an operation has done, and what it waits for.
func operationProgress(v reconcile.OperationProgress) []string {
	var words []string
	if v.Targets > 0 {
		words = append(words, fmt.Sprintf("%d of %d done", v.Reached, v.Targets))
	}
	if v.Passes > 0 {
		words = append(words, phrase.Count(v.Actions, "action")+" in "+phrase.Count(v.Passes, "pass"))
	}
	if v.WaitingFor != "" {
		words = append(words, "waiting: "+v.WaitingFor)
	}
	return words
}

// OperationWords describes how far an operation is, in one line.
func OperationWords(v inspect.OperationView) string {
	return phrase.Or(strings.Join(operationProgress(v.Progress), ", "), "the first pass runs")
}

// WriteOperationStatus prints whether an operation has ended.
func WriteOperationStatus(w io.Writer, v inspect.OperationStatusView) error {
	words := "no operation"
	if o := v.Operation; o != nil {
		state := "has ended"
		if !v.Ended {
			state = "no longer reports"
		}
		words = fmt.Sprintf("operation %s %s: %s, by %s; %s", o.ID, state, o.Command, o.By(), OperationWords(*o))
	}
	_, err := layout.Fprintf(w, "%s\n", words)
	return err
}

// WriteLeftovers prints what is half done on a cluster, and the commands that complete and revert it.
func WriteLeftovers(w io.Writer, v lists.Leftovers) error {
	var b strings.Builder
	if len(v.Items) == 0 {
		b.WriteString("nothing is half done")
	} else {
		b.WriteString("half done, whichever run began it:")
	}
	if len(v.Unknown) > 0 {
		kinds := make([]string, len(v.Unknown))
		for i, kind := range v.Unknown {
			kinds[i] = kind.Text()
		}
		b.WriteString(" (unknown: " + phrase.List(kinds) + ")")
	}
	if _, err := fmt.Fprintln(w, b.String()); err != nil {
		return err
	}
	width := layout.Width(w)
	for _, l := range v.Items {
		lines := []string{layout.Labeled("  ", l.Text(), width)}
		if l.Complete != "" {
			lines = append(lines, layout.Labeled("    complete: ", l.Complete, width))
		}
		if l.Revert != "" {
			lines = append(lines, layout.Labeled("    revert:   ", l.Revert, width))
		}
		if _, err := fmt.Fprintln(w, strings.Join(lines, "\n")); err != nil {
			return err
		}
	}
	return nil
}

// operation describes a command that runs passes, and whether it goes on.
func (o StatusOptions) operation(v inspect.OperationView) string {
	since := "at an unknown time"
	switch {
	case v.Since != nil && o.Absolute:
		since = "since " + v.Since.Format(time.RFC3339)
	case v.Since != nil:
		since = "for " + phrase.Duration(o.Now.Sub(*v.Since))
	}
	words := v.Text()
	if v.Reason != "" && v.User != "" {
		words += " (" + v.Reason + ")"
	}
	words += ", " + since
	if did := operationProgress(v.Progress); len(did) > 0 {
		words += "; " + strings.Join(did, ", ")
	}
	if v.Abort != nil {
		words += "; to be aborted, requested by " + v.Abort.By
	}
	if !v.Active && v.Seen != nil {
		words += fmt.Sprintf("; it ended without a report: last seen %s ago", phrase.Duration(o.Now.Sub(*v.Seen)))
	}
	return words
}

// WriteHistory prints a row per run.
func WriteHistory(w io.Writer, v history.View, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "ENDED"},
		{Name: "TOOK", Drop: 3},
		{Name: "USER", Drop: 5, Min: 8},
		{Name: "COMMAND", Min: 16},
		{Name: "ACTIONS", Drop: 4},
		{Name: "RESULT"},
		{Name: "REASON", Drop: 2, Min: 8},
		{Name: "RUN", Drop: 1},
	})
	for _, i := range v.Items {
		t.Rows = append(t.Rows, []string{
			o.ended(i), phrase.Duration(i.Until.Sub(i.Since)), i.User, i.Command, strconv.Itoa(i.Actions), runResult(i), phrase.Or(i.Reason, phrase.Nothing), i.RunID,
		})
	}
	return t.Write(w)
}

func (o ListOptions) ended(i history.Item) string {
	switch {
	case i.Active:
		return "active"
	case o.Absolute:
		return i.Until.Format(time.RFC3339)
	default:
		return phrase.Duration(o.Now.Sub(i.Until)) + " ago"
	}
}

func runResult(i history.Item) string {
	switch i.Failed {
	case 0:
		return audit.Done
	case i.Actions:
		return audit.Failed
	default:
		return fmt.Sprintf("%d failed", i.Failed)
	}
}

// WriteRun prints the actions of one run.
func WriteRun(w io.Writer, i history.Item, o ListOptions) error {
	layout.Entry(w, "command:  ", i.Command)
	layout.Entry(w, "user:     ", i.Who)
	if i.Reason != "" {
		layout.Entry(w, "reason:   ", i.Reason)
	}
	layout.Entry(w, "run:      ", i.RunID+", from the "+string(i.Source))
	if i.UID == "" {
		layout.Entry(w, "cluster:  ", "of this name, and may be another one: no UID is recorded")
	}
	t := o.table([]layout.Column{
		{Name: "TIME"},
		{Name: "STAGE", Drop: 2},
		{Name: "ACTION"},
		{Name: "COUNT", Drop: 3},
		{Name: "RESULT"},
		{Name: "TOOK", Drop: 1},
		{Name: "SUBJECTS", Min: 16},
	})
	for _, s := range i.Steps {
		took, subjects := phrase.UnknownCell, strings.Join(s.Subjects, ", ")
		if s.TookSeconds != nil {
			took = phrase.Duration(time.Duration(*s.TookSeconds * float64(time.Second)))
		}
		if s.Error != "" {
			subjects += ": " + s.Error
		}
		t.Rows = append(t.Rows, []string{s.Time.Format(time.RFC3339), string(s.Stage), s.Action, strconv.Itoa(s.Count), s.Result, took, subjects})
	}
	return t.Write(w)
}
