package inspect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// BackedUpBy is a cluster with one backup that has written so many bytes.
func BackedUpBy(written int64, edit func(*BackupStatusView)) ClusterBackups {
	b := &v1beta2.FoundationDBBackup{}
	b.Name = "nightly"
	v := &BackupStatusView{
		Name: "nightly", Summary: "it runs, restorable up to 20s ago", Running: new(true), LogBytes: new(int64(0)), RangeBytes: &written,
		Snapshot: &BackupSnapshotView{IntervalSeconds: new(int64(3600)), ExpectedPercent: new(25.0)},
	}
	edit(v)
	return ClusterBackups{Backups: []SeenBackup{{Resource: b, View: v}}}
}

func TestTheBackupRateRequiresThreeReads(t *testing.T) {
	tests := map[string]struct {
		written []int64
		edit    func(*BackupStatusView)
		want    *float64
	}{
		"two reads prove nothing":      {written: []int64{100, 200}},
		"three do":                     {written: []int64{100, 200, 300}, want: new(10.0)},
		"another backup begins again":  {written: []int64{500, 600, 0}},
		"one that does not run":        {written: []int64{100, 200, 300}, edit: func(v *BackupStatusView) { v.Running = new(false) }},
		"one that does not answer":     {written: []int64{100, 200, 300}, edit: func(v *BackupStatusView) { v.Running = nil }},
		"bytes that are unknown":       {written: []int64{100, 200, 300}, edit: func(v *BackupStatusView) { v.RangeBytes = nil }},
		"a backup that writes nothing": {written: []int64{100, 100, 100}, want: new(0.0)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			edit := tc.edit
			if edit == nil {
				edit = func(*BackupStatusView) {}
			}
			h, got := &BackupHistory{}, (*float64)(nil)
			for i, n := range tc.written {
				got = NewClusterBackupsView(BackedUpBy(n, edit), noon.Add(time.Duration(i)*10*time.Second), h).Backups[0].RateBytesPerSecond
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSnapshotTimeLeftFollowsItsIntervalAndProgress(t *testing.T) {
	tests := map[string]struct {
		snapshot *BackupSnapshotView
		want     *float64
	}{
		"a quarter is over":        {&BackupSnapshotView{IntervalSeconds: new(int64(3600)), ExpectedPercent: new(25.0)}, new(2700.0)},
		"more than all is over":    {&BackupSnapshotView{IntervalSeconds: new(int64(3600)), ExpectedPercent: new(130.0)}, new(0.0)},
		"as fast as can be":        {&BackupSnapshotView{IntervalSeconds: new(int64(0)), ExpectedPercent: new(100.0)}, nil},
		"no progress reported":     {&BackupSnapshotView{IntervalSeconds: new(int64(3600))}, nil},
		"there is none to be made": {nil, nil},
	}
	for name, tc := range tests {
		if diff := cmp.Diff(tc.want, tc.snapshot.left()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
