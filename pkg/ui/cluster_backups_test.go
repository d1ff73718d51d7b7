package ui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// backedUpBy is a cluster with one backup that has written so many bytes.
func backedUpBy(written int64, edit func(*BackupStatusView)) ClusterBackups {
	b := &v1beta2.FoundationDBBackup{}
	b.Name = "nightly"
	v := &BackupStatusView{
		Name: "nightly", Summary: "it runs, restorable up to 20s ago", Running: new(true), LogBytes: new(int64(0)), RangeBytes: &written,
		Snapshot: &BackupSnapshotView{IntervalSeconds: new(int64(3600)), ExpectedPercent: new(25.0)},
	}
	edit(v)
	return ClusterBackups{Backups: []SeenBackup{{Record: b, View: v}}}
}

func TestTheRateOfABackupIsMadeOfSeveralLooks(t *testing.T) {
	tests := map[string]struct {
		written []int64
		edit    func(*BackupStatusView)
		want    *float64
	}{
		"two looks say nothing":        {written: []int64{100, 200}},
		"three do":                     {written: []int64{100, 200, 300}, want: new(10.0)},
		"another backup begins anew":   {written: []int64{500, 600, 0}},
		"one that does not run":        {written: []int64{100, 200, 300}, edit: func(v *BackupStatusView) { v.Running = new(false) }},
		"one that nobody can ask":      {written: []int64{100, 200, 300}, edit: func(v *BackupStatusView) { v.Running = nil }},
		"bytes that nobody told":       {written: []int64{100, 200, 300}, edit: func(v *BackupStatusView) { v.RangeBytes = nil }},
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
				got = NewClusterBackupsView(backedUpBy(n, edit), noon.Add(time.Duration(i)*10*time.Second), h).Backups[0].RateBytesPerSecond
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestASnapshotIsDoneWhenItsTimeIsOver(t *testing.T) {
	tests := map[string]struct {
		snapshot *BackupSnapshotView
		want     *float64
	}{
		"a quarter is over":        {&BackupSnapshotView{IntervalSeconds: new(int64(3600)), ExpectedPercent: new(25.0)}, new(2700.0)},
		"more than all is over":    {&BackupSnapshotView{IntervalSeconds: new(int64(3600)), ExpectedPercent: new(130.0)}, new(0.0)},
		"as fast as can be":        {&BackupSnapshotView{IntervalSeconds: new(int64(0)), ExpectedPercent: new(100.0)}, nil},
		"nobody told how far":      {&BackupSnapshotView{IntervalSeconds: new(int64(3600))}, nil},
		"there is none to be made": {nil, nil},
	}
	for name, tc := range tests {
		if diff := cmp.Diff(tc.want, tc.snapshot.left()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhatATellerTellsOfBackups(t *testing.T) {
	frame := func(found ClusterBackups) Frame {
		return Frame{Document: Document{Kind: "Frame", AsOf: &noon}, Backups: new(NewClusterBackupsView(found, noon, &BackupHistory{}))}
	}
	runs := func(summary string) ClusterBackups {
		return backedUpBy(1, func(v *BackupStatusView) { v.Summary = summary })
	}
	restoring := func(percent float64, problem string) ClusterBackups {
		r := &v1beta2.FoundationDBRestore{}
		r.Name = "again"
		return ClusterBackups{Restores: []SeenRestore{{Record: r, View: &RestoreStatusView{State: new("running"), Percent: &percent, LastError: problem, Summary: "it is running"}}}}
	}
	tests := map[string]struct {
		before, then ClusterBackups
		want         []string
	}{
		"a backup that came":          {then: runs("it runs"), want: []string{"backup nightly: it runs"}},
		"nothing where only ages are": {before: runs("restored up to 20s ago"), then: runs("restored up to 40s ago")},
		"a backup that is paused":     {before: runs("it runs"), then: runs("it is paused"), want: []string{"backup nightly: it is paused"}},
		"a backup that is gone":       {before: runs("it runs"), want: []string{"backup nightly: deleted"}},
		"none is gone unread": {
			before: runs("it runs"), then: ClusterBackups{Unread: "forbidden"}, want: []string{"backups could not be read: forbidden"},
		},
		"a restore that came":         {then: restoring(1, ""), want: []string{"restore again: it is running"}},
		"a restore that goes a bit":   {before: restoring(11, ""), then: restoring(19, "")},
		"a tenth of a restore":        {before: restoring(19, ""), then: restoring(20, ""), want: []string{"restore again: it is running"}},
		"an error of a restore":       {before: restoring(11, ""), then: restoring(11, "x"), want: []string{"restore again: it is running"}},
		"a restore of which all went": {before: restoring(11, ""), want: []string{"restore again: deleted"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, backupNews(frame(tc.before), frame(tc.then))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
