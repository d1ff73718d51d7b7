package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Removals are the names of process groups and of their pods in removals that were recorded. A
// name among them that no status has any more was removed; of any other name it is unknown
// whether such a process group ever existed.
type Removals map[string]bool

// removing are the kinds of actions that remove a process group.
var removing = map[string]bool{
	plan.KindOf(plan.MarkForRemoval{}): true, plan.KindOf(plan.DeleteGroupObjects{}): true, plan.KindOf(plan.IncludeAndForget{}): true,
}

// AddFile adds what the audit file at path has about the cluster of a run, and nothing without a
// file.
func (r Removals) AddFile(path string, of Run) error {
	file, err := os.Open(path) //nolint:gosec // the path is from the user's own variables
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the audit file: %w", err)
	}
	defer file.Close()
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		var e Entry
		if json.Unmarshal(line, &e) == nil && e.Context == of.Context && e.Namespace == of.Namespace && e.Cluster == of.Cluster {
			r.add(e.Action, e.Result, e.Words)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
}

// AddEvents adds what Events on the cluster's object report.
func (r Removals) AddEvents(events []corev1.Event) {
	for _, e := range events {
		result := Done
		if e.Type != corev1.EventTypeNormal {
			result = Failed
		}
		did, _, _ := strings.Cut(e.Message, " [")
		r.add(e.Reason, result, did)
	}
}

func (r Removals) add(action, result, did string) {
	if !removing[action] || result != Done {
		return
	}
	for _, word := range strings.FieldsFunc(did, func(c rune) bool { return strings.ContainsRune(" ,;:", c) }) {
		// IDs have a hyphen and end with a digit; addresses, which other pods may have now, have none.
		if last := word[len(word)-1]; last >= '0' && last <= '9' && strings.Contains(word, "-") {
			r[word] = true
		}
	}
}
