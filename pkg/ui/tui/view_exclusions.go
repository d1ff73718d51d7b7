package tui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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
		{title: "STALL", right: true, usual: phrase.Nothing},
		{title: "ROLES", least: 7},
	}}
	t := plain
	switch {
	case ptr.Deref(v.Safe, false):
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
		say(toneOfID(t), phrase.Or(d.ID, phrase.Nothing)), say(plain, phrase.Or(d.Process, phrase.Nothing)), say(t, string(d.State)), say(t, goneBar(d)),
		say(plain, phrase.BytesOr(d.LeftBytes, phrase.Nothing)), say(plain, rateCell(d)), say(plain, etaCell(d)), say(stallTone(d), phrase.SecondsOr(d.StalledSeconds, phrase.Nothing)),
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
		return phrase.Nothing
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
		return phrase.Nothing
	}
	return phrase.Bytes(int64(*d.RateBytesPerSecond)) + "/s"
}

// etaCell is the range that the end is likely to be in; an end out of sight is "?".
func etaCell(d ui.DrainView) string {
	if d.ETASeconds == nil {
		return phrase.Nothing
	}
	soonest, latest := phrase.SecondsOr(d.ETASecondsSoonest, phrase.UnknownCell), phrase.SecondsOr(d.ETASecondsLatest, phrase.UnknownCell)
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
	l := sayLine(plain, fmt.Sprintf("moving %s, queued %s", phrase.BytesOr(d.InFlightBytes, phrase.UnknownCell), phrase.BytesOr(d.QueuedBytes, phrase.UnknownCell)))
	for _, r := range d.MinReplicas {
		l = append(l, say(plain, fmt.Sprintf(" · %s of %s at least", phrase.NumberOr(r.Remaining, phrase.UnknownCell), phrase.Count(d.ReplicasDesired, "replica"))))
	}
	return append(l, say(plain, fmt.Sprintf(" · fullest server has %s free", phrase.BytesOr(d.LeastSpaceStorageBytes, phrase.UnknownCell))))
}

// aboutDrain is all there is to say of a process that leaves.
func (s sight) aboutDrain(key string) []line {
	for i, d := range s.look().Exclusions.Items {
		if drainRow(i, d).key != key {
			continue
		}
		t := gravityOfDrain(d)
		return append([]line{
			heading("Exclusion of " + phrase.Or(d.ID+" "+d.Process, phrase.UnknownCell)), factIn(t, "state", t.mark()+" "+string(d.State)), fact("because", phrase.Or(d.Reason, phrase.Nothing)),
			fact("roles", rolesCell(d.Roles)), fact("gone", goneBar(d)), fact("moved", phrase.BytesOr(d.MovedBytes, phrase.UnknownCell)), fact("left", phrase.BytesOr(d.LeftBytes, phrase.UnknownCell)),
			fact("rate", rateCell(d)), fact("done in", etaCell(d)), factIn(stallTone(d), "stalled for", phrase.SecondsOr(d.StalledSeconds, phrase.Nothing)),
		}, commandLines(s.o.fdb("exclusion", "status", s.cluster()), s.o.fdb("exclusion", "wait", s.cluster()))...)
	}
	return nil
}
