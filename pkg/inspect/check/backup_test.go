package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// backedUp adds a reconciled backup of the cluster, and a finished restore.
func (f *Facts) backedUp() {
	place := &v1beta2.BlobStoreConfiguration{AccountName: "key@store", BackupName: "nightly"}
	b := v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "fdb"}}
	b.Spec.Version, b.Spec.ClusterName, b.Spec.BlobStoreConfiguration = "7.3.79", "sample", place
	r := v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: "again", Namespace: "fdb"}}
	r.Spec.DestinationClusterName, r.Spec.BlobStoreConfiguration, r.Status.State = "sample", place, v1beta2.RestoreStateCompleted
	f.Backups = inspect.ClusterBackups{All: []v1beta2.FoundationDBBackup{b}, AllRestores: []v1beta2.FoundationDBRestore{r}, Clusters: []string{"sample"}}
	f.Backups.Backups = []inspect.SeenBackup{{Resource: &f.Backups.All[0], View: &inspect.BackupStatusView{
		Name: "nightly", Cluster: "sample", Desired: "Running", Mode: "continuous", Tag: "default",
		State: new(fdb.BackupDifferential), Running: new(true), Paused: new(false), Restorable: new(true), Own: new(true),
		LatestRestorable: &inspect.BackupMomentView{Version: 100, AgeSeconds: new(int64(30))},
		Snapshot: &inspect.BackupSnapshotView{
			PeriodSeconds: new(int64(3600)), BeganAt: new(noon.Add(-time.Minute)), ExpectedPercent: new(1.0),
			LastComplete: &inspect.BackupMomentView{Version: 90, AgeSeconds: new(int64(60))},
		},
		Agents: inspect.BackupAgentsView{Desired: 2, Ready: 2},
	}}}
	f.Backups.Restores = []inspect.SeenRestore{{Resource: &f.Backups.AllRestores[0], View: &inspect.RestoreStatusView{
		Name: "again", State: new(fdb.RestoreCompleted), Done: new(true), Over: true, UID: "ab", RecordedState: fdb.RestoreCompleted,
	}}}
}

func onBackup(edit func(*inspect.BackupStatusView)) func(*Facts) {
	return func(f *Facts) { edit(f.Backups.Backups[0].View) }
}

func onRestore(edit func(*inspect.RestoreStatusView)) func(*Facts) {
	return func(f *Facts) { edit(f.Backups.Restores[0].View) }
}

// begins returns a backup whose first snapshot began that long ago.
func begins(ago time.Duration) func(*Facts) {
	return onBackup(func(v *inspect.BackupStatusView) {
		v.Restorable, v.LatestRestorable, v.Snapshot.LastComplete = new(false), nil, nil
		v.Snapshot.BeganAt = new(noon.Add(-ago))
	})
}

// moves returns a backup that was moved during a snapshot that began that long ago.
func moves(ago time.Duration) func(*Facts) {
	return onBackup(func(v *inspect.BackupStatusView) {
		v.Restorable, v.LatestRestorable = new(false), nil
		v.Move = &inspect.BackupMoveView{From: "blobstore://former", Why: "it was moved", BehindSeconds: new(int64(30))}
		v.Snapshot.BeganAt = new(noon.Add(-ago))
	})
}

// another adds a copy of the first backup that edit changes.
func another(edit func(*v1beta2.FoundationDBBackup)) func(*Facts) {
	return func(f *Facts) {
		b := f.Backups.All[0].DeepCopy()
		b.Name, b.Spec.Tag = "weekly", new(v1beta2.BackupTag("weekly"))
		b.Spec.BlobStoreConfiguration.BackupName = "weekly"
		edit(b)
		f.Backups.All = append(f.Backups.All, *b)
		if b.Spec.ClusterName == f.Cluster.Name {
			view := *f.Backups.Backups[0].View
			view.Name = b.Name
			f.Backups.Backups = append(f.Backups.Backups, inspect.SeenBackup{Resource: b, View: &view})
		}
	}
}

func paused(desired string, age int64) func(*Facts) {
	return onBackup(func(v *inspect.BackupStatusView) {
		v.Paused, v.Desired, v.LatestRestorable.AgeSeconds = new(true), desired, &age
	})
}

var backupProblems = map[string]problem{
	"a backup without agents":                {"BACKUP-001", onBackup(func(v *inspect.BackupStatusView) { v.Agents.Ready = 0 }), "0 of 2 agents ready", "fdb reconcile fdbbackup/nightly --dry-run"},
	"a backup with an agent too few":         {"BACKUP-002", onBackup(func(v *inspect.BackupStatusView) { v.Agents.Ready = 1 }), "1 of 2 agents ready", "fdb reconcile fdbbackup/nightly --dry-run"},
	"a backup that was ended":                {"BACKUP-003", onBackup(func(v *inspect.BackupStatusView) { v.Running, v.Own = new(false), nil }), "no backup runs on tag default", "--dry-run"},
	"a backup that should be over":           {"BACKUP-003", onBackup(func(v *inspect.BackupStatusView) { v.Desired = "Stopped" }), "still runs", "--dry-run"},
	"a backup that has to be stopped":        {"BACKUP-003", onBackup(func(v *inspect.BackupStatusView) { v.Outstanding = []string{"it is being stopped"} }), "it is being stopped", "--dry-run"},
	"the tag of another backup":              {"BACKUP-003", onBackup(func(v *inspect.BackupStatusView) { v.Own, v.URL = new(false), "blobstore://theirs" }), "to blobstore://theirs", "fdb backup status nightly"},
	"a backup that is behind":                {"BACKUP-004", onBackup(func(v *inspect.BackupStatusView) { v.LatestRestorable.AgeSeconds = new(int64(601)) }), "10m old, more than 10m", "fdb backup status nightly"},
	"a backup whose lag is unknown":          {"BACKUP-004", onBackup(func(v *inspect.BackupStatusView) { v.LatestRestorable.AgeSeconds = nil }), "the limit is 10m", "fdb backup status nightly"},
	"a backup whose newest point is unknown": {"BACKUP-004", onBackup(func(v *inspect.BackupStatusView) { v.LatestRestorable = nil }), "the limit is 10m", "fdb backup status nightly"},
	"a moved backup whose log is behind":     {"BACKUP-004", both(moves(time.Minute), onBackup(func(v *inspect.BackupStatusView) { v.Move.BehindSeconds = new(int64(601)) })), "in the backup is 10m old, more than 10m", "fdb backup status nightly"},
	"a backup that was moved":                {"BACKUP-005", moves(time.Hour + time.Minute), "it was moved", "fdb reconcile fdbbackup/nightly --dry-run"},
	"a backup that moves forever":            {"BACKUP-006", moves(2 * time.Hour), "began 120m ago, the snapshot period is 60m", "fdb backup status nightly"},
	"a backup that begins":                   {"BACKUP-005", begins(time.Hour), "not restorable yet", "fdb backup status nightly"},
	"a backup without a snapshot":            {"BACKUP-005", both(begins(time.Hour), onBackup(func(v *inspect.BackupStatusView) { v.Snapshot = nil })), "not restorable yet", "fdb backup status"},
	"a backup that begins forever":           {"BACKUP-006", begins(time.Hour + time.Second), "began 60m ago, the snapshot period is 60m", "fdb backup status nightly"},
	"an old snapshot":                        {"BACKUP-007", onBackup(func(v *inspect.BackupStatusView) { v.Snapshot.LastComplete.AgeSeconds = new(int64(3600*5/4 + 601)) }), "its last snapshot is 85m old", "fdb backup status"},
	"agents that a user paused":              {"BACKUP-008", paused("Running", 30), "Running desired", "fdb reconcile fdbbackup/nightly --dry-run"},
	"a backup that was left paused":          {"BACKUP-009", paused("Paused", 3600), "is 60m old", "fdb backup resume nightly"},
	"two backups on one tag":                 {"BACKUP-010", another(func(b *v1beta2.FoundationDBBackup) { b.Spec.Tag = nil }), "they share tag default", "get foundationdbbackups"},
	"two backups with one destination": {"BACKUP-011", another(func(b *v1beta2.FoundationDBBackup) {
		b.Spec.ClusterName, b.Spec.BlobStoreConfiguration.BackupName = "other", "nightly"
	}), "they write to blobstore://key@store:443/nightly?bucket=fdb-backups", "get foundationdbbackups"},
	"a secret in a backup": {"BACKUP-012", func(f *Facts) {
		f.Backups.Backups[0].Resource.Spec.BlobStoreConfiguration.AccountName = "key:hunter2@store"
	}, "more than the name of a key", "edit foundationdbbackup nightly"},
	"a secret in a restore": {"BACKUP-012", func(f *Facts) {
		place := f.Backups.Restores[0].Resource.Spec.BlobStoreConfiguration.DeepCopy()
		place.URLParameters = []v1beta2.URLParameter{"header=Authorization:hunter2"}
		f.Backups.Restores[0].Resource.Spec.BlobStoreConfiguration = place
	}, "more than the name of a key", "edit foundationdb"},
	"a backup of no cluster":  {"BACKUP-013", another(func(b *v1beta2.FoundationDBBackup) { b.Spec.ClusterName = "gone" }), "FoundationDBCluster gone not found", "describe foundationdbbackup weekly"},
	"a restore of no cluster": {"BACKUP-013", restoreOfNoCluster, "FoundationDBCluster gone not found", "describe foundationdbrestore lost"},
	"a resource without a destination": {"BACKUP-014", func(f *Facts) {
		b := &f.Backups.Backups[0]
		b.Resource.Spec.BlobStoreConfiguration, b.View, b.Unread = nil, nil, "it is invalid"
	}, "spec.blobStoreConfiguration", "edit foundationdbbackup nightly"},
	"a restore that was aborted": {"RESTORE-001", onRestore(func(v *inspect.RestoreStatusView) { v.Done, v.Summary = new(false), "it was aborted" }), "it was aborted", "fdb restore status again"},
	"a restore that was aborted, without an answer": {"RESTORE-001", onRestore(func(v *inspect.RestoreStatusView) {
		v.UnknownReason, v.Done, v.RecordedState = "no agent", nil, "aborted"
	}), "as its status records", "fdb restore status again"},
	"a restore with errors": {"RESTORE-002", onRestore(func(v *inspect.RestoreStatusView) {
		v.State, v.Done, v.Over, v.LastError = new("running"), new(false), false, "'File not found'"
	}), "File not found", "fdb restore status again"},
	"a finished restore and a lock": {"RESTORE-003", func(f *Facts) {
		f.Database.Status.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: "ab"}
	}, "locked with its UID ab", "fdb restore status again"},
}

func restoreOfNoCluster(f *Facts) {
	r := f.Backups.AllRestores[0].DeepCopy()
	r.Name, r.Spec.DestinationClusterName, r.Status.State = "lost", "gone", ""
	f.Backups.AllRestores = append(f.Backups.AllRestores, *r)
}

func TestBackupChecksPassForAHealthyBackupInEveryState(t *testing.T) {
	tests := map[string]func(*Facts){
		"it runs": func(*Facts) {},
		"it is stopped, without agents": onBackup(func(v *inspect.BackupStatusView) {
			v.Desired, v.Running, v.Own, v.Agents.Ready = "Stopped", new(false), nil, 0
		}),
		"it was to be made once, and is complete": onBackup(func(v *inspect.BackupStatusView) {
			v.Mode, v.Running, v.Own, v.LatestRestorable.AgeSeconds = "oneTime", new(false), nil, nil
		}),
		"it is paused by its spec":  paused("Paused", 600),
		"others of another cluster": another(func(b *v1beta2.FoundationDBBackup) { b.Spec.ClusterName, b.Spec.Tag = "sample-2", nil }),
		"one on its tag that is being deleted": another(func(b *v1beta2.FoundationDBBackup) {
			b.Spec.Tag, b.DeletionTimestamp = nil, &metav1.Time{Time: noon}
		}),
		"none at all": func(f *Facts) { f.Backups = inspect.ClusterBackups{} },
	}
	for name, given := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			f.Backups.Clusters = append(f.Backups.Clusters, "sample-2")
			given(&f)
			for _, item := range reportOn(f, Options{Only: []string{"BACKUP", "RESTORE"}}).Items {
				if item.Outcome != Passed {
					t.Errorf("%s: %s %q %+v", item.Rule, item.Outcome, item.Reason, item.Findings)
				}
			}
		})
	}
}

func TestFindingsDoNotRepeatSecretsOfBackupResources(t *testing.T) {
	tested := 0
	for name, tc := range backupProblems {
		if tc.rule != "BACKUP-012" {
			continue
		}
		tested++
		f := healthy(t)
		tc.given(&f)
		item := itemOf(t, reportOn(f, Options{}), "BACKUP-012")
		if len(item.Findings) == 0 || strings.Contains(fmt.Sprintf("%+v", item), "hunter2") {
			t.Errorf("%s: %+v", name, item)
		}
	}
	if tested != 2 {
		t.Errorf("%d resources with a secret tested, want a backup and a restore", tested)
	}
}

func TestBackupsAreReadOnlyForBackupAndRestoreRules(t *testing.T) {
	tests := map[string]struct {
		options Options
		want    bool
	}{
		"all rules":                 {Options{}, true},
		"one of them":               {Options{Only: []string{"BACKUP-004"}}, true},
		"none of them":              {Options{Only: []string{"VOL", "COORD-001"}}, false},
		"all but them":              {Options{Skip: map[string]string{"BACKUP": "x", "RESTORE": "x"}}, false},
		"all but the most of them":  {Options{Skip: map[string]string{"BACKUP": "x"}}, true},
		"one that is left out, too": {Options{Only: []string{"BACKUP-004"}, Skip: map[string]string{"BACKUP-004": "x"}}, false},
	}
	for name, tc := range tests {
		if got := tc.options.AsksFor("BACKUP", "RESTORE"); got != tc.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
