package frame

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// LineWords returns a line of a pass in words if it is worth printing: what was done, and
// what a stage waits for. It is empty for all other lines.
func LineWords(raw json.RawMessage) string {
	var l struct {
		Event, Kind, Stage, Outcome, Reason, Error string
		Action                                     struct{ Summary string }
	}
	if json.Unmarshal(raw, &l) != nil {
		return ""
	}
	switch {
	case l.Event == "acted" && l.Error != "":
		return fmt.Sprintf("%s: failed to %s: %s", l.Stage, l.Action.Summary, l.Error)
	case l.Event == "acted":
		return fmt.Sprintf("%s: did %s", l.Stage, l.Action.Summary)
	case l.Event == "stage" && l.Reason != "":
		return fmt.Sprintf("%s: %s: %s", l.Stage, l.Outcome, l.Reason)
	case l.Event == "pass":
		return "the pass ended: " + l.Outcome
	case l.Kind == "ReconcileResult" || l.Kind == "ChangeResult":
		return phrase.Or(l.Reason, "the run ended: "+l.Outcome)
	default:
		return ""
	}
}
