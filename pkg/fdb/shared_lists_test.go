package fdb

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSharedListKeysMatchTheOperator(t *testing.T) {
	keys := LockKeys{}
	named, nameless := Member{Instance: "dc1", Group: "dc1-storage-1"}, Member{Group: "storage-1"}
	begin, end := keys.List(PendingForRestart)
	ofOneBegin, ofOneEnd := keys.ListOf(PendingForRestart, "dc1")
	ofNobodyBegin, _ := keys.ListOf(PendingForRestart, "")
	addressesBegin, addressesEnd := keys.AllAddresses()
	addressesOfOne, _ := keys.AddressesOf("dc1")
	for name, tc := range map[string]struct {
		got  []byte
		want string
	}{
		"pending for removal":                      {keys.Listed(PendingForRemoval, named), "\xff\x02/org.foundationdb.kubernetes-operator/pendingForRemoval/dc1/dc1-storage-1"},
		"pending for exclusion":                    {keys.Listed(PendingForExclusion, named), "\xff\x02/org.foundationdb.kubernetes-operator/pendingForExclusion/dc1/dc1-storage-1"},
		"pending for inclusion":                    {keys.Listed(PendingForInclusion, named), "\xff\x02/org.foundationdb.kubernetes-operator/pendingForInclusion/dc1/dc1-storage-1"},
		"pending for restart":                      {keys.Listed(PendingForRestart, named), "\xff\x02/org.foundationdb.kubernetes-operator/pendingForRestart/dc1/dc1-storage-1"},
		"ready for exclusion":                      {keys.Listed(ReadyForExclusion, named), "\xff\x02/org.foundationdb.kubernetes-operator/readyForExclusion/dc1/dc1-storage-1"},
		"ready for inclusion":                      {keys.Listed(ReadyForInclusion, named), "\xff\x02/org.foundationdb.kubernetes-operator/readyForInclusion/dc1/dc1-storage-1"},
		"ready for restart":                        {keys.Listed(ReadyForRestart, named), "\xff\x02/org.foundationdb.kubernetes-operator/readyForRestart/dc1/dc1-storage-1"},
		"addresses":                                {keys.Addresses(named), "\xff\x02/org.foundationdb.kubernetes-operator/processAddresses/dc1/dc1-storage-1"},
		"an empty owner ID":                        {keys.Listed(ReadyForRestart, nameless), "\xff\x02/org.foundationdb.kubernetes-operator/readyForRestart/storage-1"},
		"a prefix of the spec":                     {LockKeys{Prefix: "\xff\x02/mine"}.Listed(ReadyForRestart, named), "\xff\x02/mine/readyForRestart/dc1/dc1-storage-1"},
		"all that are pending, from":               {begin, "\xff\x02/org.foundationdb.kubernetes-operator/pendingForRestart/"},
		"all that are pending, up to":              {end, "\xff\x02/org.foundationdb.kubernetes-operator/pendingForRestart0"},
		"pending ones of an owner, from":           {ofOneBegin, "\xff\x02/org.foundationdb.kubernetes-operator/pendingForRestart/dc1/"},
		"pending ones of an owner, up to":          {ofOneEnd, "\xff\x02/org.foundationdb.kubernetes-operator/pendingForRestart/dc10"},
		"pending ones of one without a name, from": {ofNobodyBegin, "\xff\x02/org.foundationdb.kubernetes-operator/pendingForRestart/"},
		"addresses of an owner, from":              {addressesOfOne, "\xff\x02/org.foundationdb.kubernetes-operator/processAddresses/dc1/"},
		"addresses of all owners, from":            {addressesBegin, "\xff\x02/org.foundationdb.kubernetes-operator/processAddresses/"},
		"addresses of all owners, to":              {addressesEnd, "\xff\x02/org.foundationdb.kubernetes-operator/processAddresses0"},
	} {
		if string(tc.got) != tc.want {
			t.Errorf("%s: %q, want %q", name, tc.got, tc.want)
		}
	}
	if len(SharedLists()) != 7 {
		t.Errorf("lists %v", SharedLists())
	}
}

// The owner ID is part of a decoded key: "dc1" and "dc10" are two owners, and the groups
// without an owner ID belong to no other.
func TestASharedListKeyDecodesToItsOwnerAndGroup(t *testing.T) {
	keys := LockKeys{}
	for _, want := range []Member{{Instance: "dc1", Group: "dc1-log-1"}, {Instance: "dc10", Group: "dc10-log-1"}, {Group: "log-1"}} {
		begin, end := keys.List(ReadyForInclusion)
		key := keys.Listed(ReadyForInclusion, want)
		got, err := keys.MemberAt(begin, key)
		if err != nil || got != want || bytes.Compare(key, begin) < 0 || bytes.Compare(key, end) >= 0 {
			t.Errorf("%q is read as %+v (%v)", key, got, err)
		}
	}
	begin, _ := keys.List(ReadyForInclusion)
	for _, bad := range [][]byte{begin, append(bytes.Clone(begin), "dc1/"...), keys.Lock()} {
		if m, err := keys.MemberAt(begin, bad); err == nil {
			t.Errorf("%q is read as %+v", bad, m)
		}
	}
}

func TestSharedListEntriesAreTupleEncodedSeconds(t *testing.T) {
	at := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	value := EncodeListed(at.Add(time.Millisecond))
	if want := []byte{0x18, 0x6b, 0x00, 0x36, 0x40}; !bytes.Equal(value, want) {
		t.Fatalf("% x, want % x", value, want)
	}
	back, err := DecodeListed(value)
	if err != nil || !back.Equal(at) {
		t.Errorf("read back %v, %v", back, err)
	}
	for _, bad := range [][]byte{nil, {0x18, 0x6b}, {0x02, 'x', 0}} {
		if got, err := DecodeListed(bad); err == nil {
			t.Errorf("% x is read as %v", bad, got)
		}
	}
}

func TestAddressesAreAJSONArray(t *testing.T) {
	for want, addresses := range map[string][]string{
		`["10.1.0.1"]`:               {"10.1.0.1"},
		`["10.1.0.1","2001:db8::1"]`: {"10.1.0.1", "2001:db8::1"},
	} {
		value := EncodeAddresses(addresses)
		if string(value) != want {
			t.Errorf("%s, want %s", value, want)
		}
		back, err := DecodeAddresses(value)
		if diff := cmp.Diff(addresses, back); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	if _, err := DecodeAddresses([]byte("10.1.0.1")); err == nil {
		t.Error("a bare address is read without an error")
	}
}

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
