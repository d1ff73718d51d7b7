package inspect

import (
	"time"

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

// ClusterBackupsView are the backups of a cluster and the restores into it, as of the last
// read.
type ClusterBackupsView struct {
	// AsOf is when they were read.
	AsOf *time.Time `json:"asOf"`
	// Unread is why they could not be listed; empty when they could.
	Unread   string           `json:"unread,omitempty"`
	Backups  []BackupRowView  `json:"backups"`
	Restores []RestoreRowView `json:"restores"`
}

// BackupRowView is one backup of the cluster.
type BackupRowView struct {
	// Name is the FoundationDBBackup.
	Name string `json:"name"`
	// Unread is why its state could not be read; empty when it could.
	Unread string `json:"unread,omitempty"`
	// Status is its state; null when it could not be read.
	Status *BackupStatusView `json:"status"`
	// RateBytesPerSecond is how fast it is written, snapshots and log; it needs three samples.
	RateBytesPerSecond *float64 `json:"rateBytesPerSecond"`
	// SnapshotETASeconds is the remaining planned duration of the current snapshot. Null for
	// one that is made as fast as possible: its progress is not reported.
	SnapshotETASeconds *float64 `json:"snapshotETASeconds"`
}

// RestoreRowView is one restore into the cluster.
type RestoreRowView struct {
	// Name is the FoundationDBRestore.
	Name string `json:"name"`
	// Unread is why its state could not be read; empty when it could.
	Unread string `json:"unread,omitempty"`
	// Status is its progress; null when it could not be read.
	Status *RestoreStatusView `json:"status"`
}

// BackupHistory is the progress of backups, by name, over all samples of a command. The zero
// value is empty.
type BackupHistory struct{ written map[string]*Progress }

// NewClusterBackupsView makes the view of what was read at a time, and adds it to the history.
func NewClusterBackupsView(found ClusterBackups, at time.Time, h *BackupHistory) ClusterBackupsView {
	v := ClusterBackupsView{AsOf: Known(at), Unread: found.Unread, Backups: []BackupRowView{}, Restores: []RestoreRowView{}}
	for _, b := range found.Backups {
		row := BackupRowView{Name: b.Resource.Name, Unread: b.Unread, Status: b.View}
		if b.View != nil {
			row.RateBytesPerSecond = h.rate(*b.View, at)
			row.SnapshotETASeconds = b.View.Snapshot.left()
		}
		v.Backups = append(v.Backups, row)
	}
	for _, r := range found.Restores {
		v.Restores = append(v.Restores, RestoreRowView{Name: r.Resource.Name, Unread: r.Unread, Status: r.View})
	}
	return v
}

// rate returns how fast a backup is written; nil while unknown. One that has written less
// than before is another one.
func (h *BackupHistory) rate(v BackupStatusView, at time.Time) *float64 {
	if h.written == nil {
		h.written = map[string]*Progress{}
	}
	if v.Running == nil || !*v.Running || v.LogBytes == nil || v.RangeBytes == nil {
		delete(h.written, v.Name)
		return nil
	}
	written := *v.LogBytes + *v.RangeBytes
	p := h.written[v.Name]
	if p == nil || -p.window[len(p.window)-1].left > written {
		p = &Progress{}
		h.written[v.Name] = p
	}
	p.add(at, -written) // a progress goes down
	perSecond, _, known := p.rate()
	if !known {
		return nil
	}
	return &perSecond
}

// left returns the remaining planned duration of the current snapshot.
func (s *BackupSnapshotView) left() *float64 {
	if s == nil || s.IntervalSeconds == nil || *s.IntervalSeconds == 0 || s.ExpectedPercent == nil {
		return nil
	}
	return new(max(0, float64(*s.IntervalSeconds)*(100-*s.ExpectedPercent)/100))
}
