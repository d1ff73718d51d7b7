package lists

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// BackupListView is the document of `backup list`.
type BackupListView struct {
	inspect.Document
	Items []inspect.BackupStatusView `json:"items"`
	// Stores are the stores of these backups; empty unless requested.
	Stores []BackupStoreView `json:"stores"`
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
