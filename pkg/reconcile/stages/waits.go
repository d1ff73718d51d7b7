package stages

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// waits are the process groups that wait, each with its reason, in order.
type waits struct {
	subjects, reasons []string
}

// add records why a process group waits.
func (w *waits) add(id v1beta2.ProcessGroupID, format string, args ...any) {
	if !slices.Contains(w.subjects, string(id)) {
		w.subjects = append(w.subjects, string(id))
	}
	w.reasons = append(w.reasons, fmt.Sprintf(format, args...))
}

// addAll records why several process groups wait.
func (w *waits) addAll(groups []*v1beta2.ProcessGroupStatus, format string, args ...any) {
	for _, g := range groups {
		w.subjects = append(w.subjects, string(g.ProcessGroupID))
	}
	w.reasons = append(w.reasons, fmt.Sprintf(format, args...))
}

// hold returns the hold of a stage that waits for them; nil when none waits.
func (w *waits) hold(code plan.HoldCode, prefix string, retryAfter time.Duration) *plan.Hold {
	if len(w.reasons) == 0 {
		return nil
	}
	return &plan.Hold{Code: code, Subjects: w.subjects, Reason: prefix + someOf(w.reasons), RetryAfter: retryAfter}
}
