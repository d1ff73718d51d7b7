package targets

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// Restarts returns the progress of process groups that are being restarted. One that was
// removed from the cluster has nothing left to restart.
func Restarts(f inspect.Facts, ids []v1beta2.ProcessGroupID, since time.Time) []inspect.Target {
	targets := make([]inspect.Target, len(ids))
	for i, id := range ids {
		g := f.Cluster.ProcessGroup(id)
		if g == nil {
			targets[i] = inspect.Target{ID: string(id), Phase: phaseRemoved, Note: "it was removed from the cluster", Reached: true}
			continue
		}
		progress := safety.RestartedSince(f.Snapshot, g, since)
		targets[i] = inspect.Target{ID: string(id), Phase: restartPhases[progress], Note: restartNotes[progress], Reached: progress == safety.RestartDone}
	}
	return targets
}

var restartPhases = map[safety.Restarted]string{
	safety.RestartDue: phasePending, safety.RestartUnknown: "not-reporting", safety.RestartDone: "restarted",
}

var restartNotes = map[safety.Restarted]string{
	safety.RestartUnknown: "not all of its processes report, or their start time is unknown",
	safety.RestartDone:    "all of its processes have restarted",
}
