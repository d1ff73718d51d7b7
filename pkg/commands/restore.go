package commands

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// newRestore is the parent of the restore commands. It does nothing by itself.
func newRestore(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Start, inspect and abort restores",
	}
	cmd.AddCommand(newRestoreStatus(env), newRestoreWait(env), newRestoreStart(env), newRestoreAbort(env))
	asParent(cmd, "restore command")
	return cmd
}

// restoreStatusOptions are the options of `kubectl fdb restore status`.
type restoreStatusOptions struct{ recordViewOptions }

const restoreStatusLong = `

The progress is reported by the backup tools, which run in a pod of the backup agents. The
database is locked until the restore is done. RATE and ETA need three observations, so
--watch or waiting. Nothing is started: use kubectl fdb restore start.

Exit code 0: done. 1: not done, or aborted. 3: timeout. 8: unknown.`

func newRestoreStatus(env *Env) *cobra.Command {
	var o restoreStatusOptions
	cmd := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show the progress of a restore",
		Long:  "Show the progress of a restore." + restoreStatusLong,
		Example: `  # Show the progress
  kubectl fdb restore status nightly-again

  # Repeat every 5 s, with rate and ETA
  kubectl fdb restore status nightly-again -w`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	}
	o.add(cmd, env, restoreKind)
	o.addWatch(cmd)
	return cmd
}

func newRestoreWait(env *Env) *cobra.Command {
	var o restoreStatusOptions
	cmd := &cobra.Command{
		Use:   "wait [NAME]",
		Short: "Wait until a restore is done",
		Long:  "Wait until a restore is done, then show its result." + restoreStatusLong,
		Example: `  # Wait until the data is restored
  kubectl fdb restore wait nightly-again --timeout 2h`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.wait = true
			return o.run(cmd.Context(), env, args)
		},
	}
	o.add(cmd, env, restoreKind)
	o.addTimeout(cmd)
	return cmd
}

func (o restoreStatusOptions) run(ctx context.Context, env *Env, args []string) error {
	history := &inspect.RestoreHistory{}
	return o.display(ctx, env, restoreKind, args, plan.Record|plan.Restore|plan.RestoreStatus, func(key types.NamespacedName, s plan.Snapshot) output {
		return o.view(ctx, env, key, s, history)
	})
}

func (o restoreStatusOptions) view(ctx context.Context, env *Env, key types.NamespacedName, s plan.Snapshot, h *inspect.RestoreHistory) output {
	facts := restoreFacts(s)
	v := inspect.NewRestoreStatusView(env.metadata(restoreKind.named(key)), facts, h)
	code := verdictCode(v.Done)
	reason := v.Summary
	if !facts.Started {
		if v.UnknownReason == "" {
			reason += "; start it: " + env.command("reconcile", "fdbrestore/"+key.Name, "--wait")
		}
		o.hint(ctx, env, restoreKind, key, code)
	}
	return output{
		printable: printable{
			document: v, names: []string{"foundationdbrestore/" + key.Name},
			table: func(w io.Writer) error { return ui.WriteRestoreStatus(w, v, o.screen(env, w)) },
		},
		code: code, reason: reason, over: v.Over,
	}
}

// restoreFacts returns the facts that the view of a restore is built from.
func restoreFacts(s plan.Snapshot) inspect.RestoreFacts {
	facts := inspect.RestoreFacts{Snapshot: s, Started: backup.WasStarted(s.Restore), Own: backup.OwnRestore(s)}
	facts.URL, _ = objects.RestoreURL(s.Restore) // shown as unknown if empty
	return facts
}
