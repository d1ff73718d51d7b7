package readings

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Waits are the process groups that wait, each with its reason, in order.
type Waits struct {
	Subjects, Reasons []string
}

// Add records why a process group waits.
func (w *Waits) Add(id v1beta2.ProcessGroupID, format string, args ...any) {
	if !slices.Contains(w.Subjects, string(id)) {
		w.Subjects = append(w.Subjects, string(id))
	}
	w.Reasons = append(w.Reasons, fmt.Sprintf(format, args...))
}

// AddAll records why several process groups wait.
func (w *Waits) AddAll(groups []*v1beta2.ProcessGroupStatus, format string, args ...any) {
	for _, g := range groups {
		w.Subjects = append(w.Subjects, string(g.ProcessGroupID))
	}
	w.Reasons = append(w.Reasons, fmt.Sprintf(format, args...))
}

// Hold returns the hold of a stage that waits for them; nil when none waits.
func (w *Waits) Hold(code plan.HoldCode, prefix string, retryAfter time.Duration) *plan.Hold {
	if len(w.Reasons) == 0 {
		return nil
	}
	return &plan.Hold{Code: code, Subjects: w.Subjects, Reason: prefix + SomeOf(w.Reasons), RetryAfter: retryAfter}
}
