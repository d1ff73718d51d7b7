package plan

import "testing"

func TestAnApprovedBackupDeletionCoversOnlyItsRemainder(t *testing.T) {
	clearing := ClearBackupData{Backup: "nightly", URL: "blobstore://a", Snapshots: 4, Bytes: 400, RestorableFrom: new(int64(10)), RestorableTo: new(int64(90)), UpTo: 100}
	expiry := ExpireBackup{Backup: "nightly", URL: "blobstore://a", Before: 50, Snapshots: 4, Bytes: 400, RestorableFrom: new(int64(60))}
	cleared := func(edit func(*ClearBackupData)) Action {
		a := clearing
		edit(&a)
		return a
	}
	expired := func(edit func(*ExpireBackup)) Action {
		a := expiry
		edit(&a)
		return a
	}
	tests := map[string]struct {
		action, approved Action
		want             bool
	}{
		"a deletion: the very same":   {clearing, clearing, true},
		"a deletion: fewer snapshots": {cleared(func(a *ClearBackupData) { a.Snapshots, a.Bytes = 1, 50 }), clearing, true},
		"a deletion: nothing to restore left": {cleared(func(a *ClearBackupData) {
			a.Snapshots, a.Bytes, a.RestorableFrom, a.RestorableTo, a.UpTo = 0, 0, nil, nil, 0
		}), clearing, true},
		"a deletion: less to restore":       {cleared(func(a *ClearBackupData) { a.RestorableFrom, a.RestorableTo = new(int64(20)), new(int64(80)) }), clearing, true},
		"a deletion of another record":      {cleared(func(a *ClearBackupData) { a.Backup = "other" }), clearing, false},
		"a deletion at another place":       {cleared(func(a *ClearBackupData) { a.URL = "blobstore://b" }), clearing, false},
		"a deletion of more snapshots":      {cleared(func(a *ClearBackupData) { a.Snapshots = 5 }), clearing, false},
		"a deletion of more bytes":          {cleared(func(a *ClearBackupData) { a.Bytes = 401 }), clearing, false},
		"a deletion of what is newer":       {cleared(func(a *ClearBackupData) { a.UpTo = 101 }), clearing, false},
		"a deletion of an older restorable": {cleared(func(a *ClearBackupData) { a.RestorableFrom = new(int64(9)) }), clearing, false},
		"a deletion of a newer restorable":  {cleared(func(a *ClearBackupData) { a.RestorableTo = new(int64(91)) }), clearing, false},
		"a deletion of the only restorable": {clearing, cleared(func(a *ClearBackupData) { a.RestorableFrom, a.RestorableTo = nil, nil }), false},

		"an expiry: the very same":               {expiry, expiry, true},
		"an expiry: fewer snapshots":             {expired(func(a *ExpireBackup) { a.Snapshots, a.Bytes = 0, 0 }), expiry, true},
		"an expiry that leaves more":             {expired(func(a *ExpireBackup) { a.RestorableFrom = new(int64(55)) }), expiry, true},
		"an expiry that left nothing anyway":     {expiry, expired(func(a *ExpireBackup) { a.RestorableFrom = nil }), true},
		"an expiry of another record":            {expired(func(a *ExpireBackup) { a.Backup = "other" }), expiry, false},
		"an expiry at another place":             {expired(func(a *ExpireBackup) { a.URL = "blobstore://b" }), expiry, false},
		"an expiry up to a newer version":        {expired(func(a *ExpireBackup) { a.Before = 51 }), expiry, false},
		"an expiry of more snapshots":            {expired(func(a *ExpireBackup) { a.Snapshots = 5 }), expiry, false},
		"an expiry of more bytes":                {expired(func(a *ExpireBackup) { a.Bytes = 401 }), expiry, false},
		"an expiry that is forced":               {expired(func(a *ExpireBackup) { a.Force = true }), expiry, false},
		"an expiry that leaves less":             {expired(func(a *ExpireBackup) { a.RestorableFrom = new(int64(61)) }), expiry, false},
		"an expiry that leaves nothing":          {expired(func(a *ExpireBackup) { a.RestorableFrom = nil }), expiry, false},
		"one kind of deletion for another":       {expiry, clearing, false},
		"the other kind for the first":           {clearing, expiry, false},
		"what is done as a whole, or not at all": {DeleteBackupData{Backup: "nightly"}, DeleteBackupData{Backup: "nightly"}, false},
	}
	for name, tt := range tests {
		if got := IsRestOf(tt.action, tt.approved); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
