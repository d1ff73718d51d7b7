package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
)

const incompatiblePeersURL = "blobstore://key@store:443/strangers?bucket=fdb-backups&region=eu"

// startIncompatiblePeers starts a backup manually on the tag of the resource, which was never
// reconciled. Agents are there, so the database answers from the first pass on.
func (v *vault) startIncompatiblePeers() *admin.Backups {
	v.t.Helper()
	v.passOver(v.backup, backup.Backup()[:3])
	v.runDeployments()
	tools := admin.NewBackups(agentTransport{v}, nil)
	err := tools.Start(v.t.Context(), fdb.BackupStart{URL: incompatiblePeersURL, Tag: "default", Continuous: true, Period: time.Hour},
		fdb.Version{Major: 7, Minor: 3, Patch: 79})
	if err != nil {
		v.t.Fatal(err)
	}
	v.nodes.FDB.Advance(time.Minute)
	v.ran = nil
	return tools
}

// What a first pass sees on its tag is not its own because it saw it, nor is it in the
// next pass.
func TestANewBackupResourceNeverTakesOverABackupItDidNotStart(t *testing.T) {
	for name, edit := range map[string]func(*v1beta2.FoundationDBBackup){
		"one that should run":       func(*v1beta2.FoundationDBBackup) {},
		"one with another period":   func(b *v1beta2.FoundationDBBackup) { b.Spec.SnapshotPeriodSeconds = new(60) },
		"one that is stopped":       func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupState = v1beta2.BackupStateStopped },
		"one snapshot":              func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupMode = new(v1beta2.BackupModeOneTime) },
		"deletion that stops":       deletedWith(v1beta2.BackupDeletionPolicyStop),
		"deletion that deletes all": deletedWith(v1beta2.BackupDeletionPolicyCleanup),
	} {
		t.Run(name, func(t *testing.T) {
			v := newVault(t)
			v.change(edit)
			tools := v.startIncompatiblePeers()
			for range 3 {
				v.expectBlockedBy(t, "neither in the spec nor in the status of this resource")
			}
			if v.theBackup().Spec.DeletionPolicy != nil {
				if err := v.api.Delete(t.Context(), v.theBackup()); err != nil {
					t.Fatal(err)
				}
				v.expectBlockedBy(t, "neither in the spec nor in the status of this resource")
			}
			live, err := tools.Status(t.Context(), "default")
			if err != nil || !live.State.Running || live.URL != incompatiblePeersURL || *live.SnapshotSeconds != 3600 || *live.StopAfterSnapshot {
				t.Errorf("the stranger's backup: %+v, %v", live, err)
			}
			for _, argv := range v.ran {
				if changes(argv) {
					t.Errorf("ran %v", argv)
				}
			}
			if d := v.theBackup().Status.BackupDetails; d != nil {
				t.Errorf("recorded %+v", d)
			}
		})
	}
}

func deletedWith(policy v1beta2.BackupDeletionPolicy) func(*v1beta2.FoundationDBBackup) {
	return func(b *v1beta2.FoundationDBBackup) { b.Spec.DeletionPolicy = &policy }
}

func (v *vault) expectBlockedBy(t *testing.T, words string) {
	t.Helper()
	var output strings.Builder
	if done := reportsOf(v, v.backup, backup.Backup(), &output); done.Outcome == reconcile.Done || !strings.Contains(output.String(), words) {
		t.Errorf("%s: %s", done.Outcome, output.String())
	}
}
