package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery/execute"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// defaultTimeout bounds a run: a monitor restarts a process that ended soon after its start only
// after a minute.
const defaultTimeout = 10 * time.Minute

// applyOptions are the options of `kubectl fdb recover apply`.
type applyOptions struct {
	session.ClusterFlag
	plan    string
	reason  string
	confirm string
	yes     bool
	coexist bool
	timeout time.Duration
}

func newApply(env *session.Env) *cobra.Command {
	var o applyOptions
	cmd := session.Declare(session.Declaration{
		Effect: session.EffectChanges,
		Needs: func() []session.Requirement {
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

Passes and other changing commands cannot run at the same time.`,
		Example: `  # Carry out a reviewed plan
  kubectl fdb recover apply sample-cluster --plan recovery.json

  # In a pipeline
  kubectl fdb recover apply sample-cluster --plan recovery.json --yes --reason "incident 4711"

  # In a pipeline, with a plan that declares data for lost
  kubectl fdb recover apply sample-cluster --plan recovery.json --yes --confirm sample-cluster --reason "incident 4711"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.Completion().FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	o.Add(cmd, env)
	flags := cmd.Flags()
	flags.StringVar(&o.plan, "plan", "", "file with the plan")
	flags.StringVar(&o.reason, "reason", "", "reason of the change, for the audit")
	flags.StringVar(&o.confirm, "confirm", "", "name of the cluster, to confirm a loss of data if stdin is not a terminal")
	flags.BoolVarP(&o.yes, "yes", "y", false, "If true, approve without a prompt")
	flags.BoolVar(&o.coexist, "coexist", false, "If true, act although an operator manages the cluster")
	flags.DurationVar(&o.timeout, "timeout", defaultTimeout, "maximum time to wait (exit code 3)")
	session.AtLeast(cmd, "timeout", session.Positive)
	return cmd
}

func (o applyOptions) run(ctx context.Context, env *session.Env, args []string) error {
	cluster, err := env.Cluster(ctx, args, o.Name, session.Writes)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	env.About = key
	p, err := readPlan(o.plan, key)
	if err != nil {
		return err
	}
	if err := specUsable(env, cluster, p); err != nil {
		return err
	}
	if err := o.confirmMatches(p); err != nil {
		return err
	}
	needs := session.ReconcilePermissions()
	if len(p.Bind) > 0 {
		needs = append(needs, session.VolumePermissions()...)
	}
	if err := session.MayDo(ctx, env, key.Namespace, needs); err != nil {
		return err
	}
	ctx, stop := session.WithTimeout(ctx, env.Clock, o.timeout)
	defer stop()
	current, err := read(ctx, env, key)
	if err != nil {
		return err
	}
	if err := o.allowed(ctx, env, current, p); err != nil {
		return err
	}
	if err := templatesAllowed(session.TemplateRestrictions(env), current.seen.Cluster, p); err != nil {
		return err
	}
	if err := o.approved(ctx, env, current, p); err != nil {
		return err
	}
	return o.carryOut(ctx, env, current, p)
}

// allowed refuses before the prompt what would be refused after it.
func (o applyOptions) allowed(ctx context.Context, env *session.Env, current reading, p recovery.Plan) error {
	if err := apply.Audited(env); err != nil {
		return err
	}
	if moved := p.Moved(current.facts); len(moved) > 0 {
		return stale(&execute.MovedError{Differences: moved})
	}
	checks, err := current.session.Gates(ctx, live.GateOptions{Coexist: o.coexist})
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	for _, c := range checks {
		if !c.OK {
			return &reconcile.RefusedError{Check: c}
		}
	}
	return nil
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

// approved shows the plan and prompts, unless --yes approves it.
func (o applyOptions) approved(ctx context.Context, env *session.Env, current reading, p recovery.Plan) error {
	if p.LosesData() {
		return o.lossApproved(ctx, env, current, p)
	}
	if o.yes {
		return nil
	}
	if !env.Prompt().Interactive() {
		return &exit.Error{Code: exit.ExitUnconfirmed, Err: errors.New("stdin is not a terminal: use --yes to confirm (nothing was changed)")}
	}
	v := recovery.NewPlanView(env.Metadata(env.About), current.seen.Now, p, current.warnings)
	if err := ui.WriteRecoveryPlan(env.ErrOut, v); err != nil {
		return err
	}
	return env.Prompt().Confirm(ctx, fmt.Sprintf("Carry out plan %s?", p.Digest))
}

func (o applyOptions) carryOut(ctx context.Context, env *session.Env, current reading, p recovery.Plan) error {
	run := execute.Run{
		Cluster: current.session, Tool: env.Tool, Clock: env.Clock, Report: o.reporter(env, p), Held: current.session.Held,
		Read: func(ctx context.Context) (recovery.Facts, plan.Snapshot, error) {
			r, err := read(ctx, env, env.About)
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
		return &exit.Error{Code: exit.Code(exit.CauseOf(ctx, err)), Err: err, Hints: []string{"continue with the same plan: " + env.Command("recover", "apply", p.Cluster, "--plan", o.plan)}}
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

// reporter prints each step, and writes it to the audit file.
func (o applyOptions) reporter(env *session.Env, p recovery.Plan) func(recovery.Step, time.Time, error) {
	who, _, _ := strings.Cut(env.Holder, " (")
	of := audit.Run{
		RunID: env.RunID, Who: who, Context: env.Connection().ContextName(), Namespace: p.Namespace, Cluster: p.Cluster, UID: types.UID(p.Basis.UID),
		Command: env.Command("recover", "apply", p.Cluster, "--plan", o.plan), Reason: o.reason, Plan: p.Digest,
	}
	path, err := audit.Path(env.Getenv)
	if err != nil {
		env.Logf("warning: no audit file is written: %s", err)
	}
	return func(step recovery.Step, began time.Time, err error) {
		now := env.Clock.Now()
		e := audit.Entry{Time: now.UTC(), Run: of, Stage: stageRecover, Action: string(step), Subject: p.Cluster, Words: ui.RecoveryStep(step), Result: audit.Done, TookSeconds: now.Sub(began).Seconds()}
		if err != nil {
			e.Result, e.Error = audit.Failed, audit.Kept(err.Error())
		} else {
			fmt.Fprintf(env.Out, "%-20s did      %s\n", step, ui.RecoveryStep(step))
		}
		if path == "" {
			return
		}
		if err := audit.Append(path, e); err != nil {
			path = ""
			env.Logf("warning: no audit file is written: %s", err)
		}
	}
}

// stageRecover names recoveries in the audit, where other changes have the stage of a pass.
const stageRecover plan.StageName = "Recover"

// bindingVolumes returns what is required to bind PVCs to released volumes again.
func bindingVolumes() []session.Requirement {
	return cmdutil.Everywhere(cmdutil.Optional("released volumes cannot be bound again", session.VolumePermissions()...))
}
