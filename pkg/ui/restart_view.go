package ui

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// Restarts are the process groups that are being restarted, as far as each is. One that
// has left the cluster has nothing left to restart.
func Restarts(f Facts, ids []v1beta2.ProcessGroupID, since time.Time) []Target {
	targets := make([]Target, len(ids))
	for i, id := range ids {
		g := f.Cluster.ProcessGroup(id)
		if g == nil {
			targets[i] = Target{ID: string(id), Phase: phaseGone, Note: "it has left the cluster", Reached: true}
			continue
		}
		step := safety.RestartedSince(f.Snapshot, g, since)
		targets[i] = Target{ID: string(id), Phase: string(step), Note: restartNotes[step], Reached: step == safety.RestartDone}
	}
	return targets
}

var restartNotes = map[safety.Restarted]string{
	safety.RestartUnknown: "not all of its processes report and tell their age",
	safety.RestartDone:    "all of its processes have restarted",
}
