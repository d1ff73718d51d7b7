package ui

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

func TestProcessTable(t *testing.T) {
	f := healthy(t)
	f.silence("log-4", 0)
	for name, o := range map[string]ListOptions{"table": {}, "wide": {Wide: true}} {
		t.Run(name, func(t *testing.T) {
			o.Now = noon
			var b bytes.Buffer
			if err := WriteProcesses(&b, NewProcessListView(meta, f), o); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}
