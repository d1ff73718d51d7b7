package ui

import (
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// restore returns the chain of one restore; none of a completed one that left nothing behind.
func (w *why) restore(v RestoreStatusView) []WhyChain {
	c := WhyChain{Subjects: []string{subjectRestore + v.Name}, State: WhyBlocked, rank: rankBackup, Next: []string{w.FDB("restore", "status", v.Name)}}
	switch {
	case v.UnknownReason != "":
		return w.unknownRestore(c, v)
	case ptr.Deref(v.Done, false) && !w.leftLocked(v):
		return nil
	case ptr.Deref(v.Done, false):
		c.Summary = "completed, and left the database locked"
		c.Reasons = []WhyLink{{Message: "the lock is the restore's, " + v.UID + ": clients are refused until the database is unlocked"}}
	case v.Over:
		c.Summary, c.Reasons = "ended without completing", []WhyLink{{Message: v.Summary}}
	case v.State != nil && *v.State == "":
		w.unstarted(&c, v)
	default:
		w.runs(&c, v)
	}
	return []WhyChain{c}
}

// runs makes the chain of a restore that is in progress: it explains why clients are refused,
// and why passes wait. Errors, and paused agents, require manual intervention.
func (w *why) runs(c *WhyChain, v RestoreStatusView) {
	c.Summary, c.rank = "is in progress, and the database is locked", rankRestore
	c.Reasons = []WhyLink{{Message: v.progress()}}
	if v.LastError == "" {
		c.State = WhyWaiting
	} else {
		c.Reasons[0].Reasons = []WhyLink{{Message: "its last error: " + v.LastError}}
	}
	c.Next = []string{w.FDB("restore", "status", v.Name, "-w"), w.FDB("restore", "wait", v.Name)}
	if name := w.Backups.paused(); name != "" {
		c.State, c.Next = WhyBlocked, append([]string{w.FDB("backup", "resume", name)}, c.Next...)
		c.Reasons = append([]WhyLink{{Message: "all agents of the database are paused, so it does not continue"}}, c.Reasons...)
	}
}

// paused returns a backup whose agents are paused, and with them all agents of the database;
// empty without one, or where that is unknown.
func (b ClusterBackups) paused() string {
	for _, seen := range b.Backups {
		if seen.View != nil && ptr.Deref(seen.View.Paused, false) {
			return seen.Record.Name
		}
	}
	return ""
}

// unstarted makes the chain of a restore that no pass has started: it waits for another one
// that runs.
func (w *why) unstarted(c *WhyChain, v RestoreStatusView) {
	c.State, c.rank, c.Summary, c.Reasons = WhyReady, rankReady, "is not started", []WhyLink{{Message: v.Summary}}
	if w.anotherRuns(v) {
		c.State, c.rank = WhyWaiting, rankWaiting
	}
	c.Next = []string{w.FDB("why", c.Subjects[0]), w.FDB("plan", c.Subjects[0])}
}

func (w *why) anotherRuns(v RestoreStatusView) bool {
	return slices.ContainsFunc(w.Backups.Restores, func(r SeenRestore) bool {
		return r.View != nil && r.View.Name != v.Name && r.View.UnknownReason == "" && !r.View.Over && r.View.State != nil && *r.View.State != ""
	})
}

// unknownRestore returns the chain of a restore that the database did not report. One that has
// ended is as in its status, and an unavailable database has a chain of its own.
func (w *why) unknownRestore(c WhyChain, v RestoreStatusView) []WhyChain {
	switch {
	case v.RecordedState == fdb.RestoreCompleted:
		return nil
	case v.RecordedState == fdb.RestoreAborted:
		c.Summary = "was aborted, by its status"
	case w.Cluster != nil && !w.Database.Available():
		return nil
	case v.RecordedState == "":
		c.Summary, c.Reasons = "is not started, by its status", []WhyLink{{Message: v.UnknownReason}}
		c.Next = append(c.Next, w.FDB("plan", c.Subjects[0]))
	default:
		c.State, c.Summary, c.Reasons = WhyUnknown, "has an unknown state", []WhyLink{{Message: v.UnknownReason}}
	}
	return []WhyChain{c}
}

// leftLocked reports whether the lock of the database is that of the restore: its UID is the
// restore's.
func (w *why) leftLocked(v RestoreStatusView) bool {
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
func (w *why) lockDoubt(v RestoreStatusView) string {
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
func (w *why) doubtful() []WhyChain {
	if !strings.HasPrefix(w.subject, subjectRestore) {
		return nil
	}
	doubts := slices.Concat(w.doubts(), w.unreadBackups())
	if len(doubts) == 0 {
		return nil
	}
	c := WhyChain{Subjects: []string{w.subject}, State: WhyUnknown, rank: rankBackup, Summary: "may have left the database locked"}
	for _, doubt := range doubts {
		c.Reasons = append(c.Reasons, WhyLink{Message: doubt})
	}
	c.Next = []string{w.FDB("restore", "status", strings.TrimPrefix(w.subject, subjectRestore))}
	return []WhyChain{c}
}
