package monitor

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
)

// mostFinished is how many runs that have ended are shown: frames are recorded.
const mostFinished = 10

// recordedRuns returns the runs that Events of the cluster record, the newest first.
func (e *poller) recordedRuns(events []corev1.Event) []inspect.Run {
	if e.seen.Cluster == nil {
		return nil
	}
	var own []corev1.Event
	for _, event := range events {
		if event.InvolvedObject.Name == e.key.Name && event.InvolvedObject.Kind == "FoundationDBCluster" {
			own = append(own, event)
		}
	}
	return audit.Records{UID: e.seen.Cluster.UID, Events: own}.Runs()
}

// finished returns the runs that have ended: all but that of the active operation.
func (e *poller) finished() []frame.FinishedRun {
	var all []frame.FinishedRun
	for _, run := range e.runs {
		if o := e.lease.Operation; o != nil && e.lease.OperationActive && o.ID == run.RunID {
			continue
		}
		if len(all) == mostFinished {
			break
		}
		run.Since, run.Until, run.Steps = run.Since.UTC(), run.Until.UTC(), nil
		all = append(all, frame.FinishedRun{ID: run.RunID, Run: run})
	}
	return all
}
