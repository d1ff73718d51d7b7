package commands

import (
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// backupDescribeOptions is what `kubectl fdb backup describe` was asked.
type backupDescribeOptions struct{ recordLook }

func newBackupDescribe(env *Env) *cobra.Command {
	var o backupDescribeOptions
	cmd := &cobra.Command{
		Use:   "describe [NAME]",
		Short: "Show what is in the store of a backup: snapshots, log, what can be restored",
		Long: `Show what is in the store where a FoundationDBBackup has its backup go: its snapshots, the
stretch of the log, which versions can be restored, and up to where it was expired. The
backup tools look through the store in a pod of the agents; for a large backup that takes a
minute. Whether the backup runs, and how far behind it is, tells backup status.

Exit code 0: it can be restored. 1: it cannot, or nothing is there. 8: nobody can tell.`,
		Example: `  # What could be restored?
  kubectl fdb backup describe nightly

  # The oldest version that can be restored, for scripts
  kubectl fdb backup describe nightly -o jsonpath={.restorableFrom.version}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.look(cmd.Context(), env, backupKind, args, plan.Backup|plan.BackupStore, func(key types.NamespacedName, s plan.Snapshot) looked {
				return o.see(env, key, s)
			})
		},
	}
	o.add(cmd, env, backupKind)
	return cmd
}

func (o backupDescribeOptions) see(env *Env, key types.NamespacedName, s plan.Snapshot) looked {
	v := ui.NewBackupDescriptionView(env.metadata(backupKind.named(key)), s)
	return looked{
		printable: printable{
			document: v, names: []string{"foundationdbbackup/" + key.Name},
			table: func(w io.Writer) error { return ui.WriteBackupDescription(w, v, o.screen(env, w)) },
		},
		code: verdictCode(v.Restorable), reason: v.Summary(),
	}
}
