package workload

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestBarsGrowWithTheShare(t *testing.T) {
	cases := map[string]struct {
		share *float64
		want  string
	}{
		"unknown":          {nil, "?"},
		"nothing":          {new(0.0), "······   0%"},
		"a little":         {new(0.02), "▏·····   2%"},
		"half":             {new(0.5), "███···  50%"},
		"all":              {new(1.0), "██████ 100%"},
		"more than a core": {new(1.2), "██████ 120%"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Bar(c.share)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A document with nothing known has a mark for every figure, and no zero.
func TestUnknownFiguresAreNeverZero(t *testing.T) {
	var b bytes.Buffer
	v := workload.View{Document: inspect.NewDocument("Workload", inspect.Metadata{}, time.Time{}, inspect.SourceLive), State: workload.StateUnknown, Reason: "the status document is incomplete"}
	v.Trend = &workload.Trend{OverSeconds: 5, LogQueueBytesPerSecond: new(-2048.0)}
	v.Processes = []workload.ProcessLoad{{Address: "10.0.0.1:4501"}}
	if err := WriteTop(&b, v, ui.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := WriteProcesses(&b, workload.ProcessList{Items: v.Processes}, ui.ListOptions{Wide: true}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"the status document is incomplete", "? started, ? committed", "limited by ?", "storage ?, log ?", "over 5s: storage queue ?, log queue -2.0KiB/s"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	for _, zero := range []string{" 0/s", " 0%", " 0B", " 0s"} {
		if strings.Contains(text, zero) {
			t.Errorf("%q in:\n%s", zero, text)
		}
	}
}
