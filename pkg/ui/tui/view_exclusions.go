package tui

import (
	"fmt"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/states"
)

// exclusionsPage shows the progress of exclusions, and when removal is safe.
func exclusionsPage(s clusterView) page {
	v := s.snapshot().Exclusions
	p := page{columns: []column{
		{title: " "},
		{title: "ID", minimum: 10},
		{title: "PROCESS", minimum: 15, from: 110},
		{title: "STATE"},
		{title: "MOVED", minimum: 8, from: 60},
		{title: "LEFT", right: true},
		{title: "RATE", right: true, from: 90},
		{title: "ETA", right: true, minimum: 6, from: 50},
		{title: "STALL", right: true, usual: phrase.Nothing, from: 80},
		{title: "ROLES", minimum: 7, from: 100},
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
	for _, text := range states.ReasonsOf(v.Items) {
		p.notes = append(p.notes, styledLine(faint, text))
	}
	p.notes = append(p.notes, dataLine(v.Data))
	return p
}

func drainRow(i int, d inspect.DrainView) row {
	t := states.DrainTone(d)
	key := d.ID + " " + d.Process
	if key == " " {
		key = strconv.Itoa(i)
	}
	return row{key: key, group: d.ID, tone: t, more: func(s clusterView) []line { return s.aboutDrain(key) }, number: drainNumber(d), cells: []span{
		styled(t, t.Mark()),
		styled(toneOfID(t), phrase.Or(d.ID, phrase.Nothing)), styled(plain, phrase.Or(d.Process, phrase.Nothing)), styled(t, string(d.State)), styled(t, states.MovedBar(d)),
		styled(plain, phrase.BytesOr(d.LeftBytes, phrase.Nothing)), styled(plain, states.RateCell(d)), styled(plain, states.EtaCell(d)), styled(states.StallTone(d), phrase.SecondsOr(d.StalledSeconds, phrase.Nothing)),
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
		t := states.DrainTone(d)
		return append([]line{
			heading("Exclusion of " + phrase.Or(d.ID+" "+d.Process, phrase.UnknownCell)), factIn(t, "state", t.Mark()+" "+string(d.State)), fact("reason", phrase.Or(d.Reason, phrase.Nothing)),
			fact("roles", rolesCell(d.Roles)), fact("progress", states.MovedBar(d)), fact("moved", phrase.BytesOr(d.MovedBytes, phrase.UnknownCell)), fact("left", phrase.BytesOr(d.LeftBytes, phrase.UnknownCell)),
			fact("rate", states.RateCell(d)), fact("ETA", states.EtaCell(d)), factIn(states.StallTone(d), "stalled for", phrase.SecondsOr(d.StalledSeconds, phrase.Nothing)),
		}, commandLines(s.o.fdb("exclusion", "status", s.cluster()), s.o.fdb("wait", s.cluster(), "--for=exclusions=safe"))...)
	}
	return nil
}
