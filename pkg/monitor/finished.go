package monitor

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit/history"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// mostFinished is how many runs that have ended are shown: frames are recorded.
const mostFinished = 10

// recordedRuns returns the runs that Events of the cluster record, the newest first.
func (e *poller) recordedRuns(events []corev1.Event) []history.Item {
	if e.seen.Cluster == nil {
		return nil
	}
	var own []corev1.Event
	for _, event := range events {
		if event.InvolvedObject.Name == e.key.Name && event.InvolvedObject.Kind == "FoundationDBCluster" {
			own = append(own, event)
		}
	}
	return history.Join(history.Input{UID: e.seen.Cluster.UID, Events: own})
}

// finished returns the runs that have ended: all but that of the active operation.
func (e *poller) finished() []inspect.FinishedRun {
	var all []inspect.FinishedRun
	for _, run := range e.runs {
		if o := e.lease.Operation; o != nil && e.lease.OperationActive && o.ID == run.RunID {
			continue
		}
		if len(all) == mostFinished {
			break
		}
		all = append(all, inspect.FinishedRun{
			ID: run.RunID, Command: run.Command, User: run.User, Reason: run.Reason, Since: run.Since.UTC(), Until: run.Until.UTC(), Actions: run.Actions, Failed: run.Failed,
		})
	}
	return all
}
