package plan

// IsRestOf reports whether an action is the rest of an approved one, and no more: a deletion
// from a store can be interrupted, and then has less to delete. Both are of the same backup and
// destination. Actions of other kinds have no rest.
func IsRestOf(a, approved Action) bool {
	switch approved := approved.(type) { //nolint:gochecksumtype // all others are done as a whole, or not at all
	case ExpireBackup:
		rest, ok := a.(ExpireBackup)
		return ok && rest.isRestOf(approved)
	case ClearBackupData:
		rest, ok := a.(ClearBackupData)
		return ok && rest.isRestOf(approved)
	}
	return false
}

// isRestOf compares the version, how much is deleted, and what can be restored afterwards.
func (a ExpireBackup) isRestOf(approved ExpireBackup) bool {
	switch {
	case a.Backup != approved.Backup, a.URL != approved.URL, a.Before != approved.Before, a.Force != approved.Force:
		return false
	case a.Snapshots > approved.Snapshots, a.Bytes > approved.Bytes:
		return false
	case approved.RestorableFrom == nil:
		return true
	default:
		return a.RestorableFrom != nil && *a.RestorableFrom <= *approved.RestorableFrom
	}
}

// isRestOf compares the version, how much is deleted, and what could be restored before.
func (a ClearBackupData) isRestOf(approved ClearBackupData) bool {
	switch {
	case a.Backup != approved.Backup, a.URL != approved.URL, a.UpTo > approved.UpTo:
		return false
	case a.Snapshots > approved.Snapshots, a.Bytes > approved.Bytes:
		return false
	case a.RestorableFrom == nil || a.RestorableTo == nil:
		return true
	case approved.RestorableFrom == nil || approved.RestorableTo == nil:
		return false
	default:
		return *a.RestorableFrom >= *approved.RestorableFrom && *a.RestorableTo <= *approved.RestorableTo
	}
}
