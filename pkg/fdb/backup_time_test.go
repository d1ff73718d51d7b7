package fdb_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// noon is version 100,000,000 of the tests' backup.
var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

func timedAt(seconds, version int64) *fdb.DescribedVersion {
	return &fdb.DescribedVersion{Version: version * 1_000_000, EpochSeconds: new(noon.Unix() + seconds)}
}

// describedFrom returns a restorable backup with one snapshot at its begin.
func describedFrom(from, to *fdb.DescribedVersion) *fdb.BackupDescription {
	return &fdb.BackupDescription{
		Restorable: true, MinRestorable: from, MaxRestorable: to, MinLogBegin: from, ContiguousLogEnd: to, MaxLogEnd: to,
		Snapshots: []fdb.DescribedSnapshot{{Start: *from, End: *from, Restorable: true}},
	}
}

func TestTheBackupVersionForATimeIsNeverLaterThanThatTime(t *testing.T) {
	type backup = *fdb.BackupDescription
	quiet := func() backup { return describedFrom(timedAt(0, 100), timedAt(600, 700)) }
	recovered := func() backup { return describedFrom(timedAt(0, 100), timedAt(600, 800)) }
	for name, tt := range map[string]struct {
		of      backup
		at      time.Duration
		want    uint64 // in millions; 0 for none
		earlier time.Duration
	}{
		"without a recovery":                      {of: quiet(), at: 5 * time.Minute, want: 399, earlier: 0},
		"with one before or after":                {of: recovered(), at: 5 * time.Minute, want: 399, earlier: 100 * time.Second},
		"with a snapshot after the recovery":      {of: withSnapshot(recovered(), timedAt(200, 400)), at: 5 * time.Minute, want: 499, earlier: 0},
		"at the first second that is certain":     {of: quiet(), at: time.Second, want: 100},
		"at the last second":                      {of: quiet(), at: 10 * time.Minute, want: 699},
		"before the first":                        {of: quiet(), at: 0},
		"after the last":                          {of: quiet(), at: 10*time.Minute + time.Second},
		"of a version that is dated too late":     {of: withSnapshot(recovered(), timedAt(900, 300)), at: 5 * time.Minute, want: 399, earlier: 100 * time.Second},
		"of a database that is younger than that": {of: describedFrom(timedAt(40, 107), timedAt(0, 167)), at: 20 * time.Second},
		"without times":                           {of: describedFrom(&fdb.DescribedVersion{Version: 1}, &fdb.DescribedVersion{Version: 2}), at: time.Minute},
		"of what cannot be restored":              {of: &fdb.BackupDescription{}, at: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := tt.of.At(noon.Add(tt.at))
			if ok != (tt.want > 0) || got.Version != tt.want*1_000_000 {
				t.Errorf("got %+v, %t, want %d", got, ok, tt.want)
			}
			if (got.Earlier - tt.earlier).Abs() > 2*time.Second {
				t.Errorf("up to %s earlier, want about %s", got.Earlier, tt.earlier)
			}
		})
	}
}

func withSnapshot(d *fdb.BackupDescription, at *fdb.DescribedVersion) *fdb.BackupDescription {
	d.Snapshots = append(d.Snapshots, fdb.DescribedSnapshot{Start: *at, End: *at, Restorable: true})
	return d
}

// Recorded from FoundationDB 7.3.79 (30, step 30): the times of a young cluster contradict each other.
func TestContradictoryTimesOfANewDatabaseAreIgnored(t *testing.T) {
	d, err := fdb.ParseBackupDescription([]byte(`{"SchemaVersion":"1.0.0","URL":"file:///var/backups/a","Restorable":true,"Snapshots":[` +
		`{"Start":{"Version":107501167,"Timestamp":"2026/11/20.15:25:14+0000","EpochSeconds":1795188314},"End":{"Version":107510897,"Timestamp":"2026/11/20.15:25:14+0000","EpochSeconds":1795188314},"Restorable":true,"TotalBytes":5824183,"PercentageExpired":0}],"TotalSnapshotBytes":5824183,` +
		`"MinLogBegin":{"Version":107469306,"Timestamp":"2026/11/20.15:25:14+0000","EpochSeconds":1795188314},"ContiguousLogEnd":{"Version":167469306,"Timestamp":"2026/11/20.15:24:34+0000","EpochSeconds":1795188274},"MaxLogEnd":{"Version":167469306,"Timestamp":"2026/11/20.15:24:34+0000","EpochSeconds":1795188274},` +
		`"MinRestorablePoint":{"Version":107510897,"Timestamp":"2026/11/20.15:25:14+0000","EpochSeconds":1795188314},"MaxRestorablePoint":{"Version":167469305,"Timestamp":"2026/11/20.15:24:34+0000","EpochSeconds":1795188274}}`))
	if err != nil {
		t.Fatal(err)
	}
	span, ok := d.RestorableSpan()
	if !ok || span.Timed() || span.From != 107510897 || span.To != 167469305 {
		t.Errorf("got %+v, %t", span, ok)
	}
	if got, ok := d.At(time.Unix(1795188274, 0)); ok {
		t.Errorf("got %+v", got)
	}
}
