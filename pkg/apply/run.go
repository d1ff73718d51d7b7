package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
)

// Run holds the passes of one command over one cluster.
type Run struct {
	Env       *session.Env
	Key       types.NamespacedName
	Session   session.Session
	StageList []plan.Stage
	Seed      uint64
	Gates     live.GateOptions
	// Command carries out what a preview shows.
	Command []string
	// readsNodes includes nodes regardless of the spec's rules.
	readsNodes bool
	// given is for the first observation.
	given live.Given
	// lockless is true for commands that never need the database lock.
	lockless bool
	// ResourceKind is the kind of the resource if it is not a cluster.
	ResourceKind *session.ResourceKind
	// begins is true if passes that the command does not run have to complete what it is for.
	begins bool
	// Seen is the snapshot of the last preview, and lease the name of its Lease.
	Seen  Identity
	Lease string
	// readsOnly marks a preview for a read-only command: it accepts any valid spec.
	readsOnly bool
	// proposal is the change of the resource that nothing has stored yet; nil for none.
	proposal *proposal.Change
	// observed is what the last preview observed.
	observed seen
}

func (r *Run) Open(ctx context.Context, key types.NamespacedName) (err error) {
	r.Key, r.Env.Run.About = key, key
	if r.ResourceKind != nil {
		r.Session, err = r.ResourceKind.Connect(r.Env, key)
		return err
	}
	r.Session, err = r.Env.Connect(ctx, key)
	if err != nil {
		return err
	}
	if r.readsNodes {
		r.Session.ReadNodes()
	}
	r.Session.UseFirst(r.given)
	return nil
}

// Preview decides all stages and changes nothing.
func (r *Run) Preview(ctx context.Context) (planned.PlanView, reconcile.PassDone, error) {
	recorder, beat := &planned.PlanRecorder{}, &session.Heartbeat{Env: r.Env}
	r.Seen, r.observed = Identity{}, seen{}
	defer beat.Start()()
	p := r.pass(all(recorder.Report, beat.Report, r.remember, r.observed.report))
	done, err := p.Run(ctx)
	view := recorder.View(r.Env.Metadata(r.ResourceKind.Named(r.Key)))
	view.Command, view.Seed = r.Command, strconv.FormatUint(r.Seed, 10)
	if r.proposal != nil {
		if view.Proposed = r.proposal.View(); view.Proposed.New { // the UID of a dry run is that of no resource
			view.Observed.UID, view.Observed.ResourceVersion = "", ""
		}
	}
	view.Changes, view.Privileges = planned.SettingChanges(r.observed.snapshot), planned.Privileges(r.observed.snapshot)
	return view, done, err
}

// remember keeps the first snapshot of a preview.
func (r *Run) remember(e reconcile.Event) {
	if o, ok := e.(reconcile.Observed); ok && r.Seen == (Identity{}) {
		r.Seen, _ = identityOf(o.Snapshot)
		r.Lease = leaseOf(o.Snapshot)
	}
}

// stages are those of the command, after a check of pod templates where the run has restrictions.
func (r *Run) stages() []plan.Stage {
	restrictions := session.TemplateRestrictions(r.Env)
	switch {
	case r.ResourceKind == nil:
		return stages.Restricted(restrictions, r.StageList)
	case r.ResourceKind.Restricted != nil:
		return r.ResourceKind.Restricted(restrictions, r.StageList)
	default:
		return r.StageList
	}
}

// observer rejects specs that must not be carried out, if the run carries them out.
func (r *Run) observer() reconcile.Observer {
	if r.readsOnly {
		return specObserver{Observer: r.Session, key: r.Key}
	}
	o := specObserver{Observer: r.Session, key: r.Key, stages: r.StageList}
	if r.ResourceKind != nil {
		o.kind = r.ResourceKind.Kind
	}
	return o
}

// pass is a preview until it is given an actor.
func (r *Run) pass(report func(reconcile.Event)) *reconcile.Pass {
	p := &reconcile.Pass{
		Stages: r.stages(), Observer: r.observer(), Seed: r.Seed, Report: report,
		Gates: func(ctx context.Context) ([]plan.Check, error) { return r.Session.Gates(ctx, r.Gates) },
	}
	if r.ResourceKind == nil && !r.lockless {
		p.Known, p.KnownReads = r.lockAllowed, safety.LockAllowedReads
	}
	return p
}

// lockAllowed reads whether this control-plane instance may take the database lock.
func (r *Run) lockAllowed(s plan.Snapshot) []plan.Check {
	return safety.LockAllowed(s, safety.LockRights{
		AllowNameless: r.Env.Run.Overrides[plan.GateLockOwner] != "",
		MendsDenyList: slices.ContainsFunc(r.StageList, clusterstages.MendsDenyList),
	})
}

// AlreadySeen answers a preview from an earlier snapshot, so that both show the same moment and
// the database is queried once.
type AlreadySeen struct {
	session.Session
	Seen plan.Snapshot
}

// Observe implements reconcile.Observer. Budgets are no part of what commands observe, and are read
// for the clusters that request one.
func (a AlreadySeen) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	*into = into.With(facets&(plan.Everything|plan.Namespace)&^plan.DisruptionBudgets, a.Seen)
	if requested, err := plan.OptedIn(a.Seen.Cluster, plan.AnnotationDisruptionBudgets); facets&plan.DisruptionBudgets != 0 && (requested || err != nil) {
		if err := a.Session.Observe(ctx, into, plan.DisruptionBudgets); err != nil {
			return err
		}
	}
	if tried := facets & (plan.Successors | plan.FirstObjects); tried != 0 {
		if err := a.Session.Observe(ctx, into, tried); err != nil {
			return err
		}
	}
	into.Now = a.Seen.Now
	return nil
}

// Preview decides what a full pass would do about the observed snapshot. It changes nothing.
func Preview(ctx context.Context, l session.Observation, env *session.Env, key types.NamespacedName, gates live.GateOptions) (planned.PlanView, error) {
	r := Run{Env: env, Key: key, Session: AlreadySeen{l.Session, l.Seen}, StageList: stages.Cluster(), Seed: env.Random(), Gates: gates, Command: []string{"reconcile", key.Name}, readsOnly: true}
	view, _, err := r.Preview(ctx)
	return view, err
}

// specObserver rejects a spec that the stages of a pass must not carry out, as soon as it is
// read: before the first action.
type specObserver struct {
	reconcile.Observer
	key types.NamespacedName
	// kind is that of the resource. Default FoundationDBCluster.
	kind   string
	stages []plan.Stage
}

// Observe implements reconcile.Observer.
func (o specObserver) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if err := o.Observer.Observe(ctx, into, facets); err != nil {
		return err
	}
	if facets&(plan.ClusterResource|plan.Backup|plan.Restore) == 0 {
		return nil
	}
	errs := []error{invalid(*into, o.stages)}
	if into.Cluster != nil {
		errs = append(errs, objects.ValidateForStages(into.Cluster, o.stages))
	}
	if err := errors.Join(errs...); err != nil {
		return &reconcile.InvalidSpecError{Err: &live.InvalidResourceError{Key: o.key, Err: err, Kind: o.kind}}
	}
	return nil
}

// MayCarryOut rejects a spec at the start that a pass would reject when it reads it.
func MayCarryOut(e *session.Env, c *v1beta2.FoundationDBCluster, from []plan.Stage) error {
	err := errors.Join(c.Validate(), objects.ValidateForStages(c, from))
	if err == nil {
		return nil
	}
	return exit.Usage(fmt.Errorf("FoundationDBCluster %s in namespace %s is invalid: %w", c.Name, c.Namespace, err),
		e.KubectlIn(c.Namespace, "edit", "foundationdbcluster", c.Name))
}

// invalid returns the errors of a spec that stages need; nil where they do the same whatever it has.
func invalid(s plan.Snapshot, from []plan.Stage) error {
	if !plan.NeedsSpec(from) {
		return nil
	}
	return plan.InvalidSpecError(s.InvalidSpec)
}
