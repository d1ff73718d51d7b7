package tui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// exclusionsPage shows the progress of exclusions, and when removal is safe.
func exclusionsPage(s clusterView) page {
	v := s.snapshot().Exclusions
	p := page{columns: []column{
		{title: " "},
		{title: "ID", least: 10},
		{title: "PROCESS", least: 15, from: 110},
		{title: "STATE"},
		{title: "MOVED", least: 8, from: 60},
		{title: "LEFT", right: true},
		{title: "RATE", right: true, from: 90},
		{title: "ETA", right: true, least: 6, from: 50},
		{title: "STALL", right: true, usual: phrase.Nothing, from: 80},
		{title: "ROLES", least: 7, from: 100},
	}}
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
	for _, text := range reasonsOf(v.Items) {
		p.notes = append(p.notes, styledLine(faint, text))
	}
	p.notes = append(p.notes, dataLine(v.Data))
	return p
}

func drainRow(i int, d inspect.DrainView) row {
	t := drainTone(d)
	key := d.ID + " " + d.Process
	if key == " " {
		key = strconv.Itoa(i)
	}
	return row{key: key, group: d.ID, tone: t, more: func(s clusterView) []line { return s.aboutDrain(key) }, number: drainNumber(d), cells: []span{
		styled(t, t.Mark()),
		styled(toneOfID(t), phrase.Or(d.ID, phrase.Nothing)), styled(plain, phrase.Or(d.Process, phrase.Nothing)), styled(t, string(d.State)), styled(t, movedBar(d)),
		styled(plain, phrase.BytesOr(d.LeftBytes, phrase.Nothing)), styled(plain, rateCell(d)), styled(plain, etaCell(d)), styled(stallTone(d), phrase.SecondsOr(d.StalledSeconds, phrase.Nothing)),
		styled(plain, rolesCell(d.Roles)),
	}}
}

func drainNumber(d inspect.DrainView) func(s clusterView, column string) *float64 {
	return func(_ clusterView, column string) *float64 {
		switch column {
		case "MOVED":
			return quantity(d.MovedBytes)
		case "LEFT":
			return quantity(d.LeftBytes)
		case "RATE":
			return d.RateBytesPerSecond
		case "ETA":
			return d.ETASeconds
		case "STALL":
			return d.StalledSeconds
		}
		return nil
	}
}

func drainTone(d inspect.DrainView) tone {
	switch {
	case d.State == inspect.ExclusionSafe:
		return good
	case d.StalledSeconds != nil:
		return bad
	default:
		return warn
	}
}

func stallTone(d inspect.DrainView) tone {
	if d.StalledSeconds != nil {
		return bad
	}
	return plain
}

// barWidth is the width of a bar.
const barWidth = 10

// movedBar returns the share of the data of the first read that has moved away. An unknown
// share has no bar.
func movedBar(d inspect.DrainView) string {
	switch {
	case d.State == inspect.ExclusionSafe:
		return bar(1)
	case d.LeftBytes == nil || d.MovedBytes == nil || *d.LeftBytes+*d.MovedBytes <= 0:
		return phrase.Nothing
	default:
		return bar(float64(*d.MovedBytes) / float64(*d.LeftBytes+*d.MovedBytes))
	}
}

// bar returns a share as a bar and a number. Only the whole fills it.
func bar(share float64) string { return barOf(share, barWidth) }

// barOf returns a bar of a width.
func barOf(share float64, width int) string {
	share = min(1, max(0, share))
	full := int(math.Floor(share * float64(width)))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full) + fmt.Sprintf(" %d%%", int(math.Floor(share*100)))
}

func rateCell(d inspect.DrainView) string {
	if d.RateBytesPerSecond == nil {
		return phrase.Nothing
	}
	return phrase.Bytes(int64(*d.RateBytesPerSecond)) + "/s"
}

// etaCell returns the likely range of the end; "?" if it is unknown.
func etaCell(d inspect.DrainView) string {
	if d.ETASeconds == nil {
		return phrase.Nothing
	}
	soonest, latest := phrase.SecondsOr(d.ETASecondsSoonest, phrase.UnknownCell), phrase.SecondsOr(d.ETASecondsLatest, phrase.UnknownCell)
	if soonest == latest {
		return soonest
	}
	return soonest + "-" + latest
}

// reasonsOf returns why rows are not safe, without duplicates.
func reasonsOf(items []inspect.DrainView) []string {
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

func dataLine(d inspect.DrainData) line {
	l := styledLine(plain, fmt.Sprintf("moving %s, queued %s", phrase.BytesOr(d.InFlightBytes, phrase.UnknownCell), phrase.BytesOr(d.QueuedBytes, phrase.UnknownCell)))
	for _, r := range d.MinReplicas {
		l = append(l, styled(plain, fmt.Sprintf(" · at least %s of %s", phrase.NumberOr(r.Remaining, phrase.UnknownCell), phrase.Count(d.ReplicasDesired, "replica"))))
	}
	return append(l, styled(plain, fmt.Sprintf(" · least free space %s", phrase.BytesOr(d.LeastSpaceStorageBytes, phrase.UnknownCell))))
}

// aboutDrain returns the details of an excluded process.
func (s clusterView) aboutDrain(key string) []line {
	for i, d := range s.snapshot().Exclusions.Items {
		if drainRow(i, d).key != key {
			continue
		}
		t := drainTone(d)
		return append([]line{
			heading("Exclusion of " + phrase.Or(d.ID+" "+d.Process, phrase.UnknownCell)), factIn(t, "state", t.Mark()+" "+string(d.State)), fact("reason", phrase.Or(d.Reason, phrase.Nothing)),
			fact("roles", rolesCell(d.Roles)), fact("progress", movedBar(d)), fact("moved", phrase.BytesOr(d.MovedBytes, phrase.UnknownCell)), fact("left", phrase.BytesOr(d.LeftBytes, phrase.UnknownCell)),
			fact("rate", rateCell(d)), fact("ETA", etaCell(d)), factIn(stallTone(d), "stalled for", phrase.SecondsOr(d.StalledSeconds, phrase.Nothing)),
		}, commandLines(s.o.fdb("exclusion", "status", s.cluster()), s.o.fdb("exclusion", "wait", s.cluster()))...)
	}
	return nil
}
