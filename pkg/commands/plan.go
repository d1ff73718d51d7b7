package commands

import (
	"context"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// planOptions are the options of `kubectl fdb plan`.
type planOptions struct {
	clusterFlag
	stageFlags
	outputFlags
	coexist bool
	// server validates the plan with the API server.
	server bool
	// withBackups also plans for the cluster's backups and restores.
	withBackups bool
}

func newPlan(env *Env) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:     "plan [CLUSTER | fdbbackup/NAME | fdbrestore/NAME]",
		Aliases: []string{"diff"},
		Short:   "Preview the actions of a reconcile pass",
		Long: `Preview the actions of a reconcile pass, with their reasons. Nothing is changed.

The output of -o json can be approved and applied: reconcile --plan FILE executes the
actions of the file and nothing else, and fails if the cluster state has changed since.

Exit code 0: nothing to do. 1: something to do. 2 and more: see docs/exit-codes.md.`,
		Example: `  # Preview a pass
  kubectl fdb plan sample-cluster

  # In CI: save the plan, and check whether the cluster differs from its spec
  kubectl fdb plan sample-cluster -o json > plan.json

  # Apply the plan after its approval
  kubectl fdb reconcile sample-cluster --plan plan.json --yes

  # Preview a pass over a backup
  kubectl fdb plan fdbbackup/sample-backup`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.stageFlags.add(cmd)
	cmd.Flags().BoolVar(&o.coexist, "coexist", false, "If true, plan a pass with --coexist, which acts although an operator manages the cluster")
	cmd.Flags().BoolVar(&o.withBackups, "with-backups", false, "If true, also plan for all backups of the cluster, then for all restores into it")
	o.outputFlags.add(cmd)
	return cmd
}

func (o planOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if kind, name := recordKindOf(args); kind != nil && o.withBackups {
		return usagef("--with-backups requires a cluster: it includes %s/%s", kind.short, name)
	} else if kind != nil {
		return o.runOn(ctx, env, kind, name)
	}
	asked := reconcileOptions{stageFlags: o.stageFlags, withBackups: o.withBackups, changeFlags: changeFlags{coexist: o.coexist}}
	if err := asked.checkTogether(); err != nil {
		return err
	}
	selected, err := o.stages()
	if err != nil {
		return err
	}
	record, err := env.cluster(ctx, args, o.name, reads)
	if err != nil {
		return err
	}
	if err := env.mayCarryOut(record, selected); err != nil {
		return err
	}
	if o.withBackups {
		return env.planTogether(ctx, types.NamespacedName{Namespace: record.Namespace, Name: record.Name}, asked, o)
	}
	return o.of(ctx, env, types.NamespacedName{Namespace: record.Namespace, Name: record.Name}, nil, selected)
}

// runOn plans a pass over a backup or a restore.
func (o planOptions) runOn(ctx context.Context, env *Env, kind *recordKind, name string) error {
	selected, err := o.stagesOn(kind, name, o.name)
	if err != nil {
		return err
	}
	namespace, err := env.namespace()
	if err != nil {
		return err
	}
	return o.of(ctx, env, types.NamespacedName{Namespace: namespace, Name: name}, kind, selected)
}

// of shows what a pass over one resource would do; kind is nil for a cluster.
func (o planOptions) of(ctx context.Context, env *Env, key types.NamespacedName, kind *recordKind, selected []plan.Stage) error {
	r := run{
		env: env, stageList: selected, seed: env.Random(), gates: live.GateOptions{Coexist: o.coexist},
		command: o.command(kind.named(key).Name), record: kind,
	}
	if err := r.open(ctx, key); err != nil {
		return err
	}
	return r.showPlan(ctx, o)
}

// command returns the command that carries out the plan.
func (o planOptions) command(cluster string) []string {
	r := reconcileOptions{stageFlags: o.stageFlags, changeFlags: changeFlags{coexist: o.coexist}}
	return change{changeFlags: r.changeFlags, words: r.words(cluster)}.command()
}

// showPlan prints what a pass would do, and reports whether it would do anything.
func (r *run) showPlan(ctx context.Context, o planOptions) error {
	view, done, err := r.preview(ctx)
	if err != nil {
		return causeOf(ctx, err)
	}
	if err := o.show(r.env, view); err != nil {
		return err
	}
	if o.server && len(view.Items) > 0 {
		if err := r.tryOut(ctx, view); err != nil {
			return causeOf(ctx, err)
		}
	}
	return planEnd(view, done)
}

func (o planOptions) show(env *Env, v planned.PlanView) error {
	return o.print(env.Out, printable{document: v, names: subjectsOf(v), table: func(w io.Writer) error {
		return ui.WritePlan(w, v, ui.PlanOptions{Paint: env.paint(w), Wide: o.format == "wide", NoHeaders: o.noHeaders})
	}})
}

// subjectsOf returns the subjects of the plan's actions by kind.
func subjectsOf(v planned.PlanView) []string {
	var names []string
	for _, item := range v.Items {
		names = append(names, item.Kind+"/"+item.Subject)
	}
	return names
}

// planEnd returns the end of a plan command: the answer to "is there anything to do?", unless
// no plan could be made.
func planEnd(v planned.PlanView, done reconcile.PassDone) error {
	failed := done.Outcome == reconcile.Failed || done.Stopped != nil
	switch {
	case failed:
		return &failure{code: passCode(done), err: failureOf(done), printed: true}
	case len(v.Items) > 0, len(v.Holds) > 0:
		return answer{ExitNo}
	default:
		return nil
	}
}

// run holds the passes of one command over one cluster.
type run struct {
	env       *Env
	key       types.NamespacedName
	session   Session
	stageList []plan.Stage
	seed      uint64
	gates     live.GateOptions
	// command carries out what a preview shows.
	command []string
	// readsNodes includes nodes regardless of the spec's rules.
	readsNodes bool
	// lockless is true for commands that never need the database lock.
	lockless bool
	// record is the kind of the resource if it is not a cluster.
	record *recordKind
	// seen is the snapshot of the last preview, and lease the name of its Lease.
	seen  identity
	lease string
	// readsOnly marks a preview for a read-only command: it accepts any valid spec.
	readsOnly bool
}

func (r *run) open(ctx context.Context, key types.NamespacedName) (err error) {
	r.key, r.env.about = key, key
	if r.record != nil {
		r.session, err = r.record.connect(r.env, key)
		return err
	}
	r.session, err = r.env.Connect(ctx, key)
	if err == nil && r.readsNodes {
		r.session.ReadNodes()
	}
	return err
}

// preview decides all stages and changes nothing.
func (r *run) preview(ctx context.Context) (planned.PlanView, reconcile.PassDone, error) {
	recorder, beat := &planned.PlanRecorder{}, &heartbeat{env: r.env}
	r.seen = identity{}
	defer beat.start()()
	p := r.pass(all(recorder.Report, beat.report, r.remember))
	done, err := p.Run(ctx)
	view := recorder.View(r.env.metadata(r.record.named(r.key)))
	view.Command, view.Seed = r.command, strconv.FormatUint(r.seed, 10)
	return view, done, err
}

// remember keeps the first snapshot of a preview.
func (r *run) remember(e reconcile.Event) {
	if o, ok := e.(reconcile.Observed); ok && r.seen == (identity{}) {
		r.seen, _ = identityOf(o.Snapshot)
		r.lease = leaseOf(o.Snapshot)
	}
}

// observer rejects specs that must not be carried out, if the run carries them out.
func (r *run) observer() reconcile.Observer { //nolint:ireturn // two kinds of observers
	if r.readsOnly {
		return r.session
	}
	return specObserver{Observer: r.session, key: r.key, stages: r.stageList}
}

// pass is a preview until it is given an actor.
func (r *run) pass(report func(reconcile.Event)) *reconcile.Pass {
	p := &reconcile.Pass{
		Stages: r.stageList, Observer: r.observer(), Seed: r.seed, Report: report,
		Gates: func(ctx context.Context) ([]plan.Check, error) { return r.session.Gates(ctx, r.gates) },
	}
	if r.record == nil && !r.lockless {
		p.Known, p.KnownReads = r.lockAllowed, safety.LockAllowedReads
	}
	return p
}

// lockAllowed reads whether this control-plane instance may take the database lock.
func (r *run) lockAllowed(s plan.Snapshot) []plan.Check {
	return safety.LockAllowed(s, safety.LockRights{
		AllowNameless: r.env.Overrides[plan.GateLockOwner] != "",
		MendsDenyList: slices.ContainsFunc(r.stageList, clusterstages.MendsDenyList),
	})
}
