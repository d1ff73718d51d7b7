package ui

import (
	"fmt"
	"io"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/logs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// LogWidths are the widths of the columns before the text of a log.
type LogWidths struct{ group, container int }

// Note widens the columns for a process group and its containers.
func (l *LogWidths) Note(group string, containers ...string) {
	l.group = max(l.group, len(group))
	for _, name := range append(containers, string(logs.FromTrace)) {
		l.container = max(l.container, len(name))
	}
}

// logTime is the layout of times in logs: as long for all.
const logTime = "2006-01-02T15:04:05.000Z"

// WriteLog prints an entry as one line: ends of lines in its text are shown.
func WriteLog(w io.Writer, e logs.Entry, l LogWidths) {
	at, from, text := phrase.Nothing, e.Container, e.Text
	if e.Time != nil {
		at = e.Time.Format(logTime)
	}
	if e.Origin == logs.FromTrace {
		from = string(logs.FromTrace)
	}
	if e.Severity != nil {
		text = strconv.Itoa(*e.Severity) + " " + text
	}
	line := fmt.Sprintf("%-*s %-*s %-*s %s", len(logTime), at, l.group, phrase.Or(e.ProcessGroup, phrase.Nothing), l.container, from, text)
	fmt.Fprintln(w, layout.OneLine(w, line)) // its secrets are not hidden
}
