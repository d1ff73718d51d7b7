package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// header is the lines that are over every view: what people look for first.
func (m model) header(s sight) []string {
	lines := []string{m.title(s)}
	for _, l := range m.headLines(s) {
		lines = append(lines, m.theme.draw(l, m.width))
	}
	return lines
}

// headLines are those of the header below its title.
func (m model) headLines(s sight) []line {
	lines := shortened(wrapped(s.stateLine(), m.width), mostStateLines)
	lines = slices.Concat(lines, s.vitals(m.width), []line{m.workLine(s)}, s.sources(m.width), []line{m.tabs(m.width)})
	return slices.DeleteFunc(lines, func(l line) bool { return l == nil })
}

// mostStateLines is how much room the sentence about the state may take.
const mostStateLines = 2

// title is where one is, and on the right what the screen may do and the time on it.
func (m model) title(s sight) string {
	name := m.o.Namespace + "/" + m.name()
	left := line{say(strong, name)}
	if m.o.Context != "" {
		left = append(left, say(faint, " in "+m.o.Context))
	}
	if n := len(m.o.Clusters); n > 1 {
		left = append(left, say(faint, fmt.Sprintf(" (%d of %d)", m.cluster+1, n)))
	}
	right := m.badges(s)
	room := m.width - widthOf(right.text()) - 1
	head := m.theme.draw(left, room)
	blanks := max(1, m.width-min(widthOf(left.text()), room)-widthOf(right.text()))
	return head + strings.Repeat(" ", blanks) + m.theme.draw(right, m.width)
}

func (m model) badges(s sight) line {
	var l line
	switch {
	case m.o.Feed == nil && m.playing:
		l = append(l, say(warn, fmt.Sprintf("REPLAY %d/%d  ", m.back+1, len(m.tape().shots))))
	case m.o.Feed == nil:
		l = append(l, say(warn, fmt.Sprintf("REPLAY STOPPED %d/%d  ", m.back+1, len(m.tape().shots))))
	case m.back >= 0:
		l = append(l, say(warn, fmt.Sprintf("LOOKING BACK %d/%d  ", m.back+1, len(m.tape().shots))))
	case m.paused:
		l = append(l, say(warn, "PAUSED  "))
	}
	if m.o.Passes {
		l = append(l, say(warn, "RECONCILES  "))
	}
	switch {
	case m.o.Actions != nil:
		l = append(l, say(warn, "ACTIONS  "))
	case !m.o.Passes:
		l = append(l, say(faint, "READ-ONLY  "))
	}
	return append(l, say(plain, s.now.UTC().Format("15:04:05")+"Z"))
}

// stateLine is the sentence that says it all.
func (s sight) stateLine() line {
	if s.frame == nil {
		return sayLine(warn, markUnknown+" nothing is known yet: waiting for the first look")
	}
	v := s.frame.Status
	t, mark := toneOfState(v.State)
	return line{{mark + " ", t}, say(t, v.Summary)}
}

func toneOfState(state ui.State) (tone, string) {
	switch state {
	case ui.StateHealthy:
		return good, markGood
	case ui.StateDegraded, ui.StateNotConfigured:
		return warn, markWarn
	case ui.StateUnavailable:
		return bad, markBad
	default:
		return bad, markUnknown
	}
}

// vitals are fault tolerance, recovery, data that moves, and the lock.
func (s sight) vitals(width int) []line {
	if s.frame == nil {
		return nil
	}
	v := s.frame.Status
	moving := line{say(faint, "moving "), say(plain, phrase.BytesOr(v.Database.MovingBytes, phrase.UnknownCell))}
	if v.Database.QueuedBytes != nil && *v.Database.QueuedBytes > 0 {
		moving = append(moving, say(plain, "+"+phrase.Bytes(*v.Database.QueuedBytes)))
	}
	return flowed([]line{
		{say(faint, "tolerates "), s.tolerance(v.FaultTolerance)},
		{say(faint, "recovery "), s.recovery(v.Database)},
		moving,
		{say(faint, "lock "), say(plain, s.lockWords())},
	}, say(faint, " · "), len("tolerates "), width)
}

func (s sight) tolerance(v ui.ToleranceView) span {
	t := good
	switch {
	case v.Zones == nil:
		t = warn
	case *v.Zones <= 0 && v.Desired > 0:
		t = bad
	case *v.Zones < v.Desired:
		t = warn
	}
	return say(t, fmt.Sprintf("%s/%d zones %s", phrase.NumberOr(v.Zones, phrase.UnknownCell), v.Desired, strings.TrimSpace(t.mark())))
}

// recovery is how long ago the database recovered last, counted on since it said so.
func (s sight) recovery(v ui.DatabaseView) span {
	switch {
	case v.RecoveryState == "":
		return say(plain, phrase.UnknownCell)
	case !ptr.Deref(v.FullyRecovered, false):
		return say(bad, markBad+" at "+strings.ReplaceAll(v.RecoveryState, "_", " "))
	case v.RecoveryAge == nil || v.AsOf == nil:
		return say(plain, "complete")
	}
	age := time.Duration(*v.RecoveryAge*float64(time.Second)) + s.now.Sub(*v.AsOf)
	return say(plain, phrase.Duration(age))
}

// slow is how long an answer may take before the header tells of it.
const slow = 3 * time.Second

// sources are what the facts were read from, how old each is, and why it is; in more lines
// than one where that takes room.
func (s sight) sources(width int) []line {
	const head = "seen: "
	pieces := []line{}
	for _, v := range s.look().Sources {
		pieces = append(pieces, line{s.source(v)})
	}
	if len(pieces) == 0 {
		pieces = []line{{say(faint, "nothing so far")}}
	}
	pieces[0] = append(line{say(faint, head)}, pieces[0]...)
	lines := flowed(pieces, say(faint, " · "), len(head), width)
	return lines[:min(len(lines), mostSourceLines)]
}

// mostSourceLines is how much room the sources may take.
const mostSourceLines = 4

func (s sight) source(v ui.FrameSource) span {
	t, age := plain, "never"
	if v.AsOf != nil {
		age = s.age(v.AsOf)
		if s.now.Sub(*v.AsOf) > s.stale(v.Name) {
			t = warn
		}
	}
	text := v.Name + " " + age
	if t == warn {
		text = markWarn + " " + text
	}
	if v.RequestedAt != nil && s.now.Sub(*v.RequestedAt) >= slow {
		text += ", asking " + s.age(v.RequestedAt)
	}
	if v.Trouble != "" {
		return say(bad, markBad+" "+v.Name+" "+age+": "+v.Trouble)
	}
	return say(t, text)
}

// stale is the age from which on a source is late. A preview is made less often, and pods of
// agents are asked less often.
func (s sight) stale(name string) time.Duration {
	late := max(15*time.Second, 5*s.o.Interval)
	switch name {
	case ui.SourceOfPreview:
		return 8 * late
	case ui.SourceOfBackups:
		return 4 * late
	}
	return late
}

// workLine is what is under way: an action of this screen, or a pass.
func (m model) workLine(s sight) line {
	switch {
	case len(m.questions) > 0 && !m.shows(paneQuestion):
		return line{say(bad, markWarn+" a question waits: "+m.questions[0].Text+" (a shows it)")}
	case m.work != nil && m.work.phase == carrying:
		return append(line{say(warn, m.work.ask.words()+" runs for "+s.lastingSince(m.work.since)+" · ")}, s.passSays()...)
	case s.pass.number > 0 && (s.pass.ended.IsZero() || s.pass.resting != nil):
		return s.passSays()
	}
	return nil
}

// tabs are the views by their keys; in short words where whole ones do not fit.
func (m model) tabs(width int) line {
	whole := m.tabsBy(func(v view) string { return v.name })
	if widthOf(strings.TrimRight(whole.text(), " ")) <= width {
		return whole
	}
	return m.tabsBy(view.brief)
}

func (m model) tabsBy(name func(view) string) line {
	var l line
	for i, v := range m.views {
		text := fmt.Sprintf("%d %s", i+1, name(v))
		if i == m.view {
			l = append(l, say(strong, "["+text+"]"))
		} else {
			l = append(l, say(faint, text))
		}
		l = append(l, say(plain, " "))
	}
	return l
}
