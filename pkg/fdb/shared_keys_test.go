package fdb

import (
	"bytes"
	"testing"
	"time"
)

func TestSharedDatabaseKeysMatchTheOperators(t *testing.T) {
	keys := LockKeys{}
	begin, end := keys.Upgrades("7.3.79")
	noteBegin, noteEnd := keys.Maintenance()
	allBegin, _ := keys.AllUpgrades()
	for name, tc := range map[string]struct{ got, want string }{
		"an announcement":                   {string(keys.Upgrade("7.3.79", "dc1-storage-1")), DefaultLockPrefix + "/upgrades/7.3.79/dc1-storage-1"},
		"announcements of a version, begin": {string(begin), DefaultLockPrefix + "/upgrades/7.3.79/"},
		"announcements of a version, end":   {string(end), DefaultLockPrefix + "/upgrades/7.3.790"},
		"announcements of all versions":     {string(allBegin), DefaultLockPrefix + "/upgrades/"},
		"a maintenance note":                {string(keys.UnderMaintenance("storage-1")), DefaultLockPrefix + "/maintenance/storage-1"},
		"maintenance notes, begin":          {string(noteBegin), DefaultLockPrefix + "/maintenance/"},
		"maintenance notes, end":            {string(noteEnd), DefaultLockPrefix + "/maintenance0"},
		"the version of an announcement":    {AnnouncedVersion(keys.Upgrade("7.3.79", "dc1-storage-1")), "7.3.79"},
		"the group of a key":                {LastPart(keys.Upgrade("7.3.79", "dc1-storage-1")), "dc1-storage-1"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %q, want %q", name, tc.got, tc.want)
		}
	}
}

// A version is no prefix of another's announcements: 7.3.7 does not see those for 7.3.79.
func TestUpgradeAnnouncementsOfAnotherVersionAreOutOfRange(t *testing.T) {
	begin, end := LockKeys{}.Upgrades("7.3.7")
	other := LockKeys{}.Upgrade("7.3.79", "storage-1")
	if bytes.Compare(other, begin) >= 0 && bytes.Compare(other, end) < 0 {
		t.Errorf("%q is between %q and %q", other, begin, end)
	}
}

func TestMaintenanceEntriesAreLittleEndianSeconds(t *testing.T) {
	at := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	value := EncodeMaintenance(at)
	if want := []byte{0x40, 0x36, 0x00, 0x6b, 0, 0, 0, 0}; !bytes.Equal(value, want) {
		t.Fatalf("% x, want % x", value, want)
	}
	back, err := DecodeMaintenance(value)
	if err != nil || !back.Equal(at) {
		t.Errorf("read back %v, %v", back, err)
	}
	if _, err := DecodeMaintenance(value[:4]); err == nil {
		t.Error("a value cut short is read without an error")
	}
}
