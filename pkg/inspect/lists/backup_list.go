package lists

import "github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"

// BackupListView is the document of `backup list`.
type BackupListView struct {
	inspect.Document
	Items []inspect.BackupStatusView `json:"items"`
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
