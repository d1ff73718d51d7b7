package commands

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// reconcileOptions is what `kubectl fdb reconcile` was asked to do.
type reconcileOptions struct {
	clusterFlag
	stepFlags
	changeFlags
	watchFlags
	// withBackups has passes over the cluster's backups and restores follow each of its own.
	withBackups bool
}

func newReconcile(env *Env) *cobra.Command {
	var o reconcileOptions
	cmd := &cobra.Command{
		Use:   "reconcile [CLUSTER | fdbbackup/NAME | fdbrestore/NAME]",
		Short: "Bring a cluster, a backup or a restore closer to what its resource asks for",
		Long: `Run a reconcile pass: observe the cluster, decide step by step what it needs, and do it.

A pass does what can be done now and says what it waits for. It shows what it is going
to do and asks first; --yes answers. With --wait, passes are repeated until nothing is
left to do; with --watch for ever, as changes come. Ctrl-C finishes the current action
and gives back what was locked; the same command again goes on from there.`,
		Example: `  # Look, agree, and run one pass
  kubectl fdb reconcile sample-cluster

  # Create a cluster and wait until it is up
  kubectl fdb reconcile sample-cluster --yes --wait --timeout 10m

  # Keep it as its resource asks, as a controller does
  kubectl fdb reconcile sample-cluster --yes --watch --metrics-addr 127.0.0.1:8080

  # See what a pass would do
  kubectl fdb reconcile sample-cluster --dry-run

  # Do what somebody approved, and nothing else
  kubectl fdb plan sample-cluster -o json > plan.json
  kubectl fdb reconcile sample-cluster --plan plan.json --yes

  # The cluster, then its backups, then restores into it
  kubectl fdb reconcile sample-cluster --with-backups --yes --wait

  # Start a backup, or a restore, as its resource asks
  kubectl fdb reconcile fdbbackup/sample-backup --yes --wait
  kubectl fdb reconcile fdbrestore/sample-restore --wait`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("interval") && !o.wait && !o.watch {
				return usagef("--interval needs --wait or --watch")
			}
			if cmd.Flags().Changed("resync") && !o.watch {
				return usagef("--resync needs --watch")
			}
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.stepFlags.add(cmd)
	o.changeFlags.add(cmd, "nothing is left to do")
	o.watchFlags.add(cmd)
	cmd.Flags().BoolVar(&o.withBackups, "with-backups", false, "after the cluster, all its backups, and then all restores into it")
	cmd.Flags().StringVar(&o.confirmed, "confirm", "", "the name of the backup once more, where its data is to be deleted; with --plan, --yes and --reason")
	completeWith(cmd, "confirm", backupKind.confirmed())
	return cmd
}

func (o reconcileOptions) run(ctx context.Context, env *Env, args []string) error {
	if kind, name := recordKindOf(args); kind != nil {
		return o.runOn(ctx, env, kind, name)
	}
	steps, err := o.check(env)
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
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	if o.withBackups {
		return env.reconcileTogether(ctx, key, o)
	}
	c := change{
		changeFlags: o.changeFlags, words: o.words(key.Name), stages: steps, needs: o.powers(), partial: len(o.only)+len(o.skip) > 0,
	}
	if o.watch {
		return env.watchOver(ctx, key, c, o.watchFlags)
	}
	return env.carryOut(ctx, key, c)
}

// words are the command and what it was told about steps.
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

// powers are what the command has to be allowed to do.
func (o reconcileOptions) powers() []power {
	if o.watch {
		return append(reconcilePowers(), watchPowers()...)
	}
	return reconcilePowers()
}

// check finds what is wrong with the flags before anything is read.
func (o reconcileOptions) check(env *Env) ([]plan.Stage, error) {
	if err := o.checkWatch(); err != nil {
		return nil, err
	}
	if err := o.checkTogether(); err != nil {
		return nil, err
	}
	if o.watch && o.plan != "" {
		return nil, usagef("--watch goes on after what a plan has: --plan is for one pass, or --wait")
	}
	if o.withBackups && o.dryRun == dryRunServer {
		return nil, usagef("--dry-run=server is for one resource: leave --with-backups out, or take --dry-run")
	}
	if many := o.watch || o.withBackups; many && o.dryRun == dryRunNone && o.output != "json" && !o.tells() {
		return nil, usagef("-o %s prints one document at the end of one change: with --watch and --with-backups it is text or json", o.output)
	}
	if err := o.changeFlags.check(env); err != nil {
		return nil, err
	}
	return o.steps()
}
