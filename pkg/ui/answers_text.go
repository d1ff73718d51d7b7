package ui

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/logs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/waiting"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteAccess prints a row per permission.
func WriteAccess(w io.Writer, v lists.AccessView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "COMMAND"},
		{Name: "VERB"},
		{Name: "RESOURCE", Min: 12},
		{Name: "NAMESPACE", Drop: 2},
		{Name: "ALLOWED"},
		{Name: "NEEDED-FOR", Below: true, Min: 20},
	})
	for _, p := range v.Items {
		namespace := "(all)"
		if p.Namespace != nil {
			namespace = *p.Namespace
		}
		t.Rows = append(t.Rows, []string{p.Command, p.Verb, p.Resource, namespace, phrase.YesNo(&p.Allowed, phrase.UnknownCell), neededFor(p)})
	}
	return t.Write(w)
}

func neededFor(p lists.PermissionView) string {
	if p.Required {
		return "all of it"
	}
	return "without it " + p.Without
}

// WriteConfiguration prints a row per setting.
func WriteConfiguration(w io.Writer, v lists.ConfigurationListView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "SETTING"},
		{Name: "LIVE", Min: 10},
		{Name: "SPEC", Min: 10},
		{Name: "DIFFERS"},
	})
	for _, s := range v.Items {
		live := phrase.UnknownCell
		if s.Live != nil {
			live = *s.Live
		}
		t.Rows = append(t.Rows, []string{s.Setting, live, s.Spec, phrase.YesNo(s.Differs, phrase.UnknownCell)})
	}
	return t.Write(w)
}

// WriteConnectionStringDrift prints a row per place, and below it what the places have
// that differ. Wide rows have their coordinators in full.
func WriteConnectionStringDrift(w io.Writer, v lists.ConnectionStringDriftView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "SOURCE", Min: 16},
		{Name: "GENERATION-ID", Drop: 1, Min: 12},
		{Name: "COORDS", Drop: 2},
		{Name: "MATCH"},
	}, "CONNECTION-STRING")
	for _, s := range v.Items {
		row := []string{s.Source, phrase.Or(s.GenerationID, phrase.UnknownCell), connectionSpotCount(s), phrase.YesNo(s.Matches, phrase.UnknownCell)}
		if o.Wide {
			row = append(row, phrase.Or(inspect.OneLine(s.Text), phrase.UnknownCell))
		}
		t.Rows = append(t.Rows, row)
	}
	if err := t.Write(w); err != nil || o.NoHeaders {
		return err
	}
	fmt.Fprintln(w)
	for _, s := range v.Items {
		switch {
		case s.Unreadable != "":
			layout.Line(w, "%s could not be read: %s", s.Source, s.Unreadable)
		case s.Matches != nil && !*s.Matches:
			layout.Line(w, "%s has %s", s.Source, inspect.OneLine(s.Text))
		}
	}
	_, err := layout.Fprintf(w, "%s\n", connectionStringDriftVerdict(v))
	return err
}

func connectionSpotCount(s lists.ConnectionSpot) string {
	if s.GenerationID == "" {
		return phrase.UnknownCell
	}
	return strconv.Itoa(len(s.Coordinators))
}

func connectionStringDriftVerdict(v lists.ConnectionStringDriftView) string {
	reference := "the connection string in force"
	if v.Against == inspect.SourceResource {
		reference = "the connection string in the status; the one in force is unknown"
	}
	compared := slices.ContainsFunc(v.Items, func(s lists.ConnectionSpot) bool { return s.Matches != nil })
	switch {
	case !compared:
		return "nothing to compare with: no connection string is known"
	case v.Matches == nil:
		return "not all could be read; the others have " + reference
	case *v.Matches:
		return "all have " + reference
	default:
		return "not all have " + reference
	}
}

// WriteCoordinatorDiagnosis prints a row per coordinator, and the finding.
func WriteCoordinatorDiagnosis(w io.Writer, v lists.CoordinatorDiagnosisView) error {
	t := Table{Columns: []layout.Column{
		{Name: "ADDRESS", Min: 24, Below: true},
		{Name: "ID"},
		{Name: "STATE"},
		{Name: "NOW", Drop: 1, Min: 16},
		{Name: "NOTE", Below: true},
	}}
	for _, d := range v.Items {
		t.Rows = append(t.Rows, []string{d.Address, phrase.Or(d.Group, phrase.UnknownCell), string(d.State), phrase.Or(strings.Join(d.Now, ","), phrase.Nothing), phrase.Or(d.Note, phrase.Nothing)})
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := layout.Fprintf(w, "\n%s\n", v.Finding)
	return err
}

// WriteEvacuation writes the table.
func WriteEvacuation(w io.Writer, v lists.EvacuationView) error {
	t := Table{Columns: []layout.Column{
		{Name: "NODE", Min: 16},
		{Name: "GROUP"},
		{Name: "CLASS", Drop: 4},
		{Name: "COORD", Drop: 2},
		{Name: "DATA", Drop: 3},
		{Name: "RULE", Drop: 5, Min: 16},
		{Name: "DETECT-AT", Drop: 6},
		{Name: "REPLACE-AT", Drop: 1},
		{Name: "FITS", Below: true},
	}}
	for _, item := range v.Items {
		g := item.Group
		t.Rows = append(t.Rows, []string{
			item.Node, g.ID, g.Class, coordinates(g.Coordinator), phrase.BytesOr(g.StoredBytes, phrase.UnknownCell), cmp.Or(item.Rule, phrase.Nothing), lists.Moment(item.Detected), lists.Moment(item.Replaced), fits(item.Elsewhere),
		})
	}
	return t.Write(w)
}

func fits(f safety.Fit) string {
	switch {
	case f.Fits == nil:
		return phrase.UnknownCell + " (" + f.Reason + ")"
	case *f.Fits:
		return "yes"
	default:
		return "no (" + f.Reason + ")"
	}
}

func coordinates(b *bool) string {
	switch {
	case b == nil:
		return phrase.UnknownCell
	case *b:
		return "yes"
	default:
		return phrase.Nothing
	}
}

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

// WriteWait prints a row per condition.
func WriteWait(w io.Writer, v waiting.WaitView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "CONDITION", Min: 16},
		{Name: "MET"},
		{Name: "SINCE", Drop: 1},
		{Name: "REASON", Below: true},
	})
	for _, c := range v.Conditions {
		since := phrase.Nothing
		if c.Since != nil {
			since = o.time(c.Since)
		}
		t.Rows = append(t.Rows, []string{c.Condition, phrase.YesNo(c.Met, phrase.UnknownCell), since, phrase.Or(c.Reason, phrase.Nothing)})
	}
	return t.Write(w)
}
