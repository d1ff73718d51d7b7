package trial

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// recorded is what a pass recorded, without times, if it did nothing else.
type recorded struct {
	acted int    // the number of actions up to the end of the pass
	text  string // empty if it did something else, or nothing
	times int    // how many passes in a row
}

// mostRecords is how many passes in a row may record the same: one that dates what was undated, and one more for what
// changed and changed back between two passes.
const mostRecords = 2

// recordsAgain finds passes that write nothing but the time. A cluster with nothing to do, or that waits, would be
// written to by each pass: a watch runs one at every change, its own included.
func recordsAgain(h *History, _ *deed) string {
	before := h.records[h.w]
	now := recorded{acted: len(h.w.Acted)}
	var words []string
	for _, a := range h.w.Acted[before.acted:] {
		word, only := h.recordedBy(a)
		if !only {
			h.records[h.w] = now
			return ""
		}
		words = append(words, word)
	}
	if now.text = strings.Join(words, "; "); now.text != "" {
		now.times = 1
		if now.text == before.text {
			now.times = before.times + 1
		}
	}
	h.records[h.w] = now
	if now.times <= mostRecords {
		return ""
	}
	return fmt.Sprintf("passes in a row: %d, each %.200s", now.times, now.text)
}

// recordedBy returns what an action records; false if it does more.
func (h *History) recordedBy(a plan.Action) (text string, only bool) {
	if _, taints := a.(plan.RecordTaints); taints {
		return a.Describe(), true
	}
	_, status := a.(plan.WriteStatus)
	return h.statusWithoutTimes(), status
}

var timesInJSON = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"|:\d{9,}`)

// statusWithoutTimes is the status that the API server has.
func (h *History) statusWithoutTimes() string {
	text, err := json.Marshal(h.w.Resource.Status)
	if err != nil {
		return err.Error() // a status can always be encoded
	}
	return "status " + timesInJSON.ReplaceAllString(string(text), ":0")
}
