package ui

import (
	"fmt"
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// WriteBackupStatus prints one backup: a sentence, then sections.
func WriteBackupStatus(w io.Writer, v BackupStatusView, o StatusOptions) error {
	p := &page{w: w, o: o}
	p.verdict(v.Metadata, v.Reconciled, v.Summary)
	p.backup(v)
	p.section("Agents", Origin{SourceLive, known(o.Now)})
	p.fact("Ready", fmt.Sprintf("%d of %d", v.Agents.Ready, v.Agents.Desired))
	for _, a := range v.Agents.Pods {
		p.fact(a.Phase, a.words())
	}
	p.section("Resource", Origin{SourceLive, known(o.Now)})
	p.fact("Cluster", v.Cluster)
	p.fact("Desired", v.Desired+", "+v.Mode)
	if r := v.Recorded; r != nil && v.UnknownReason != "" {
		p.fact("Last status", fmt.Sprintf("running %s, paused %s, restorable %s", phrase.YesNo(&r.Running, phrase.UnknownCell), phrase.YesNo(&r.Paused, phrase.UnknownCell), phrase.YesNo(&r.Restorable, phrase.UnknownCell)))
	}
	return p.err
}

// verdict prints the resource and its summary.
func (p *page) verdict(m Metadata, good *bool, summary string) {
	color := yellow
	if good != nil {
		color = map[bool]string{true: green, false: red}[*good]
	}
	p.printf("%s\n%s\n", p.o.in(bold, m.Namespace+"/"+m.Cluster), p.o.in(color, summary))
}

func (p *page) backup(v BackupStatusView) {
	p.section("Backup", Origin{SourceLive, v.AsOf})
	p.fact("Tag", v.Tag)
	p.fact("Destination", phrase.Or(v.URL, phrase.UnknownCell))
	if v.UnknownReason != "" {
		p.fact("State", "unknown: "+v.UnknownReason)
		return
	}
	p.fact("State", phrase.Or(*v.State, "the tag never had a backup"))
	p.fact("Paused", phrase.YesNo(v.Paused, phrase.UnknownCell))
	p.fact("Restorable", v.LatestRestorable.words())
	if v.Move != nil {
		p.fact("Moved from", phrase.Or(v.Move.From, phrase.UnknownCell))
	}
	if s := v.Snapshot; s != nil {
		p.fact("Last snapshot", s.LastComplete.words())
		p.fact("Next snapshot", s.words())
	}
	for _, e := range v.LastErrors {
		p.fact("Error", e)
	}
	if v.RangeBytes != nil || v.LogBytes != nil {
		p.fact("Written", phrase.BytesOr(v.RangeBytes, phrase.UnknownCell)+" in snapshots, "+phrase.BytesOr(v.LogBytes, phrase.UnknownCell)+" of log")
	}
}

// words returns the version, and how long ago it was.
func (m *BackupMomentView) words() string {
	switch {
	case m == nil:
		return "no"
	case m.AgeSeconds == nil:
		return fmt.Sprintf("version %d", m.Version)
	default:
		return fmt.Sprintf("version %d, %s ago", m.Version, phrase.Seconds(*m.AgeSeconds))
	}
}

func (s *BackupSnapshotView) words() string {
	text := "its period is unknown"
	if s.PeriodSeconds != nil {
		text = "period " + phrase.Seconds(*s.PeriodSeconds)
	}
	if s.ExpectedPercent != nil {
		text += fmt.Sprintf("; %.1f%% of it elapsed", *s.ExpectedPercent)
	}
	return text
}

func (a BackupAgentView) words() string {
	text := a.Pod
	if a.Node != "" {
		text += " on " + a.Node
	}
	if !a.Ready {
		text += ", not ready"
	}
	return text
}
