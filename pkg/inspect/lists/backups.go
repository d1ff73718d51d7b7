package lists

import (
	"cmp"
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// BackupDescriptionView is what is in the store of one backup.
type BackupDescriptionView struct {
	inspect.Document
	// Name is the FoundationDBBackup, and URL its destination, without secrets.
	Name string `json:"name"`
	URL  string `json:"url"`
	// UnknownReason is why the store could not be read; empty when it could. All that
	// follows is null then.
	UnknownReason string `json:"unknownReason,omitempty"`
	// Exists is false when nothing is there.
	Exists     *bool `json:"exists"`
	Restorable *bool `json:"restorable"`
	Encrypted  *bool `json:"encrypted"`
	// RestorableFrom and RestorableTo are the versions that can be restored; null for none.
	RestorableFrom *StoredVersionView `json:"restorableFrom"`
	RestorableTo   *StoredVersionView `json:"restorableTo"`
	// LogFrom to LogTo the log is without a gap.
	LogFrom *StoredVersionView `json:"logFrom"`
	LogTo   *StoredVersionView `json:"logTo"`
	// ExpiredBefore is up to where everything was deleted; null where nothing was.
	ExpiredBefore *StoredVersionView   `json:"expiredBefore"`
	Snapshots     []StoredSnapshotView `json:"snapshots" schema:"nullable"`
	SnapshotBytes *int64               `json:"snapshotBytes"`
}

// StoredVersionView is a version, and about how long before the newest one in the store it
// was. The store has no times: see backup status.
type StoredVersionView struct {
	Version int64 `json:"version"`
	// SecondsBeforeNewest is counted from versions, of which a second has a million.
	SecondsBeforeNewest *int64 `json:"secondsBeforeNewest"`
}

// StoredSnapshotView is one snapshot in the store.
type StoredSnapshotView struct {
	Begin      StoredVersionView `json:"begin"`
	End        StoredVersionView `json:"end"`
	Restorable bool              `json:"restorable"`
	Bytes      int64             `json:"bytes"`
	// ExpiredPercent is how much of it was deleted.
	ExpiredPercent float64 `json:"expiredPercent"`
}

// NewBackupDescriptionView makes the document.
func NewBackupDescriptionView(m inspect.Metadata, s plan.Snapshot) BackupDescriptionView {
	f := s.BackupStore
	v := BackupDescriptionView{
		Document: inspect.NewDocument("BackupDescription", m, cmp.Or(f.AsOf, s.Now), inspect.SourceLive),
		Name:     s.Backup.Name, URL: f.URL, UnknownReason: f.Why(),
	}
	if !f.Read {
		return v
	}
	v.Exists, v.Restorable, v.Snapshots = new(f.There != nil), new(false), []StoredSnapshotView{}
	if f.There != nil {
		v.describe(f.There)
	}
	return v
}

func (v *BackupDescriptionView) describe(d *fdb.BackupDescription) {
	at := func(version *fdb.DescribedVersion) *StoredVersionView {
		if version == nil {
			return nil
		}
		return new(stored(version.Version, d))
	}
	v.Restorable, v.Encrypted, v.SnapshotBytes = &d.Restorable, d.Encrypted, &d.SnapshotBytes
	v.RestorableFrom, v.RestorableTo = at(d.MinRestorable), at(d.MaxRestorable)
	v.LogFrom, v.LogTo, v.ExpiredBefore = at(d.MinLogBegin), at(d.ContiguousLogEnd), at(d.ExpiredEnd)
	for _, s := range d.Snapshots {
		v.Snapshots = append(v.Snapshots, StoredSnapshotView{
			Begin: stored(s.Start.Version, d), End: stored(s.End.Version, d), Restorable: s.Restorable, Bytes: s.Bytes, ExpiredPercent: s.PercentageExpired,
		})
	}
}

func stored(version int64, d *fdb.BackupDescription) StoredVersionView {
	v := StoredVersionView{Version: version}
	if d.MaxLogEnd != nil {
		v.SecondsBeforeNewest = new(int64(fdb.TimeOf(d.MaxLogEnd.Version-version) / time.Second))
	}
	return v
}

// Summary returns the description in one sentence.
func (v BackupDescriptionView) Summary() string {
	switch {
	case v.UnknownReason != "":
		return "cannot determine what is in the store: " + v.UnknownReason
	case v.Exists == nil:
		return "cannot determine what is in the store"
	case !*v.Exists:
		return "the store has no backup"
	case v.RestorableFrom == nil || v.RestorableTo == nil:
		return "not restorable: no snapshot is complete with its log"
	default:
		return fmt.Sprintf("versions %d to %d are restorable, %s in all", v.RestorableFrom.Version, v.RestorableTo.Version,
			phrase.Duration(fdb.TimeOf(v.RestorableTo.Version-v.RestorableFrom.Version)))
	}
}

// BackupListView is the document of `backup list`.
type BackupListView struct {
	inspect.Document
	Items []inspect.BackupStatusView `json:"items"`
	// Stores are the stores of these backups; empty unless requested.
	Stores []BackupStoreView `json:"stores"`
}

// Labels are those of the resources.
func (v BackupListView) Labels() []map[string]string {
	all := make([]map[string]string, len(v.Items))
	for i, b := range v.Items {
		all[i] = b.Labels
	}
	return all
}

// List returns the backups with their columns.
func (v BackupListView) List() list.Table {
	items := make([]inspect.BackupItem, len(v.Items))
	for i := range v.Items {
		items[i].Backup = &inspect.BackupRowView{Name: v.Items[i].Name, Status: &v.Items[i]}
	}
	return list.Of(list.Without(inspect.BackupColumns, "KIND", "RATE", "ETA"), items)
}

// BackupsInStore is the document's list of what is in stores.
type BackupsInStore []BackupStoreView

// List returns the backups in stores with their columns.
func (v BackupsInStore) List() list.Table {
	var found []FoundBackupView
	for _, s := range v {
		switch {
		case s.UnknownReason != "":
			found = append(found, FoundBackupView{URL: s.URL, Backups: []string{phrase.UnknownCell + "  " + s.UnknownReason}})
		case len(s.Found) == 0:
			found = append(found, FoundBackupView{URL: s.URL, Backups: []string{"the store has no backup"}})
		}
		found = append(found, s.Found...)
	}
	return list.Of(StoreColumns, found)
}

// StoreColumns are the columns of backups in stores.
var StoreColumns = []list.Column[FoundBackupView]{
	{Title: "IN STORE", Meaning: "Where the backup is, without secrets", Min: 20, Cell: func(_ list.At, f FoundBackupView) list.Cell { return list.Text(f.URL) }},
	{Title: "BACKUP", Meaning: "Listed backups that write or wrote there; - for none", Min: 20, Cell: func(_ list.At, f FoundBackupView) list.Cell { return list.Text(phrase.List(f.Backups)) }},
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
