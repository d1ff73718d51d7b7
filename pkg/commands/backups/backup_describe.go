package backups

import (
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// backupDescribeOptions are the options of `kubectl fdb backup describe`.
type backupDescribeOptions struct{ cmdutil.ResourceViewOptions }

func newBackupDescribe(env *session.Env) *cobra.Command {
	var o backupDescribeOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement { return cmdutil.ViewingBackups("foundationdbbackups") },
	}, &cobra.Command{
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
			return o.Display(cmd.Context(), env, session.BackupKind, args, plan.Backup|plan.BackupStore, func(key types.NamespacedName, s plan.Snapshot) cmdutil.Output {
				return o.view(env, key, s)
			})
		},
	})
	o.Add(cmd, env, session.BackupKind)
	return cmd
}

func (o backupDescribeOptions) view(env *session.Env, key types.NamespacedName, s plan.Snapshot) cmdutil.Output {
	v := lists.NewBackupDescriptionView(env.Metadata(session.BackupKind.Named(key)), s)
	return cmdutil.Output{
		Printable: format.Printable{
			Document: v, Names: []string{"foundationdbbackup/" + key.Name},
			Table: func(w io.Writer) error {
				return ui.WriteBackupDescription(w, v, statusOptions(o.ResourceViewOptions, env, w))
			},
		},
		Code: session.VerdictCode(v.Restorable),
	}
}
