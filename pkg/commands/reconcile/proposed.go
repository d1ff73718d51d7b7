package reconcile

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
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
		env.Logf("not planned: %s (%s)", phrase.Count(len(others), "other object"), phrase.List(others))
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

// edited returns the resource that the arguments name, after --set and --unset.
func (f *proposedFlags) edited(ctx context.Context, p proposal.Proposer, o apply.ReconcileOptions, env *session.Env, args []string) (*proposal.Change, error) {
	edits, err := proposal.Edits(f.set, f.unset)
	if err != nil {
		return nil, err
	}
	var words []string
	for _, text := range f.set {
		words = append(words, "--set "+text)
	}
	for _, path := range f.unset {
		words = append(words, "--unset "+path)
	}
	source := strings.Join(words, " ")
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
