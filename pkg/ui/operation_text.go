package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// OperationWords describes how far an operation is at a time, in one line.
func OperationWords(v inspect.OperationView, now time.Time) string {
	return phrase.Or(strings.Join(v.Words(now), ", "), "the first pass runs")
}

// WriteOperationStatus prints whether an operation has ended.
func WriteOperationStatus(w io.Writer, v inspect.OperationStatusView) error {
	words, now := "no operation", ptr.Deref(v.AsOf, time.Time{})
	if o := v.Operation; o != nil {
		state := "has ended"
		if !v.Ended {
			state = "no longer reports"
		}
		words = fmt.Sprintf("operation %s %s: %s, by %s; %s", o.ID, state, o.Command, o.By(), OperationWords(*o, now))
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
	if did := v.Words(o.Now); len(did) > 0 {
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

// WriteRun prints the actions of one run.
func WriteRun(w io.Writer, i inspect.Run, o ListOptions) error {
	layout.Entry(w, "command:  ", i.Command)
	layout.Entry(w, "user:     ", i.Who)
	if i.Reason != "" {
		layout.Entry(w, "reason:   ", i.Reason)
	}
	layout.Entry(w, "run:      ", i.RunID+", from the "+string(i.Source))
	if i.UID == "" {
		layout.Entry(w, "cluster:  ", "of this name, and may be another one: no UID is recorded")
	}
	return WriteList(w, i, o)
}
