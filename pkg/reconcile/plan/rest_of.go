package plan

// IsRestOf reports whether an action is what is left to do of another one, and no more: what
// deletes from a store can be cut off, and counts less from then on. Both are of the same
// backup and place. An action of another kind is the rest of nothing.
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

// isRestOf compares up to where it goes, how much goes, and what can be restored afterwards.
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

// isRestOf compares up to where it goes, how much goes, and what could be restored before.
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
