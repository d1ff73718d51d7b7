package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// proposedFlags name a change of resources that nothing has stored yet.
type proposedFlags struct {
	files      proposal.Files
	set, unset []string
}

// add adds the flags; the words say what becomes of the change.
func (f *proposedFlags) add(cmd *cobra.Command, words string) {
	flags.Manifests(cmd, &f.files, words)
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "field of the spec "+words+": PATH=VALUE, such as version=7.3.79 or processCounts.storage=5; can be repeated")
	cmd.Flags().StringArrayVar(&f.unset, "unset", nil, "field of the spec to remove from it: PATH, such as skip; can be repeated")
	for _, flag := range []string{"set", "unset"} {
		complete.FlagAs(cmd, flag, completePaths)
	}
}

// completePaths completes one field of a path at a time.
func completePaths(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	kind := "FoundationDBCluster"
	if of, _ := session.ResourceKindOf(args); of != nil {
		kind = of.Kind
	}
	return proposal.Paths(kind, typed), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

func (f *proposedFlags) given() bool { return f.files.Given() || len(f.set)+len(f.unset) > 0 }

func (f *proposedFlags) check() error {
	if f.files.Given() && len(f.set)+len(f.unset) > 0 {
		return exit.Usagef("--set and --unset change what is stored, and conflict with -f and -k: change the manifest")
	}
	return flags.CheckManifests(f.files)
}

// carryOutProposed prints the plans of the resources as they would be after a change that nothing has stored, or has it
// stored and carries it out.
func carryOutProposed(ctx context.Context, f proposedFlags, o apply.ReconcileOptions, env *session.Env, args []string) error {
	if o.WithBackups {
		return exit.Usagef("--with-backups conflicts with -f, -k, --set and --unset: name the backups in the manifests")
	}
	if o.Watch {
		return exit.Usagef("--watch conflicts with -f, -k, --set and --unset: use --wait")
	}
	o.Proposed = true
	if _, err := check(o, env); err != nil {
		return err
	}
	changes, err := f.changes(ctx, o, env, args)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if err := o.CheckConfirm(session.KindOf(c.Kind()), c.Key().Name); err != nil {
			return err
		}
	}
	if len(changes) == 0 {
		return apply.PlanPruned(ctx, env, o)
	}
	session.Use(env, changes[0].Key().Namespace)
	session.ReadProposed(env, changes)
	var all []apply.Keyed
	for _, c := range changes {
		keyed, err := o.For(env, c)
		if err != nil {
			return err
		}
		all = append(all, keyed)
	}
	return apply.CarryOutAll(ctx, env, o, all)
}

// changes returns what the API server would store, clusters first, then backups, then restores: a backup requires a
// database, and a restore the agents of a backup.
func (f *proposedFlags) changes(ctx context.Context, o apply.ReconcileOptions, env *session.Env, args []string) ([]*proposal.Change, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	p := proposal.Proposer{Client: c, Offline: session.IsDumped(env), FieldManager: o.FieldManager}
	if !f.files.Given() {
		one, err := f.edited(ctx, p, o, env, args)
		return []*proposal.Change{one}, err
	}
	manifests, others, err := f.files.Read(env.In)
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		p.Beside = proposal.NewBeside(others)
		env.Logf("not planned: %s (%s)", phrase.Count(len(others), "other object"), phrase.List(proposal.Titles(others)))
	}
	if manifests, err = f.selected(manifests, o, env, args); err != nil {
		return nil, err
	}
	var all []*proposal.Change
	for _, m := range manifests {
		if err := flags.SetNamespace(m, env); err != nil {
			return nil, err
		}
		change, err := p.Manifest(ctx, m)
		if err != nil {
			return nil, err
		}
		all = append(all, change)
	}
	order := []string{"FoundationDBCluster", "FoundationDBBackup", "FoundationDBRestore"}
	slices.SortStableFunc(all, func(a, b *proposal.Change) int {
		return cmp.Compare(slices.Index(order, a.Kind()), slices.Index(order, b.Kind()))
	})
	return all, nil
}

// edits returns what --set and --unset change, and the flags as words.
func (f *proposedFlags) edits() (edits []proposal.Edit, source string, err error) {
	var words []string
	for _, text := range f.set {
		words = append(words, "--set "+text)
	}
	for _, path := range f.unset {
		words = append(words, "--unset "+path)
	}
	edits, err = proposal.Edits(f.set, f.unset)
	return edits, strings.Join(words, " "), err
}

// edited returns the resource that the arguments name, after --set and --unset.
func (f *proposedFlags) edited(ctx context.Context, p proposal.Proposer, o apply.ReconcileOptions, env *session.Env, args []string) (*proposal.Change, error) {
	edits, source, err := f.edits()
	if err != nil {
		return nil, err
	}
	if kind, name := session.ResourceKindOf(args); kind != nil {
		namespace, err := env.Connection().Namespace()
		if err != nil {
			return nil, err
		}
		return p.Edits(ctx, kind.Kind, types.NamespacedName{Namespace: namespace, Name: name}, edits, source)
	}
	cluster, err := env.Cluster(ctx, args, o.Name, o.Intent())
	if err != nil {
		return nil, err
	}
	return p.Edits(ctx, "FoundationDBCluster", types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}, edits, source)
}

// selected returns the manifests of the resource that the arguments name; all without one.
func (f *proposedFlags) selected(all []proposal.Manifest, o apply.ReconcileOptions, env *session.Env, args []string) ([]proposal.Manifest, error) {
	kind, name := "FoundationDBCluster", ""
	if of, named := session.ResourceKindOf(args); of != nil {
		kind, name = of.Kind, named
	} else if len(args) > 0 || o.Name != "" {
		var err error
		if name, err = env.ClusterName(args, o.Name); err != nil {
			return nil, err
		}
	}
	if name == "" {
		return all, nil
	}
	var found []proposal.Manifest
	var known []string
	for _, m := range all {
		if known = append(known, m.Title()); m.Object.GetKind() == kind && m.Object.GetName() == name {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		return nil, exit.Usagef("%s %s is not in the manifests, which have %s", kind, name, phrase.List(known))
	}
	return found, nil
}

// NewPlan returns the command `plan`.
func NewPlan(env *session.Env) *cobra.Command {
	var (
		o     apply.ReconcileOptions
		shows apply.PlanOptions
		f     proposedFlags
		over  sites.Flags
		limit string
	)
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Management, Pages: []string{"plan.md"}, Dumps: true,
		Needs: planNeeds, With: cmdutil.OverSites(planNeeds),
	}, &cobra.Command{
		Use:     "plan [CLUSTER | fdbbackup/NAME | fdbrestore/NAME]",
		Aliases: []string{"diff"},
		Short:   "Preview a reconcile pass, and forecast those after it",
		Long: `Preview the actions of a reconcile pass, with their reasons: the same as reconcile
--dry-run. Nothing is changed.

The forecast shows what all passes will do until nothing is left: it runs them against a
simulation of the observed cluster, in which nothing else fails.

With -f, -k, --set or --unset it is the plan of a change that nothing has stored yet: the
API server reports in a dry run what it would store.

With --contexts or --sites it is a plan of the next pass at each site of a database with
resources in several Kubernetes clusters, in the order of the sites, with what they have in
common. Each is planned as if no other site changed anything before it, and nothing is
decided about a site that cannot be read. --set and --unset change every resource.

The output of -o json can be approved and applied: reconcile --plan FILE executes the
actions of the file and nothing else, and fails if the cluster state has changed since.

With --simulate all, each step meets each fault once, as a lost node or a killed run, in a
simulation of its own, and rules of safety are checked there after each action.

Exit code 0: nothing to do. 1: something to do, also if a gate would refuse it, which the
plan shows. 4: more than --at-most allows, or a rule of safety broken in a simulation.
2 and more: see docs/exit-codes.md.`,
		Example: `  # Preview a pass
  kubectl fdb plan sample-cluster

  # Preview an upgrade before it is stored
  kubectl fdb plan sample-cluster --set version=7.3.80

  # In a pull request: fail if the change costs more than two recoveries
  kubectl fdb plan sample-cluster --set processCounts.storage=5 --at-most recoveries=2

  # In CI: save the plan, and check whether the cluster differs from its spec
  kubectl fdb plan sample-cluster -o json > plan.json

  # Apply the plan after its approval
  kubectl fdb reconcile sample-cluster --plan plan.json --yes

  # Simulate 20 runs with random failures of processes, pods and nodes
  kubectl fdb plan sample-cluster --simulate 20

  # Simulate each single fault at each step of an upgrade
  kubectl fdb plan sample-cluster --set version=7.3.80 --simulate all

  # Preview the next pass at each site of a database in three Kubernetes clusters
  kubectl fdb plan --contexts dc1,dc2,dc3

  # Preview a pass over a backup
  kubectl fdb plan fdbbackup/sample-backup`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("at-most") {
				var err error
				if shows.AtMost, err = planned.ParseLimits(limit); err != nil {
					return exit.Usage(fmt.Errorf("invalid --at-most: %w", err))
				}
			}
			kind, _ := session.ResourceKindOf(args)
			named, err := over.Sites(env, sites.Scope{Other: f.files.Given() || o.WithBackups || kind != nil, Words: "-f, -k and --with-backups, and with names of backups and restores"})
			if err != nil {
				return err
			}
			return runPlan(cmd.Context(), f, o, shows, env, args, named)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Sites(cmd, &over, env)
	flags.Stages(cmd, &o.StageFlags)
	cmd.Flags().BoolVar(&o.Coexist, "coexist", false, "If true, plan a pass with --coexist, which acts although an operator manages the cluster")
	cmd.Flags().BoolVar(&o.WithBackups, "with-backups", false, "If true, also plan for all backups of the cluster, then for all restores into it")
	cmd.Flags().BoolVar(&shows.Forecast, "forecast", true, "If true, forecast all passes of a cluster until nothing is left to do")
	cmd.Flags().Var(&simulateFlag{&shows}, "simulate", "number of simulations of all passes in which processes, pods and nodes fail at random; or all, for one simulation of each fault at each step")
	complete.Flag(cmd, "simulate", func() []string { return []string{simulateAll} })
	cmd.Flags().StringVar(&limit, "at-most", "", "limits of the totals of the forecast, above which the exit code is 4, such as recoveries=2,movedBytes=100Gi,groupsRemoved=0,seconds=1h; an unknown total counts as exceeded")
	flags.Output(cmd, &shows.Flags)
	f.add(cmd, "to plan as if it were stored")
	cmd.Flags().BoolVar(&shows.Prune, "prune", false, "If true, also print what the deletion of resources would do that the namespaces have and the directory of -f or -k does not")
	return cmd
}

func planNeeds() []declare.Requirement {
	return slices.Concat(cmdutil.Viewing(), cmdutil.Operators(), cmdutil.FirstVolumes(), cmdutil.Optional("the disruption budget is unknown", session.BudgetPermissions()[0]))
}

// runPlan is a dry run of reconcile.
func runPlan(ctx context.Context, f proposedFlags, o apply.ReconcileOptions, shows apply.PlanOptions, env *session.Env, args []string, named []sites.Site) error {
	if err := shows.Check(); err != nil {
		return err
	}
	if len(shows.AtMost) > 0 && !shows.Forecast {
		return exit.Usagef("--at-most requires --forecast")
	}
	if err := f.check(); err != nil {
		return err
	}
	if shows.Prune && (f.files.Kustomization == "" && !f.files.Directory() || len(args) > 0 || o.Name != "") {
		return exit.Usagef("--prune requires -f DIRECTORY or -k, and conflicts with a name: all other resources would count as removed")
	}
	f.files.MayBeNone = shows.Prune // the manifest of the last resource may be what was removed
	switch {
	case len(named) > 0:
		over, err := newOverSites(o.Planned(shows), f, env, named, args)
		if err != nil {
			return err
		}
		return over.plan(ctx, shows)
	case f.given():
		return carryOutProposed(ctx, f, o.Planned(shows), env, args)
	}
	return run(ctx, o.Planned(shows), env, args)
}
