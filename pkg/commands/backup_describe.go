package commands

import (
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// backupDescribeOptions are the options of `kubectl fdb backup describe`.
type backupDescribeOptions struct{ recordViewOptions }

func newBackupDescribe(env *Env) *cobra.Command {
	var o backupDescribeOptions
	cmd := &cobra.Command{
		Use:   "describe [NAME]",
		Short: "Describe the stored data of a backup",
		Long: `Describe the stored data of a backup: its snapshots, the range of its log, the restorable
versions, and the version up to which it was expired. The backup tools scan the store in a
pod of the backup agents; for a large backup this takes a minute. Use backup status to see
whether the backup runs and how far it is behind the database.

Exit code 0: restorable. 1: not restorable, or the store has no data. 8: unknown.`,
		Example: `  # Describe the stored data
  kubectl fdb backup describe nightly

  # Print the oldest restorable version, for scripts
  kubectl fdb backup describe nightly -o jsonpath={.restorableFrom.version}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.display(cmd.Context(), env, backupKind, args, plan.Backup|plan.BackupStore, func(key types.NamespacedName, s plan.Snapshot) output {
				return o.view(env, key, s)
			})
		},
	}
	o.add(cmd, env, backupKind)
	return cmd
}

func (o backupDescribeOptions) view(env *Env, key types.NamespacedName, s plan.Snapshot) output {
	v := lists.NewBackupDescriptionView(env.metadata(backupKind.named(key)), s)
	return output{
		printable: printable{
			document: v, names: []string{"foundationdbbackup/" + key.Name},
			table: func(w io.Writer) error { return ui.WriteBackupDescription(w, v, o.screen(env, w)) },
		},
		code: verdictCode(v.Restorable), reason: v.Summary(),
	}
}
