package recovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery/execute"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// defaultTimeout bounds a run: a monitor restarts a process that ended soon after its start only
// after a minute.
const defaultTimeout = 10 * time.Minute

// applyOptions are the options of `kubectl fdb recover apply`.
type applyOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
}

func newApply(env *session.Env) *cobra.Command {
	var o applyOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Planned: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Reconciling(), cmdutil.ReleasedVolumes(), bindingVolumes())
		},
	}, &cobra.Command{
		Use:   "apply [CLUSTER] --plan FILE",
		Short: "Apply a recovery plan",
		Long: `Carry out a recovery plan that recover plan -o json printed.

All facts are read again first. The command refuses (exit code 6) if anything that the plan
relies on has changed, if a quorum of the former coordinators answers, or if a pod cannot be
read. What the plan itself has changed or created is no difference. Each step is read back
before the next one begins. The former cluster file of each pod is kept beside it. A run
that was interrupted can be repeated with the same plan.

Plans that bind released volumes require permission to patch PersistentVolumes.

A plan of the kind coordinators-lost declares data for lost: the name of the cluster must
be typed, or be in --confirm beside --yes and --reason. Coordination files are copied from
the survivor to the new coordinators; those before stay beside them. Of two survivors
none is copied: both become the coordinators.

Passes and other changing commands cannot run at the same time: the gates, the Lease and the
operation are those of a pass. With --dry-run the plan is printed if it still holds, and the
exit code is 1.`,
		Example: `  # Show whether a reviewed plan still holds
  kubectl fdb recover apply sample-cluster --plan recovery.json --dry-run

  # Carry it out
  kubectl fdb recover apply sample-cluster --plan recovery.json

  # In a pipeline
  kubectl fdb recover apply sample-cluster --plan recovery.json --yes --reason "incident 4711"

  # In a pipeline, with a plan that declares data for lost
  kubectl fdb recover apply sample-cluster --plan recovery.json --yes --confirm sample-cluster --reason "incident 4711"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Steps(cmd, &o.ChangeFlags, "recover plan -o json")
	flags.Confirm(cmd, &o.ChangeFlags, nil)
	flags.Timeout(cmd, &o.ChangeFlags, defaultTimeout)
	flags.AtLeast(cmd, "timeout", flags.Positive)
	return cmd
}

func (o applyOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.CheckSteps(env); err != nil {
		return err
	}
	cluster, err := env.Cluster(ctx, args, o.Name, o.Intent())
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	env.Run.About = key
	p, err := readPlan(o.Plan, key)
	if err != nil {
		return err
	}
	env.Run.Planned = &planned.ApprovedPlan{Digest: p.Digest}
	if err := specUsable(env, cluster, p); err != nil {
		return err
	}
	if err := o.ConfirmedAs(p.Cluster); err != nil {
		return err
	}
	current, err := read(ctx, env, key)
	if err != nil {
		return err
	}
	if moved := p.Moved(current.facts); len(moved) > 0 {
		return stale(&execute.MovedError{Differences: moved})
	}
	if err := templatesAllowed(session.TemplateRestrictions(env), current.seen.Cluster, p); err != nil {
		return err
	}
	return apply.CarryOut(ctx, env, key, o.change(env, current, p))
}

// change is what the plan does to the cluster as it was read.
func (o applyOptions) change(env *session.Env, current reading, p recovery.Plan) apply.Change {
	o.Dangerous = p.LosesData()
	show := func(w io.Writer) error {
		return ui.WriteRecoveryPlan(w, recovery.NewPlanView(env.Metadata(env.Run.About), current.seen.Now, p, current.warnings))
	}
	return apply.Change{
		ChangeFlags: o.ChangeFlags, Args: []string{"recover", "apply", p.Cluster}, Permissions: permissionsOf(p),
		Procedure: &apply.Procedure{
			Session: current.session, Resource: current.seen.Cluster, Stage: stageRecover, Work: len(p.Steps),
			Print: func() error { return show(env.Out) }, Show: show,
			Question: fmt.Sprintf("Carry out plan %s?", p.Digest), Continue: "continue with the same plan",
			Try: func(ctx context.Context) (apply.Tried, error) { return tryOut(ctx, env, current, p) },
			Run: func(ctx context.Context, s apply.Stepping) error { return carryOut(ctx, env, s, p) },
		},
	}
}

// permissionsOf are the permissions that a plan requires.
func permissionsOf(p recovery.Plan) []session.Permission {
	if len(p.Bind) == 0 {
		return session.ReconcilePermissions()
	}
	return append(session.ReconcilePermissions(), session.VolumePermissions()...)
}

// specUsable refuses a plan that creates pods or PVCs, as the spec describes them, of a cluster whose spec is invalid.
// An outage is no time to be kept from the other steps, such as another connection string.
func specUsable(env *session.Env, c *v1beta2.FoundationDBCluster, p recovery.Plan) error {
	if len(p.Create)+len(p.Bind) == 0 {
		return nil
	}
	return session.RequireValid(env, c)
}

// templatesAllowed refuses a plan that creates pods from templates which the restrictions of the run forbid.
func templatesAllowed(r objects.TemplateRestrictions, c *v1beta2.FoundationDBCluster, p recovery.Plan) error {
	if len(p.Create) == 0 {
		return nil
	}
	forbidden, err := r.OfCluster(c)
	if err != nil {
		return exit.Usage(err)
	}
	if check := readings.TemplateAllowed(forbidden); !check.OK {
		return &exit.Error{Code: exit.ExitRefused, Err: errors.New(check.Evidence + " (nothing was changed)")}
	}
	return nil
}

func stale(err *execute.MovedError) error {
	return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("%w (nothing was changed by this run)", err), Hints: []string{"create a new plan with recover plan"}}
}

// carryOut carries out the plan.
func carryOut(ctx context.Context, env *session.Env, with apply.Stepping, p recovery.Plan) error {
	run := execute.Run{
		Cluster: with.Session, Tool: env.Tool, Clock: env.Clock, Held: with.Session.Held, Report: reporter(env, with, p),
		Read: func(ctx context.Context) (recovery.Facts, plan.Snapshot, error) {
			r, err := read(ctx, env, env.Run.About)
			return r.facts, r.seen, err
		},
	}
	var err error
	if run.Client, err = env.Client(); err != nil {
		return err
	}
	err = run.Apply(ctx, p)
	if moved, is := errors.AsType[*execute.MovedError](err); is {
		return stale(moved)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "%s: recovered, the database is available\n", p.Cluster)
	first, second := env.Command("recover", "verify", p.Cluster, "--wait"), env.Command("reconcile", p.Cluster, "--wait")
	if p.LosesData() { // lost process groups do not report before they are recreated
		first, second = second, first
	}
	env.Logf("hint: next: %s", first)
	env.Logf("hint: then: %s", second)
	return nil
}

// reporter records each step, and prints it.
func reporter(env *session.Env, with apply.Stepping, p recovery.Plan) func(recovery.Step, time.Time, error) {
	return func(step recovery.Step, began time.Time, err error) {
		with.Report(reconcile.Step{Kind: string(step), Subject: p.Cluster, Words: ui.RecoveryStep(step)}, began, err)
		if err == nil {
			fmt.Fprintf(env.Out, "%-20s did      %s\n", step, ui.RecoveryStep(step))
		}
	}
}

// tryOut submits what the plan writes to the API server as a server dry run.
func tryOut(ctx context.Context, env *session.Env, current reading, p recovery.Plan) (apply.Tried, error) {
	t := apply.Tried{Beyond: "files and processes in pods, the status, and what depends on earlier steps"}
	c, err := env.Client()
	if err != nil {
		return t, err
	}
	server, can := current.session.(apply.ServerDryRunner)
	if !can {
		return t, exit.Usagef("--dry-run=server requires an API server: use --dry-run")
	}
	answers, err := execute.Run{Cluster: current.session, Client: client.NewDryRunClient(c)}.Try(ctx, p, server.Try)
	for _, a := range answers {
		t.All++
		if a.Asked {
			t.Add(string(a.Step), a.Err)
		}
	}
	return t, err
}

// stageRecover names recoveries in the audit, where other changes have the stage of a pass.
const stageRecover plan.StageName = "Recover"

// bindingVolumes returns what is required to bind PVCs to released volumes again.
func bindingVolumes() []declare.Requirement {
	return cmdutil.Everywhere(cmdutil.Optional("released volumes cannot be bound again", session.VolumePermissions()...))
}

// planOptions are the options of `kubectl fdb recover plan`.
type planOptions struct{ cmdutil.ViewOptions }

func newPlan(env *session.Env) *cobra.Command {
	var o planOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads,
		Needs:  func() []declare.Requirement { return slices.Concat(cmdutil.Viewing(), cmdutil.ReleasedVolumes()) },
	}, &cobra.Command{
		Use:   "plan [CLUSTER]",
		Short: "Plan a recovery, with a digest for review",
		Long: `Plan a recovery from what recover collect shows, with a digest of everything that the plan
relies on. Nothing is changed.

recover apply carries out plans of these kinds:

  coordinators-moved  most coordinators have other addresses, and their volumes are
                      intact. The new connection string has the same description and ID,
                      and each coordinator at its address now: none omitted, none added.
  coordinators-lost   a majority of coordinators has no pod, no PVC and no volume. The
                      coordination state that is left is copied to new coordinators;
                      later commits are lost.
  pods-lost           pods are missing whose PVCs exist: they are created, those of
                      coordinators first, and followed to their addresses.
  volumes-released    PVCs are missing whose volumes exist: each volume is bound to the
                      PVC that it had, then as pods-lost.

Of any other kind of loss the plan has no steps, and prints what to do manually.

Exit code 0: the plan has steps, or nothing has to be recovered. 4: it has none.`,
		Example: `  # Show the plan
  kubectl fdb recover plan sample-cluster

  # Write the plan to a file, for review and apply
  kubectl fdb recover plan sample-cluster -o json > recovery.json`,
	})
	o.AddView(cmd, env, o.view)
	return cmd
}

func (o *planOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	read, err := read(ctx, env, key)
	if err != nil {
		return cmdutil.Output{}, err
	}
	p, err := recovery.NewPlan(key.Name, key.Namespace, read.facts, env.Command)
	if err != nil {
		return cmdutil.Output{}, err
	}
	code := exit.ExitRefused
	if p.Handled || p.Kind == recovery.NothingLost {
		code = exit.ExitDone
	}
	v, err := recovery.NewPlanView(env.Metadata(key), read.seen.Now, p, read.warnings).Sealed()
	if err != nil {
		return cmdutil.Output{}, err
	}
	return cmdutil.Output{Warnings: v.Warnings, Code: code, Printable: format.Printable{
		Document: v, Names: []string{"recoveryplan/" + p.Digest},
		Table: func(w io.Writer) error { return ui.WriteRecoveryPlan(w, v) },
	}}, nil
}

// readPlan reads the file of --plan.
func readPlan(path string, key types.NamespacedName) (recovery.Plan, error) {
	if path == "" {
		return recovery.Plan{}, exit.Usage(errors.New("--plan is required: a file that recover plan -o json printed"))
	}
	var v recovery.PlanView
	if err := apply.ReadDocument(path, "RecoveryPlan", "a recovery plan", &v); err != nil {
		return recovery.Plan{}, err
	}
	if err := v.Plan.Check(key.Name, key.Namespace); err != nil {
		return recovery.Plan{}, exit.Usage(fmt.Errorf("%s cannot be applied: %w (nothing was changed)", path, err))
	}
	return v.Plan, nil
}
