package tui

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// locksPage shows the holders of the lock and the Lease, until when, and the deny list.
func locksPage(s clusterView) page {
	v := s.snapshot().Locks
	p := page{empty: "locks are unknown", columns: []layout.Column{
		{Name: " "}, {Name: "WHAT", Min: 10}, {Name: "HOLDER", Min: 12}, {Name: "STATE", Min: 8}, {Name: "FOR", Right: true, Drop: 80}, {Name: "LEFT", Right: true, Drop: 50}, {Name: "NOTE", Min: 16, Drop: 60},
	}}
	for _, l := range v.Items {
		p.rows = append(p.rows, s.lockRow(l))
	}
	if len(v.Items) > 0 {
		p.rows = append(p.rows, s.leaseRow(v.Lease))
	}
	for _, d := range v.Denied {
		p.rows = append(p.rows, deniedRow(d))
	}
	for _, u := range v.Upgrades {
		p.rows = append(p.rows, row{key: "upgrade " + u.Version, cells: []span{
			styled(plain, " "), styled(plain, "upgrade"), styled(plain, u.Version), styled(plain, "announced"), styled(plain, phrase.Nothing), styled(plain, phrase.Nothing), styled(plain, strings.Join(u.Groups, ", ")),
		}})
	}
	for _, e := range v.Lists {
		since := e.Since
		p.rows = append(p.rows, row{key: fmt.Sprintf("%s %s %s", e.List, e.ControlPlaneInstance, e.Group), group: e.Group, cells: []span{
			styled(plain, " "), styled(plain, string(e.List)), styled(plain, phrase.Or(e.ControlPlaneInstance, phrase.Nothing)), styled(plain, "listed"), styled(plain, s.age(&since)), styled(plain, phrase.Nothing), styled(plain, e.Group),
		}})
	}
	p.summary = s.lockSummary()
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
	case items[0].Owner == nil:
		return "free"
	case items[0].State == inspect.LockHeld:
		return fmt.Sprintf("%s %s", phrase.Or(*items[0].Owner, phrase.UnknownCell), s.until(items[0].Until))
	default:
		return fmt.Sprintf("%s by %s", items[0].State, phrase.Or(*items[0].Owner, phrase.UnknownCell))
	}
}

func (s clusterView) lockRow(l inspect.LockView) row {
	owner, since, left, note := phrase.Nothing, phrase.Nothing, phrase.Nothing, ""
	t := good
	if l.Owner != nil {
		owner, since, left = phrase.Or(*l.Owner, phrase.UnknownCell), s.age(l.Since), s.until(l.Until)
		if left == "due" {
			left = "expired"
		}
	}
	switch {
	case l.State == inspect.LockExpired, l.State == inspect.LockOwnerDenied:
		t, note = warn, "may be taken over"
	case !l.Used:
		note = "not used by the spec"
	case ptr.Deref(l.Mine, false):
		note = "this control-plane instance"
	case !ptr.Deref(l.Mine, true):
		t, note = warn, "another control-plane instance"
	}
	return row{key: "lock", tone: t, number: spanNumber(l.Since, l.Until), cells: []span{
		styled(t, t.Mark()), styled(plain, "lock"), styled(plain, owner), styled(t, string(l.State)), styled(plain, since), styled(plain, left), styled(plain, note),
	}}
}

// spanNumber returns since when something is held, and how long it is still held.
func spanNumber(since, until *time.Time) func(s clusterView, column string) *float64 {
	return func(s clusterView, column string) *float64 {
		switch {
		case column == "FOR":
			return s.times().Seconds(since)
		case column == "LEFT" && until != nil:
			return new(until.Sub(s.now).Seconds())
		}
		return nil
	}
}

func (s clusterView) leaseRow(l inspect.LeaseView) row {
	t, state, who, left, note := good, "free", phrase.Nothing, phrase.Nothing, "one run at a time in this Kubernetes cluster"
	switch {
	case !l.Read:
		t, state, note = warn, phrase.UnknownCell, "the Lease could not be read"
	case l.Holder != "" && l.Until != nil && l.Until.Before(s.now):
		t, state, who, left = warn, "expired", l.Holder, "expired"
	case l.Holder != "":
		state, who, left = "held", l.Holder, s.until(l.Until)
	}
	return row{key: "lease", tone: t, number: spanNumber(nil, l.Until), cells: []span{
		styled(t, t.Mark()), styled(plain, "lease"), styled(plain, who), styled(t, state), styled(plain, phrase.Nothing), styled(plain, left), styled(plain, note),
	}}
}

func deniedRow(d inspect.DeniedView) row {
	state := "not denied"
	if d.InDatabase {
		state = "denied"
	}
	t := warn
	if d.Drift != "" {
		t = bad
	}
	return row{key: "deny " + d.ID, tone: t, cells: []span{
		styled(t, t.Mark()), styled(plain, "deny list"), styled(plain, d.ID), styled(t, state), styled(plain, phrase.Nothing), styled(plain, phrase.Nothing), styled(plain, "spec: "+string(d.InSpec)+orClause(d.Drift)),
	}}
}

func orClause(text string) string {
	if text == "" {
		return ""
	}
	return "; " + text
}
