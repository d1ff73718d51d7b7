package why

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
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

// restore returns the chain of one restore; none of a completed one that left nothing behind.
func (w *why) restore(v inspect.RestoreStatusView) []Chain {
	c := Chain{Subjects: []string{subjectRestore + v.Name}, State: Blocked, rank: rankBackup, Next: []string{w.FDB("restore", "status", v.Name)}}
	switch {
	case len(v.InvalidSpec) > 0 && !v.Over:
		w.invalid(&c, v.InvalidSpec, "foundationdbrestore", v.Name)
	case v.UnknownReason != "":
		return w.unknownRestore(c, v)
	case ptr.Deref(v.Done, false) && !w.leftLocked(v):
		return nil
	case ptr.Deref(v.Done, false):
		c.Summary, c.rank = "completed, and left the database locked", rankRestore
		c.Reasons = []Link{{Message: "the lock is the restore's, " + v.UID + ": clients are refused until the database is unlocked"}}
	case v.Over:
		c.Summary, c.Reasons = "ended without completing", []Link{{Message: v.Summary}}
	case v.State != nil && *v.State == "":
		w.unstarted(&c, v)
	default:
		w.runs(&c, v)
	}
	return []Chain{c}
}

// runs makes the chain of a restore that is in progress: it explains why clients are refused,
// and why passes wait. Errors, and paused agents, require manual intervention.
func (w *why) runs(c *Chain, v inspect.RestoreStatusView) {
	c.Summary, c.rank = "is in progress, and the database is locked", rankRestore
	c.Reasons = []Link{{Message: v.Progress()}}
	if v.LastError == "" {
		c.State = Waiting
	} else {
		c.Reasons[0].Reasons = []Link{{Message: "its last error: " + v.LastError}}
	}
	c.Next = []string{w.FDB("restore", "status", v.Name, "-w"), w.FDB("wait", "fdbrestore/"+v.Name, "--for=done")}
	if name := paused(*w.Backups); name != "" {
		c.State, c.Next = Blocked, append([]string{w.FDB("backup", "resume", name)}, c.Next...)
		c.Reasons = append([]Link{{Message: "all agents of the database are paused, so it does not continue"}}, c.Reasons...)
	}
}

// paused returns a backup whose agents are paused, and with them all agents of the database;
// empty without one, or where that is unknown.
func paused(b inspect.ClusterBackups) string {
	for _, seen := range b.Backups {
		if seen.View != nil && ptr.Deref(seen.View.Paused, false) {
			return seen.Resource.Name
		}
	}
	return ""
}

// unstarted makes the chain of a restore that no pass has started: it waits for another one
// that runs.
func (w *why) unstarted(c *Chain, v inspect.RestoreStatusView) {
	c.State, c.rank, c.Summary, c.Reasons = Ready, rankReady, "is not started", []Link{{Message: v.Summary}}
	if w.anotherRuns(v) {
		c.State, c.rank = Waiting, rankWaiting
	}
	c.Next = []string{w.FDB("why", c.Subjects[0]), w.FDB("plan", c.Subjects[0])}
}

func (w *why) anotherRuns(v inspect.RestoreStatusView) bool {
	return slices.ContainsFunc(w.Backups.Restores, func(r inspect.SeenRestore) bool {
		return r.View != nil && r.View.Name != v.Name && r.View.UnknownReason == "" && !r.View.Over && r.View.State != nil && *r.View.State != ""
	})
}

// unknownRestore returns the chain of a restore that the database did not report. One that has
// ended is as in its status, and an unavailable database has a chain of its own.
func (w *why) unknownRestore(c Chain, v inspect.RestoreStatusView) []Chain {
	switch {
	case v.RecordedState == fdb.RestoreCompleted:
		return nil
	case v.RecordedState == fdb.RestoreAborted:
		c.Summary = "was aborted, by its status"
	case w.Cluster != nil && !w.Database.Available():
		return nil
	case v.RecordedState == "":
		c.Summary, c.Reasons = "is not started, by its status", []Link{{Message: v.UnknownReason}}
		c.Next = append(c.Next, w.FDB("plan", c.Subjects[0]))
	default:
		c.State, c.Summary, c.Reasons = Unknown, "has an unknown state", []Link{{Message: v.UnknownReason}}
	}
	return []Chain{c}
}

// leftLocked reports whether the lock of the database is that of the restore: its UID is the
// restore's.
func (w *why) leftLocked(v inspect.RestoreStatusView) bool {
	if w.Database.Status == nil || v.UID == "" {
		return false
	}
	locked, uid, known := w.Database.Status.Locked()
	return known && locked && uid == v.UID
}

// doubts returns why it is unknown what the restore of the report left behind.
func (w *why) doubts() []string {
	name, found := strings.CutPrefix(w.subject, subjectRestore)
	if !found || w.Backups == nil {
		return nil
	}
	var doubts []string
	for _, r := range w.Backups.Restores {
		if r.View == nil || r.View.Name != name {
			continue
		}
		if doubt := w.lockDoubt(*r.View); doubt != "" {
			doubts = append(doubts, doubt)
		}
	}
	return doubts
}

// lockDoubt returns why it is unknown whether the restore left the database locked; empty where
// it is known.
func (w *why) lockDoubt(v inspect.RestoreStatusView) string {
	if w.Database.Status == nil {
		return "cannot determine whether the database is left locked: " + phrase.Or(w.Database.Why(), "the database status was not read")
	}
	locked, _, known := w.Database.Status.Locked()
	switch {
	case !known:
		return "cannot determine whether the database is left locked: its status does not report it"
	case locked && v.UID == "":
		return "the database is locked, and cannot determine whether by the restore: " + phrase.Or(v.UnknownReason, "the database does not report its UID")
	}
	return ""
}

// doubtful returns the chain of a restore without a known problem, of which not everything
// could be read.
func (w *why) doubtful() []Chain {
	if !strings.HasPrefix(w.subject, subjectRestore) {
		return nil
	}
	doubts := slices.Concat(w.doubts(), w.UnreadBackups())
	if len(doubts) == 0 {
		return nil
	}
	c := Chain{Subjects: []string{w.subject}, State: Unknown, rank: rankBackup, Summary: "may have left the database locked"}
	for _, doubt := range doubts {
		c.Reasons = append(c.Reasons, Link{Message: doubt})
	}
	c.Next = []string{w.FDB("restore", "status", strings.TrimPrefix(w.subject, subjectRestore))}
	return []Chain{c}
}
