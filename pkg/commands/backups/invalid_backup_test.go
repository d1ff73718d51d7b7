package backups_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Reading a backup or a restore requires no valid spec: every view names the field and what to edit, and
// what would act on it is refused.
func TestReadingABackupNeverRequiresAValidSpec(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.AccountName = "no-host" })
	v.EditRestore(func(r *v1beta2.FoundationDBRestore) { r.Spec.BlobStoreConfiguration.AccountName = "no-host" })
	const (
		field  = "spec.blobStoreConfiguration.accountName"
		inList = "invalid-spec"
	)
	for command, says := range map[string][]string{
		"why fdbbackup/nightly":   {field, "kubectl edit foundationdbbackup nightly"},
		"why fdbrestore/again":    {field, "kubectl edit foundationdbrestore again"},
		"why sample":              {field},
		"backup status nightly":   {field},
		"backup describe nightly": {"spec.blobStoreConfiguration"},
		"backup list":             {inList},
		"restore status again":    {field},
		"check sample":            {field, "kubectl edit foundationdbbackup nightly"},
	} {
		code := v.Run(strings.Fields(command)...)
		for _, want := range says {
			if said := v.Out.String(); code == exit.ExitUsage || !strings.Contains(said, want) {
				t.Errorf("%s: exit code %d, want %q: %s%s", command, code, want, said, &v.Err)
			}
		}
	}
	for _, command := range []string{"plan fdbbackup/nightly", "reconcile fdbbackup/nightly --yes", "plan fdbrestore/again", "reconcile fdbrestore/again --yes"} {
		code := v.Run(strings.Fields(command)...)
		if said := v.Out.String() + v.Err.String(); code != exit.ExitUsage || !strings.Contains(said, "is invalid: "+field) {
			t.Errorf("%s: exit code %d, want %d and %s: %s", command, code, exit.ExitUsage, field, said)
		}
	}
}
