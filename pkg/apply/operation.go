package apply

import (
	"context"
	"errors"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const (
	// operationLimit bounds each read and write of the operation: it only informs others.
	operationLimit = 10 * time.Second
	// abortInterval is how often an operation reads whether it is to end.
	abortInterval = 5 * time.Second
)

// operations returns what stores the operation of the command; nil where there is none.
func (p *pacing) operations() reconcile.OperationKeeper {
	if operator, is := p.Session.(reconcile.Operator); is {
		return operator.Operations()
	}
	return nil
}

// refuseBeside returns an error where another run carries out an operation on the cluster. It comes
// before the approval. A Lease that cannot be read is left to the pass: its changes need the Lease, and
// it reports the error with its cause.
func (p *pacing) refuseBeside(ctx context.Context) error {
	keeper := p.operations()
	if keeper == nil || p.Join {
		return nil
	}
	keeper.RefuseBesideOthers()
	other, err := p.otherOperation(ctx, keeper)
	if err != nil || other == nil {
		return err
	}
	var hints []string
	if p.Procedure == nil {
		hints = []string{p.again("wait for its end, then act", "--wait")}
	}
	if p.Run.ResourceKind == nil {
		hints = append(hints, "follow it: "+p.Env.Command("operations", "follow", p.Key.Name), "end it: "+p.Env.Command("operations", "abort", p.Key.Name))
	}
	hints = append(hints, p.again("act beside it, so that the passes of both change the cluster in turn", "--join"))
	return &exit.Error{Code: exit.ExitConflict, Err: &reconcile.ActiveOperationError{Operation: *other}, Hints: hints}
}

// otherOperation returns the operation of another run; nil for none. With --wait it waits for its end.
func (p *pacing) otherOperation(ctx context.Context, keeper reconcile.OperationKeeper) (*reconcile.Operation, error) {
	ctx, stop := session.WithTimeout(ctx, p.Env.Clock, p.Timeout)
	defer stop()
	for {
		reads, cancel := context.WithTimeout(ctx, operationLimit)
		other, err := keeper.OtherOperation(reads)
		cancel()
		if err != nil || other == nil {
			return nil, exit.CauseOf(ctx, ctx.Err())
		}
		if !p.Wait {
			return other, nil
		}
		words := (&reconcile.ActiveOperationError{Operation: *other}).Error() + "; it counts as ended in " +
			phrase.Until(other.Until(), p.Env.Clock.Now()) + " unless its run reports again"
		if key := other.ID + other.Holder; p.lastReason != key {
			p.lastReason = key
			p.Env.Logf("waiting: %s", words)
		}
		if err := p.Env.Waiting().Pause(ctx, abortInterval, words); err != nil {
			return nil, err
		}
	}
}

// beginOperation publishes the passes of a command with --wait, or its steps, as an operation, which other users see
// and can abort, until the returned function is called.
func (p *pacing) beginOperation(ctx context.Context) (of context.Context, end func()) {
	keeper := p.operations()
	if keeper == nil || !p.Wait && p.Procedure == nil {
		return ctx, func() {}
	}
	keeper.SetOperation(reconcile.Operation{
		ID: p.Env.RunID, Command: strings.Join(p.Change.Command(), " "), Holder: session.LeaseHolder(p.Env),
		User: reconcile.UserOf(p.Env.Holder), Reason: p.Reason, Since: p.Env.Clock.Now().UTC(),
	})
	of, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		p.endOnRequest(of, keeper, cancel)
	}()
	return of, func() {
		cancel(context.Canceled)
		<-watched
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), operationLimit) // the command may have been interrupted
		defer cancel()
		if err := keeper.EndOperation(ctx); err != nil {
			p.Env.Logf("warning: others see this operation for %s more: %v", reconcile.OperationTerm, err)
		}
	}
}

// endOnRequest reports that the operation goes on, and ends the context once another user has requested
// to end it. After a failed read the next interval reads again.
func (p *pacing) endOnRequest(ctx context.Context, keeper reconcile.OperationKeeper, cancel context.CancelCauseFunc) {
	ticker := p.Env.Clock.NewTicker(abortInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		requests, done := context.WithTimeout(ctx, operationLimit)
		_ = keeper.KeepOperation(requests) // after a failure the next interval tries again
		abort, err := keeper.AbortRequest(requests)
		done()
		if err == nil && abort != nil {
			words := "aborted by " + abort.By
			if abort.Reason != "" {
				words += " (" + abort.Reason + ")"
			}
			cancel(&exit.InterruptedError{Words: words, Code: exit.ExitRefused})
			return
		}
	}
}

// renewOperation stores that the operation still runs, and its progress. A failure ends nothing: the next
// pass stores them again.
func (p *pacing) renewOperation(ctx context.Context, waitingFor string) {
	keeper := p.operations()
	if keeper == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, operationLimit)
	defer cancel()
	if err := keeper.RenewOperation(ctx, p.operationProgress(waitingFor)); err != nil && ctx.Err() == nil && p.Env.Global.Verbose > 0 {
		p.Env.Logf("the operation could not be reported: %v", err)
	}
}

func (p *pacing) operationProgress(waitingFor string) reconcile.OperationProgress {
	now := p.published.observed
	now.Passes, now.Actions, now.Targets, now.WaitingFor = p.count, p.acted, len(p.targets), waitingFor
	now.AskedAt, now.ExpectedAt = p.published.askedAt, p.expectedAt
	if hold := p.why.Hold(p.Last); hold != nil && waitingFor != "" {
		now.Hold, now.HoldSubjects = hold.Code, hold.Subjects
	}
	for _, t := range p.targets {
		if t.Reached {
			now.Reached++
		}
	}
	if steps := p.Procedure; steps != nil {
		now.Targets, now.Reached = steps.Work, min(p.acted, steps.Work)
	}
	return now
}

// published is what others see of an operation beside what its run counts.
type published struct {
	// observed are the phases of process groups, as of the last pass.
	observed reconcile.OperationProgress
	drains   inspect.DrainHistory
	// askedAt is since when the run waits for an answer of its user; nil while it does not.
	askedAt *time.Time
}

// observe computes the phases of the operation from what a pass knew at its end.
func (p *pacing) observe(s plan.Snapshot) {
	if s.Cluster == nil || p.Run.ResourceKind != nil || !p.Wait {
		return
	}
	p.published.drains.Gap = drainGap
	p.published.observed = session.Judged(inspect.Facts{}, s).Observed(reconcile.OperationProgress{}, &p.published.drains)
}

// drainGap is the minimum interval between two samples of the data that moves.
const drainGap = 5 * time.Second

// askAgain prompts for the approval of what was not shown before. Others see since when the run waits for the answer.
func (p *pacing) askAgain(ctx context.Context) error {
	p.published.askedAt = inspect.Known(p.Env.Clock.Now().Truncate(time.Second))
	p.renewOperation(ctx, "")
	defer func() {
		p.published.askedAt = nil
		p.renewOperation(ctx, "")
	}()
	return p.ask(ctx)
}

// aborted returns the error of a command whose operation another user aborted: what is not done, and how
// to resume or undo it.
func aborted(o *outcome, cause *exit.InterruptedError) error {
	var left []string
	for _, t := range o.targets {
		if !t.Reached {
			left = append(left, t.ID+" is "+t.Phase)
		}
	}
	err := o.withKept(cause)
	if len(left) > 0 {
		err = errors.Join(err, errors.New("not done: "+phrase.List(left)))
	}
	hints := []string{o.again("resume")}
	if len(o.Undo) > 0 && o.acted > 0 {
		hints = append(hints, "undo: "+o.Env.Command(o.Undo...))
	}
	return &exit.Error{Code: exit.ExitRefused, Err: err, Hints: hints, Printed: true}
}

// MaxErrorDuration is how long a wait continues without an answer: an API server that restarts,
// or a pod that fdbcli ran in, is back long before, and what lasts longer requires someone on
// call.
const MaxErrorDuration = 5 * time.Minute

// retryable reports whether the command waits and the error means that there was no answer,
// which may change. All that a pass does can be repeated. A store that did not answer is not
// retried: access to it is often denied, which requires manual intervention, and the backup
// tool has already waited.
func (p *pacing) retryable(err error) bool {
	if !p.Wait || exit.CodeOf(err) != exit.ExitUnreachable || admin.KindOf(err) == admin.KindStoreUnresponsive {
		return false
	}
	return p.since.IsZero() || p.Env.Clock.Since(p.since) < MaxErrorDuration
}

// backOff returns the next pass, after a longer time each time.
func (p *pacing) backOff(problem error) *nextPass {
	if p.since.IsZero() {
		p.since, p.retries = p.Env.Clock.Now(), pace.Pace{Interval: p.Interval}
	}
	rest := min(p.retries.After(pace.Failed, 0).AtLeast, max(pace.LongestRest, p.Interval))
	left := MaxErrorDuration - p.Env.Clock.Since(p.since)
	failures := strings.Join(strings.Split(exit.Explain(problem), "\n"), "; ") // a line per failed stage
	p.Env.Logf("no answer: %s; retrying in %s, for at most %s more", p.amongOthers(failures), rest.Round(time.Second), left.Round(time.Second))
	return &nextPass{after: rest}
}

// changes sees between the passes of a command that waits what the next one may find changed: objects of the cluster,
// which are watched, and the database, which is polled through an fdbcli that stays open. They are hints, and end the
// wait early: without the permission to watch, and for all that neither shows, it ends by time.
type changes struct {
	env      *session.Env
	resource *v1beta2.FoundationDBCluster   // as the last pass read it; nil before
	read     map[plan.Facet][]client.Object // what is watched, as the last pass read it
	database *session.DatabasePoll          // nil where the session cannot poll, and for commands that do not wait
	notifier *session.ChangeNotifier
	follower session.Follower // nil until the first wait, and where the user may not watch
	tried    bool
}

// newChanges returns what sees changes and reports them to a notifier. It neither watches nor polls yet.
func newChanges(env *session.Env, n *session.ChangeNotifier) *changes {
	return &changes{env: env, notifier: n, read: map[plan.Facet][]client.Object{}}
}

// seeChanges has passes over clusters end their waits early, until the returned function is called.
func seeChanges(all []*Passes) (stop func()) {
	var stops []func()
	for _, p := range all {
		if p.Run.ResourceKind != nil {
			continue
		}
		p.changes = newChanges(p.Env, session.NewChangeNotifier())
		if p.Wait {
			stops = append(stops, p.changes.keepOpen(p.Session))
		}
		stops = append(stops, p.changes.stop)
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// keepOpen keeps an fdbcli open, if the session can, until the returned function is called.
func (c *changes) keepOpen(s session.Session) (end func()) {
	poller, can := s.(session.DatabasePoller)
	if !can {
		return func() {}
	}
	c.database = &session.DatabasePoll{Poller: poller, Clock: c.env.Clock}
	return poller.KeepOpen()
}

// stop ends the watches, where there are some.
func (c *changes) stop() {
	if c.follower != nil {
		c.follower.Stop()
	}
}

// followedWhileWaiting are the facets whose changes end a wait: what Kubernetes and users change.
// ConfigMaps and services are changed by passes alone.
const followedWhileWaiting = plan.ClusterResource | plan.Pods | plan.Volumes

// report remembers which cluster the pass is about, and what it has read of that.
func (c *changes) report(e reconcile.Event) {
	o, ok := e.(reconcile.Observed)
	if !ok || c == nil {
		return
	}
	if o.Facets&plan.ClusterResource != 0 && o.Snapshot.Cluster != nil {
		c.resource = o.Snapshot.Cluster
		c.read[plan.ClusterResource] = []client.Object{c.resource}
	}
	if o.Facets&plan.Pods != 0 {
		c.read[plan.Pods] = objectsOf(o.Snapshot.Pods)
	}
	if o.Facets&plan.Volumes != 0 {
		c.read[plan.Volumes] = objectsOf(o.Snapshot.Volumes)
	}
	if o.Facets&plan.Services != 0 {
		c.read[plan.Services] = objectsOf(o.Snapshot.Services)
	}
}

func objectsOf[T client.Object](byName map[string]T) []client.Object {
	objects := make([]client.Object, 0, len(byName))
	for _, o := range byName {
		objects = append(objects, o)
	}
	return objects
}

// after remembers the database as a pass knew it at its end.
func (c *changes) after(read lastRead) {
	if c == nil || c.database == nil {
		return
	}
	c.database.Last = read.database.Status
	if !read.known {
		c.database.Last = nil
	}
}

// follow begins to watch, once, if the user may.
func (c *changes) follow(ctx context.Context) {
	if c.tried || c.resource == nil {
		return
	}
	c.tried = true
	key := client.ObjectKeyFromObject(c.resource)
	api, err := c.env.Client()
	if err != nil {
		return
	}
	missing, err := session.MissingPermissions(ctx, api, key.Namespace, session.WaitPermissions())
	if err != nil || len(missing) > 0 {
		return
	}
	follower, err := c.env.Follow(key, followedWhileWaiting, c.notifier.Notify, func(plan.Facet, error) {})
	if err != nil {
		return
	}
	c.follower = follower
	c.followSince(ctx, follower)
}

// followSince has watches begin with what passes have read: a change since then is reported.
func (c *changes) followSince(ctx context.Context, f session.Follower) {
	for facet, read := range c.read {
		f.Since(facet, read)
	}
	f.Follow(ctx, c.resource)
}

// polls returns what polls the database during a wait, and reports a change; nil where that is not possible.
func (c *changes) polls() func(context.Context) (after time.Duration) {
	if c.database == nil {
		return nil
	}
	return func(ctx context.Context) time.Duration {
		changed, after := c.database.Next(ctx)
		if changed {
			c.notifier.Notify(plan.Database)
		}
		return after
	}
}

// wait waits until the next pass is due: after d, or earlier when something changed.
func (p *pacing) wait(ctx context.Context, d time.Duration, reason string) error {
	ending := endingOf(p.Last, p.kept)
	if p.changes == nil || d <= p.Interval || ending == pace.Held { // changes are another run's then
		return p.Env.Waiting().Pause(ctx, d, reason)
	}
	p.changes.follow(ctx)
	alarm := pace.NewAlarm(p.Env.Clock.Now(), pace.Wait{AtLeast: p.Interval, AtMost: d, AfterEdit: p.Interval})
	wakeup := session.Wakeup{
		Due: alarm.Due, News: p.changes.notifier.Ready,
		OnNews: func() { alarm.Changed(p.Env.Clock.Now(), p.changes.notifier.Take()&plan.ClusterResource != 0) },
		Poll:   p.changes.polls(),
	}
	return p.Env.Waiting().PauseUntil(ctx, wakeup, reason)
}
