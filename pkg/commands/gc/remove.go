package gc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/orphans"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// removal is a run of gc, once it was approved.
type removal struct {
	options
	env      *session.Env
	approved findings
	with     apply.Stepping
	// now is what was found under the Lease; it has no name before.
	now findings
	// ended is what came of the exclusions; nil before any was ended.
	ended *ended
	// waits is why some exclusions cannot end yet; empty for none.
	waits string
}

// remove removes what was approved, prints the result, and returns what was not removed.
func (o options) remove(ctx context.Context, env *session.Env, approved findings, with apply.Stepping) error {
	r := &removal{options: o, env: env, approved: approved, with: with}
	steps := reconcile.Steps{Prepare: r.steps, Report: r.report, Now: env.Clock.Now, Apart: true}
	if with.Session != nil {
		steps.Actor, steps.Held = with.Session, with.Session.Held
	}
	err := steps.Run(ctx)
	if r.now.key.Name == "" {
		return err
	}
	if r.ended != nil && r.ended.err != nil {
		err = errors.Join(err, r.ended.err)
	}
	if printing := o.print(env, env.Out, r.now.view); printing != nil || err != nil {
		return errors.Join(err, printing)
	}
	return r.verdict()
}

// verdict returns how the removal ended.
func (r *removal) verdict() error {
	var failed []string
	removed := 0
	for _, i := range r.now.view.Items {
		switch i.Outcome {
		case orphans.Removed:
			removed++
		case orphans.Failed:
			failed = append(failed, string(i.Kind)+"/"+i.Name)
		}
	}
	switch {
	case len(failed) > 0 && removed > 0:
		return &exit.Error{Code: exit.ExitPartly, Err: fmt.Errorf("%s not removed: %s", phrase.Count(len(failed), "item"), phrase.List(failed))}
	case len(failed) > 0:
		return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("nothing was removed: %s", phrase.List(failed))}
	case r.waits != "":
		return &exit.Error{Code: exit.ExitWaiting, Err: fmt.Errorf("exclusions cannot end yet: %s", r.waits)}
	}
	return nil
}

// steps reads everything again, under the Lease where there is a cluster, and returns a step per item.
func (r *removal) steps(ctx context.Context) ([]reconcile.Step, error) {
	now, err := r.read(ctx, r.env, r.approved.key)
	if err != nil {
		return nil, err
	}
	if changed := r.approved.view.Differences(now.view); len(changed) > 0 {
		var words []string
		for _, d := range changed {
			words = append(words, d.Message)
		}
		return nil, &exit.Error{Code: exit.ExitConflict, Differences: changed, Err: fmt.Errorf("what has no owner changed since it was shown: %s (nothing was changed)", phrase.List(words))}
	}
	r.now = now
	var steps []reconcile.Step
	for n := range r.now.view.Items {
		if item := &r.now.view.Items[n]; item.Verdict == orphans.Remove {
			steps = append(steps, r.step(item))
		}
	}
	return steps, nil
}

// step removes an item and notes what came of it.
func (r *removal) step(i *orphans.Item) reconcile.Step {
	do := r.deleteObject
	if i.Kind == orphans.Exclusion {
		do = r.endExclusion
	}
	return reconcile.Step{
		Kind: "Remove" + string(i.Kind), Subject: i.Name, Words: fmt.Sprintf("remove %s %s, which has no owner", i.Kind, i.Name),
		Do: func(ctx context.Context) error {
			err := do(ctx, *i)
			_, waits := errors.AsType[*reconcile.NotYetError](err)
			switch {
			case err == nil:
				i.Outcome = orphans.Removed
			case waits:
				r.waits = err.Error()
			default:
				i.Outcome, i.Error = orphans.Failed, err.Error()
				r.env.Logf("warning: %s/%s is not removed: %s", i.Kind, i.Name, err)
			}
			return err
		},
	}
}

// report records a step, unless it only has to wait.
func (r *removal) report(s reconcile.Step, began time.Time, err error) {
	if _, waits := errors.AsType[*reconcile.NotYetError](err); !waits {
		r.with.Report(s, began, err)
	}
}

// objectOf returns an empty object of a kind.
func objectOf(kind orphans.Kind) (client.Object, error) {
	switch kind {
	case orphans.Pod:
		return &corev1.Pod{}, nil
	case orphans.PVC:
		return &corev1.PersistentVolumeClaim{}, nil
	case orphans.Service:
		return &corev1.Service{}, nil
	case orphans.ConfigMap:
		return &corev1.ConfigMap{}, nil
	case orphans.Lease:
		return &coordinationv1.Lease{}, nil
	default:
		return nil, fmt.Errorf("%s is no object", kind)
	}
}

// deleteObject deletes an object that is still the one that was listed, and reads it back. Once requested, it is read
// back also after an interruption.
func (r *removal) deleteObject(ctx context.Context, i orphans.Item) error {
	ctx = context.WithoutCancel(ctx)
	c, err := r.env.Client()
	if err != nil {
		return err
	}
	object, err := deleted(ctx, c, r.now.key.Namespace, i)
	if err != nil {
		return err
	}
	switch err := c.Get(ctx, client.ObjectKeyFromObject(object), object); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("read %s %s after it was deleted: %w", i.Kind, i.Name, err)
	case object.GetUID() == types.UID(i.UID) && object.GetDeletionTimestamp() == nil:
		return fmt.Errorf("%s %s exists after it was deleted", i.Kind, i.Name)
	}
	return nil
}

// deleted deletes an object if it is still the one that was listed.
func deleted(ctx context.Context, c client.Client, namespace string, i orphans.Item, options ...client.DeleteOption) (client.Object, error) {
	object, err := objectOf(i.Kind)
	if err != nil {
		return nil, err
	}
	object.SetNamespace(namespace)
	object.SetName(i.Name)
	uid := types.UID(i.UID)
	options = append(options, client.Preconditions(metav1.Preconditions{UID: &uid, ResourceVersion: &i.ResourceVersion}))
	if err := c.Delete(ctx, object, options...); err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("delete %s %s: %w", i.Kind, i.Name, err)
	}
	return object, nil
}

// tryOut submits the deletions as a server dry run.
func tryOut(ctx context.Context, env *session.Env, found findings) (apply.Tried, error) {
	c, err := env.Client()
	if err != nil {
		return apply.Tried{}, err
	}
	items := found.view.Removable()
	t := apply.Tried{All: len(items), Beyond: "exclusions"}
	for _, i := range items {
		if i.Kind != orphans.Exclusion {
			_, err := deleted(ctx, c, found.key.Namespace, i, client.DryRunAll)
			t.Add(string(i.Kind)+"/"+i.Name, err)
		}
	}
	return t, nil
}

// ended is what came of ending exclusions.
type ended struct {
	database plan.DatabaseFacts
	holds    []string
	err      error
}

// endExclusion ends an exclusion as include does, by its rules, and reads it back. All of them end together.
func (r *removal) endExclusion(ctx context.Context, i orphans.Item) error {
	if r.ended == nil {
		r.ended = &ended{}
		r.ended.err = r.endAll(ctx)
	}
	switch {
	case r.ended.err != nil:
		return r.ended.err
	case r.ended.database.Status == nil:
		return errors.New("whether the exclusion has ended is unknown: " + r.ended.database.Why())
	case slices.Contains(r.ended.database.Status.ExcludedTargets(), i.Name):
		return &reconcile.NotYetError{Err: errors.New(phrase.Or(strings.Join(slices.Compact(r.ended.holds), "; "), "the exclusion is still in force"))}
	default:
		return nil
	}
}

func (r *removal) endAll(ctx context.Context) error {
	var targets []string
	for _, i := range r.now.view.Removable() {
		if i.Kind == orphans.Exclusion {
			targets = append(targets, i.Name)
		}
	}
	s := r.with.Session
	p := reconcile.Pass{
		Stages: stages.Including(operations.Inclusion{Targets: targets}), Observer: s, Actor: underLease{s}, Seed: r.env.Random(), Gates: r.with.Gates,
		Report: func(e reconcile.Event) {
			if decided, is := e.(reconcile.StageDecided); is && decided.Hold != nil {
				r.ended.holds = append(r.ended.holds, decided.Hold.Text())
			}
		},
	}
	if done, err := p.Run(ctx); err != nil || done.Stopped != nil {
		return exit.CauseOf(ctx, cmp.Or(err, done.Stopped))
	}
	var now plan.Snapshot
	if err := s.Observe(ctx, &now, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return exit.CauseOf(ctx, err)
	}
	r.ended.database = now.Database
	return nil
}

// underLease is an actor of a pass that runs as a step: the Lease is taken already, and released after the last step.
type underLease struct{ session.Session }

// Begin implements reconcile.Actor.
func (u underLease) Begin(ctx context.Context) error { return u.Held(ctx) }

// End implements reconcile.Actor.
func (underLease) End(context.Context) error { return nil }

// stageGC names removals in the audit, where other changes have the stage of a pass.
const stageGC plan.StageName = "GC"

// words are those of the command that removes the same.
func (o options) words(cluster string) []string {
	words := []string{"gc", cluster}
	if len(o.pvcs) > 0 {
		words = append(words, "--pvc", strings.Join(o.pvcs, ","))
	}
	return words
}
