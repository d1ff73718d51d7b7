package trace

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func at(text string) *time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return &t
}

func TestTraceEventsAreParsedFromXMLAndJSON(t *testing.T) {
	want := Event{
		Severity: new(30), Time: at("2026-11-20T12:00:32.25Z"), Type: "SlowTask",
		Fields: []Field{{"ID", "0000000000000000"}, {"Duration", "1.5"}, {"Message", `a "quoted" & <marked> text`}, {"Machine", "10.1.0.5:4501"}},
	}
	for name, line := range map[string]string{
		"XML":                   `<Event Severity="30" Time="1795176032.250000" DateTime="2026-11-20T12:00:32Z" Type="SlowTask" ID="0000000000000000" Duration="1.5" Message="a &quot;quoted&quot; &amp; &lt;marked&gt; text" Machine="10.1.0.5:4501" />`,
		"XML without DateTime":  `<Event Severity="30" Time="1795176032.25" Type="SlowTask" ID="0000000000000000" Duration="1.5" Message="a &quot;quoted&quot; &amp; &lt;marked&gt; text" Machine="10.1.0.5:4501" />`,
		"JSON":                  `{  "Severity": "30", "Time": "1795176032.250000", "DateTime": "2026-11-20T12:00:32Z", "Type": "SlowTask", "ID": "0000000000000000", "Duration": "1.5", "Message": "a \"quoted\" & <marked> text", "Machine": "10.1.0.5:4501" }`,
		"JSON with numbers":     `{"Severity":30,"Time":1795176032.250000,"Type":"SlowTask","ID":"0000000000000000","Duration":1.5,"Message":"a \"quoted\" & <marked> text","Machine":"10.1.0.5:4501"}`,
		"JSON, a clock of ours": `{"Severity":"30","Time":"12.5","DateTime":"2026-11-20T12:00:32.25Z","Type":"SlowTask","ID":"0000000000000000","Duration":"1.5","Message":"a \"quoted\" & <marked> text","Machine":"10.1.0.5:4501"}`,
	} {
		got, kind := Parse([]byte(line))
		if diff := cmp.Diff(want, got); diff != "" || kind != OfEvent {
			t.Errorf("%s: kind %d\n%s", name, kind, diff)
		}
	}
}

func TestTraceFileLinesWithoutAnEventAreClassified(t *testing.T) {
	for line, want := range map[string]Kind{
		"":                      Frame,
		`<?xml version="1.0"?>`: Frame,
		"<Trace>":               Frame,
		"</Trace>":              Frame,
		`<Event Severity="10" Time="1" Type="Torn`: Other,
		`<Event Severity="10" Time="1" />`:         Other,
		`me="1" Type="WithoutABeginning" />`:       Other,
		`{"Severity": "10", "Type": "Torn`:         Other,
		`{"Severity": "10"}`:                       Other,
		`{"Type": "Twice"} {"Type": "Twice"}`:      Other,
		"fdbserver: out of memory":                 Other,
	} {
		if _, got := Parse([]byte(line)); got != want {
			t.Errorf("%q: kind %d, want %d", line, got, want)
		}
	}
}

func TestMissingOrInvalidTraceEventFieldsAreUnknown(t *testing.T) {
	for name, line := range map[string]string{
		"nothing":         `<Event Type="A" />`,
		"no numbers":      `<Event Severity="high" Time="soon" DateTime="today" Type="A" />`,
		"another clock":   `<Event Severity="" Time="17.5" Type="A" />`,
		"a broken second": `{"Severity": null, "Time": "1795176032.x", "Type": "A"}`,
		"the far future":  `{"Time": "99999999999.5", "Type": "A"}`,
	} {
		if got, kind := Parse([]byte(line)); got.Severity != nil || got.Time != nil || kind != OfEvent {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTraceEventTextQuotesEmptyAndMultiwordValues(t *testing.T) {
	e := Event{Type: "A", Fields: []Field{{"One", "1"}, {"Empty", ""}, {"Two", "a b"}, {"Line", "a\nb"}}}
	if diff := cmp.Diff(`A One=1 Empty="" Two="a b" Line="a\nb"`, e.Text()); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseOfTraceLines(f *testing.F) {
	f.Add([]byte(`<Event Severity="30" Time="1795176032.25" Type="SlowTask" Duration="1.5" />`))
	f.Add([]byte(`{"Severity":"30","Time":"1795176032.25","Type":"SlowTask","Nested":{"a":[1]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, kind := Parse(line)
		if kind != OfEvent && e.Type != "" || kind == OfEvent && e.Type == "" {
			t.Errorf("%q: %+v of kind %d", line, e, kind)
		}
		_ = e.Text()
	})
}
