package ui

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

func TestProcessTable(t *testing.T) {
	f := healthy(t)
	inspecttest.Silence(f.Snapshot, "log-4", 0)
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
