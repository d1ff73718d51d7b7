package tui

import (
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

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
