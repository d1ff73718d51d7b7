package apply

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// watching is `reconcile --watch`: continuous passes until the user ends it.
type watching struct {
	*Passes
	WatchFlags
	pace      *pace.Pace
	notifier  *session.ChangeNotifier
	follows   session.Follower
	telemetry Telemetry
	ending    pace.Ending  // how the last pass ended
	resources *resourceSet // the cluster's backups and restores; nil where it is about the cluster alone
	lastState string       // the last printed state
	cluster   atomic.Value // the types.UID that the last pass has read
}

// leaseLimit bounds a read of the Lease for the metrics: Prometheus waits 10 s for all of them.
const leaseLimit = 5 * time.Second

// errClusterDeleted ends a watch whose cluster was deleted.
var errClusterDeleted = errors.New("the cluster was deleted")

// WatchOver runs passes at every change, until a signal or the deletion of the cluster.
func WatchOver(ctx context.Context, e *session.Env, key types.NamespacedName, c Change, flags WatchFlags) error {
	if err := c.canAsk(e); err != nil {
		return err
	}
	p, err := PassesOver(ctx, e, key, c)
	if err != nil {
		return err
	}
	return watchPasses(ctx, &watching{Passes: p, WatchFlags: flags})
}

func watchPasses(ctx context.Context, w *watching) error {
	if w.dry() { // must not act in a dry run
		return exit.Usagef("--dry-run conflicts with --watch")
	}
	w.pace, w.notifier = &pace.Pace{Interval: w.Interval, Resync: w.Resync}, session.NewChangeNotifier()
	w.changes = newChanges(w.Env, w.notifier)
	w.telemetry = w.Telemetry(w.Key, w.Env.Clock.Now)
	if err := w.agree(ctx); err != nil {
		return exit.CauseOf(ctx, err)
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
		if err := w.wait(ctx, w.pace.After(w.ending, w.retryAfter())); err != nil {
			return w.conclude(ctx, err)
		}
	}
}

// agree prompts for approval of all that later passes may do: there is no prompt once a watch
// has made changes.
func (w *watching) agree(ctx context.Context) error {
	const question = "Apply these changes, and those of later passes, without another prompt?"
	if w.Approved.Everything {
		return nil
	}
	if w.resources != nil {
		return w.resources.agreeForGood(ctx, question)
	}
	view, err := w.show(ctx)
	if err != nil {
		return err
	}
	if err := w.Env.Prompt().Agrees(ctx, view, question); err != nil {
		return err
	}
	w.Approved.Everything = true
	return nil
}

// prepare starts what runs concurrently with passes. The returned function ends it.
func (w *watching) prepare(ctx context.Context) (stop func(), err error) {
	if w.resources == nil { // otherwise they report under their names
		w.report = w.out.Events()
	}
	facets := facetsOf(w.StageList) | plan.ClusterResource
	if w.resources != nil {
		facets |= w.resources.followable(ctx)
	}
	w.follows, err = w.Env.Follow(w.Key, facets, w.notifier.Notify, w.reportWatchProblem())
	if err != nil {
		return nil, err
	}
	w.report = all(w.report, w.beat, w.followResource(ctx))
	endDumps, err := w.dumps(ctx)
	if err != nil {
		w.follows.Stop()
		return nil, err
	}
	endMetrics, err := w.serve(ctx)
	if err != nil {
		w.follows.Stop()
		endDumps()
		return nil, err
	}
	closeReads := w.changes.keepOpen(w.Session)
	return func() { w.follows.Stop(); closeReads(); endMetrics(); endDumps() }, nil
}

// dumps begins to write dumps, if the flags ask for that.
func (w *watching) dumps(ctx context.Context) (end func(), err error) {
	if w.Dumps.Dir == "" {
		return func() {}, nil
	}
	written, failed := w.telemetry.CountDumps()
	report := w.reportDump()
	return w.startDumps(ctx, written, func(err error) { failed(); report(err) })
}

// serve serves the metrics, if the flags ask for that.
func (w *watching) serve(ctx context.Context) (end func(), err error) {
	if w.MetricsAddr == "" {
		return func() {}, nil
	}
	w.telemetry.OperationsFrom(w.leaseReader(ctx))
	w.telemetry.Beat(w.Env.Clock.Now())
	address, end, err := w.telemetry.Serve(ctx, w.MetricsAddr)
	if err != nil {
		return nil, exit.Usage(err, "set another address with --metrics-addr")
	}
	w.Env.Logf("metrics on http://%s/metrics", address)
	w.report = all(w.report, w.telemetry.Report)
	return end, nil
}

// leaseReader returns what reads the Lease of the cluster for the metrics.
func (w *watching) leaseReader(ctx context.Context) func() inspect.Lease {
	return func() inspect.Lease {
		ctx, cancel := context.WithTimeout(ctx, leaseLimit)
		defer cancel()
		uid, known := w.cluster.Load().(types.UID)
		if !known {
			return inspect.Lease{}
		}
		return session.ClusterReader{Env: w.Env, Key: w.Key}.Lease(ctx).Of(uid)
	}
}

// beat takes every event as a sign of life.
func (w *watching) beat(reconcile.Event) { w.telemetry.Beat(w.Env.Clock.Now()) }

// followResource watches what belongs to the cluster as each pass has read it.
func (w *watching) followResource(ctx context.Context) func(reconcile.Event) {
	return func(e reconcile.Event) {
		if o, ok := e.(reconcile.Observed); ok && o.Facets&plan.ClusterResource != 0 && o.Snapshot.Cluster != nil {
			w.cluster.Store(o.Snapshot.Cluster.UID)
			w.changes.followSince(ctx, w.follows)
		}
	}
}

// reportWatchProblem reports that changes of a facet are not seen.
func (w *watching) reportWatchProblem() func(plan.Facet, error) {
	spoken := session.NewReported()
	return func(facet plan.Facet, err error) {
		if spoken.Due(facet, w.Env.Clock.Now()) {
			w.Env.Logf("watching %s: %s; changes are only seen every %s", facet, exit.Explain(err), w.Resync)
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
		return exit.CauseOf(ctx, ctx.Err())
	case isDeleted(w.Last):
		return errClusterDeleted
	}
	w.ending = endingOf(w.Last, w.kept)
	if w.resources == nil {
		return nil
	}
	return w.resources.follow(ctx)
}

func isDeleted(done reconcile.PassDone) bool {
	var missing *live.NotFoundError
	var beyond *reconcile.BeyondPlanError
	return errors.As(failureOf(done), &missing) || errors.As(done.Stopped, &beyond) && beyond.Recreated
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

// wait waits until the next pass is due.
func (w *watching) wait(ctx context.Context, r pace.Wait) error {
	alarm := pace.NewAlarm(w.Env.Clock.Now(), r)
	if w.ending == pace.Failed {
		w.telemetry.RestAfterFailure(alarm.Due())
	} else {
		w.telemetry.Wait(alarm.Due())
	}
	w.out.Document(inspect.NewWaitStarted(w.count, w.ending, w.reason(), r, w.Env.Clock.Now()))
	err := w.Env.Waiting().PauseUntil(ctx, session.Wakeup{
		Due: alarm.Due, News: w.notifier.Ready,
		OnNews: func() {
			alarm.Changed(w.Env.Clock.Now(), w.notifier.Take()&(plan.ClusterResource|plan.Backup|plan.Restore) != 0)
		},
		Poll: w.polls(),
	}, "")
	if err != nil {
		return err
	}
	w.out.Document(inspect.NewWaitEnded(w.count, alarm.Woken(), w.notifier.Facets()))
	return nil
}

// polls returns what polls the database during the wait: only while the last pass waits for something. A watch that has
// nothing to do lasts for weeks, and its resync is often enough.
func (w *watching) polls() func(context.Context) (after time.Duration) {
	if w.ending != pace.Waiting {
		return nil
	}
	return w.changes.polls()
}

// Telemetry counts what a watch does, and serves that.
type Telemetry interface {
	// Report counts an event.
	Report(e reconcile.Event)
	// Beat is a sign of life.
	Beat(now time.Time)
	// Wait announces a wait that ends at a time, after a pass that did not fail.
	Wait(until time.Time)
	// RestAfterFailure announces a wait that ends at a time, after a pass that failed.
	RestAfterFailure(until time.Time)
	// OperationsFrom adds the operation that a Lease records.
	OperationsFrom(read func() inspect.Lease)
	// CountDumps adds dumps, and returns what notes one that was written, with the size of all, and one that could not be.
	CountDumps() (written func(at time.Time, bytes int64), failed func())
	// Serve answers at an address until stop is called. It returns the address that was taken.
	Serve(ctx context.Context, address string) (taken string, stop func(), err error)
}

// NewTelemetry returns the telemetry of a watch over a cluster. Now returns the time.
type NewTelemetry func(key types.NamespacedName, now func() time.Time) Telemetry

// WatchFlags are the flags of --watch.
type WatchFlags struct {
	// Telemetry is set by the command.
	Telemetry NewTelemetry

	Watch       bool
	Resync      time.Duration
	MetricsAddr string
	// Dumps are the dumps that a watch writes.
	Dumps DumpFlags
}

// CheckWatch validates --watch and the flags that go with it.
func (o ReconcileOptions) CheckWatch() error {
	switch {
	case !o.Watch && o.MetricsAddr != "":
		return exit.Usagef("--metrics-addr requires --watch")
	case !o.Watch && o.Dumps.changed():
		return exit.Usagef("--dump-dir requires --watch")
	case !o.Watch:
		return nil
	case o.Wait:
		return exit.Usagef("--wait conflicts with --watch")
	case o.dry():
		return exit.Usagef("--dry-run conflicts with --watch")
	case o.Timeout > 0:
		return exit.Usagef("--timeout conflicts with --watch")
	case o.Resync < o.Interval:
		return exit.Usagef("--resync (%s) must not be less than --interval (%s)", o.Resync, o.Interval)
	}
	if err := o.Dumps.check(); err != nil {
		return err
	}
	return session.CheckAddress("--metrics-addr", o.MetricsAddr)
}

// reason returns why the last pass left something undone; empty if it did not.
func (w *watching) reason() string {
	if w.kept != nil {
		return exit.Explain(w.kept)
	}
	if words := w.why.Text(w.Last); words != "" {
		return words
	}
	if len(w.Last.Housekeeping) > 0 {
		return w.Last.Housekeeping[0].Text()
	}
	return ""
}

// printEnding prints the state of the cluster as text, once for as long as it stays the same.
// What a pass waits for is already printed by its stages.
func (w *watching) printEnding() {
	if w.Last.Acted > 0 && w.Last.Outcome <= reconcile.Changed {
		w.lastState = ""
	}
	sentence := w.sentence()
	if w.Output == "json" || sentence == "" || sentence == w.lastState {
		return
	}
	w.lastState = sentence
	w.out.Line("%s", sentence)
}

func (w *watching) sentence() string {
	name := w.Key.Name
	switch w.ending {
	case pace.Settled:
		return name + ": reconciled; waiting for changes"
	case pace.Held:
		return fmt.Sprintf("%s: waiting: another run is active: %s", name, w.holder())
	case pace.Blocked:
		return fmt.Sprintf("%s: blocked: manual intervention required: %s", name, w.reason())
	case pace.Failed:
		return fmt.Sprintf("%s: failed, will retry: %s", name, w.reason())
	case pace.Waiting:
		if w.Last.Outcome == reconcile.Done {
			return fmt.Sprintf("%s: reconciled except for housekeeping: %s", name, w.Last.Housekeeping[0].Task())
		}
	case pace.Unfinished:
	}
	return ""
}

// holder returns who holds the Lease, without its expiry: that changes all the time.
func (w *watching) holder() string {
	var held *reconcile.HeldError
	if !errors.As(failureOf(w.Last), &held) {
		return w.reason()
	}
	return (&reconcile.HeldError{What: held.What, Holder: held.Holder}).Error()
}

// conclude ends the watch. SIGTERM and the deletion of the cluster end it without an error;
// Ctrl-C, and what could not be released, keep their exit codes.
func (w *watching) conclude(ctx context.Context, err error) error {
	end := w.end(ctx, err)
	cause := exit.CauseOf(ctx, err)
	interrupted := new(*exit.InterruptedError)
	terminated := errors.As(cause, interrupted) && (*interrupted).Signal == syscall.SIGTERM
	if w.kept == nil && (terminated || errors.Is(cause, errClusterDeleted)) {
		end = nil
	}
	if w.Env.Observer != nil {
		w.Env.Observer.Document(w.result(end))
	}
	did := phrase.Count(w.acted, "action") + " in " + phrase.Count(w.count, "pass")
	if w.Output == "json" {
		r := w.result(end)
		r.Reason = exit.Explain(w.withKept(cause))
		return errors.Join(w.out.Result(r, nil), end)
	}
	w.out.Line("%s: the watch ended after %s: %s", w.Key.Name, did, exit.Explain(w.withKept(cause)))
	return end
}
