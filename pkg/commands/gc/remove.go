package gc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/orphans"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// remove removes what was approved, prints the result, and returns what was not removed.
func (o options) remove(ctx context.Context, env *session.Env, approved findings) error {
	now, err := o.removeObjects(ctx, env, approved)
	if err != nil {
		o.audit(env, now) // what was removed until then
		return err
	}
	waits, err := o.endExclusions(ctx, env, now)
	o.audit(env, now)
	if printing := o.print(env, env.Out, now.view); printing != nil || err != nil {
		return errors.Join(err, printing)
	}
	var failed []string
	removed := 0
	for _, i := range now.view.Items {
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
	case waits != "":
		return &exit.Error{Code: exit.ExitWaiting, Err: fmt.Errorf("exclusions cannot end yet: %s", waits)}
	}
	return nil
}

// removeObjects reads everything again, under the Lease where there is a cluster, and deletes the objects.
func (o options) removeObjects(ctx context.Context, env *session.Env, approved findings) (now findings, err error) {
	if s := approved.session; s != nil {
		if err := s.Begin(ctx); err != nil {
			return findings{}, err
		}
		defer func() { err = errors.Join(err, s.End(context.WithoutCancel(ctx))) }()
	}
	if now, err = o.read(ctx, env, approved.key); err != nil {
		return findings{}, err
	}
	if changed := differences(approved.view, now.view); len(changed) > 0 {
		return findings{}, &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("what has no owner changed since it was approved: %s (nothing was changed)", phrase.List(changed))}
	}
	c, err := env.Client()
	if err != nil {
		return findings{}, err
	}
	for n := range now.view.Items {
		item := &now.view.Items[n]
		if item.Verdict != orphans.Remove || item.Kind == orphans.Exclusion {
			continue
		}
		if s := approved.session; s != nil {
			if err := s.Held(ctx); err != nil {
				return now, err
			}
		}
		item.Outcome = orphans.Removed
		if err := deleteObject(ctx, c, now.key.Namespace, *item); err != nil {
			item.Outcome, item.Error = orphans.Failed, err.Error()
			env.Logf("warning: %s/%s is not removed: %s", item.Kind, item.Name, err)
		}
	}
	return now, nil
}

// differences returns the removable items that only one of two views has.
func differences(before, now orphans.View) (keys []string) {
	has := func(v orphans.View, key string) bool {
		return slices.ContainsFunc(v.Removable(), func(i orphans.Item) bool { return i.Key() == key })
	}
	for _, i := range append(before.Removable(), now.Removable()...) {
		if !has(before, i.Key()) || !has(now, i.Key()) {
			keys = append(keys, string(i.Kind)+"/"+i.Name)
		}
	}
	return keys
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

// deleteObject deletes an object that is still the one that was listed, and reads it back.
func deleteObject(ctx context.Context, c client.Client, namespace string, i orphans.Item) error {
	object, err := objectOf(i.Kind)
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: namespace, Name: i.Name}
	object.SetNamespace(namespace)
	object.SetName(i.Name)
	uid := types.UID(i.UID)
	if err := c.Delete(ctx, object, client.Preconditions(metav1.Preconditions{UID: &uid, ResourceVersion: &i.ResourceVersion})); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %s: %w", i.Kind, i.Name, err)
	}
	switch err := c.Get(ctx, key, object); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("read %s %s after it was deleted: %w", i.Kind, i.Name, err)
	case object.GetUID() == uid && object.GetDeletionTimestamp() == nil:
		return fmt.Errorf("%s %s exists after it was deleted", i.Kind, i.Name)
	}
	return nil
}

// endExclusions ends exclusions as include does, by its rules, and reads them back. It returns why some
// cannot end yet.
func (o options) endExclusions(ctx context.Context, env *session.Env, now findings) (waits string, err error) {
	var targets []string
	for _, i := range now.view.Removable() {
		if i.Kind == orphans.Exclusion {
			targets = append(targets, i.Name)
		}
	}
	if len(targets) == 0 {
		return "", nil
	}
	var holds []string
	p := reconcile.Pass{
		Stages: stages.Including(operations.Inclusion{Targets: targets}), Observer: now.session, Actor: now.session, Seed: env.Random(),
		Gates: func(ctx context.Context) ([]plan.Check, error) {
			return now.session.Gates(ctx, live.GateOptions{Coexist: o.coexist})
		},
		Report: func(e reconcile.Event) {
			if decided, is := e.(reconcile.StageDecided); is && decided.Hold != nil {
				holds = append(holds, decided.Hold.Text())
			}
		},
	}
	if _, err := p.Run(ctx); err != nil {
		return "", exit.CauseOf(ctx, err)
	}
	var s plan.Snapshot
	if err := now.session.Observe(ctx, &s, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return "", exit.CauseOf(ctx, err)
	}
	for n := range now.view.Items {
		item := &now.view.Items[n]
		switch {
		case item.Kind != orphans.Exclusion || item.Verdict != orphans.Remove:
		case s.Database.Status == nil:
			item.Outcome, item.Error = orphans.Failed, "whether the exclusion has ended is unknown: "+s.Database.Why()
		case !slices.Contains(s.Database.Status.ExcludedTargets(), item.Name):
			item.Outcome = orphans.Removed
		default:
			waits = phrase.Or(strings.Join(slices.Compact(holds), "; "), "the exclusion is still in force")
		}
	}
	return waits, nil
}

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

// audit writes a line per removal.
func (o options) audit(env *session.Env, f findings) {
	path, err := audit.Path(env.Getenv)
	if err != nil {
		env.Logf("warning: no audit file is written: %s", err)
		return
	}
	who, _, _ := strings.Cut(env.Holder, " (")
	of := audit.Run{
		RunID: env.RunID, Who: who, Context: env.Connection().ContextName(), Namespace: env.About.Namespace, Cluster: env.About.Name, UID: f.uid,
		Command: env.Command(o.words(env.About.Name)...), Reason: o.reason,
	}
	for _, i := range f.view.Items {
		if i.Outcome == "" {
			continue
		}
		e := audit.Entry{Time: env.Clock.Now().UTC(), Run: of, Stage: stageGC, Action: "Remove" + string(i.Kind), Subject: i.Name, Words: fmt.Sprintf("remove %s %s, which has no owner", i.Kind, i.Name), Result: audit.Done}
		if i.Outcome == orphans.Failed {
			e.Result, e.Error = audit.Failed, audit.Kept(i.Error)
		}
		if err := audit.Append(path, e); err != nil {
			env.Logf("warning: no audit file is written: %s", err)
			return
		}
	}
}
