package why

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// recreated returns the chain of a resource that was created again over the objects of a former one: all
// that the stages report of it follows from its empty status. Where neither ConfigMap nor spec has the
// connection string, a stage reports that only a user can decide.
func (w *why) recreated() (Chain, bool) {
	r := w.Recorded
	if len(w.Only) > 0 || r == nil || r.Status.ConnectionString != "" || len(r.Status.ProcessGroups) > 0 ||
		len(w.Pods)+len(w.Volumes) == 0 || readings.RememberedClusterFile(w.Snapshot) == "" {
		return Chain{}, false
	}
	return Chain{
		Subjects: []string{subjectCluster}, State: Ready, rank: rankDatabase,
		Summary: "has an empty status, and " + phrase.Count(len(w.Pods), "pod") + " and " + phrase.Count(len(w.Volumes), "PVC"),
		Reasons: []Link{{Message: "the resource was created again: the next pass records the connection string and the process groups"}},
		Next:    []string{w.FDB("reconcile", w.name, "--wait")},
	}, true
}
