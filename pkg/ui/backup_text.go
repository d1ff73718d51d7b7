package ui

import (
	"fmt"
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// WriteBackupStatus prints one backup: a sentence, then sections.
func WriteBackupStatus(w io.Writer, v inspect.BackupStatusView, o StatusOptions) error {
	p := &page{w: w, o: o}
	p.verdict(v.Metadata, v.Reconciled, v.Summary)
	p.backup(v)
	p.section("Agents", inspect.Origin{Source: inspect.SourceLive, AsOf: inspect.Known(o.Now)})
	p.fact("Ready", fmt.Sprintf("%d of %d", v.Agents.Ready, v.Agents.Desired))
	for _, a := range v.Agents.Pods {
		p.fact(a.Phase, backupAgentWords(a))
	}
	p.section("Resource", inspect.Origin{Source: inspect.SourceLive, AsOf: inspect.Known(o.Now)})
	p.fact("Cluster", v.Cluster)
	p.fact("Desired", v.Desired+", "+v.Mode)
	if r := v.Recorded; r != nil && v.UnknownReason != "" {
		p.fact("Last status", fmt.Sprintf("running %s, paused %s, restorable %s", phrase.YesNo(&r.Running, phrase.UnknownCell), phrase.YesNo(&r.Paused, phrase.UnknownCell), phrase.YesNo(&r.Restorable, phrase.UnknownCell)))
	}
	return p.err
}

// verdict prints the resource and its summary.
func (p *page) verdict(m inspect.Metadata, good *bool, summary string) {
	color := yellow
	if good != nil {
		color = map[bool]string{true: green, false: red}[*good]
	}
	p.printf("%s\n%s\n", p.o.in(bold, m.Namespace+"/"+m.Cluster), p.o.in(color, summary))
}

func (p *page) backup(v inspect.BackupStatusView) {
	p.section("Backup", inspect.Origin{Source: inspect.SourceLive, AsOf: v.AsOf})
	p.fact("Tag", v.Tag)
	p.fact("Destination", phrase.Or(v.URL, phrase.UnknownCell))
	if v.UnknownReason != "" {
		p.fact("State", "unknown: "+v.UnknownReason)
		return
	}
	p.fact("State", stateOr(v.State, "the tag never had a backup"))
	p.fact("Paused", phrase.YesNo(v.Paused, phrase.UnknownCell))
	p.fact("Restorable", backupMomentWords(v.LatestRestorable))
	if v.Move != nil {
		p.fact("Moved from", phrase.Or(v.Move.From, phrase.UnknownCell))
	}
	if s := v.Snapshot; s != nil {
		p.fact("Last snapshot", backupMomentWords(s.LastComplete))
		p.fact("Next snapshot", backupSnapshotWords(s))
	}
	for _, e := range v.LastErrors {
		p.fact("Error", e)
	}
	if v.RangeBytes != nil || v.LogBytes != nil {
		p.fact("Written", phrase.BytesOr(v.RangeBytes, phrase.UnknownCell)+" in snapshots, "+phrase.BytesOr(v.LogBytes, phrase.UnknownCell)+" of log")
	}
}

// stateOr returns the state that a database reports for a tag; never where it reports none.
func stateOr(state *string, never string) string {
	if state == nil {
		return phrase.UnknownCell
	}
	return phrase.Or(*state, never)
}

// backupMomentWords returns the version, and how long ago it was.
func backupMomentWords(m *inspect.BackupMomentView) string {
	switch {
	case m == nil:
		return "no"
	case m.AgeSeconds == nil:
		return fmt.Sprintf("version %d", m.Version)
	default:
		return fmt.Sprintf("version %d, %s ago", m.Version, phrase.Seconds(*m.AgeSeconds))
	}
}

func backupSnapshotWords(s *inspect.BackupSnapshotView) string {
	text := "its period is unknown"
	if s.PeriodSeconds != nil {
		text = "period " + phrase.Seconds(*s.PeriodSeconds)
	}
	if s.ExpectedPercent != nil {
		text += fmt.Sprintf("; %.1f%% of it elapsed", *s.ExpectedPercent)
	}
	return text
}

func backupAgentWords(a inspect.BackupAgentView) string {
	text := a.Pod
	if a.Node != "" {
		text += " on " + a.Node
	}
	if !a.Ready {
		text += ", not ready"
	}
	return text
}

// WriteStores prints a row for each backup that is in a store, below the list of backups; nothing without a store.
func WriteStores(w io.Writer, v lists.BackupsInStore, o ListOptions) error {
	if len(v) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return WriteList(w, v, o)
}

// WriteBackupDescription prints the content of the store: a sentence, then the facts.
func WriteBackupDescription(w io.Writer, v lists.BackupDescriptionView, o StatusOptions) error {
	p := &page{w: w, o: o}
	p.verdict(v.Metadata, v.Restorable, v.Summary())
	p.section("Store", inspect.Origin{Source: inspect.SourceLive, AsOf: v.AsOf})
	p.fact("At", phrase.Or(v.URL, phrase.UnknownCell))
	if v.Exists == nil || !*v.Exists {
		return p.err
	}
	p.fact("Encrypted", phrase.YesNo(v.Encrypted, phrase.UnknownCell))
	p.fact("Restorable", storedVersionWords(v.RestorableFrom)+" to "+storedVersionWords(v.RestorableTo))
	p.fact("Log", storedVersionWords(v.LogFrom)+" to "+storedVersionWords(v.LogTo))
	p.fact("Deleted before", storedVersionWords(v.ExpiredBefore))
	p.fact("Snapshots", fmt.Sprintf("%d, %s", len(v.Snapshots), phrase.BytesOr(v.SnapshotBytes, phrase.UnknownCell)))
	for _, s := range v.Snapshots {
		p.fact("  Snapshot", storedSnapshotWords(s))
	}
	return p.err
}

func storedVersionWords(v *lists.StoredVersionView) string {
	switch {
	case v == nil:
		return phrase.Nothing
	case v.SecondsBeforeNewest == nil || *v.SecondsBeforeNewest == 0:
		return fmt.Sprint(v.Version)
	default:
		return fmt.Sprintf("%d (%s before the newest)", v.Version, phrase.Seconds(*v.SecondsBeforeNewest))
	}
}

func storedSnapshotWords(s lists.StoredSnapshotView) string {
	text := fmt.Sprintf("%s to %d, %s", storedVersionWords(&s.Begin), s.End.Version, phrase.Bytes(s.Bytes))
	if !s.Restorable {
		text += ", not restorable"
	}
	if s.ExpiredPercent > 0 {
		text += fmt.Sprintf(", %.0f%% of it deleted", s.ExpiredPercent)
	}
	return text
}

// WriteRestoreStatus prints one restore: a sentence, then the facts.
func WriteRestoreStatus(w io.Writer, v inspect.RestoreStatusView, o StatusOptions) error {
	p := &page{w: w, o: o}
	p.verdict(v.Metadata, v.Done, v.Summary)
	p.section("Restore", inspect.Origin{Source: inspect.SourceLive, AsOf: v.AsOf})
	p.fact("Into", v.Cluster)
	p.fact("From", phrase.Or(v.URL, phrase.UnknownCell))
	if v.UnknownReason != "" {
		p.fact("State", "unknown: "+v.UnknownReason)
		p.fact("Last status", phrase.Or(v.RecordedState, "never started"))
		return p.err
	}
	p.fact("State", stateOr(v.State, "never started"))
	if v.BlocksTotal != nil {
		version := phrase.UnknownCell
		if v.Version != nil {
			version = fmt.Sprint(*v.Version)
		}
		p.fact("Version", version)
		p.fact("Progress", v.Progress())
		p.fact("Written", phrase.BytesOr(v.BytesWritten, phrase.UnknownCell))
	}
	return p.err
}
