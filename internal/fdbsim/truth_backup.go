package fdbsim

import (
	"maps"
	"slices"
)

// BackupTruth is the last backup of a tag, as it is.
type BackupTruth struct {
	Tag, UID string
	// URL is where it goes, and Active whether it goes on.
	URL    string
	Active bool
	// Restorable says whether its latest version can be restored from there, whatever the
	// database says: a snapshot is there that began after the last move, with its log.
	Restorable bool
}

// Backups are the last backups of all tags that ever had one, by tag.
func (d *Database) Backups() []BackupTruth {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	var all []BackupTruth
	for _, tag := range d.db.tagNames() {
		b := d.db.backups.tags[tag]
		all = append(all, BackupTruth{Tag: b.tag, UID: b.uid, URL: b.url, Active: b.active(), Restorable: b.isWhole()})
	}
	return all
}

// isWhole reports whether what a backup wrote to where it goes since it goes there can be
// restored up to the end of its log.
func (b *backup) isWhole() bool {
	return b.run != nil && slices.ContainsFunc(b.run.snapshots, func(s snapshotFile) bool {
		return s.begin >= max(b.run.logBegin, b.movedAt) && s.end < b.run.logEnd
	})
}

// RestoreUIDs are the identities of the last restores of all tags.
func (d *Database) RestoreUIDs() []string {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	var all []string
	for _, r := range d.db.restores {
		all = append(all, r.uid)
	}
	return all
}

// UserKeys is how many keys users have.
func (d *Database) UserKeys() int {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	return len(d.db.userPairs([]keyRange{{"", userEnd}}))
}

// Containers are the URLs, without credentials, at which backups are stored.
func (w *World) Containers() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.stores.containers))
}

// ContainerURL is a backup's URL as Containers has it.
func ContainerURL(url string) string { return canonicalURL(url) }
