package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Housekeeping is what remains when everything essential is done: the objects of process
// groups are deleted, and their processes are proven drained and gone. Their exclusions end,
// and their status entries are dropped, once the database has been stable for long enough.
// Any later pass does that, and until then nothing depends on it.
type Housekeeping struct {
	// Groups are the removed process groups that the status still lists.
	Groups []v1beta2.ProcessGroupID `json:"groups"`
	// Exclusions are those of the groups that are still in force.
	Exclusions []string `json:"exclusions"`
	// Requires are the checks that do not hold yet.
	Requires []Check `json:"requires"`
	// RetryAfter is how long that takes at least, if no other recovery follows; 0 when unknown.
	RetryAfter time.Duration `json:"-"`
	// Due is the time after RetryAfter; zero when unknown.
	Due time.Time `json:"-"`
}

// Task is what a later pass does, as an imperative clause.
func (h Housekeeping) Task() string {
	groups := make([]string, len(h.Groups))
	for i, id := range h.Groups {
		groups[i] = string(id)
	}
	return fmt.Sprintf("include %s and remove %s from the status", strings.Join(h.Exclusions, " "), strings.Join(groups, ", "))
}

// Text are the task, and when a later pass does it.
func (h Housekeeping) Text() string {
	when := "once the database is stable"
	if h.RetryAfter > 0 {
		when = "in " + h.RetryAfter.Round(time.Second).String()
	}
	var evidence []string
	for _, c := range h.Requires {
		evidence = append(evidence, c.Evidence)
	}
	return fmt.Sprintf("%s, %s (%s)", h.Task(), when, strings.Join(evidence, "; "))
}
