package inspect

// RecordedBackupsView are the backups of a cluster by their status: the database reports them
// only to a tool in a pod of their agents.
type RecordedBackupsView struct {
	Origin
	// Unread is why they could not be listed; empty when they could.
	Unread   string                `json:"unread,omitempty"`
	Backups  []RecordedBackupView  `json:"backups"`
	Restores []RecordedRestoreView `json:"restores"`
}

// RecordedBackupView is one backup.
type RecordedBackupView struct {
	Name    string `json:"name"`
	Desired string `json:"desired"`
	// AgentsReady is how many of the agents were ready, AgentsDesired how many the spec has.
	AgentsReady   int `json:"agentsReady"`
	AgentsDesired int `json:"agentsDesired"`
	// Recorded is null before the first pass over it.
	Recorded *BackupResourceView `json:"recorded"`
}

// RecordedRestoreView is one restore.
type RecordedRestoreView struct {
	Name string `json:"name"`
	// State is the state that fdbrestore reported; empty where it was never started.
	State string `json:"state"`
}

// recordedBackups returns nil where backups were not read, and where there are none.
func (f Facts) recordedBackups() *RecordedBackupsView {
	b := f.Backups
	if b == nil || b.Unread == "" && len(b.Backups)+len(b.Restores) == 0 {
		return nil
	}
	v := &RecordedBackupsView{Origin: Origin{Source: SourceResource}, Unread: b.Unread, Backups: []RecordedBackupView{}, Restores: []RecordedRestoreView{}}
	for _, seen := range b.Backups {
		r := seen.Resource
		v.Backups = append(v.Backups, RecordedBackupView{
			Name: r.Name, Desired: desiredState(r), AgentsReady: r.Status.AgentCount, AgentsDesired: r.AgentCount(), Recorded: recordedBackup(r),
		})
	}
	for _, seen := range b.Restores {
		v.Restores = append(v.Restores, RecordedRestoreView{Name: seen.Resource.Name, State: string(seen.Resource.Status.State)})
	}
	return v
}
