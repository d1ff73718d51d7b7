package monitor

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// previewLimit bounds one preview. Its parts have limits of their own; this one bounds all of
// them together.
const previewLimit = 2 * time.Minute

// showSoon makes a frame due within d.
func (e *poller) showSoon(d time.Duration) {
	at := e.env.Clock.Now().Add(d)
	if e.showBy.IsZero() || at.Before(e.showBy) {
		e.showBy = at
	}
}

// showWith shows an answer together with the other half of the same read, if that is quick.
func (e *poller) showWith(other *SourceState) {
	if other.queriedAt.IsZero() {
		e.showSoon(0)
		return
	}
	e.showSoon(frameDelay)
}

// showWhatIsDue shows news once they are due, and the age of everything while a source is not
// responding.
func (e *poller) showWhatIsDue() {
	now := e.env.Clock.Now()
	unresponsive := func(a SourceState) bool { return !a.queriedAt.IsZero() && now.Sub(a.queriedAt) >= a.every }
	due := !e.showBy.IsZero() && !now.Before(e.showBy)
	if !due && !unresponsive(e.kubernetes) && !unresponsive(e.database) {
		return
	}
	e.showBy = time.Time{}
	e.show(e.frame())
}

// frame returns what is known now.
func (e *poller) frame() frame.Frame {
	now := e.env.Clock.Now().UTC()
	in := frame.Input{Events: e.eventList, Plan: e.plan, Why: e.why, Backups: e.backupsView, History: e.history, Finished: e.finished(), Unknown: e.unknown()}
	in.Now = now
	if in.Unknown == "" {
		in.Facts = e.facts(now)
	}
	in.Commands, in.EarlierLoad, in.Reports = e.env.Commands(), e.earlierLoad, &e.reports
	for _, a := range e.sources() {
		in.Sources = append(in.Sources, a.source())
	}
	f := frame.NewFrame(e.env.Metadata(e.key), in)
	e.keepLoad(f.Workload)
	return f
}

// loadInterval is the least time over which changes of the load are computed.
const loadInterval = 10 * time.Second

// keepLoad keeps a load of which later ones show the change.
func (e *poller) keepLoad(v *workload.View) {
	if v == nil || v.AsOf == nil {
		return
	}
	if e.lastLoad == nil || v.AsOf.Sub(*e.lastLoad.AsOf) >= loadInterval {
		e.earlierLoad, e.lastLoad = e.lastLoad, v
	}
}

// unknown returns why nothing is known of the cluster; empty if something is.
func (e *poller) unknown() string {
	switch {
	case e.deleted:
		return "the cluster was deleted"
	case e.seen.Cluster != nil:
		return ""
	case e.kubernetes.problem != "":
		return e.kubernetes.problem
	default:
		return "waiting for the API server"
	}
}

// facts returns what is known, with an updated status.
func (e *poller) facts(now time.Time) inspect.Facts {
	s := e.whole(now)
	facts := inspect.Facts{Lease: e.lease.Of(s.Cluster.UID)}
	if e.unread != "" {
		facts.Warnings = append(facts.Warnings, e.unread)
	}
	if !e.databaseKnown() {
		s.Database.NotQueried = "no answer yet"
	}
	facts = session.Judged(facts, s)
	facts.Cluster = e.conditions.Keep(facts.Cluster)
	return facts
}

// whole returns all that was read, with the database facts that are still valid.
func (e *poller) whole(now time.Time) plan.Snapshot {
	s := e.seen
	s.Now, s.Coordination = now, e.coordination
	s.Database = CurrentDatabase(e.databaseFacts, &e.database, &e.kubernetes, now)
	if !s.Database.Available() { // exclusions and locks are in the database
		s.Coordination = plan.CoordinationFacts{}
	}
	return s
}

// askPreview decides what a pass would do about what was read, and what it would wait for.
// Files in pods are queried as in a pass; nothing is changed.
func (e *poller) askPreview(ctx context.Context, now time.Time) {
	e.preview.Begin(now)
	seen, facts, last := e.whole(now), e.facts(now), e.foresight
	facts.Backups = e.backupsFound
	e.beside(ctx, func() func() {
		limited, cancel := context.WithTimeoutCause(ctx, previewLimit, errors.New("no answer within "+previewLimit.String()))
		defer cancel()
		view, report, next, err := e.decide(limited, seen, facts, last)
		return func() {
			now := e.env.Clock.Now()
			if err != nil {
				e.preview.end(now, time.Time{}, exit.Explain(exit.CauseOf(limited, err)))
				return
			}
			e.plan, e.why, e.foresight = &view, &report, next
			e.preview.end(now, seen.Now, "")
			e.showSoon(frameDelay)
		}
	})
}

func (e *poller) decide(ctx context.Context, seen plan.Snapshot, facts inspect.Facts, last foresight) (view planned.PlanView, report why.Report, next foresight, err error) {
	limited, done := session.LimitedView(ctx)
	defer done()
	if err := e.session.Observe(limited, &seen, plan.PodFiles|plan.Coordination); err != nil {
		return view, report, last, err
	}
	r := apply.Run{
		Env: e.env, Key: e.key, Session: apply.AlreadySeen{Session: e.session, Seen: seen}, StageList: stages.Cluster(), Seed: e.env.Random(), Gates: live.GateOptions{}, Command: []string{"reconcile", e.key.Name},
	}
	if view, _, err = r.Preview(ctx); err != nil {
		return view, report, last, err
	}
	if next, err = last.over(ctx, &r, &view, e.env.Clock.Now); err != nil {
		return view, report, last, err
	}
	e.env.Lookup().WithNodes(ctx, &facts)
	return view, why.NewReportWithGroups(e.env.Metadata(e.key), why.Input{Facts: facts, Plan: view, Commands: e.env.Commands()}), next, nil
}

const (
	// forecastLasts is how long a forecast of the same actions is shown.
	forecastLasts = 5 * time.Minute
	// forecastInterval is after how many times its duration the next forecast may begin: they take at most a
	// twentieth of a processor.
	forecastInterval = 20
)

// foresight is the last forecast, which costs more than a preview.
type foresight struct {
	// digest is that of the actions.
	digest   string
	forecast *planned.Forecast
	made     time.Time
	took     time.Duration
}

// isOf reports whether the forecast is still that of the same actions.
func (f foresight) isOf(digest string, now time.Time) bool {
	return f.digest == digest && now.Sub(f.made) < forecastLasts
}

// isDue reports whether another forecast may begin.
func (f foresight) isDue(now time.Time) bool { return now.Sub(f.made) >= forecastInterval*f.took }

// over adds a forecast to a preview: the last one while the same is to be done, else another one if that is due.
// It returns the last one from now on.
func (f foresight) over(ctx context.Context, r *apply.Run, view *planned.PlanView, now func() time.Time) (foresight, error) {
	began := now()
	switch {
	case f.isOf(view.Digest, began):
		view.Forecast = f.forecast
		return f, nil
	case !f.isDue(began):
		return f, nil
	}
	if err := r.Foresee(ctx, view); err != nil {
		return f, err
	}
	return foresight{digest: view.Digest, forecast: view.Forecast, made: began, took: now().Sub(began)}, nil
}
