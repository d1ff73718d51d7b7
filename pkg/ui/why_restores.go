package ui

import (
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// restore is the chain of one restore; none of one that is done and left nothing behind.
func (w *why) restore(v RestoreStatusView) []WhyChain {
	c := WhyChain{Subjects: []string{subjectRestore + v.Name}, State: WhyBlocked, rank: rankBackup, Next: []string{w.FDB("restore", "status", v.Name)}}
	switch {
	case v.UnknownReason != "":
		return w.silentRestore(c, v)
	case ptr.Deref(v.Done, false) && !w.leftLocked(v):
		return nil
	case ptr.Deref(v.Done, false):
		c.Summary = "is done, and left the database locked"
		c.Reasons = []WhyLink{{Message: "the lock is the restore's, " + v.UID + ": clients are refused until somebody unlocks the database"}}
	case v.Over:
		c.Summary, c.Reasons = "ended without its data", []WhyLink{{Message: v.Summary}}
	case v.State != nil && *v.State == "":
		w.unstarted(&c, v)
	default:
		w.runs(&c, v)
	}
	return []WhyChain{c}
}

// runs is about a restore that is on its way: it explains why clients are refused, and why
// passes hold back. One that meets errors needs somebody to look, and one whose agents are
// paused somebody who has them go on.
func (w *why) runs(c *WhyChain, v RestoreStatusView) {
	c.Summary, c.rank = "is under way, and keeps the database locked", rankRestore
	c.Reasons = []WhyLink{{Message: v.progress()}}
	if v.LastError == "" {
		c.State = WhyWaiting
	} else {
		c.Reasons[0].Reasons = []WhyLink{{Message: "its last error: " + v.LastError}}
	}
	c.Next = []string{w.FDB("restore", "status", v.Name, "-w"), w.FDB("restore", "wait", v.Name)}
	if name := w.Backups.paused(); name != "" {
		c.State, c.Next = WhyBlocked, append([]string{w.FDB("backup", "resume", name)}, c.Next...)
		c.Reasons = append([]WhyLink{{Message: "all agents of the database are paused, so it does not go on"}}, c.Reasons...)
	}
}

// paused is a backup whose agents are paused, and with them all agents of the database; empty
// where that is not so, or nobody tells.
func (b ClusterBackups) paused() string {
	for _, seen := range b.Backups {
		if seen.View != nil && ptr.Deref(seen.View.Paused, false) {
			return seen.Record.Name
		}
	}
	return ""
}

// unstarted is about a restore that no pass has begun: another one that runs is waited for.
func (w *why) unstarted(c *WhyChain, v RestoreStatusView) {
	c.State, c.rank, c.Summary, c.Reasons = WhyReady, rankReady, "is to be started", []WhyLink{{Message: v.Summary}}
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

// silentRestore is about a restore of which the database does not tell. What is over stays as
// it was recorded, and a database that does not serve has a chain of its own.
func (w *why) silentRestore(c WhyChain, v RestoreStatusView) []WhyChain {
	switch {
	case v.RecordedState == fdb.RestoreCompleted:
		return nil
	case v.RecordedState == fdb.RestoreAborted:
		c.Summary = "was aborted, as was recorded"
	case w.Cluster != nil && !w.Database.Available():
		return nil
	case v.RecordedState == "":
		c.Summary, c.Reasons = "is to be started, as far as is recorded", []WhyLink{{Message: v.UnknownReason}}
		c.Next = append(c.Next, w.FDB("plan", c.Subjects[0]))
	default:
		c.State, c.Summary, c.Reasons = WhyUnknown, "is not known to go on", []WhyLink{{Message: v.UnknownReason}}
	}
	return []WhyChain{c}
}

// leftLocked reports whether the lock of the database is the one of a restore that is over:
// its UID is the restore's.
func (w *why) leftLocked(v RestoreStatusView) bool {
	if w.Database.Status == nil || v.UID == "" {
		return false
	}
	locked, uid, told := w.Database.Status.Locked()
	return told && locked && uid == v.UID
}

// doubts are why nobody knows what the restore that is asked about left behind.
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

// lockDoubt is why nobody knows whether the restore left the database locked; empty where
// somebody does.
func (w *why) lockDoubt(v RestoreStatusView) string {
	if w.Database.Status == nil {
		return "whether the database is left locked is not known: " + phrase.Or(w.Database.Why(), "the database was not asked")
	}
	locked, _, told := w.Database.Status.Locked()
	switch {
	case !told:
		return "whether the database is left locked is not known: its status does not tell"
	case locked && v.UID == "":
		return "the database is locked, and whether the restore left it so is not known: " + phrase.Or(v.UnknownReason, "the database does not tell its UID")
	}
	return ""
}

// doubtful is the chain of a restore that nothing is known to be wrong with, while not all
// of what could be was looked at.
func (w *why) doubtful() []WhyChain {
	if !strings.HasPrefix(w.subject, subjectRestore) {
		return nil
	}
	doubts := slices.Concat(w.doubts(), w.unreadBackups())
	if len(doubts) == 0 {
		return nil
	}
	c := WhyChain{Subjects: []string{w.subject}, State: WhyUnknown, rank: rankBackup, Summary: "is not known to have left nothing behind"}
	for _, doubt := range doubts {
		c.Reasons = append(c.Reasons, WhyLink{Message: doubt})
	}
	c.Next = []string{w.FDB("restore", "status", strings.TrimPrefix(w.subject, subjectRestore))}
	return []WhyChain{c}
}
