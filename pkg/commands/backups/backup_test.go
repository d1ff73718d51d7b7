package backups_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestBackupStatusExitCodes(t *testing.T) {
	runs := func(v *commandstest.Vault) {
		v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
		v.Cluster.FDB.Advance(time.Minute)
	}
	tests := map[string]struct {
		given func(*commandstest.Vault)
		args  []string
		want  int
		says  string
	}{
		"unknown without agents": {want: exit.ExitUnreachable, says: "cannot determine the state of the backup: no pod of a backup agent is ready"},
		"running":                {given: runs, want: exit.ExitDone, says: "it runs, restorable up to"},
		"agents that were paused manually": {
			given: func(v *commandstest.Vault) { runs(v); v.Tool(v.T.Context(), "fdbbackup", "pause") },
			want:  exit.ExitNo, says: "all agents of the database are paused",
		},
		"a backup that was ended manually": {
			given: func(v *commandstest.Vault) { runs(v); v.Tool(v.T.Context(), "fdbbackup", "abort", "-t", "default") },
			want:  exit.ExitNo, says: "no backup runs on tag default",
		},
		"a backup that should not run": {
			given: func(v *commandstest.Vault) {
				runs(v)
				v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupState = v1beta2.BackupStateStopped })
			},
			want: exit.ExitNo, says: "it still runs",
		},
		"a place that was changed and not yet carried out": {
			given: func(v *commandstest.Vault) {
				runs(v)
				v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.BackupName = "weekly" })
			},
			want: exit.ExitNo, says: "its destination differs from the spec",
		},
		"a period that was changed and not yet carried out": {
			given: func(v *commandstest.Vault) {
				runs(v)
				v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.SnapshotPeriodSeconds = new(3600) })
			},
			want: exit.ExitNo, says: "its snapshot period differs from the spec",
		},
		"a backup of another user on the tag": {
			given: func(v *commandstest.Vault) {
				runs(v)
				v.Tool(v.T.Context(), "fdbbackup", "abort", "-t", "default")
				v.Tool(v.T.Context(), "fdbbackup", "start", "-t", "default", "-d", "blobstore://key@store:443/theirs?bucket=fdb-backups&region=eu")
			},
			want: exit.ExitNo, says: "does not belong to this resource",
		},
		"a place that it was moved to": {
			given: func(v *commandstest.Vault) {
				runs(v)
				v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.BackupName = "weekly" })
				v.Must(exit.ExitWaiting, "no such snapshot has begun yet", "reconcile", "fdbbackup/nightly", "--yes")
			},
			want: exit.ExitNo, says: "not restorable from there before a full snapshot that began after the move is complete",
		},
		"a place that a user moved it to manually": {
			given: func(v *commandstest.Vault) {
				runs(v)
				v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.BackupName = "weekly" })
				v.Tool(v.T.Context(), "fdbbackup", "modify", "-t", "default", "-d", "blobstore://key@store:443/weekly?bucket=fdb-backups&region=eu")
			},
			want: exit.ExitNo, says: "data from before the move is at blobstore://key@store:443/nightly",
		},
		"a log that is far behind":       {given: runs, args: []string{"--max-lag", "1s"}, want: exit.ExitNo, says: "more than 1s"},
		"a limit that nothing can be in": {args: []string{"--max-lag", "0"}, want: exit.ExitUsage, says: "--max-lag must be positive"},
		"what is no backup":              {args: []string{"-o", "nonsense"}, want: exit.ExitUsage, says: "nonsense"},
		"a hint that brings it to its spec": {
			given: func(v *commandstest.Vault) { runs(v); v.Tool(v.T.Context(), "fdbbackup", "pause") },
			want:  exit.ExitNo, says: "hint: kubectl fdb reconcile fdbbackup/nightly --dry-run -n fdb --context test",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := commandstest.NewVault(t)
			if tt.given != nil {
				tt.given(v)
			}
			v.Must(tt.want, tt.says, append([]string{"backup", "status", "nightly"}, tt.args...)...)
		})
	}
}

func TestBackupStatusAsJSON(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(time.Minute)
	text := v.Must(exit.ExitDone, "", "backup", "status", "fdbbackup/nightly", "-o", "json")
	var got inspect.BackupStatusView
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Reconciled == nil || !*got.Reconciled || !*got.Running || *got.Paused || got.LatestRestorable == nil || got.LatestRestorable.AgeSeconds == nil ||
		got.Snapshot == nil || got.Snapshot.LastComplete == nil || got.Agents.Ready != 1 {
		t.Errorf("got %s", text)
	}
	commandstest.Valid(t, "backup status", []byte(text))
}

func TestViewsOfBackupsReportAWrongClock(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.Skew = 2 * time.Hour
	for _, args := range [][]string{{"backup", "status", "nightly"}, {"backup", "describe", "nightly"}, {"backup", "list"}, {"restore", "status", "again"}} {
		v.Out.Reset()
		v.Err.Reset()
		v.Run(args...)
		if warning := "the clock of this machine is 120m ahead"; strings.Count(v.Err.String(), warning) != 1 {
			t.Errorf("%v: want once %q in\n%s", args, warning, &v.Err)
		}
	}
}

// What was recorded may be long past, so it is never shown as what is.
func TestRecordedBackupStateIsNotShownAsCurrent(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	if err := v.API.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace("fdb")); err != nil {
		t.Fatal(err)
	}
	text := v.Must(exit.ExitUnreachable, "Last status", "backup", "status", "nightly")
	if strings.Contains(text, "can be restored") {
		t.Errorf("got %s", text)
	}
	var got inspect.BackupStatusView
	document := v.Must(exit.ExitUnreachable, "", "backup", "status", "nightly", "-o", "json")
	if err := json.Unmarshal([]byte(document), &got); err != nil {
		t.Fatal(err)
	}
	if got.Reconciled != nil || got.Running != nil || got.Restorable != nil || got.LatestRestorable != nil || got.Recorded == nil || !got.Recorded.Running {
		t.Errorf("got %s", document)
	}
	commandstest.Valid(t, "backup status", []byte(document))
}

func TestRestoreStatusExitCodes(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Fdbcli("writemode on; set greeting hello")
	v.Must(exit.ExitUnreachable, "cannot determine the progress of the restore", "restore", "status", "again")
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(time.Minute)
	v.Must(exit.ExitNo, "it is not started yet", "restore", "status", "again")
	v.Must(exit.ExitWaiting, "it is not started yet", "wait", "fdbrestore/again", "--for=done", "--timeout", "10m")
	v.Fdbcli(`writemode on; clearrange "" \xff`)
	v.Must(exit.ExitDone, "", "reconcile", "fdbrestore/again", "--yes", "--wait")
	v.Must(exit.ExitDone, "done        yes", "wait", "fdbrestore/again", "--for=done")
	commandstest.Valid(t, "restore status", []byte(v.Must(exit.ExitDone, "", "restore", "status", "fdbrestore/again", "-o", "json")))
	v.Must(exit.ExitUsage, "of FoundationDBRestore: must be", "restore", "status", "fdbbackup/again")
}

func TestBackupCommandsStartStopPauseAndResume(t *testing.T) {
	type step struct {
		args []string
		want int
		says string
	}
	start := step{[]string{"start", "nightly", "--yes", "--wait"}, exit.ExitDone, "fdbbackup/nightly: the backup runs and is restorable"}
	tests := map[string]struct {
		steps []step
		// state is the state in the spec afterwards.
		state v1beta2.BackupState
	}{
		"start":               {[]step{start}, ""},
		"start what runs":     {[]step{start, {[]string{"start", "nightly", "--yes"}, exit.ExitDone, "the backup runs and is restorable"}}, ""},
		"stop":                {[]step{start, {[]string{"stop", "nightly", "--yes", "--wait"}, exit.ExitDone, "the backup is stopped; its data remains"}}, v1beta2.BackupStateStopped},
		"start what stopped":  {[]step{start, {[]string{"stop", "nightly", "--yes", "--wait"}, exit.ExitDone, ""}, start}, v1beta2.BackupStateRunning},
		"pause, with an undo": {[]step{start, {[]string{"pause", "nightly", "--yes"}, exit.ExitDone, "undo: kubectl fdb backup resume nightly"}}, v1beta2.BackupStatePaused},
		"resume":              {[]step{start, {[]string{"pause", "nightly", "--yes"}, exit.ExitDone, ""}, {[]string{"resume", "nightly", "--yes"}, exit.ExitDone, "the backup runs"}}, v1beta2.BackupStateRunning},
		"pause what stopped": {
			[]step{start, {[]string{"stop", "nightly", "--yes", "--wait"}, exit.ExitDone, ""}, {[]string{"pause", "nightly", "--yes"}, exit.ExitRefused, "start begins another backup"}},
			v1beta2.BackupStateStopped,
		},
		"a dry run":       {[]step{start, {[]string{"stop", "nightly", "--dry-run"}, exit.ExitNo, "end the backup on tag"}}, ""},
		"not approved":    {[]step{{[]string{"stop", "nightly"}, exit.ExitUnconfirmed, "--yes"}}, ""},
		"a plan":          {[]step{{[]string{"stop", "nightly", "--yes", "--plan", "x"}, exit.ExitUsage, "invalid --plan"}}, ""},
		"no such backup":  {[]step{{[]string{"stop", "other", "--yes"}, exit.ExitUsage, "FoundationDBBackup other not found in namespace fdb"}}, ""},
		"without a name":  {[]step{{[]string{"stop", "--yes"}, exit.ExitUsage, "stdin is not a terminal"}}, ""},
		"another's names": {[]step{{[]string{"stop", "fdbrestore/again", "--yes"}, exit.ExitUsage, "of FoundationDBBackup: must be"}}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := commandstest.NewVault(t)
			for _, s := range tt.steps {
				v.Must(s.want, s.says, append([]string{"backup"}, s.args...)...)
			}
			v.Edit(func(b *v1beta2.FoundationDBBackup) {
				if b.Spec.BackupState != tt.state {
					t.Errorf("spec.backupState is %q, want %q", b.Spec.BackupState, tt.state)
				}
			})
		})
	}
}

// A backup that was started manually on the tag runs and is restorable, but is not the
// resource's own.
func TestBackupCommandsRefuseABackupNotOwnedByTheResource(t *testing.T) {
	for _, verb := range []string{"start", "pause", "resume", "stop"} {
		t.Run(verb, func(t *testing.T) {
			v := commandstest.NewVault(t)
			v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
			v.Tool(v.T.Context(), "fdbbackup", "abort", "-t", "default")
			v.Tool(v.T.Context(), "fdbbackup", "start", "-z", "-t", "default", "-d", "blobstore://key@store:443/theirs?bucket=fdb-backups&region=eu")
			v.Cluster.FDB.Advance(time.Minute)
			text := v.Must(exit.ExitRefused, "does the backup on tag default belong to this resource?", "backup", verb, "nightly", "--yes")
			if strings.Contains(text, "the backup runs and is restorable") {
				t.Errorf("got %s", text)
			}
		})
	}
}

// A backup of one snapshot ends with it, so it never is one that runs and can be restored.
func TestBackupStartOfAOneTimeBackupSucceedsOnceItIsComplete(t *testing.T) {
	for name, args := range map[string][]string{"and waited for": {"--wait", "--timeout", "10m"}, "and left": nil} {
		t.Run(name, func(t *testing.T) {
			v := commandstest.NewVault(t)
			v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupMode = new(v1beta2.BackupModeOneTime) })
			start := append([]string{"backup", "start", "nightly", "--yes"}, args...)
			if args == nil {
				v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
				v.Cluster.FDB.Advance(time.Minute)
			}
			v.Must(exit.ExitDone, "the backup is complete (a single snapshot)", start...)
			v.Must(exit.ExitDone, "it is complete", "backup", "status", "nightly")
		})
	}
}
