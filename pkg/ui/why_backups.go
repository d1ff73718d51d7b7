package ui

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// ofBackups are the chains of the cluster's backups, and of the restores into it, that are
// not as they should be. Those that nobody could look at are warned of.
func (w *why) ofBackups() []WhyChain {
	if w.Backups == nil {
		return nil
	}
	var chains []WhyChain
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

// unreadBackups are warnings of what nobody could look at.
func (f Facts) unreadBackups() []string {
	if f.Backups == nil {
		return nil
	}
	var warnings []string
	if f.Backups.Unread != "" {
		warnings = append(warnings, "backups and restores are not looked at: "+f.Backups.Unread)
	}
	for _, b := range f.Backups.Backups {
		if b.View == nil {
			warnings = append(warnings, "backup "+b.Record.Name+" is not looked at: "+b.Unread)
		}
	}
	for _, r := range f.Backups.Restores {
		if r.View == nil {
			warnings = append(warnings, "restore "+r.Record.Name+" is not looked at: "+r.Unread)
		}
	}
	return warnings
}

// backup is the chain of one backup; none of one that is as its resource asks.
func (w *why) backup(v BackupStatusView) []WhyChain {
	c := WhyChain{Subjects: []string{subjectBackup + v.Name}, State: WhyBlocked, rank: rankBackup}
	switch {
	case v.Agents.Ready == 0 && v.Agents.Desired > 0:
		w.withoutAgents(&c, v)
	case v.UnknownReason != "" && w.isSilentByItself(v):
		c.State, c.Summary, c.Reasons = WhyUnknown, "is not known to be well", []WhyLink{{Message: v.UnknownReason}}
		c.Next = []string{w.FDB("backup", "status", v.Name)}
	case v.Reconciled != nil && !*v.Reconciled:
		w.otherwise(&c, v)
	case w.isLeftPaused(v):
		c.Summary = "is paused, as its resource asks"
		c.Reasons = []WhyLink{{Message: v.LagWords(DefaultMaxLag)}}
		c.Next = []string{w.FDB("backup", "resume", v.Name)}
	default:
		return nil
	}
	return []WhyChain{c}
}

// isSilentByItself reports whether it takes a chain to tell that the database does not answer
// about a backup: one that does not serve has a chain of its own, and about a backup that is
// to be stopped and to have no agents there is nobody to ask.
func (w *why) isSilentByItself(v BackupStatusView) bool {
	if v.Agents.Desired == 0 && v.Desired == string(v1beta2.BackupStateStopped) {
		return false
	}
	return w.Cluster == nil || w.Database.Available()
}

// withoutAgents is about a backup that nobody writes and that nobody can ask about.
func (w *why) withoutAgents(c *WhyChain, v BackupStatusView) {
	c.Summary = "has no agents"
	c.Reasons = []WhyLink{{Message: fmt.Sprintf("none of %s is ready, so nothing is written and nobody can tell what can be restored", phrase.Count(v.Agents.Desired, "agent"))}}
	c.Reasons[0].Reasons = agentTroubles(v)
	c.Next = append(w.looks(c.Reasons), w.FDB("plan", c.Subjects[0]), w.FDB("reconcile", c.Subjects[0], "--wait"))
}

// agentTroubles are the pods of agents that are not ready.
func agentTroubles(v BackupStatusView) []WhyLink {
	var links []WhyLink
	for _, pod := range v.Agents.Pods {
		if !pod.Ready {
			links = append(links, WhyLink{Message: "pod " + pod.Pod + " is " + pod.Phase + " and not ready", look: []string{"describe", "pod", pod.Pod}})
		}
	}
	return links
}

// otherwise is about a backup that is not as its resource asks. A first snapshot that is being
// written needs time alone.
func (w *why) otherwise(c *WhyChain, v BackupStatusView) {
	c.Summary = v.mainTrouble()
	for _, problem := range v.Problems {
		c.Reasons = append(c.Reasons, WhyLink{Message: problem})
	}
	if v.Agents.Ready < v.Agents.Desired {
		c.Reasons = append(c.Reasons, agentTroubles(v)...)
	}
	if len(v.Problems) == 1 && ptr.Deref(v.Running, false) && !ptr.Deref(v.Restorable, false) && v.Desired != string(v1beta2.BackupStateStopped) {
		c.State, c.rank = WhyWaiting, rankWaiting
		if v.Snapshot != nil {
			c.Since = v.Snapshot.BeganAt
		}
	}
	c.Next = append(w.looks(c.Reasons), w.FDB("backup", "status", v.Name), w.FDB("plan", c.Subjects[0]))
	if v.isForAPass() {
		slices.Reverse(c.Next[len(c.Next)-2:])
	}
}

// mainTrouble is in one clause what the first of the problems means.
func (v BackupStatusView) mainTrouble() string {
	stopped := v.Desired == string(v1beta2.BackupStateStopped)
	lag, known := v.lag()
	switch {
	case stopped && ptr.Deref(v.Running, false):
		return "still runs"
	case !stopped && v.Running != nil && !*v.Running:
		return "does not run"
	case v.isPausedUnasked():
		return "is paused"
	case !stopped && v.Restorable != nil && !*v.Restorable:
		return "cannot be restored yet"
	case !stopped && known && lag > DefaultMaxLag && !ptr.Deref(v.Paused, false):
		return "is behind"
	case v.Agents.Ready < v.Agents.Desired:
		return "misses agents"
	default:
		return "is not as its resource asks"
	}
}

func (v BackupStatusView) isPausedUnasked() bool {
	return ptr.Deref(v.Paused, false) && v.Desired != string(v1beta2.BackupStatePaused)
}

// isForAPass reports whether a pass over the backup mends what is wrong: it starts, stops,
// resumes and changes backups. What agents meet at the store it does not.
func (v BackupStatusView) isForAPass() bool {
	stopped := v.Desired == string(v1beta2.BackupStateStopped)
	return v.Running != nil && *v.Running == stopped || v.isPausedUnasked() || len(v.Outstanding) > 0
}

// isLeftPaused reports whether a pause that is asked for has gone on for so long that it is
// worth a word.
func (w *why) isLeftPaused(v BackupStatusView) bool {
	lag, known := v.lag()
	return ptr.Deref(v.Paused, false) && v.Desired == string(v1beta2.BackupStatePaused) && known && lag > DefaultMaxLag
}
