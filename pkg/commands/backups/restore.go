package backups

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// NewRestore is the parent of the restore commands. It does nothing by itself.
func NewRestore(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Management, Pages: []string{"backup.md#restore"}}, &cobra.Command{
		Use:   "restore",
		Short: "Start, inspect and abort restores",
	})
	cmd.AddCommand(newRestoreStatus(env), newRestoreStart(env), newRestoreAbort(env))
	cmdutil.AsParent(cmd, "restore command")
	return cmd
}

// restoreStatusOptions are the options of `kubectl fdb restore status`.
type restoreStatusOptions struct{ cmdutil.ResourceViewOptions }

func newRestoreStatus(env *session.Env) *cobra.Command {
	var o restoreStatusOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement { return cmdutil.ViewingBackups("foundationdbrestores") },
	}, &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show the progress of a restore",
		Long: `Show the progress of a restore.

The progress is reported by the backup tools, which run in a pod of the backup agents. The
database is locked until the restore is done. RATE and ETA need three observations, so
--watch. Nothing is started: use kubectl fdb restore start. kubectl fdb wait --for=done
waits for its end.

Exit code 0: done. 1: not done, or aborted. 8: unknown.`,
		Example: `  # Show the progress
  kubectl fdb restore status nightly-again

  # Repeat every 5 s, with rate and ETA
  kubectl fdb restore status nightly-again -w`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	})
	o.Add(cmd, env, session.RestoreKind)
	o.AddWatch(cmd)
	return cmd
}

func (o restoreStatusOptions) run(ctx context.Context, env *session.Env, args []string) error {
	history := &inspect.RestoreHistory{}
	return o.Display(ctx, env, session.RestoreKind, args, plan.ClusterResource|plan.Restore|plan.RestoreStatus, func(key types.NamespacedName, s plan.Snapshot) cmdutil.Output {
		return o.view(ctx, env, key, s, history)
	})
}

func (o restoreStatusOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName, s plan.Snapshot, h *inspect.RestoreHistory) cmdutil.Output {
	facts := session.RestoreFacts(s)
	v := inspect.NewRestoreStatusView(env.Metadata(session.RestoreKind.Named(key)), facts, h)
	code := session.VerdictCode(v.Done)
	if !facts.Started {
		hint(ctx, o.ResourceViewOptions, env, session.RestoreKind, key, code)
	}
	return cmdutil.Output{
		Printable: format.Printable{
			Document: v, Names: []string{"foundationdbrestore/" + key.Name},
			Table: func(w io.Writer) error {
				return ui.WriteRestoreStatus(w, v, statusOptions(o.ResourceViewOptions, env, w))
			},
		},
		Code: code,
	}
}
