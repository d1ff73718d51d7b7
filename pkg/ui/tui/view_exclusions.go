package tui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// exclusionsPage answers: how far is what is excluded, and when is it safe to remove?
func exclusionsPage(s sight) page {
	v := s.look().Exclusions
	p := page{columns: []column{
		{title: " "},
		{title: "ID", least: 10},
		{title: "PROCESS", least: 15, from: 110},
		{title: "STATE"},
		{title: "GONE", least: 8},
		{title: "LEFT", right: true},
		{title: "RATE", right: true},
		{title: "ETA", right: true, least: 6},
		{title: "STALL", right: true, usual: nothing},
		{title: "ROLES", least: 7},
	}}
	t := plain
	switch {
	case is(v.Safe):
		t = good
	case v.Safe == nil:
		t = warn
	}
	p.says = line{say(t, v.Summary)}
	for i, d := range v.Items {
		p.rows = append(p.rows, drainRow(i, d))
	}
	for _, text := range reasonsOf(v.Items) {
		p.notes = append(p.notes, sayLine(faint, text))
	}
	p.notes = append(p.notes, dataLine(v.Data))
	return p
}

func drainRow(i int, d ui.DrainView) row {
	t := gravityOfDrain(d)
	key := d.ID + " " + d.Process
	if key == " " {
		key = strconv.Itoa(i)
	}
	return row{key: key, group: d.ID, tone: t, more: func(s sight) []line { return s.aboutDrain(key) }, cells: []span{
		{t.mark(), t},
		say(toneOfID(t), orNothing(d.ID)), say(plain, orNothing(d.Process)), say(t, string(d.State)), say(t, goneBar(d)),
		say(plain, bytesOr(d.LeftBytes, nothing)), say(plain, rateCell(d)), say(plain, etaCell(d)), say(stallTone(d), secondsOr(d.StalledSeconds, nothing)),
		say(plain, rolesCell(d.Roles)),
	}}
}

func gravityOfDrain(d ui.DrainView) tone {
	switch {
	case d.State == ui.ExclusionSafe:
		return good
	case d.StalledSeconds != nil:
		return bad
	default:
		return warn
	}
}

func stallTone(d ui.DrainView) tone {
	if d.StalledSeconds != nil {
		return bad
	}
	return plain
}

// barWidth is how many characters a full bar has.
const barWidth = 10

// goneBar is how much of what was there at first sight is gone. What nobody can tell has
// no bar.
func goneBar(d ui.DrainView) string {
	switch {
	case d.State == ui.ExclusionSafe:
		return bar(1)
	case d.LeftBytes == nil || d.MovedBytes == nil || *d.LeftBytes+*d.MovedBytes <= 0:
		return nothing
	default:
		return bar(float64(*d.MovedBytes) / float64(*d.LeftBytes+*d.MovedBytes))
	}
}

// bar is a share as a bar and a number. It is full for the whole only.
func bar(share float64) string { return barOf(share, barWidth) }

// barOf is a bar of so many characters.
func barOf(share float64, width int) string {
	share = min(1, max(0, share))
	full := int(math.Floor(share * float64(width)))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full) + fmt.Sprintf(" %d%%", int(math.Floor(share*100)))
}

func rateCell(d ui.DrainView) string {
	if d.RateBytesPerSecond == nil {
		return nothing
	}
	return ui.Bytes(int64(*d.RateBytesPerSecond)) + "/s"
}

// etaCell is the range that the end is likely to be in; an end out of sight is "?".
func etaCell(d ui.DrainView) string {
	if d.ETASeconds == nil {
		return nothing
	}
	soonest, latest := secondsOr(d.ETASecondsSoonest, unknown), secondsOr(d.ETASecondsLatest, unknown)
	if soonest == latest {
		return soonest
	}
	return soonest + "-" + latest
}

// reasonsOf are why rows are not safe, alike ones once.
func reasonsOf(items []ui.DrainView) []string {
	var lines []string
	for _, d := range items {
		name := d.ID
		if name == "" {
			name = d.Process
		}
		text := fmt.Sprintf("%s %s: %s", name, d.State, d.Reason)
		if d.Reason != "" && !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	return lines
}

func dataLine(d ui.DrainData) line {
	l := sayLine(plain, fmt.Sprintf("moving %s, queued %s", bytesOr(d.InFlightBytes, unknown), bytesOr(d.QueuedBytes, unknown)))
	for _, r := range d.MinReplicas {
		l = append(l, say(plain, fmt.Sprintf(" · %s of %d replicas at least", numberOr(r.Remaining), d.ReplicasDesired)))
	}
	return append(l, say(plain, fmt.Sprintf(" · fullest server has %s free", bytesOr(d.LeastSpaceStorageBytes, unknown))))
}

// aboutDrain is all there is to say of a process that leaves.
func (s sight) aboutDrain(key string) []line {
	for i, d := range s.look().Exclusions.Items {
		if drainRow(i, d).key != key {
			continue
		}
		t := gravityOfDrain(d)
		return append([]line{
			heading("Exclusion of " + orUnknown(d.ID+" "+d.Process)), factIn(t, "state", t.mark()+" "+string(d.State)), fact("because", orNothing(d.Reason)),
			fact("roles", rolesCell(d.Roles)), fact("gone", goneBar(d)), fact("moved", bytesOr(d.MovedBytes, unknown)), fact("left", bytesOr(d.LeftBytes, unknown)),
			fact("rate", rateCell(d)), fact("done in", etaCell(d)), factIn(stallTone(d), "stalled for", secondsOr(d.StalledSeconds, nothing)),
		}, commandLines(s.o.fdb("exclusion", "status", s.cluster()), s.o.fdb("exclusion", "wait", s.cluster()))...)
	}
	return nil
}
