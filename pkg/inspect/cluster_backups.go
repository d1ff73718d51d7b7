package inspect

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ClusterBackups are the backups of a cluster and the restores into it, as far as they could
// be read.
type ClusterBackups struct {
	// Unread is why they could not be listed; empty when they could. Then the lists are
	// complete.
	Unread string
	// Forbidden is true where that is a missing permission.
	Forbidden bool
	// All are the resources of the namespace, including those of other clusters.
	All         []v1beta2.FoundationDBBackup
	AllRestores []v1beta2.FoundationDBRestore
	// Clusters are the clusters of the namespace. ClustersUnread is why they could not be
	// listed; empty when they could.
	Clusters       []string
	ClustersUnread string
	// Backups and Restores are those of the cluster, by name.
	Backups  []SeenBackup
	Restores []SeenRestore
}

// SeenBackup is a backup of the cluster, and its state.
type SeenBackup struct {
	Resource *v1beta2.FoundationDBBackup
	// View is its state; nil when it could not be read.
	View *BackupStatusView
	// Unread is why its state could not be read; empty when it could.
	Unread string
	// Forbidden is true where that is a missing permission.
	Forbidden bool
}

// SeenRestore is a restore into the cluster, and its progress.
type SeenRestore struct {
	Resource *v1beta2.FoundationDBRestore
	// View is its progress; nil when it could not be read.
	View *RestoreStatusView
	// Unread is why its state could not be read; empty when it could.
	Unread string
	// Forbidden is true where that is a missing permission.
	Forbidden bool
}

// UnreadBackups returns warnings about what could not be read.
func (f Facts) UnreadBackups() []string {
	if f.Backups == nil {
		return nil
	}
	var warnings []string
	if f.Backups.Unread != "" {
		warnings = append(warnings, "backups and restores could not be read: "+f.Backups.Unread)
	}
	for _, b := range f.Backups.Backups {
		if b.View == nil {
			warnings = append(warnings, "backup "+b.Resource.Name+" could not be read: "+b.Unread)
		}
	}
	for _, r := range f.Backups.Restores {
		if r.View == nil {
			warnings = append(warnings, "restore "+r.Resource.Name+" could not be read: "+r.Unread)
		}
	}
	return warnings
}

// Use returns what the backups use, by their resources, whatever their state: what a stopped
// backup wrote has to stay restorable.
func (b ClusterBackups) Use() versionfacts.BackupUse {
	use := versionfacts.BackupUse{Read: b.Unread == ""}
	for _, seen := range b.Backups {
		spec := seen.Resource.Spec
		use.Encrypted = use.Encrypted || spec.EncryptionKeyPath != ""
		use.OverTLS = use.OverTLS || (spec.BlobStoreConfiguration != nil && objects.StoreUsesTLS(*spec.BlobStoreConfiguration))
	}
	return use
}

// VersionUse returns what the database and its backups use; backups is nil where they were
// not read.
func (f Facts) VersionUse(backups *ClusterBackups) versionfacts.Use {
	use := safety.UseOf(f.Snapshot)
	if backups != nil {
		use.Backups = backups.Use()
	}
	return use
}
