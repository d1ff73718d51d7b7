package tui

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// lockColumns are those that differ within a cluster.
var lockColumns = list.Without(inspect.LockColumns, "CLUSTER")

// locksPage shows the holders of the lock and the Lease, until when, and the deny list.
func locksPage(s clusterView) page {
	v := s.snapshot().Locks
	p := page{empty: "locks are unknown", columns: titles(lockColumns), summary: s.lockSummary()}
	for _, l := range v.Items {
		p.rows = append(p.rows, listed(lockColumns, l, row{key: "lock", tone: l.Tone()}))
	}
	var denied, upgrades, lists []row
	for _, d := range v.Denied {
		denied = append(denied, listed(inspect.DeniedColumns, d, row{key: "deny " + d.ID, tone: d.Tone()}))
	}
	for _, u := range v.Upgrades {
		upgrades = append(upgrades, listed(inspect.UpgradeColumns, u, row{key: "upgrade " + u.Version}))
	}
	for _, e := range v.Lists {
		lists = append(lists, listed(inspect.SharedListColumns, e, row{key: fmt.Sprintf("%s %s %s", e.List, e.ControlPlaneInstance, e.Group), group: e.Group}))
	}
	p.addList(titles(inspect.DeniedColumns), denied)
	p.addList(titles(inspect.UpgradeColumns), upgrades)
	p.addList(titles(inspect.SharedListColumns), lists)
	if len(v.Items) > 0 {
		p.notes = faintLines(ui.LockNotes(v, ui.ListOptions{Now: s.now}))
	}
	return p
}

func (s clusterView) lockSummary() line {
	l := line{styled(plain, "database lock: "), styled(plain, s.lockText())}
	if n := len(s.snapshot().Locks.Denied); n > 0 {
		l = append(l, styled(warn, fmt.Sprintf(" · %s on the deny list", phrase.Count(n, "owner"))))
	}
	return l
}

// lockText returns the lock in a few words, also for the header.
func (s clusterView) lockText() string {
	items := s.snapshot().Locks.Items
	switch {
	case len(items) == 0:
		return phrase.UnknownCell
	case !items[0].Used && items[0].Owner == nil:
		return "not used"
	case items[0].State == inspect.LockUnknown:
		return phrase.UnknownCell
	case items[0].Owner == nil:
		return "free"
	case items[0].State == inspect.LockHeld:
		return fmt.Sprintf("%s %s", phrase.Or(*items[0].Owner, phrase.UnknownCell), s.until(items[0].Until))
	default:
		return fmt.Sprintf("%s by %s", items[0].State, phrase.Or(*items[0].Owner, phrase.UnknownCell))
	}
}
