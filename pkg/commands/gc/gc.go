// Package gc holds the command that removes objects and exclusions without an owner.
package gc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/orphans"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	text "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/orphans"
)

// options are the options of `kubectl fdb gc`.
type options struct {
	session.ClusterFlag
	format.Flags
	apply.ChangeFlags
	pvcs []string
}

// New returns the command `gc`.
func New(env *session.Env) *cobra.Command {
	var o options
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"gc.md"},
		Needs: collectingGarbage,
	}, &cobra.Command{
		Use:   "gc [CLUSTER]",
		Short: "Remove objects and exclusions without an owner",
		Long: `Remove what belongs to no process group: pods, PVCs, services and ConfigMaps with the labels
of the cluster, and exclusions in the database. Of a FoundationDBCluster that does not exist
anymore, name it: its leftovers, and the Lease of ended runs, are found by their labels.

Everything is listed with the proof, and removed only after approval. What may have an
owner is kept: what the next pass adopts as a process group, what a process that reports
uses, what could not be read, and what other control-plane instances may need.

A PVC is removed only if --pvc names it, no pod mounts it, and all data has all of its
copies in processes that report. PVCs of a FoundationDBCluster that does not exist are never
removed: no database can be queried. Its services and ConfigMaps stay as long as a pod, PVC
or volume is left, since a recovery needs them.

An object is deleted only if its UID and resource version are those that were listed, and is
read back. Exclusions end by the rules of include: ten minutes after the last recovery.

Gates, Lease and operation are those of a pass. With --plan exactly what a saved dry run
lists is removed, with the PVCs that it names.

Exit code 0: nothing was to be removed, or all of it was removed. With --dry-run, 1:
something would be removed. 3: exclusions cannot end yet. 9: some was not removed.`,
		Example: `  # Show what has no owner
  kubectl fdb gc sample-cluster --dry-run

  # Remove it, after a prompt
  kubectl fdb gc sample-cluster

  # Save it for a review, then remove exactly that
  kubectl fdb gc sample-cluster --dry-run -o json > plan.json
  kubectl fdb gc sample-cluster --plan plan.json --yes

  # Remove it in a pipeline
  kubectl fdb gc sample-cluster --yes --reason "incident 4711" -o json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
	flags.Steps(cmd, &o.ChangeFlags, "--dry-run -o json of the same command")
	cmd.Flags().StringSliceVar(&o.pvcs, "pvc", nil, "comma-separated names of PVCs to remove as well, if their volumes cannot have the last copy of any data")
	return cmd
}

func (o options) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.check(env); err != nil {
		return err
	}
	key, err := o.find(ctx, env, args)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	env.Run.About = key
	approved, err := o.adopt(env, key)
	if err != nil {
		return err
	}
	found, err := o.read(ctx, env, key)
	if err != nil {
		return err
	}
	if err := o.accept(ctx, env, approved, found.view); err != nil {
		return err
	}
	return apply.CarryOut(ctx, env, key, o.change(env, found))
}

func (o options) check(env *session.Env) error {
	if err := errors.Join(o.Flags.Check(), o.CheckSteps(env)); err != nil {
		return err
	}
	if o.Intent() == session.Reads && o.Plan != "" {
		return exit.Usagef("--dry-run conflicts with --plan")
	}
	return nil
}

// change is the removal of what was found.
func (o options) change(env *session.Env, found findings) apply.Change {
	n := len(found.view.Removable())
	return apply.Change{
		ChangeFlags: o.ChangeFlags, Args: o.words(found.key.Name), Permissions: needs(found.view),
		Procedure: &apply.Procedure{
			Session: found.session, Resource: found.resource, Stage: stageGC, Work: n,
			Print:    func() error { return o.printSealed(env, found.view) },
			Show:     func(w io.Writer) error { return text.Write(w, found.view, ui.Table{}) },
			Question: fmt.Sprintf("Remove %s?", phrase.Count(n, "item")), Continue: "remove the rest",
			Try: func(ctx context.Context) (apply.Tried, error) { return tryOut(ctx, env, found) },
			Run: func(ctx context.Context, s apply.Stepping) error { return o.remove(ctx, env, found, s) },
		},
	}
}

// printSealed prints what was found, as a file for --plan.
func (o options) printSealed(env *session.Env, v orphans.View) error {
	v, err := v.Sealed()
	if err != nil {
		return err
	}
	return o.print(env, env.Out, v)
}

// namedPVCs refuses a PVC that was named and is not removed.
func (o options) namedPVCs(v orphans.View) error {
	if names := v.Unnamed(o.pvcs); len(names) > 0 {
		return exit.Usagef("--pvc %s: not a PVC with the labels of the cluster and without a process group (nothing was changed)", phrase.List(names))
	}
	for _, i := range v.Items {
		if i.Kind == orphans.PVC && slices.Contains(o.pvcs, i.Name) && i.Verdict != orphans.Remove {
			return &exit.Error{Code: exit.ExitRefused, Err: fmt.Errorf("remove PVC %s: %s (nothing was changed)", i.Name, i.Reason)}
		}
	}
	return nil
}

func (o options) print(env *session.Env, w io.Writer, v orphans.View) error {
	names := []string{}
	for _, i := range v.Items {
		names = append(names, string(i.Kind)+"/"+i.Name)
	}
	return o.Print(w, format.Printable{Document: v, Names: names, Table: func(w io.Writer) error {
		return text.Write(w, v, ui.Table{NoHeaders: o.List(env, w).NoHeaders})
	}})
}

// needs are the permissions that the removal of the items requires.
func needs(v orphans.View) []session.Permission {
	all := []session.Permission{}
	if v.Exists {
		all = session.DatabasePermissions()
	}
	for _, i := range v.Removable() {
		if p, is := deletions[i.Kind]; is && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// deletions are the permissions to delete an object of a kind.
var deletions = map[orphans.Kind]session.Permission{
	orphans.Pod:       {Verb: "delete", Resource: "pods"},
	orphans.PVC:       {Verb: "delete", Resource: "persistentvolumeclaims"},
	orphans.Service:   {Verb: "delete", Resource: "services"},
	orphans.ConfigMap: {Verb: "delete", Resource: "configmaps"},
	orphans.Lease:     {Verb: "delete", Group: "coordination.k8s.io", Resource: "leases"},
}

// find returns the name of the cluster, whose resource need not exist if it was named.
func (o options) find(ctx context.Context, env *session.Env, args []string) (types.NamespacedName, error) {
	name, err := env.ClusterName(args, o.Name)
	if err != nil {
		return types.NamespacedName{}, err
	}
	if name == "" {
		resource, err := env.Cluster(ctx, args, o.Name, o.Intent())
		if err != nil {
			return types.NamespacedName{}, err
		}
		name = resource.Name
	}
	namespace, err := env.Connection().Namespace()
	return types.NamespacedName{Namespace: namespace, Name: name}, err
}

// collectingGarbage returns what is required to find and remove what has no owner. Permissions to delete are
// Required for what is found only.
func collectingGarbage() []declare.Requirement {
	return slices.Concat(cmdutil.ChangingDatabase(), cmdutil.Auditing(), cmdutil.Optional("ConfigMaps are not found", session.Permission{Verb: "list", Resource: "configmaps"}),
		cmdutil.Optional("objects of these kinds are not removed", session.GarbagePermissions()...),
		cmdutil.Everywhere(cmdutil.Optional("ConfigMaps and services of a cluster that does not exist are kept", session.Permission{Verb: "list", Resource: "persistentvolumes"})))
}

// adopt reads the file of --plan, and takes the PVCs that it removes for named; nil without a file.
func (o *options) adopt(env *session.Env, key types.NamespacedName) (*orphans.View, error) {
	if o.Plan == "" {
		return nil, nil
	}
	v, err := readPlan(o.Plan, key)
	if err != nil {
		return nil, err
	}
	env.Run.Planned = &planned.ApprovedPlan{Digest: v.Digest}
	for _, i := range v.Removable() {
		if i.Kind == orphans.PVC && !slices.Contains(o.pvcs, i.Name) {
			o.pvcs = append(o.pvcs, i.Name)
		}
	}
	return &v, nil
}

// readPlan reads the document of a dry run of a cluster.
func readPlan(path string, key types.NamespacedName) (orphans.View, error) {
	var v orphans.View
	if err := apply.ReadDocument(path, "OrphanList", "a list that gc --dry-run -o json printed", &v); err != nil {
		return v, err
	}
	if v.Metadata.Cluster != key.Name || v.Metadata.Namespace != key.Namespace {
		return v, exit.Usagef("plan %s is for cluster %s in namespace %s, not for cluster %s in namespace %s (nothing was changed)", path, v.Metadata.Cluster, v.Metadata.Namespace, key.Name, key.Namespace)
	}
	return v, nil
}

// accept refuses a PVC that was named and is not removed, and an approved plan if another one would be made now. What an
// earlier run of the plan has removed is no difference.
func (o options) accept(ctx context.Context, env *session.Env, approved *orphans.View, now orphans.View) error {
	if approved == nil {
		return o.namedPVCs(now)
	}
	differences := approved.Differences(now)
	removed := !slices.ContainsFunc(differences, func(d planned.PlanDifference) bool { return d.Code != planned.DiffersDone })
	lock := types.NamespacedName{Namespace: env.Run.About.Namespace, Name: live.LeaseName(env.Run.About.Name)}
	switch {
	case len(differences) == 0:
		return nil
	case removed && apply.BegunBefore(ctx, env, lock, env.PlanDigest()):
		env.Logf("resuming plan %s: of %s %d %s removed", o.Plan, phrase.Count(len(approved.Removable()), "item"), len(differences), phrase.Is(len(differences)))
		return nil
	}
	return apply.StalePlan(differences, "save a new list: "+env.Command(append(o.words(env.Run.About.Name), "--dry-run", "-o", "json")...)+" > "+session.Quoted(o.Plan))
}
