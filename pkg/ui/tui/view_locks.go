package tui

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// locksPage answers: who may act on the cluster and its database, and until when?
func locksPage(s sight) page {
	v := s.look().Locks
	p := page{empty: "nothing is known of locks", columns: []column{
		{title: " "}, {title: "WHAT", least: 10}, {title: "WHO", least: 12}, {title: "STATE", least: 8}, {title: "FOR", right: true}, {title: "LEFT", right: true}, {title: "NOTE", least: 10},
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
			{" ", plain}, say(plain, "upgrade"), say(plain, u.Version), say(plain, "announced"), {phrase.Nothing, plain}, {phrase.Nothing, plain}, say(plain, strings.Join(u.Groups, ", ")),
		}})
	}
	for _, e := range v.Lists {
		since := e.Since
		p.rows = append(p.rows, row{key: fmt.Sprintf("%s %s %s", e.List, e.ControlPlaneInstance, e.Group), group: e.Group, cells: []span{
			{" ", plain}, say(plain, string(e.List)), say(plain, phrase.Or(e.ControlPlaneInstance, phrase.Nothing)), say(plain, "listed"), say(plain, s.age(&since)), {phrase.Nothing, plain}, say(plain, e.Group),
		}})
	}
	p.says = s.lockSays()
	return p
}

func (s sight) lockSays() line {
	l := line{say(plain, "lock of the database: "), say(plain, s.lockWords())}
	if n := len(s.look().Locks.Denied); n > 0 {
		l = append(l, say(warn, fmt.Sprintf(" · %s on the deny list", phrase.Count(n, "owner"))))
	}
	return l
}

// lockWords are the lock in a few words, for the header too.
func (s sight) lockWords() string {
	items := s.look().Locks.Items
	switch {
	case len(items) == 0:
		return phrase.UnknownCell
	case !items[0].Used && items[0].Owner == nil:
		return "not used"
	case items[0].Owner == nil:
		return "free"
	case items[0].State == ui.LockHeld:
		return fmt.Sprintf("%s %s", phrase.Or(*items[0].Owner, phrase.UnknownCell), s.until(items[0].Until))
	default:
		return fmt.Sprintf("%s by %s", items[0].State, phrase.Or(*items[0].Owner, phrase.UnknownCell))
	}
}

func (s sight) lockRow(l ui.LockView) row {
	owner, since, left, note := phrase.Nothing, phrase.Nothing, phrase.Nothing, ""
	t := good
	if l.Owner != nil {
		owner, since, left = phrase.Or(*l.Owner, phrase.UnknownCell), s.age(l.Since), s.until(l.Until)
		if left == "due" {
			left = "over"
		}
	}
	switch {
	case l.State == ui.LockExpired, l.State == ui.LockOwnerDenied:
		t, note = warn, "anybody may take it over"
	case !l.Used:
		note = "the spec does not ask for it"
	case ptr.Deref(l.Mine, false):
		note = "this instance's"
	case !ptr.Deref(l.Mine, true):
		t, note = warn, "another instance's"
	}
	return row{key: "lock", tone: t, cells: []span{
		{t.mark(), t}, say(plain, "lock"), say(plain, owner), say(t, string(l.State)), say(plain, since), say(plain, left), say(plain, note),
	}}
}

func (s sight) leaseRow(l ui.LeaseView) row {
	t, state, who, left, note := good, "free", phrase.Nothing, phrase.Nothing, "keeps runs in this Kubernetes cluster apart"
	switch {
	case !l.Read:
		t, state, note = warn, phrase.UnknownCell, "the Lease could not be read"
	case l.Holder != "" && l.Until != nil && l.Until.Before(s.now):
		t, state, who, left = warn, "expired", l.Holder, "over"
	case l.Holder != "":
		state, who, left = "held", l.Holder, s.until(l.Until)
	}
	return row{key: "lease", tone: t, cells: []span{
		{t.mark(), t}, say(plain, "lease"), say(plain, who), say(t, state), {phrase.Nothing, plain}, say(plain, left), say(plain, note),
	}}
}

func deniedRow(d ui.DeniedView) row {
	state := "not denied"
	if d.InDatabase {
		state = "denied"
	}
	t := warn
	if d.Drift != "" {
		t = bad
	}
	return row{key: "deny " + d.ID, tone: t, cells: []span{
		{t.mark(), t}, say(plain, "deny list"), say(plain, d.ID), say(t, state), {phrase.Nothing, plain}, {phrase.Nothing, plain}, say(plain, "spec: "+string(d.InSpec)+orClause(d.Drift)),
	}}
}

func orClause(text string) string {
	if text == "" {
		return ""
	}
	return "; " + text
}
