package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// header returns the lines above every view.
func (m model) header(s clusterView) []string {
	lines := []string{m.title(s)}
	for _, l := range m.headLines(s) {
		lines = append(lines, m.theme.Draw(paint.Legible(l), m.width))
	}
	return lines
}

// headLines returns the lines of the header below its title. A low terminal has those only
// that report a problem or work.
func (m model) headLines(s clusterView) []line {
	if m.inFleet() {
		return nil
	}
	lines := paint.Shortened(wrapped(s.stateLine(), m.width), maxStateLines, m.width)
	if m.height < fullHeight {
		return slices.Concat(lines, m.workLines(s, 1), s.failingSource(m.width), []line{m.tabs(m.width)})
	}
	return slices.Concat(lines, s.figures(m.width), s.vitals(m.width), m.workLines(s, maxWorkLines), s.rolloutLine(m.width), s.phasesLine(m.width), s.sources(m.width), []line{m.tabs(m.width)})
}

const (
	// maxStateLines is the maximum number of lines for the state.
	maxStateLines = 2
	// maxWorkLines is that for what is in progress.
	maxWorkLines = 2
)

// fullWidth is the width from which titles and tabs are whole.
const fullWidth = 80

// title returns the cluster, and on the right the mode and time of the dashboard.
func (m model) title(s clusterView) string {
	left := line{styled(strong, m.whole(m.name()))}
	if m.inFleet() {
		left = line{styled(strong, phrase.Or(m.o.Namespace, "all namespaces"))}
	}
	if m.o.Context != "" && m.width >= fullWidth {
		left = append(left, styled(faint, " in "+m.o.Context))
	}
	if ring := m.ring(); len(ring) > 1 && !m.inFleet() {
		left = append(left, styled(faint, fmt.Sprintf(" (%d of %d)", slices.Index(ring, m.cluster)+1, len(ring))))
	}
	right := m.badges(s)
	room := m.width - widthOf(right.Text()) - 1
	head := m.theme.Draw(left, room)
	blanks := max(1, m.width-min(widthOf(left.Text()), room)-widthOf(right.Text()))
	return head + strings.Repeat(" ", blanks) + m.theme.Draw(paint.Legible(right), m.width)
}

func (m model) badges(s clusterView) line {
	var l line
	if !m.inFleet() && s.frame != nil && s.frame.Status.Reconciliation.Pause != nil {
		l = append(l, styled(warn, "OPERATORS PAUSED  "))
	}
	switch {
	case m.o.Feed == nil && m.playing:
		l = append(l, styled(warn, fmt.Sprintf("REPLAY %d/%d  ", m.back+1, len(m.history().states))))
	case m.o.Feed == nil:
		l = append(l, styled(warn, fmt.Sprintf("REPLAY STOPPED %d/%d  ", m.back+1, len(m.history().states))))
	case m.back >= 0:
		l = append(l, styled(warn, fmt.Sprintf("HISTORY %d/%d  ", m.back+1, len(m.history().states))))
	case m.paused:
		l = append(l, styled(warn, "PAUSED  "))
	}
	if m.o.Passes {
		l = append(l, styled(warn, "RECONCILES  "))
	}
	switch {
	case m.o.Actions != nil:
		l = append(l, styled(warn, "ACTIONS  "))
	case !m.o.Passes && m.width >= fullWidth:
		l = append(l, styled(faint, "READ-ONLY  "))
	}
	return append(l, styled(plain, s.now.UTC().Format("15:04:05")+"Z"))
}

// stateLine returns the summary of the status.
func (s clusterView) stateLine() line {
	if s.frame == nil {
		return styledLine(warn, markUnknown+" no data yet")
	}
	v := s.frame.Status
	t, mark := toneOfStatus(v)
	l := line{styled(paint.Badge(t), mark), styled(plain, " "), styled(t, v.Summary)}
	if !s.another.IsZero() {
		l = append(line{styled(warn, markWarn+" "+frame.AnotherCluster+" ("+s.another.UTC().Format(time.TimeOnly)+"Z); ")}, l...)
	}
	if p := v.Reconciliation.Pause; p != nil && len(v.Restrictions) == 0 { // a recording of an earlier version
		l = append(l, styled(warn, "; paused: "+p.Text(s.now)))
	}
	return l
}

// toneOfStatus is that of the state, with its symbol.
func toneOfStatus(v inspect.StatusView) (tone, string) {
	switch v.State {
	case inspect.StateHealthy, inspect.StateDegraded, inspect.StateNotConfigured, inspect.StateUnavailable:
		return v.Tone(), v.Tone().Mark()
	default:
		return bad, markUnknown
	}
}

// vitals returns fault tolerance, recovery, moving data and the lock.
func (s clusterView) vitals(width int) []line {
	if s.frame == nil {
		return nil
	}
	v := s.frame.Status
	moving := line{styled(faint, "moving "), styled(plain, phrase.BytesOr(v.Database.MovingBytes, phrase.UnknownCell))}
	if v.Database.QueuedBytes != nil && *v.Database.QueuedBytes > 0 {
		moving = append(moving, styled(plain, "+"+phrase.Bytes(*v.Database.QueuedBytes)))
	}
	return flowed([]line{
		{styled(faint, "tolerates "), s.tolerance(v.FaultTolerance)},
		{styled(faint, "recovery "), s.recovery(v.Database)},
		moving,
		{styled(faint, "lock "), styled(plain, s.lockText())},
	}, styled(faint, " · "), len("tolerates "), width)
}

func (s clusterView) tolerance(v inspect.ToleranceView) span {
	t := good
	switch {
	case v.Zones == nil:
		t = warn
	case *v.Zones <= 0 && v.Desired > 0:
		t = bad
	case *v.Zones < v.Desired:
		t = warn
	}
	return styled(t, fmt.Sprintf("%s/%d zones %s", phrase.NumberOr(v.Zones, phrase.UnknownCell), v.Desired, strings.TrimSpace(t.Mark())))
}

// recovery returns the time since the last recovery, counted on from when it was reported. One that has not ended yet stops no
// client of a database that is available.
func (s clusterView) recovery(v inspect.DatabaseView) span {
	switch {
	case v.RecoveryState == "":
		return styled(plain, phrase.UnknownCell)
	case !ptr.Deref(v.FullyRecovered, false):
		t := bad
		if ptr.Deref(v.Available, false) {
			t = warn
		}
		return styled(t, t.Mark()+" at "+inspect.Spaced(v.RecoveryState))
	case v.RecoveryAge == nil || v.AsOf == nil:
		return styled(plain, "complete")
	}
	age := time.Duration(*v.RecoveryAge*float64(time.Second)) + s.now.Sub(*v.AsOf)
	return styled(plain, phrase.Duration(age)+" ago")
}

// slow is how long a read may take before the header shows it.
const slow = 3 * time.Second

// sources returns the sources of the data, with their ages and errors, in several lines if
// necessary; nil while all answer in time.
func (s clusterView) sources(width int) []line {
	const head = "age: "
	if s.failingSource(width) == nil {
		return nil
	}
	pieces := []line{}
	for _, v := range s.snapshot().Sources {
		pieces = append(pieces, line{s.source(v)})
	}
	pieces[0] = append(line{styled(faint, head)}, pieces[0]...)
	lines := flowed(pieces, styled(faint, " · "), len(head), width)
	return lines[:min(len(lines), maxSourceLines)]
}

// failingSource returns the first source that failed or is late, in one line; nil for none.
func (s clusterView) failingSource(width int) []line {
	for _, v := range s.snapshot().Sources {
		if l := s.source(v); l.Tone >= warn {
			return paint.Shortened(wrapped(line{l}, width), 1, width)
		}
	}
	return nil
}

// maxSourceLines is the maximum number of lines for the sources.
const maxSourceLines = 4

func (s clusterView) source(v frame.Source) span {
	t, age := plain, "never"
	if v.AsOf != nil {
		age = s.age(v.AsOf)
	}
	if last := cmp.Or(v.AsOf, v.RequestedAt); last != nil && s.now.Sub(*last) > s.stale(v.Name) {
		t = warn
	}
	text := v.Name + " " + age
	if t == warn {
		text = markWarn + " " + text
	}
	if v.RequestedAt != nil && s.now.Sub(*v.RequestedAt) >= slow {
		text += ", polling " + s.age(v.RequestedAt)
	}
	if v.Problem != "" {
		return styled(bad, markBad+" "+v.Name+" "+age+": "+v.Problem)
	}
	return styled(t, text)
}

// stale returns the age from which a source is late. Previews and backups are read less
// often.
func (s clusterView) stale(name string) time.Duration {
	late := max(15*time.Second, 5*s.o.Interval)
	switch name {
	case frame.SourceOfPreview:
		return 8 * late
	case frame.SourceOfBackups:
		return 4 * late
	}
	return late
}

// workLines returns what is in progress, in at most so many lines: an action of this dashboard, a pass, or an operation.
func (m model) workLines(s clusterView, most int) []line {
	return fitted(m.workClauses(s), m.width, most)
}

func (m model) workClauses(s clusterView) []paint.Clause {
	switch {
	case len(m.questions) > 0 && !m.shows(paneQuestion):
		return []paint.Clause{{Line: styledLine(bad, markWarn+" answer required (press a): "+m.questions[0].Text)}}
	case m.work != nil && m.work.phase == executing:
		return append([]paint.Clause{{Line: styledLine(warn, m.work.ask.Label()+" running for "+s.lastingSince(m.work.since))}}, s.passClauses()...)
	case s.pass.Number > 0 && (s.pass.Ended.IsZero() || s.pass.Wait != nil):
		return s.passClauses()
	case s.running() != nil:
		return s.operationClauses(*s.running())
	}
	return nil
}

// tabs returns the views with their keys, with short names if the whole ones do not fit, or
// with the name of the displayed one alone.
func (m model) tabs(width int) line {
	for _, name := range []func(v view) string{func(v view) string { return v.name }, view.brief} {
		if l := m.tabsBy(name); widthOf(strings.TrimRight(l.Text(), " ")) <= width {
			return l
		}
	}
	displayed := m.views[m.view].name
	return m.tabsBy(func(v view) string {
		if v.name == displayed {
			return v.name
		}
		return ""
	})
}

func (m model) tabsBy(name func(view) string) line {
	var l line
	for i, v := range views() {
		text := strings.TrimSpace(fmt.Sprintf("%d %s", (i+1)%10, name(v)))
		if i == m.view {
			l = append(l, styled(strong, "["+text+"]"))
		} else {
			l = append(l, styled(faint, text))
		}
		l = append(l, styled(plain, " "))
	}
	return l
}
