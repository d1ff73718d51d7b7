package ui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// A recording of another version may lack what this one adds.
func TestALockWithoutAnEndIsShownAsUnknown(t *testing.T) {
	for name, tc := range map[string]struct {
		lock inspect.LockView
		want []string
	}{
		"free":                   {inspect.LockView{Cluster: "sample", State: inspect.LockFree}, []string{"sample", "-", "-", "-", "-", "-", "free"}},
		"held, and nothing else": {inspect.LockView{Cluster: "sample", Owner: new("a"), State: inspect.LockHeld}, []string{"sample", "a", "?", "?", "?", "?", "held"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := WriteLocks(&out, inspect.LockListView{Items: []inspect.LockView{tc.lock}}, ListOptions{NoHeaders: true}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Fields(out.String()); strings.Join(got, " ") != strings.Join(tc.want, " ") {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
