package locked

import (
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
)

// BackupTruth is the last backup of a tag, as it is.
type BackupTruth struct {
	Tag, UID string
	// URL is where it goes, and Active whether it goes on.
	URL    string
	Active bool
	// Restorable is whether its latest version can be restored from there, regardless of
	// what the database reports: a snapshot is there that began after the last move, with
	// its log.
	Restorable bool
}

// Backups are the last backups of all tags that ever had one, by tag.
func (d *Database) Backups() []BackupTruth {
	d.w.Lock()
	defer d.w.Unlock()
	var all []BackupTruth
	for _, tag := range d.db.TagNames() {
		b := d.db.Backups.Tags[tag]
		all = append(all, BackupTruth{Tag: b.Tag, UID: b.UID, URL: b.URL, Active: b.Active(), Restorable: isWhole(b)})
	}
	return all
}

// isWhole reports whether what a backup wrote to where it goes since it goes there can be
// restored up to the end of its log.
func isWhole(b *model.Backup) bool {
	return b.Run != nil && slices.ContainsFunc(b.Run.Snapshots, func(s store.Snapshot) bool {
		return s.Begin >= max(b.Run.LogBegin, b.MovedAt) && s.End < b.Run.LogEnd
	})
}

// RestoreUIDs are the identities of the last restores of all tags.
func (d *Database) RestoreUIDs() []string {
	d.w.Lock()
	defer d.w.Unlock()
	var all []string
	for _, r := range d.db.Restores {
		all = append(all, r.UID)
	}
	return all
}

// UserKeys is how many keys users have.
func (d *Database) UserKeys() int {
	d.w.Lock()
	defer d.w.Unlock()
	return len(d.db.UserPairs([]keyspace.Range{{Begin: "", End: store.UserEnd}}))
}

// Containers are the URLs, without credentials, at which backups are stored.
func (w *Simulation) Containers() []string {
	w.inner.Lock()
	defer w.inner.Unlock()
	return slices.Sorted(maps.Keys(w.inner.Stores.Containers))
}

// ContainerURL is a backup's URL as Containers has it.
func ContainerURL(url string) string { return store.Canonical(url) }
