package commands

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/metrics"
)

// watching is `reconcile --watch`: continuous passes until the user ends it.
type watching struct {
	*passes
	watchFlags
	pace      *pace.Pace
	notifier  *changeNotifier
	follows   Follower
	liveness  *metrics.Pulse
	ending    pace.Ending  // how the last pass ended
	resources *resourceSet // the cluster's backups and restores; nil where it is about the cluster alone
	lastState string       // the last printed state
}

// errClusterDeleted ends a watch whose cluster was deleted.
var errClusterDeleted = errors.New("the cluster was deleted")

// watchOver runs passes at every change, until a signal or the deletion of the cluster.
func (e *Env) watchOver(ctx context.Context, key types.NamespacedName, c change, flags watchFlags) error {
	p, err := e.passesOver(ctx, key, c)
	if err != nil {
		return err
	}
	return e.watchPasses(ctx, &watching{passes: p, watchFlags: flags})
}

func (e *Env) watchPasses(ctx context.Context, w *watching) error {
	if w.dry() { // must not act in a dry run
		return usagef("--dry-run conflicts with --watch")
	}
	w.pace, w.notifier, w.liveness = &pace.Pace{Interval: w.interval, Resync: w.resync}, newChangeNotifier(), &metrics.Pulse{}
	if err := w.agree(ctx); err != nil {
		return causeOf(ctx, err)
	}
	stop, err := w.prepare(ctx)
	if err != nil {
		return err
	}
	defer stop()
	for {
		if err := w.one(ctx); err != nil {
			return w.conclude(ctx, err)
		}
		w.printEnding()
		if err := w.rest(ctx, w.pace.After(w.ending, w.retryAfter())); err != nil {
			return w.conclude(ctx, err)
		}
	}
}

// agree prompts for approval of all that later passes may do: there is no prompt once a watch
// has made changes.
func (w *watching) agree(ctx context.Context) error {
	const question = "Apply these changes, and those of later passes, without another prompt?"
	if w.approved.everything {
		return nil
	}
	if w.resources != nil {
		return w.resources.agreeForGood(ctx, question)
	}
	view, err := w.show(ctx)
	if err != nil {
		return err
	}
	if err := w.env.agrees(ctx, view, question); err != nil {
		return err
	}
	w.approved.everything = true
	return nil
}

// prepare starts what runs concurrently with passes. The returned function ends it.
func (w *watching) prepare(ctx context.Context) (stop func(), err error) {
	if w.resources == nil { // otherwise they report under their names
		w.report = w.reporter()
	}
	facets := facetsOf(w.stageList) | plan.Record
	if w.resources != nil {
		facets |= w.resources.followable(ctx)
	}
	w.follows, err = w.env.Follow(w.key, facets, w.notifier.notify, w.trouble())
	if err != nil {
		return nil, err
	}
	w.report = all(w.report, w.alive, w.followRecord(ctx))
	if w.metricsAddr == "" {
		return w.follows.Stop, nil
	}
	counts := metrics.New(w.key.Name, w.key.Namespace, w.env.Clock.Now)
	w.liveness.Beat(w.env.Clock.Now())
	address, end, err := metrics.Serve(ctx, w.metricsAddr, metrics.Handler(counts, w.liveness))
	if err != nil {
		return nil, usage(err, "set another address with --metrics-addr")
	}
	w.env.logf("metrics on http://%s/metrics", address)
	w.report = all(w.report, counts.Report)
	return func() { w.follows.Stop(); end() }, nil
}

// alive takes every event as a sign of life.
func (w *watching) alive(reconcile.Event) { w.liveness.Beat(w.env.Clock.Now()) }

// followRecord watches what belongs to the cluster as each pass has read it.
func (w *watching) followRecord(ctx context.Context) func(reconcile.Event) {
	return func(e reconcile.Event) {
		if o, ok := e.(reconcile.Observed); ok && o.Facets&plan.Record != 0 && o.Snapshot.Cluster != nil {
			w.follows.Follow(ctx, o.Snapshot.Cluster)
		}
	}
}

// trouble reports that changes of a facet are not seen.
func (w *watching) trouble() func(plan.Facet, error) {
	spoken := newReported()
	return func(facet plan.Facet, err error) {
		if spoken.due(facet, w.env.Clock.Now()) {
			w.env.logf("watching %s: %s; changes are only seen every %s", facet, explain(err), w.resync)
		}
	}
}

// one runs one pass. The error is one that ends the watch: a signal, or the deletion of the
// cluster. If the Lease could not be released, only the pass failed: the next one still holds
// it.
func (w *watching) one(ctx context.Context) error {
	w.kept = nil
	_ = w.once(ctx) // the context's error, or the one in kept
	switch {
	case ctx.Err() != nil:
		return causeOf(ctx, ctx.Err())
	case isDeleted(w.last):
		return errClusterDeleted
	}
	w.ending = endingOf(w.last, w.kept)
	if w.resources == nil {
		return nil
	}
	return w.resources.follow(ctx)
}

func isDeleted(done reconcile.PassDone) bool {
	var missing *live.NotFoundError
	return errors.As(failureOf(done), &missing)
}

// endingOf classifies how a pass ended, which determines the interval after it.
func endingOf(done reconcile.PassDone, kept error) pace.Ending {
	var held *reconcile.HeldError
	switch {
	case kept != nil:
		return pace.Failed
	case errors.As(failureOf(done), &held) && done.Outcome == reconcile.Waiting:
		return pace.Held
	}
	switch done.Outcome {
	case reconcile.Done:
		if len(done.Housekeeping) > 0 {
			return pace.Waiting
		}
		return pace.Settled
	case reconcile.Changed:
		return pace.Unfinished
	case reconcile.Waiting:
		return pace.Waiting
	case reconcile.Blocked:
		return pace.Blocked
	case reconcile.Failed:
	}
	return pace.Failed
}

// rest waits until the next pass is due.
func (w *watching) rest(ctx context.Context, r pace.Rest) error {
	alarm := pace.NewAlarm(w.env.Clock.Now(), r)
	w.liveness.Rest(alarm.Due(), w.ending == pace.Failed)
	w.print(ui.NewWaitStarted(w.count, w.ending, w.reason(), r, w.env.Clock.Now()))
	for {
		due := alarm.Due()
		woken, err := w.doze(ctx, due.Sub(w.env.Clock.Now()))
		if err != nil {
			return err
		}
		if !woken {
			w.print(ui.NewWaitEnded(w.count, alarm.Woken(), w.notifier.facets()))
			return nil
		}
		alarm.Changed(w.env.Clock.Now(), w.notifier.take()&(plan.Record|plan.Backup|plan.Restore) != 0)
	}
}

// doze waits for d, or for a change.
func (w *watching) doze(ctx context.Context, d time.Duration) (woken bool, err error) {
	timer := w.env.Clock.NewTimer(max(0, d))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, causeOf(ctx, ctx.Err())
	case <-w.notifier.ready:
		return true, nil
	case <-timer.C():
		return false, nil
	}
}
