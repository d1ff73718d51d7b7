package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/fleet"
)

// clusterView is the input of a view: a state, the current time, and the user's choice.
type clusterView struct {
	state
	states []state // up to this one, the oldest first
	now    time.Time
	choice choice
	o      *Options
	fleet  fleet.List
	// tall is true where graphs have two lines.
	tall    bool
	courses *drawnCourses
}

// snapshot returns the frame; an empty one before the first.
func (s clusterView) snapshot() frame.Frame {
	if s.frame == nil {
		return frame.Frame{}
	}
	return *s.frame
}

// answered reports whether a source of the frame ever answered.
func (s clusterView) answered(source string) bool {
	v := s.snapshot().Source(source)
	return v != nil && v.AsOf != nil
}

// isUnread reports whether nothing of the cluster was read yet.
func (s clusterView) isUnread() bool {
	return s.snapshot().UID == "" && !s.answered(frame.SourceOfKubernetes)
}

// times is how the cells of lists show times.
func (s clusterView) times() list.At { return list.At{Now: s.now} }

// age returns how long ago a time was; "?" if unknown.
func (s clusterView) age(t *time.Time) string { return phrase.Or(s.times().Age(t), phrase.UnknownCell) }

// until returns the time left until t; "due" if none is left.
func (s clusterView) until(t *time.Time) string {
	return phrase.Or(s.times().Until(t), phrase.UnknownCell)
}

// clock returns a time of day, with the date if it is another day.
func (s clusterView) clock(t time.Time) string {
	t, now := t.UTC(), s.now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("01-02 15:04")
}

// lastingSince returns the duration from t until now.
func (s clusterView) lastingSince(t time.Time) string { return phrase.Duration(s.now.Sub(t)) }

// since returns a duration and its start.
func (s clusterView) since(t *time.Time) string {
	if t == nil {
		return phrase.UnknownCell
	}
	return s.age(t) + ", since " + s.clock(*t)
}

// moment returns how long ago something happened, and when.
func (s clusterView) moment(t time.Time) string { return s.age(&t) + " ago, at " + s.clock(t) }

// coordinatorsPage shows whether a quorum is reachable, and what is marked for removal.
func coordinatorsPage(s clusterView) page {
	v := s.snapshot().Coordinators
	p := page{empty: "no coordinators known", columns: titles(inspect.CoordinatorColumns)}
	t := good
	switch {
	case v.QuorumReachable == nil:
		t = warn
	case !*v.QuorumReachable:
		t = bad
	case v.Reachable != nil && *v.Reachable < len(v.Items):
		t = warn
	}
	p.summary = styledLine(t, v.Quorum())
	for _, c := range v.Items {
		p.rows = append(p.rows, coordinatorRow(c))
	}
	for _, text := range v.Warnings {
		p.notes = append(p.notes, styledLine(warn, markWarn+" "+text))
	}
	return p
}

func coordinatorRow(c inspect.CoordinatorDetailView) row {
	return listed(inspect.CoordinatorColumns, c, row{key: c.Address, group: c.Group, tone: c.Tone(), more: func(s clusterView) []line { return s.aboutCoordinator(c) }})
}

func (s clusterView) aboutCoordinator(c inspect.CoordinatorDetailView) []line {
	lines := []line{
		heading("Coordinator " + c.Address), fact("reachable", phrase.YesNo(c.Reachable, phrase.UnknownCell)), fact("removal", phrase.YesNo(c.Removing, phrase.UnknownCell)),
		fact("process group", phrase.Or(c.Group, phrase.UnknownCell)), fact("zone", phrase.Or(c.Zone, phrase.UnknownCell)), fact("TLS", phrase.YesNo(&c.TLS, phrase.UnknownCell)),
	}
	lines = append(lines, s.aboutGroup(c.Group)...)
	return append(lines, commandLines(s.o.fdb("get", "coordinators", s.cluster()), s.o.fdb("coordinators", "change", s.cluster(), "--dry-run"))...)
}

// eventsPage shows what happened, the newest first.
func eventsPage(s clusterView) page {
	items := s.snapshot().Events.Items
	p := page{empty: "no Kubernetes events of the cluster's objects", columns: titles(inspect.EventColumns)}
	warnings := 0
	for _, e := range slices.Backward(items) {
		r := eventRow(e)
		if r.tone >= warn {
			warnings++
		}
		p.rows = append(p.rows, r)
	}
	p.summary = line{styled(plain, phrase.Count(len(items), "event")+", "), styled(toneOfCount(warnings), phrase.Count(warnings, "warning"))}
	if !s.answered(frame.SourceOfEvents) {
		p.summary, p.empty = styledLine(warn, markUnknown+" events unknown"), ""
	}
	return p
}

func eventRow(e inspect.EventView) row {
	key := fmt.Sprintf("%s %s %s %d", e.Object, e.Reason, e.Message, e.First.UnixNano())
	return listed(inspect.EventColumns, e, row{key: key, group: e.ProcessGroup, tone: e.Tone(), more: func(s clusterView) []line { return s.aboutEvent(e) }})
}

func (s clusterView) aboutEvent(e inspect.EventView) []line {
	return []line{
		heading(e.Reason), fact("type", e.Type), fact("object", e.Object), fact("process group", phrase.Or(e.ProcessGroup, phrase.Nothing)),
		fact("seen", s.moment(e.Time)), fact("first", s.moment(e.First)), fact("count", strconv.Itoa(e.Count)), fact("from", phrase.Or(e.From, phrase.Nothing)), fact("message", e.Message),
	}
}

// eventsOf returns the events of a process group, and the command that lists them.
func (s clusterView) eventsOf(id string) []line {
	return append(s.eventLines(id), commandLines(s.o.fdb("events", s.cluster()))...)
}

// eventLines returns the events of a process group, the newest first.
func (s clusterView) eventLines(id string) []line {
	lines := []line{heading("Events of " + id)}
	for _, e := range slices.Backward(s.snapshot().Events.Items) {
		if e.ProcessGroup != id {
			continue
		}
		t := e.Tone()
		lines = append(lines, line{styled(faint, "  "+fit(s.age(&e.Time), 6)), styled(t, t.Mark()+" "), styled(t, e.Reason+"  "), styled(plain, e.Message)})
	}
	if len(lines) == 1 && !s.answered(frame.SourceOfEvents) {
		return append(lines, styledLine(warn, "  "+markUnknown+" events unknown"))
	}
	if len(lines) == 1 {
		lines = append(lines, styledLine(plain, "  no events"))
	}
	return lines
}

// exclusionsPage shows the progress of exclusions, and when removal is safe.
func exclusionsPage(s clusterView) page {
	v := s.snapshot().Exclusions
	p := page{columns: titles(inspect.DrainColumns), notes: faintLines(v.Reasons())}
	t := plain
	switch {
	case ptr.Deref(v.Safe, false):
		t = good
	case v.Safe == nil:
		t = warn
	}
	p.summary = line{styled(t, v.Summary)}
	for i, d := range v.Items {
		p.rows = append(p.rows, drainRow(i, d))
	}
	p.notes = append(p.notes, styledLine(plain, strings.Join(v.Data.Words(), " · ")))
	return p
}

func drainRow(i int, d inspect.DrainView) row {
	key := d.ID + " " + d.Process
	if key == " " {
		key = strconv.Itoa(i)
	}
	return listed(inspect.DrainColumns, d, row{key: key, group: d.ID, tone: d.Tone(), more: func(s clusterView) []line { return s.aboutDrain(key) }})
}

// aboutDrain returns the details of an excluded process.
func (s clusterView) aboutDrain(key string) []line {
	for i, d := range s.snapshot().Exclusions.Items {
		if drainRow(i, d).key != key {
			continue
		}
		t := d.Tone()
		return append([]line{
			heading("Exclusion of " + phrase.Or(d.ID+" "+d.Process, phrase.UnknownCell)), factIn(t, "state", t.Mark()+" "+string(d.State)), fact("reason", phrase.Or(d.Reason, phrase.Nothing)),
			fact("roles", list.Words(d.Roles).Text), fact("progress", drawn(d.ProgressCell()).Text), fact("moved", phrase.BytesOr(d.MovedBytes, phrase.UnknownCell)), fact("left", phrase.BytesOr(d.LeftBytes, phrase.UnknownCell)),
			fact("rate", list.Rate(d.RateBytesPerSecond).Text), fact("ETA", d.ETACell().Text), fact("stalled for", phrase.SecondsOr(d.StalledSeconds, phrase.Nothing)),
		}, commandLines(s.o.fdb("exclusion", "status", s.cluster()), s.o.fdb("wait", s.cluster(), "--for=exclusions=safe"))...)
	}
	return nil
}

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
