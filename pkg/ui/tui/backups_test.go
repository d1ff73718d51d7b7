package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// backedUp returns one reconciled backup, read twelve seconds before noon.
func backedUp() inspect.ClusterBackupsView {
	return inspect.ClusterBackupsView{AsOf: ago(12 * time.Second), Backups: []inspect.BackupRowView{nightly()}, Restores: []inspect.RestoreRowView{}}
}

func nightly() inspect.BackupRowView {
	return inspect.BackupRowView{Name: "nightly", RateBytesPerSecond: new(310e3), SnapshotETASeconds: new(518400.0), Status: &inspect.BackupStatusView{
		Document: inspect.Document{AsOf: ago(13 * time.Second)}, Name: "nightly", Cluster: "sample", Reconciled: new(true),
		Summary: "it runs, and can be restored up to 24s ago", Desired: "Running", Mode: "continuous", Tag: "default",
		URL:   "blobstore://key@store.example.com:443/nightly?bucket=fdb-backups",
		State: new("RunningDifferentially"), Running: new(true), Paused: new(false), Restorable: new(true), Own: new(true),
		LatestRestorable: &inspect.BackupMomentView{Version: 5167469305, AgeSeconds: new(int64(24))},
		Snapshot: &inspect.BackupSnapshotView{
			PeriodSeconds: new(int64(864000)), IntervalSeconds: new(int64(864000)), ExpectedPercent: new(40.0),
			LastComplete: &inspect.BackupMomentView{Version: 107510897, AgeSeconds: new(int64(345600))},
		},
		LogBytes: new(int64(3 << 30)), RangeBytes: new(int64(58 << 30)),
		Agents: inspect.BackupAgentsView{Desired: 2, Ready: 2, Pods: []inspect.BackupAgentView{
			{Pod: "nightly-backup-agents-5d9c-x2x7p", Node: "node-1", Phase: "Running", Ready: true}, {Pod: "nightly-backup-agents-5d9c-zz8mq", Node: "node-2", Phase: "Running", Ready: true},
		}},
	}}
}

// backedUpBadly returns one backup with each kind of problem, and restores.
func backedUpBadly() inspect.ClusterBackupsView {
	v := backedUp()
	add := func(name string, edit func(*inspect.BackupRowView)) {
		b := nightly()
		b.Name, b.Status.Name = name, name
		edit(&b)
		v.Backups = append(v.Backups, b)
	}
	add("behind", func(b *inspect.BackupRowView) {
		b.RateBytesPerSecond, b.Status.LatestRestorable.AgeSeconds, b.Status.Agents.Ready = new(0.0), new(int64(4000)), 1
		b.Status.Reconciled, b.Status.Summary = new(false), "not as desired: 1 of 2 agents ready; the newest point that can be restored is 66m old, more than 10m"
	})
	add("hidden", func(b *inspect.BackupRowView) {
		*b = inspect.BackupRowView{Name: "hidden", Unread: "forbidden: reading Deployment hidden-backup-agents: deployments.apps is forbidden"}
	})
	add("new", func(b *inspect.BackupRowView) {
		b.SnapshotETASeconds, b.Status.Restorable, b.Status.LatestRestorable, b.Status.Snapshot.LastComplete = nil, new(false), nil, nil
		b.Status.Snapshot.IntervalSeconds, b.Status.Snapshot.ExpectedPercent = new(int64(0)), new(100.0)
		b.Status.Reconciled, b.Status.Summary = new(false), "not as desired: nothing can be restored yet: the first snapshot is not complete"
	})
	add("without-agents", func(b *inspect.BackupRowView) {
		s := b.Status
		b.RateBytesPerSecond, b.SnapshotETASeconds = nil, nil
		s.Reconciled, s.Running, s.Paused, s.Restorable, s.Own, s.LatestRestorable, s.Snapshot, s.LogBytes, s.RangeBytes = nil, nil, nil, nil, nil, nil, nil, nil, nil
		s.Agents, s.UnknownReason = inspect.BackupAgentsView{Desired: 2}, "no pod of a backup agent is ready to run the backup tools"
		s.Summary = "the state of the backup is unknown: " + s.UnknownReason
	})
	v.Restores = []inspect.RestoreRowView{{Name: "again", Status: &inspect.RestoreStatusView{
		Name: "again", Done: new(false), State: new("running"), URL: "blobstore://key@store.example.com:443/nightly?bucket=fdb-backups", UID: "ab", Version: new(int64(5167469305)),
		BlocksDone: new(int64(37)), BlocksTotal: new(int64(100)), Percent: new(37.0), BytesWritten: new(int64(21 << 30)), RateBytesPerSecond: new(48e6), ETASeconds: new(740.0),
		LastError: "'File not found' on 'restore_range_data'", Summary: "it is running, and the database is locked: 37%, 37 of 100 blocks, 45.8MiB/s, 12m left; its last error: 'File not found' on 'restore_range_data'",
	}}}
	return v
}

func TestEachBackupStateMapsToAWordAndColor(t *testing.T) {
	tests := map[string]struct {
		edit func(*inspect.BackupRowView)
		tone tone
		word string
	}{
		"running":   {func(*inspect.BackupRowView) {}, good, "running"},
		"not read":  {func(b *inspect.BackupRowView) { b.Status = nil }, unsure, "?"},
		"no answer": {func(b *inspect.BackupRowView) { b.Status.UnknownReason, b.Status.Running = "timed out", nil }, unsure, "?"},
		"no agents": {func(b *inspect.BackupRowView) { b.Status.UnknownReason, b.Status.Agents.Ready = "none", 0 }, bad, "no-agents"},
		"no agents, none needed": {func(b *inspect.BackupRowView) {
			s := b.Status
			s.UnknownReason, s.Agents.Ready, s.Desired, s.Running = "none", 0, "Stopped", nil
		}, unsure, "?"},
		"ended manually":          {func(b *inspect.BackupRowView) { b.Status.Running, b.Status.Reconciled = new(false), new(false) }, bad, "not-running"},
		"stopped":                 {func(b *inspect.BackupRowView) { b.Status.Running, b.Status.Desired = new(false), "Stopped" }, good, "stopped"},
		"complete":                {func(b *inspect.BackupRowView) { b.Status.Running, b.Status.Mode = new(false), "oneTime" }, good, "complete"},
		"its tag taken":           {func(b *inspect.BackupRowView) { b.Status.Own, b.Status.Reconciled = new(false), new(false) }, bad, "tag-taken"},
		"paused by its spec":      {func(b *inspect.BackupRowView) { b.Status.Paused = new(true) }, good, "paused"},
		"paused by a user":        {func(b *inspect.BackupRowView) { b.Status.Paused, b.Status.Reconciled = new(true), new(false) }, bad, "paused"},
		"with a snapshot to make": {func(b *inspect.BackupRowView) { b.Status.Restorable, b.Status.Reconciled = new(false), new(false) }, warn, "starting"},
		"moved": {func(b *inspect.BackupRowView) {
			b.Status.Restorable, b.Status.Move = new(false), &inspect.BackupMoveView{}
		}, warn, "moving"},
		"behind": {func(b *inspect.BackupRowView) { b.Status.Reconciled = new(false) }, bad, "running"},
	}
	for name, tc := range tests {
		b := nightly()
		tc.edit(&b)
		if got := b.State(); got.Tone != tc.tone || got.Text != tc.word {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestEachRestoreStateMapsToAWordAndColor(t *testing.T) {
	tests := map[string]struct {
		status *inspect.RestoreStatusView
		tone   tone
		word   string
	}{
		"not read":    {nil, unsure, "?"},
		"no answer":   {&inspect.RestoreStatusView{UnknownReason: "timed out"}, unsure, "?"},
		"not started": {&inspect.RestoreStatusView{State: new("")}, plain, "not-started"},
		"done":        {&inspect.RestoreStatusView{State: new("completed"), Done: new(true), Over: true}, good, "completed"},
		"aborted":     {&inspect.RestoreStatusView{State: new("aborted"), Done: new(false), Over: true}, bad, "aborted"},
		"lost":        {&inspect.RestoreStatusView{State: new(""), Done: new(false), Over: true}, bad, "lost"},
		"running":     {&inspect.RestoreStatusView{State: new("running"), Done: new(false)}, warn, "running"},
		"with errors": {&inspect.RestoreStatusView{State: new("running"), Done: new(false), LastError: "x"}, bad, "running"},
	}
	for name, tc := range tests {
		if got := (inspect.RestoreRowView{Status: tc.status}).State(); got.Tone != tc.tone || got.Text != tc.word {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// The newest restorable point gets older between two reads.
func TestTheDashboardUpdatesTheAgeOfTheRestorablePoint(t *testing.T) {
	v := *nightly().Status
	if got := v.RestorableWords(clusterView{now: noon}.times()); got != "37s ago" {
		t.Errorf("got %s", got)
	}
	if got := v.RestorableWords(clusterView{now: noon.Add(time.Minute)}.times()); got != "97s ago" {
		t.Errorf("got %s", got)
	}
}

// One switch pauses all agents of a database, so that a restore stops as well.
func TestARestoreShowsThatItsAgentsArePaused(t *testing.T) {
	v := backedUpBadly()
	running := v.Restores[0]
	done := inspect.RestoreRowView{Name: "done", Status: &inspect.RestoreStatusView{State: new("completed"), Done: new(true), Over: true}}
	paused := v.Backups[0]
	paused.Status.Paused = new(true)
	of := func(r inspect.RestoreRowView) row {
		items := inspect.ClusterBackupsView{Backups: []inspect.BackupRowView{paused}, Restores: []inspect.RestoreRowView{r}}.Items()
		made := backupRow(items[1])
		made.cells = made.build(clusterView{now: noon})
		return made
	}
	at := slices.IndexFunc(titles(backupColumns), func(c layout.Column) bool { return c.Name == "PAUSED" })
	if r := of(running); r.tone != bad || r.cells[at].Text != "yes" {
		t.Errorf("got %+v", r)
	}
	if r := of(done); r.tone != good || r.cells[at].Text != "no" {
		t.Errorf("got %+v", r)
	}
	notes := backupNotes(inspect.ClusterBackupsView{Backups: []inspect.BackupRowView{paused}, Restores: []inspect.RestoreRowView{running, done}})
	if text := notes[0].Text(); !strings.Contains(text, "restore again: all agents of the database are paused, so it makes no progress; it is running") {
		t.Errorf("got %s", text)
	}
}
