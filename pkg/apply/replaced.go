package apply

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// SplitReplaced removes the words that name already replaced process groups: the status has none of
// them, and the audit, the file or Events, has their removal. A repeated command then proceeds
// with the others, while a mistyped word is still an error.
func SplitReplaced(ctx context.Context, e *session.Env, key types.NamespacedName, s plan.Snapshot, words []string) (left []string, removed []v1beta2.ProcessGroupID) {
	unknown := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return len(session.GroupsFor(s, word)) > 0 })
	if len(unknown) == 0 {
		return words, nil
	}
	known := removals(ctx, e, key, s.Cluster.UID)
	for _, word := range words {
		name := strings.TrimPrefix(strings.TrimPrefix(word, session.GroupPrefix), session.PodPrefix)
		if slices.Contains(unknown, word) && known[name] {
			removed = append(removed, v1beta2.ProcessGroupID(name))
			continue
		}
		left = append(left, word)
	}
	return left, removed
}

// removals returns the removals of process groups of a cluster in the audit. What cannot be read of it
// proves nothing, nor do records of another cluster of the same name.
func removals(ctx context.Context, e *session.Env, key types.NamespacedName, cluster types.UID) audit.Removals {
	known := audit.Removals{}
	if path, err := audit.Path(e.Getenv); err == nil {
		err = known.AddFile(path, audit.Run{Context: e.Connection().ContextName(), Namespace: key.Namespace, Cluster: key.Name, UID: cluster})
		if err != nil {
			e.Logf("warning: %s", err)
		}
	}
	events, _ := e.Lookup().EventsOf(ctx, key, key.Name)
	known.AddEvents(events, cluster)
	return known
}
