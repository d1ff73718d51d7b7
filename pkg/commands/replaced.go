package commands

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// splitReplaced removes the words that name already replaced process groups: the status has none of
// them, and the audit, the file or Events, has their removal. A repeated command then proceeds
// with the others, while a mistyped word is still an error.
func (e *Env) splitReplaced(ctx context.Context, key types.NamespacedName, s plan.Snapshot, words []string) (left []string, gone []v1beta2.ProcessGroupID) {
	unknown := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return len(groupsFor(s, word)) > 0 })
	if len(unknown) == 0 {
		return words, nil
	}
	known := e.removals(ctx, key)
	for _, word := range words {
		name := strings.TrimPrefix(strings.TrimPrefix(word, groupPrefix), podPrefix)
		if slices.Contains(unknown, word) && known[name] {
			gone = append(gone, v1beta2.ProcessGroupID(name))
			continue
		}
		left = append(left, word)
	}
	return left, gone
}

// removals returns the removals of process groups in the audit. What cannot be read of it
// proves nothing.
func (e *Env) removals(ctx context.Context, key types.NamespacedName) audit.Removals {
	known := audit.Removals{}
	if path, err := audit.Path(e.Getenv); err == nil {
		err = known.AddFile(path, audit.Run{Context: e.contextName(), Namespace: key.Namespace, Cluster: key.Name})
		if err != nil {
			e.logf("warning: %s", err)
		}
	}
	events, _ := e.eventsOf(ctx, key, key.Name)
	known.AddEvents(events)
	return known
}
