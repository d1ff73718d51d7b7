package ui

import "github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"

// ClusterBackups are the backups of a cluster and the restores into it, as far as somebody
// could look at them.
type ClusterBackups struct {
	// Unread is why nobody could list them; empty when somebody could. Then what is listed
	// is all there is.
	Unread string
	// All are the records of the namespace, those of other clusters with them.
	All         []v1beta2.FoundationDBBackup
	AllRestores []v1beta2.FoundationDBRestore
	// Clusters are the clusters of the namespace. ClustersUnread is why nobody could list
	// them; empty when somebody could.
	Clusters       []string
	ClustersUnread string
	// Backups and Restores are those of the cluster, by name.
	Backups  []SeenBackup
	Restores []SeenRestore
}

// SeenBackup is a backup of the cluster, and how it is doing.
type SeenBackup struct {
	Record *v1beta2.FoundationDBBackup
	// View is how it is doing; nil when nobody could look.
	View *BackupStatusView
	// Unread is why nobody could look; empty when somebody could.
	Unread string
}

// SeenRestore is a restore into the cluster, and how far it is.
type SeenRestore struct {
	Record *v1beta2.FoundationDBRestore
	// View is how far it is; nil when nobody could look.
	View *RestoreStatusView
	// Unread is why nobody could look; empty when somebody could.
	Unread string
}
