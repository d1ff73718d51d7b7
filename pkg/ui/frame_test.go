package ui

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestOutputLinesOfAPassContainNoDatabaseSecret(t *testing.T) {
	set := plan.SetConnectionString{ConnectionString: "sample:abc@127.0.2.11:4501"}
	var lines []string
	tell := Lines(func(l json.RawMessage) { lines = append(lines, string(l)) })
	for _, e := range []reconcile.Event{
		reconcile.PassStarted{Round: 1},
		reconcile.StageDecided{Stage: "S", Decision: plan.Decision{Actions: []plan.Action{set}}},
		reconcile.ActionStarted{Stage: "S", Action: set},
		reconcile.ActionDone{Stage: "S", Action: set, Err: errors.New("no file sample:abc@127.0.2.11:4501")},
	} {
		tell(e)
	}
	if len(lines) != 4 || !strings.HasPrefix(lines[3], `{"event":"acted","pass":1,`) {
		t.Errorf("%q", lines)
	}
	for _, line := range lines {
		if strings.Contains(line, "abc") || strings.Contains(line, "details") {
			t.Error(line)
		}
	}
}
