package logs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

func reading(o Origin) Reading {
	return Reading{Metadata: inspect.Metadata{Cluster: "sample"}, Place: Place{ProcessGroup: "storage-1", Class: "storage", Pod: "sample-storage-1", Container: "foundationdb", Origin: o}, AsOf: time.Unix(1795176099, 0)}
}

func short(entries []Entry) string {
	var b strings.Builder
	for _, e := range entries {
		at, severity := "-", "-"
		if e.Time != nil {
			at = e.Time.Format("05.000")
		}
		if e.Severity != nil {
			severity = fmt.Sprint(*e.Severity)
		}
		fmt.Fprintln(&b, at, e.Origin, severity, e.Text)
	}
	return b.String()
}

const containerLog = `2026-11-20T12:00:31.5Z panic: out of memory
goroutine 1 [running]:
2026-11-20T12:00:33Z started
`

const traceFile = `<?xml version="1.0"?>
<Trace>
<Event Severity="10" Time="1795176030.000000" Type="ProcessMetrics" Machine="10.1.0.5:4501" />
<Event Severity="30" Time="1795176032.000000" Type="SlowTask" Duration="1.5" />
<Event Severity="40" Time="1795176034.000000" Type="IOError" />
<Event Severity="40" Ti`

func TestLogsAreMergedByTimeAndKeepTheirOrder(t *testing.T) {
	want := `30.000 trace 10 ProcessMetrics Machine=10.1.0.5:4501
31.500 container - panic: out of memory
- container - goroutine 1 [running]:
32.000 trace 30 SlowTask Duration=1.5
33.000 container - started
34.000 trace 40 IOError
- trace - <Event Severity="40" Ti
`
	got := Merge(reading(FromContainer).Entries([]byte(containerLog)), reading(FromTrace).Entries([]byte(traceFile)))
	if diff := cmp.Diff(want, short(got)); diff != "" {
		t.Error(diff)
	}
}

func TestLogFiltersSelectByTimeSeverityAndTail(t *testing.T) {
	since := time.Date(2026, 11, 20, 12, 0, 32, 0, time.UTC)
	for name, row := range map[string]struct {
		filter Filter
		origin Origin
		want   string
	}{
		"everything":       {Filter{Tail: -1}, FromContainer, "31.500 container - panic: out of memory\n- container - goroutine 1 [running]:\n33.000 container - started\n"},
		"the last entries": {Filter{Tail: 1}, FromContainer, "33.000 container - started\n"},
		"no entries":       {Filter{}, FromContainer, ""},
		"lines since a time, with their own lines":  {Filter{Since: since, Tail: -1}, FromContainer, "33.000 container - started\n"},
		"events that are severe, and torn lines":    {Filter{Severity: 30, Tail: -1}, FromTrace, "32.000 trace 30 SlowTask Duration=1.5\n34.000 trace 40 IOError\n- trace - <Event Severity=\"40\" Ti\n"},
		"the last of severe events":                 {Filter{Severity: 20, Tail: 3}, FromTrace, "32.000 trace 30 SlowTask Duration=1.5\n34.000 trace 40 IOError\n- trace - <Event Severity=\"40\" Ti\n"},
		"lines of containers whatever the severity": {Filter{Severity: 40, Tail: 1}, FromContainer, "33.000 container - started\n"},
	} {
		text := containerLog
		if row.origin == FromTrace {
			text = traceFile
		}
		if diff := cmp.Diff(row.want, short(row.filter.Of(reading(row.origin).Entries([]byte(text))))); diff != "" {
			t.Errorf("%s\n%s", name, diff)
		}
	}
}

func TestTraceEventsAreParsedWithTheirFields(t *testing.T) {
	e, is := reading(FromTrace).Entry([]byte(`<Event Severity="30" Time="1795176032.5" Type="SlowTask" Duration="1.5" />`))
	if !is || e.Type != "SlowTask" || e.Fields["Duration"] != "1.5" || e.ProcessGroup != "storage-1" || e.Kind != "LogEntry" {
		t.Errorf("%+v", e)
	}
}
