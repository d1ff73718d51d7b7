package inspect

import "time"

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
