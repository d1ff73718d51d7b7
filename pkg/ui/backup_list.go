package ui

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// BackupListView is the document of `backup list`.
type BackupListView struct {
	Document
	Items []BackupStatusView `json:"items"`
	// Stores are the stores of these backups; empty unless requested.
	Stores []BackupStoreView `json:"stores"`
}

// BackupStoreView is what is in one bucket.
type BackupStoreView struct {
	// URL is the bucket, without secrets.
	URL string `json:"url"`
	// UnknownReason is why the bucket could not be read; Found is null then.
	UnknownReason string            `json:"unknownReason,omitempty"`
	Found         []FoundBackupView `json:"found" schema:"nullable"`
}

// FoundBackupView is one backup in a store.
type FoundBackupView struct {
	// URL is where it is, without secrets.
	URL string `json:"url"`
	// Backups are the listed FoundationDBBackups, NAMESPACE/NAME, that write or wrote there;
	// empty where no listed one did.
	Backups []string `json:"backups"`
}

// WriteBackupList prints a row for each backup, and then one for each that is in a store.
func WriteBackupList(w io.Writer, v BackupListView, o ListOptions) error {
	t := Table{Header: o.header([]string{"NAMESPACE", "NAME", "CLUSTER", "DESIRED", "STATE", "RESTORABLE", "AGE", "AGENTS", "TAG", "URL"})}
	if !o.Wide && len(t.Header) > 0 {
		t.Header = t.Header[:8]
	}
	for _, b := range v.Items {
		row := []string{b.Metadata.Namespace, b.Name, b.Cluster, b.Desired, b.stateWord(), b.restorableVersion(), b.restorableAge(), fmt.Sprintf("%d/%d", b.Agents.Ready, b.Agents.Desired)}
		if o.Wide {
			row = append(row, b.Tag, phrase.Or(b.URL, phrase.UnknownCell))
		}
		t.Rows = append(t.Rows, row)
	}
	if err := t.Write(w); err != nil || len(v.Stores) == 0 {
		return err
	}
	fmt.Fprintln(w)
	return v.storeTable(o).Write(w)
}

func (v BackupListView) storeTable(o ListOptions) Table {
	t := Table{Header: o.header([]string{"IN STORE", "BACKUP"})}
	for _, s := range v.Stores {
		switch {
		case s.UnknownReason != "":
			t.Rows = append(t.Rows, []string{s.URL, phrase.UnknownCell + "  " + s.UnknownReason})
		case len(s.Found) == 0:
			t.Rows = append(t.Rows, []string{s.URL, "the store has no backup"})
		}
		for _, f := range s.Found {
			t.Rows = append(t.Rows, []string{f.URL, phrase.Or(strings.Join(f.Backups, ", "), phrase.Nothing)})
		}
	}
	return t
}

func (v BackupStatusView) stateWord() string {
	switch {
	case v.State == nil:
		return phrase.UnknownCell
	case *v.State == "":
		return "NeverRan"
	case *v.Paused && *v.Running:
		return *v.State + ",Paused"
	}
	return *v.State
}

func (v BackupStatusView) restorableVersion() string {
	switch {
	case v.Restorable == nil:
		return phrase.UnknownCell
	case v.LatestRestorable == nil:
		return "no"
	}
	return fmt.Sprint(v.LatestRestorable.Version)
}

func (v BackupStatusView) restorableAge() string {
	switch {
	case v.Restorable == nil:
		return phrase.UnknownCell
	case v.LatestRestorable == nil:
		return phrase.Nothing
	case v.LatestRestorable.AgeSeconds == nil:
		return phrase.UnknownCell
	}
	return phrase.Seconds(*v.LatestRestorable.AgeSeconds)
}
