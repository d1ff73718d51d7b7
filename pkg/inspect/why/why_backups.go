package why

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ofBackups returns the chains of the cluster's backups, and of the restores into it, that do
// not match their spec. Those that could not be read are warnings.
func (w *why) ofBackups() []Chain {
	if w.Backups == nil {
		return nil
	}
	var chains []Chain
	for _, b := range w.Backups.Backups {
		if b.View != nil {
			chains = append(chains, w.backup(*b.View)...)
		}
	}
	for _, r := range w.Backups.Restores {
		if r.View != nil {
			chains = append(chains, w.restore(*r.View)...)
		}
	}
	return chains
}

// backup returns the chain of one backup; none of one that matches its spec.
func (w *why) backup(v inspect.BackupStatusView) []Chain {
	c := Chain{Subjects: []string{subjectBackup + v.Name}, State: Blocked, rank: rankBackup}
	switch {
	case len(v.InvalidSpec) > 0:
		w.invalid(&c, v.InvalidSpec, "foundationdbbackup", v.Name)
	case v.Agents.Ready == 0 && v.Agents.Desired > 0:
		w.withoutAgents(&c, v)
	case v.UnknownReason != "" && w.isUnknownByItself(v):
		c.State, c.Summary, c.Reasons = Unknown, "has an unknown state", []Link{{Message: v.UnknownReason}}
		c.Next = []string{w.FDB("backup", "status", v.Name)}
	case v.Reconciled != nil && !*v.Reconciled:
		w.otherwise(&c, v)
	case w.isLeftPaused(v):
		c.Summary = "is paused, as specified"
		c.Reasons = []Link{{Message: v.LagWords(inspect.DefaultMaxLag)}}
		c.Next = []string{w.FDB("backup", "resume", v.Name)}
	default:
		return nil
	}
	return []Chain{c}
}

// invalid makes the chain of a resource whose spec no pass carries out.
func (w *why) invalid(c *Chain, fields []plan.InvalidField, kind, name string) {
	c.Summary, c.State = summaryOf(inspect.RestrictionInvalidSpec), Blocked
	c.Reasons = nil
	for _, f := range fields {
		c.Reasons = append(c.Reasons, Link{Message: f.Message})
	}
	c.Next = []string{w.Kubectl("edit", kind, name)}
}

// isUnknownByItself reports whether a backup of unknown state requires a chain: an unavailable
// database has a chain of its own, and a stopped backup without agents has no pod that could
// read its state.
func (w *why) isUnknownByItself(v inspect.BackupStatusView) bool {
	if v.Agents.Desired == 0 && v.Desired == string(v1beta2.BackupStateStopped) {
		return false
	}
	return w.Cluster == nil || w.Database.Available()
}

// withoutAgents makes the chain of a backup without agents, which is neither written nor read.
func (w *why) withoutAgents(c *Chain, v inspect.BackupStatusView) {
	c.Summary = "has no agents"
	c.Reasons = []Link{{Message: fmt.Sprintf("0 of %s ready: nothing is written, and what is restorable is unknown", phrase.Count(v.Agents.Desired, "agent"))}}
	c.Reasons[0].Reasons = agentProblems(v)
	c.Next = append(w.inspections(c.Reasons), w.FDB("plan", c.Subjects[0]), w.FDB("reconcile", c.Subjects[0], "--wait"))
}

// agentProblems returns the pods of agents that are not ready.
func agentProblems(v inspect.BackupStatusView) []Link {
	var links []Link
	for _, pod := range v.Agents.Pods {
		if !pod.Ready {
			links = append(links, Link{Message: "pod " + pod.Pod + " is " + pod.Phase + " and not ready", command: []string{"describe", "pod", pod.Pod}})
		}
	}
	return links
}

// otherwise makes the chain of a backup that does not match its spec. A first snapshot that is
// being written requires only time.
func (w *why) otherwise(c *Chain, v inspect.BackupStatusView) {
	c.Summary = mainProblem(v)
	for _, problem := range v.Problems {
		c.Reasons = append(c.Reasons, Link{Message: problem})
	}
	if v.Agents.Ready < v.Agents.Desired {
		c.Reasons = append(c.Reasons, agentProblems(v)...)
	}
	if len(v.Problems) == 1 && ptr.Deref(v.Running, false) && !ptr.Deref(v.Restorable, false) && v.Desired != string(v1beta2.BackupStateStopped) {
		c.State, c.rank = Waiting, rankWaiting
		if v.Snapshot != nil {
			c.Since = v.Snapshot.BeganAt
		}
	}
	c.Next = append(w.inspections(c.Reasons), w.FDB("backup", "status", v.Name), w.FDB("plan", c.Subjects[0]))
	if isForAPass(v) {
		slices.Reverse(c.Next[len(c.Next)-2:])
	}
}

// mainProblem returns in one clause what the first of the problems means.
func mainProblem(v inspect.BackupStatusView) string {
	stopped := v.Desired == string(v1beta2.BackupStateStopped)
	lag, known := v.Lag()
	switch {
	case stopped && ptr.Deref(v.Running, false):
		return "still runs"
	case !stopped && v.Running != nil && !*v.Running:
		return "does not run"
	case isPausedUnexpectedly(v):
		return "is paused"
	case !stopped && v.Restorable != nil && !*v.Restorable:
		return "is not restorable yet"
	case !stopped && known && lag > inspect.DefaultMaxLag && !ptr.Deref(v.Paused, false):
		return "is behind"
	case v.Agents.Ready < v.Agents.Desired:
		return "has too few agents"
	default:
		return "does not match its spec"
	}
}

func isPausedUnexpectedly(v inspect.BackupStatusView) bool {
	return ptr.Deref(v.Paused, false) && v.Desired != string(v1beta2.BackupStatePaused)
}

// isForAPass reports whether a pass over the backup fixes the problem: it starts, stops, resumes
// and changes backups. It does not fix errors of agents at the store.
func isForAPass(v inspect.BackupStatusView) bool {
	stopped := v.Desired == string(v1beta2.BackupStateStopped)
	return v.Running != nil && *v.Running == stopped || isPausedUnexpectedly(v) || len(v.Outstanding) > 0
}

// isLeftPaused reports whether a specified pause has lasted for so long that it is worth
// reporting.
func (w *why) isLeftPaused(v inspect.BackupStatusView) bool {
	lag, known := v.Lag()
	return ptr.Deref(v.Paused, false) && v.Desired == string(v1beta2.BackupStatePaused) && known && lag > inspect.DefaultMaxLag
}
