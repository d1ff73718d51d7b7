package fdb

import "testing"

func TestTheNewestVersionOfABackup(t *testing.T) {
	at := func(version int64) *DescribedVersion { return &DescribedVersion{Version: version} }
	for name, tt := range map[string]struct {
		d    BackupDescription
		want int64
	}{
		"nothing":             {want: 0},
		"the log":             {BackupDescription{MaxLogEnd: at(7), ContiguousLogEnd: at(5)}, 7},
		"a snapshot after it": {BackupDescription{MaxLogEnd: at(7), Snapshots: []DescribedSnapshot{{End: *at(9)}, {End: *at(8)}}}, 9},
	} {
		if got := tt.d.Newest(); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
