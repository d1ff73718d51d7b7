// Package reconcile holds the commands reconcile and plan.
package reconcile

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// NewReconcile returns the command `reconcile`, whose watches write dumps with write.
func NewReconcile(env *session.Env, write apply.WriteDump) *cobra.Command {
	var (
		o    apply.ReconcileOptions
		f    proposedFlags
		over sites.Flags
	)
	o.Dumps.Write = write
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"reconcile.md", "watch.md"},
		Needs: cmdutil.Reconciling,
		With: map[string]func() []declare.Requirement{
			"--contexts": cmdutil.OverSites(cmdutil.Reconciling)["--contexts"],
			"fdbbackup": func() []declare.Requirement {
				return slices.Concat(cmdutil.Required(session.BackupPermissions()...), cmdutil.Operators(), cmdutil.Auditing())
			},
			"fdbrestore": func() []declare.Requirement {
				return slices.Concat(cmdutil.Required(session.RestorePermissions()...), cmdutil.Operators(), cmdutil.Auditing())
			},
			"--with-backups": func() []declare.Requirement {
				return slices.Concat(cmdutil.Required(apply.WithBackups(session.ReconcilePermissions())...), cmdutil.Keeping(), cmdutil.Operators(), cmdutil.Auditing())
			},
			"--watch --dump-dir": func() []declare.Requirement {
				return slices.Concat(cmdutil.Reconciling(), cmdutil.Required(session.WatchPermissions()...), cmdutil.Dumping())
			},
			"--watch": func() []declare.Requirement {
				return slices.Concat(cmdutil.Reconciling(), cmdutil.Required(session.WatchPermissions()...))
			},
			"--respect-pdb": func() []declare.Requirement {
				return slices.Concat(cmdutil.Reconciling(), cmdutil.Required(session.EvictPermissions()...))
			},
			"--watch --with-backups": func() []declare.Requirement {
				return slices.Concat(
					cmdutil.Required(apply.WithBackups(session.ReconcilePermissions())...), cmdutil.Keeping(), cmdutil.Required(session.WatchPermissions()...), cmdutil.Operators(), cmdutil.Auditing(),
					cmdutil.Optional("changes of backups and restores are only seen every --resync", followBackupPermissions()...),
				)
			},
		},
	}, &cobra.Command{
		Use:   "reconcile [CLUSTER | fdbbackup/NAME | fdbrestore/NAME]",
		Short: "Reconcile a cluster, backup or restore",
		Long: `Reconcile a cluster, backup or restore: run a pass that observes it, decides stage by
stage what it needs, and acts.

A pass does what is possible now and reports what it waits for. It shows its plan and
prompts for approval first; --yes approves without a prompt. With --wait, passes repeat
until nothing is left to do; with --watch, they repeat at every change until a signal, and
--dump-dir keeps dumps of the last day meanwhile, to explain an outage after it.
With -f, -k, --set or --unset, the API server gets the changed spec once its plan is
approved and no gate refuses the first pass.
With --contexts or --sites, passes run at each site of a database with resources in several
Kubernetes clusters, in turn. Each acts only while this run holds the Leases of all sites,
and nothing is changed if one of them cannot be read. --set and --unset change every one.
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

  # Store a change of the spec and carry it out
  kubectl fdb reconcile sample-cluster --set processCounts.storage=5 --wait --yes

  # Apply an approved plan, and nothing else
  kubectl fdb plan sample-cluster -o json > plan.json
  kubectl fdb reconcile sample-cluster --plan plan.json --yes

  # Reconcile the cluster, then its backups, then restores into it
  kubectl fdb reconcile sample-cluster --with-backups --yes --wait

  # Reconcile a database with resources in three Kubernetes clusters
  kubectl fdb reconcile --contexts dc1,dc2,dc3 --wait

  # Upgrade it
  kubectl fdb reconcile --contexts dc1,dc2,dc3 --set version=7.3.80 --wait

  # Reconcile a backup or a restore
  kubectl fdb reconcile fdbbackup/sample-backup --yes --wait
  kubectl fdb reconcile fdbrestore/sample-restore --wait`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("interval") && !o.Wait && !o.Watch {
				return exit.Usagef("--interval requires --wait or --watch")
			}
			if cmd.Flags().Changed("resync") && !o.Watch {
				return exit.Usagef("--resync requires --watch")
			}
			if err := f.check(); err != nil {
				return err
			}
			kind, _ := session.ResourceKindOf(args)
			named, err := over.Sites(env, sites.Scope{
				Other: f.files.Given() || o.WithBackups || o.Watch || o.MetricsAddr != "" || kind != nil,
				Words: "-f, -k, --with-backups, --watch and --metrics-addr, and with names of backups and restores",
			})
			o.OverSites = len(named) > 0
			if err != nil {
				return err
			}
			if o.OverSites {
				return runOverSites(cmd.Context(), f, o, env, args, named)
			}
			if f.given() {
				return carryOutProposed(cmd.Context(), f, o, env, args)
			}
			return run(cmd.Context(), o, env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Sites(cmd, &over, env)
	flags.Stages(cmd, &o.StageFlags)
	flags.Removing(cmd, &o.ChangeFlags, "the cluster is reconciled")
	flags.Watch(cmd, &o.WatchFlags)
	f.add(cmd, "to store, once its plan is approved, and to carry out")
	cmd.Flags().BoolVar(&o.WithBackups, "with-backups", false, "If true, also reconcile all backups of the cluster, then all restores into it")
	cmd.Flags().StringVar(&o.Confirmed, "confirm", "", "name of the backup, to confirm the deletion of its data; requires --plan, --yes and --reason")
	complete.FlagWith(cmd, "confirm", complete.Confirmed(session.BackupKind))
	return cmd
}

// runOverSites runs the passes at several sites, or prints them in a dry run.
func runOverSites(ctx context.Context, f proposedFlags, o apply.ReconcileOptions, env *session.Env, args []string, named []sites.Site) error {
	over, err := newOverSites(o, f, env, named, args)
	if err != nil {
		return err
	}
	if o.DryRun != apply.DryRunNone {
		return over.plan(ctx, o.Printed())
	}
	return over.run(ctx)
}

// run runs the passes of `reconcile`, or prints them in a dry run.
func run(ctx context.Context, o apply.ReconcileOptions, env *session.Env, args []string) error {
	if kind, name := session.ResourceKindOf(args); kind != nil {
		return o.RunOn(ctx, env, kind, name)
	}
	selected, err := check(o, env)
	if err != nil {
		return err
	}
	if err := o.CheckConfirm(nil, ""); err != nil {
		return err
	}
	cluster, err := env.Cluster(ctx, args, o.Name, o.Intent())
	if err != nil {
		return err
	}
	read := env.Clock.Now()
	if err := apply.MayCarryOut(env, cluster, selected); err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	if o.WithBackups {
		return apply.ReconcileTogether(ctx, env, key, o)
	}
	c := apply.Change{
		ChangeFlags: o.ChangeFlags, Args: o.Args(key.Name), Stages: selected, Permissions: o.Permissions(), Partial: len(o.Only)+len(o.Skip) > 0,
		Given: live.Given{Cluster: cluster, At: read},
	}
	if o.Watch {
		return apply.WatchOver(ctx, env, key, c, o.WatchFlags)
	}
	return apply.CarryOut(ctx, env, key, c)
}

// check validates the flags before anything is read.
func check(o apply.ReconcileOptions, env *session.Env) ([]plan.Stage, error) {
	if err := o.CheckWatch(); err != nil {
		return nil, err
	}
	if err := o.CheckTogether(); err != nil {
		return nil, err
	}
	if o.Watch && o.Plan != "" {
		return nil, exit.Usagef("--watch conflicts with --plan")
	}
	if many := o.Watch || o.WithBackups; many && o.DryRun == apply.DryRunNone && o.Output != "json" && !o.PrintsText() {
		return nil, exit.Usagef("-o %s is not supported with --watch or --with-backups: must be text or json", o.Output)
	}
	if err := o.Check(env); err != nil {
		return nil, err
	}
	return o.Stages()
}

// followBackupPermissions returns what is required to watch backups, restores and their agents.
func followBackupPermissions() []session.Permission {
	all := apply.FollowPermissions()
	return slices.Concat(all[plan.Backup], all[plan.Restore], all[plan.Agents])
}
