package ui

import "time"

// ClusterBackupsView are the backups of a cluster and the restores into it, as of the last
// look at them.
type ClusterBackupsView struct {
	// AsOf is when they were looked at.
	AsOf *time.Time `json:"asOf"`
	// Unread is why nobody could list them; empty when somebody could.
	Unread   string           `json:"unread,omitempty"`
	Backups  []BackupRowView  `json:"backups"`
	Restores []RestoreRowView `json:"restores"`
}

// BackupRowView is one backup of the cluster.
type BackupRowView struct {
	// Name is the FoundationDBBackup.
	Name string `json:"name"`
	// Unread is why nobody could look at it; empty when somebody could.
	Unread string `json:"unread,omitempty"`
	// Status is how it is doing; null when nobody could look.
	Status *BackupStatusView `json:"status"`
	// RateBytesPerSecond is how fast it is written, snapshots and log; it needs three looks.
	RateBytesPerSecond *float64 `json:"rateBytesPerSecond"`
	// SnapshotETASeconds is how long the present snapshot is to take still, by its plan. Null
	// for one that is made as fast as can be: nothing tells how far that is.
	SnapshotETASeconds *float64 `json:"snapshotETASeconds"`
}

// RestoreRowView is one restore into the cluster.
type RestoreRowView struct {
	// Name is the FoundationDBRestore.
	Name string `json:"name"`
	// Unread is why nobody could look at it; empty when somebody could.
	Unread string `json:"unread,omitempty"`
	// Status is how far it is; null when nobody could look.
	Status *RestoreStatusView `json:"status"`
}

// BackupHistory is what was seen of backups, by name, over all looks of a command. The zero
// value has seen nothing.
type BackupHistory struct{ written map[string]*Progress }

// NewClusterBackupsView makes the view of a look at a time, and notes in the history what it
// saw.
func NewClusterBackupsView(found ClusterBackups, at time.Time, h *BackupHistory) ClusterBackupsView {
	v := ClusterBackupsView{AsOf: known(at), Unread: found.Unread, Backups: []BackupRowView{}, Restores: []RestoreRowView{}}
	for _, b := range found.Backups {
		row := BackupRowView{Name: b.Record.Name, Unread: b.Unread, Status: b.View}
		if b.View != nil {
			row.RateBytesPerSecond = h.rate(*b.View, at)
			row.SnapshotETASeconds = b.View.Snapshot.left()
		}
		v.Backups = append(v.Backups, row)
	}
	for _, r := range found.Restores {
		v.Restores = append(v.Restores, RestoreRowView{Name: r.Record.Name, Unread: r.Unread, Status: r.View})
	}
	return v
}

// rate is how fast a backup is written; nil while nobody can tell. One that has written
// less than before is another one.
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

// left is how long the present snapshot is to take still.
func (s *BackupSnapshotView) left() *float64 {
	if s == nil || s.IntervalSeconds == nil || *s.IntervalSeconds == 0 || s.ExpectedPercent == nil {
		return nil
	}
	return new(max(0, float64(*s.IntervalSeconds)*(100-*s.ExpectedPercent)/100))
}
