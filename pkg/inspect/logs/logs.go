// Package logs has the documents of `logs`: lines of containers and events of FoundationDB's trace
// files, filtered and merged by time.
package logs

import (
	"bytes"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/trace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Origin is what an entry was read from.
type Origin string

// The origins of entries.
const (
	// FromContainer is what a container printed.
	FromContainer Origin = "container"
	// FromTrace is a trace file of FoundationDB.
	FromTrace Origin = "trace"
)

// Entry is one line of a container, or one event of a trace file.
type Entry struct {
	inspect.Document
	// Time is when it was written; nil is unknown.
	Time *time.Time `json:"time"`
	Place
	// Severity is that of a trace event: 5 debug, 10 information, 20 warning, 30 warning that is
	// never suppressed, 40 error. It is nil for lines of containers.
	Severity *int `json:"severity"`
	// Type is the type of a trace event; empty for lines of containers.
	Type string `json:"type,omitempty"`
	// Fields are the other fields of a trace event.
	Fields map[string]string `json:"fields,omitempty"`
	// Text is the line, or the type and the fields of the event.
	Text string `json:"text"`
}

// Place is where an entry was written.
type Place struct {
	// ProcessGroup is the ID; empty if the pod is of none.
	ProcessGroup string `json:"processGroup"`
	Class        string `json:"class"`
	// Zone is the fault domain; empty while it is unknown.
	Zone string `json:"zone,omitempty"`
	// Node is the node of the pod; empty while it has none.
	Node      string `json:"node,omitempty"`
	Pod       string `json:"pod"`
	Container string `json:"container"`
	Origin    Origin `json:"origin"`
}

// Reading is the reading of one log: where it is, and when it was read.
type Reading struct {
	Metadata inspect.Metadata
	Place    Place
	AsOf     time.Time
}

// Entry returns the entry of a line; false for a line that is part of the format of the file.
func (r Reading) Entry(line []byte) (Entry, bool) {
	e := Entry{Document: inspect.NewDocument("LogEntry", r.Metadata, r.AsOf, inspect.SourceLive), Place: r.Place}
	if r.Place.Origin == FromTrace {
		return e.traced(line)
	}
	e.Text = string(bytes.TrimRight(line, "\r\n"))
	stamp, text, _ := strings.Cut(e.Text, " ")
	if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
		e.Time, e.Text = inspect.Known(at), text
	}
	return e, true
}

func (e Entry) traced(line []byte) (Entry, bool) {
	event, kind := trace.Parse(line)
	if kind == trace.Frame {
		return Entry{}, false
	}
	if kind == trace.Other {
		e.Text = string(bytes.TrimRight(line, "\r\n"))
		return e, true
	}
	e.Severity, e.Type, e.Text, e.Fields = event.Severity, event.Type, event.Text(), map[string]string{}
	for _, f := range event.Fields {
		e.Fields[f.Name] = f.Value
	}
	if event.Time != nil {
		e.Time = inspect.Known(*event.Time)
	}
	return e, true
}

// Entries returns the entries of all lines of a text.
func (r Reading) Entries(text []byte) []Entry {
	var all []Entry
	for line := range bytes.Lines(text) {
		if e, is := r.Entry(line); is {
			all = append(all, e)
		}
	}
	return all
}

// Filter selects entries of one log. Its zero value selects none: Tail is 0.
type Filter struct {
	// Since is when the first entries were written; the zero time is no limit.
	Since time.Time
	// Severity is the least severity of trace events. Lines without a severity are selected.
	Severity int
	// Tail is how many entries are selected at most, the last ones; negative is no limit.
	Tail int
}

// Of returns the selected entries of a log, which are in the order of the log.
func (f Filter) Of(entries []Entry) []Entry {
	var kept []Entry
	times := stamps(entries)
	for i, e := range entries {
		before := !f.Since.IsZero() && !times[i].IsZero() && times[i].Before(f.Since)
		if !before && (e.Severity == nil || *e.Severity >= f.Severity) {
			kept = append(kept, e)
		}
	}
	if f.Tail >= 0 && len(kept) > f.Tail {
		kept = kept[len(kept)-f.Tail:]
	}
	return kept
}

// stamps returns a time for each entry of a log. An entry without one, such as a line of a stack
// trace, belongs to the entry before it.
func stamps(entries []Entry) []time.Time {
	times := make([]time.Time, len(entries))
	var last time.Time
	for i, e := range entries {
		if e.Time != nil {
			last = *e.Time
		}
		times[i] = last
	}
	return times
}

// Merge returns the entries of several logs by time. Entries of the same log that were written at the
// same time, and those without a time, stay in the order of the log.
func Merge(all ...[]Entry) []Entry {
	type stamped struct {
		at time.Time
		e  Entry
	}
	var sorted []stamped
	for _, entries := range all {
		for i, at := range stamps(entries) {
			sorted = append(sorted, stamped{at, entries[i]})
		}
	}
	stable.Sort(sorted, func(a, b stamped) int { return a.at.Compare(b.at) })
	merged := make([]Entry, len(sorted))
	for i, s := range sorted {
		merged[i] = s.e
	}
	return merged
}
