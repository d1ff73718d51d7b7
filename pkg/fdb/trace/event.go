// Package trace parses FoundationDB's trace files: events in XML or JSON, one a line.
package trace

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"math"
	"strconv"
	"strings"
	"time"
)

// Severities of events, as FoundationDB numbers them.
const (
	Debug      = 5
	Info       = 10
	Warn       = 20
	WarnAlways = 30
	Error      = 40
)

// Event is one event of a process.
type Event struct {
	// Severity is nil if the event has none.
	Severity *int
	// Time is nil if the event has none that is a time of day.
	Time *time.Time
	// Type is the name of the event.
	Type string
	// Fields are all other fields, in the order of the file.
	Fields []Field
}

// Field is one named value of an event.
type Field struct{ Name, Value string }

// Kind is what a line of a trace file is.
type Kind int

// The kinds of lines.
const (
	// Other is a line that is no event: a torn one, or text of another program.
	Other Kind = iota
	// Frame is a line around the events of an XML file, or an empty one.
	Frame
	// OfEvent is a line with one event.
	OfEvent
)

// Parse parses one line of a trace file.
func Parse(line []byte) (Event, Kind) {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0, bytes.HasPrefix(line, []byte("<?xml")), bytes.Equal(line, []byte("<Trace>")), bytes.Equal(line, []byte("</Trace>")):
		return Event{}, Frame
	case bytes.HasPrefix(line, []byte("<Event ")):
		return kindOf(parseXML(line))
	case bytes.HasPrefix(line, []byte("{")):
		return kindOf(parseJSON(line))
	default:
		return Event{}, Other
	}
}

// kindOf returns the event of fields. Without a type they are none.
func kindOf(fields []Field) (Event, Kind) {
	e := newEvent(fields)
	if e.Type == "" {
		return Event{}, Other
	}
	return e, OfEvent
}

// parseXML returns the attributes of an element; none if it is torn.
func parseXML(line []byte) []Field {
	var element struct {
		Attributes []xml.Attr `xml:",any,attr"`
	}
	decoder := xml.NewDecoder(bytes.NewReader(line))
	decoder.Strict = true
	if err := decoder.Decode(&element); err != nil {
		return nil
	}
	fields := make([]Field, len(element.Attributes))
	for i, a := range element.Attributes {
		fields[i] = Field{Name: a.Name.Local, Value: a.Value}
	}
	return fields
}

// parseJSON parses an object whose values are all strings, as FoundationDB writes them; other values
// stay as they are written. It returns none of text that is no object.
func parseJSON(line []byte) []Field {
	if !json.Valid(line) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	if _, err := decoder.Token(); err != nil {
		return nil
	}
	var fields []Field
	for decoder.More() {
		name, err := decoder.Token()
		text, is := name.(string)
		var raw json.RawMessage
		if err != nil || !is || decoder.Decode(&raw) != nil {
			return nil
		}
		var value string
		if json.Unmarshal(raw, &value) != nil {
			value = string(raw)
		}
		fields = append(fields, Field{Name: text, Value: value})
	}
	return fields
}

func newEvent(fields []Field) Event {
	var e Event
	var exact, dated *time.Time
	for _, f := range fields {
		switch f.Name {
		case "Severity":
			if n, err := strconv.Atoi(f.Value); err == nil {
				e.Severity = &n
			}
		case "Time":
			exact = timeOfDay(f.Value)
		case "DateTime":
			if at, err := time.Parse(time.RFC3339Nano, f.Value); err == nil {
				dated = &at
			}
		case "Type":
			e.Type = f.Value
		default:
			e.Fields = append(e.Fields, f)
		}
	}
	e.Time = dated
	if exact != nil {
		e.Time = exact
	}
	return e
}

// minTimeOfDay is 2001: the clock of a process that counts from its start is far below.
const minTimeOfDay = 1e9

// timeOfDay returns the time of seconds since 1970; nil for a clock that counts from another time.
func timeOfDay(text string) *time.Time {
	seconds, fraction, _ := strings.Cut(text, ".")
	whole, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || whole < minTimeOfDay || whole > math.MaxUint32 {
		return nil
	}
	nanoseconds, err := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	if err != nil || nanoseconds < 0 {
		return nil
	}
	at := time.Unix(whole, nanoseconds).UTC()
	return &at
}

// Text returns the event as one line: its type, and its fields as NAME=VALUE.
func (e Event) Text() string {
	var b strings.Builder
	b.WriteString(e.Type)
	for _, f := range e.Fields {
		b.WriteString(" " + f.Name + "=")
		if f.Value == "" || strings.ContainsAny(f.Value, " \t\n\"=") {
			b.WriteString(strconv.Quote(f.Value))
			continue
		}
		b.WriteString(f.Value)
	}
	return b.String()
}
