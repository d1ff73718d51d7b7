package commands

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// reconcileOptions are the options of `kubectl fdb reconcile`.
type reconcileOptions struct {
	clusterFlag
	stageFlags
	changeFlags
	watchFlags
	// withBackups runs passes over the cluster's backups and restores after each of its own.
	withBackups bool
}

func newReconcile(env *Env) *cobra.Command {
	var o reconcileOptions
	cmd := &cobra.Command{
		Use:   "reconcile [CLUSTER | fdbbackup/NAME | fdbrestore/NAME]",
		Short: "Reconcile a cluster, backup or restore",
		Long: `Reconcile a cluster, backup or restore: run a pass that observes it, decides stage by
stage what it needs, and acts.

A pass does what is possible now and reports what it waits for. It shows its plan and
prompts for approval first; --yes approves without a prompt. With --wait, passes repeat
until nothing is left to do; with --watch, they repeat at every change until a signal.
Ctrl-C finishes the current action and releases all locks; run the same command again to
continue.`,
		Example: `  # Preview, approve and run one pass
  kubectl fdb reconcile sample-cluster

  # Create a cluster and wait until it is reconciled
  kubectl fdb reconcile sample-cluster --yes --wait --timeout 10m

  # Reconcile continuously, as a controller does
  kubectl fdb reconcile sample-cluster --yes --watch --metrics-addr 127.0.0.1:8080

  # Preview a pass
  kubectl fdb reconcile sample-cluster --dry-run

  # Apply an approved plan, and nothing else
  kubectl fdb plan sample-cluster -o json > plan.json
  kubectl fdb reconcile sample-cluster --plan plan.json --yes

  # Reconcile the cluster, then its backups, then restores into it
  kubectl fdb reconcile sample-cluster --with-backups --yes --wait

  # Reconcile a backup or a restore
  kubectl fdb reconcile fdbbackup/sample-backup --yes --wait
  kubectl fdb reconcile fdbrestore/sample-restore --wait`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("interval") && !o.wait && !o.watch {
				return usagef("--interval requires --wait or --watch")
			}
			if cmd.Flags().Changed("resync") && !o.watch {
				return usagef("--resync requires --watch")
			}
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.stageFlags.add(cmd)
	o.addRemoving(cmd, "the cluster is reconciled")
	o.watchFlags.add(cmd)
	cmd.Flags().BoolVar(&o.withBackups, "with-backups", false, "If true, also reconcile all backups of the cluster, then all restores into it")
	cmd.Flags().StringVar(&o.confirmed, "confirm", "", "name of the backup, to confirm the deletion of its data; requires --plan, --yes and --reason")
	completeWith(cmd, "confirm", backupKind.confirmed())
	return cmd
}

func (o reconcileOptions) run(ctx context.Context, env *Env, args []string) error {
	if kind, name := recordKindOf(args); kind != nil {
		return o.runOn(ctx, env, kind, name)
	}
	selected, err := o.check(env)
	if err != nil {
		return err
	}
	if err := o.checkConfirm(nil, ""); err != nil {
		return err
	}
	record, err := env.cluster(ctx, args, o.name, o.intent())
	if err != nil {
		return err
	}
	if err := env.mayCarryOut(record, selected); err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	if o.withBackups {
		return env.reconcileTogether(ctx, key, o)
	}
	c := change{
		changeFlags: o.changeFlags, words: o.words(key.Name), stages: selected, permissions: o.permissions(), partial: len(o.only)+len(o.skip) > 0,
	}
	if o.watch {
		return env.watchOver(ctx, key, c, o.watchFlags)
	}
	return env.carryOut(ctx, key, c)
}

// words returns the command and its arguments for stages.
func (o reconcileOptions) words(cluster string) []string {
	words := []string{"reconcile", cluster}
	if o.watch {
		words = append(words, "--watch")
	}
	if o.withBackups {
		words = append(words, "--with-backups")
	}
	if o.options.Adopt {
		words = append(words, "--adopt")
	}
	if o.options.ReplaceOnSecurityContextChange {
		words = append(words, "--replace-on-security-context-change")
	}
	if len(o.only) > 0 {
		words = append(words, "--only", strings.Join(o.only, ","))
	}
	if len(o.skip) > 0 {
		words = append(words, "--skip", strings.Join(o.skip, ","))
	}
	if o.metricsAddr != "" {
		words = append(words, "--metrics-addr", o.metricsAddr)
	}
	return words
}

// permissions returns the required permissions of the command.
func (o reconcileOptions) permissions() []permission {
	if o.watch {
		return append(reconcilePermissions(), watchPermissions()...)
	}
	return reconcilePermissions()
}

// check validates the flags before anything is read.
func (o reconcileOptions) check(env *Env) ([]plan.Stage, error) {
	if err := o.checkWatch(); err != nil {
		return nil, err
	}
	if err := o.checkTogether(); err != nil {
		return nil, err
	}
	if o.watch && o.plan != "" {
		return nil, usagef("--watch conflicts with --plan")
	}
	if o.withBackups && o.dryRun == dryRunServer {
		return nil, usagef("--dry-run=server conflicts with --with-backups: use --dry-run")
	}
	if many := o.watch || o.withBackups; many && o.dryRun == dryRunNone && o.output != "json" && !o.printsText() {
		return nil, usagef("-o %s is not supported with --watch or --with-backups: must be text or json", o.output)
	}
	if err := o.changeFlags.check(env); err != nil {
		return nil, err
	}
	return o.stages()
}
