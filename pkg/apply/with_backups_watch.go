package apply

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// watchTogether watches a cluster, and runs passes over its backups and restores after each
// pass over it. They are discovered again each time.
func watchTogether(ctx context.Context, cluster *Passes, t *resourceSet) error {
	return watchPasses(ctx, &watching{Passes: cluster, WatchFlags: t.options.WatchFlags, resources: t})
}

// agreeForGood prompts for approval of all that later passes may do, of any of the resources.
// Loss of data is excluded: an unattended run never causes it.
func (t *resourceSet) agreeForGood(ctx context.Context, question string) error {
	if err := t.discover(ctx); err != nil {
		return err
	}
	for _, p := range t.members {
		if _, err := p.show(ctx); err != nil {
			return err
		}
	}
	if err := t.env.Prompt().Confirm(ctx, question); err != nil {
		return err
	}
	t.options.Yes = true
	for _, p := range t.members {
		p.Approved = Approval{Everything: true}
	}
	return nil
}

// FollowPermissions are required to see changes of backups, restores and agents as they occur,
// by facet.
func FollowPermissions() map[plan.Facet][]session.Permission {
	crd := v1beta2.GroupVersion.Group
	return map[plan.Facet][]session.Permission{
		plan.Backup:  {{Verb: "watch", Group: crd, Resource: "foundationdbbackups"}},
		plan.Restore: {{Verb: "watch", Group: crd, Resource: "foundationdbrestores"}},
		plan.Agents:  {{Verb: "list", Group: "apps", Resource: "deployments"}, {Verb: "watch", Group: "apps", Resource: "deployments"}},
	}
}

// followable returns the facets that may be watched; the others are reported once. If that
// cannot be determined, they are watched, and errors are reported.
func (t *resourceSet) followable(ctx context.Context) plan.Facet {
	facets := plan.Backup | plan.Restore | plan.Agents
	c, err := t.env.Client()
	if err != nil {
		return facets
	}
	var missing []string
	for facet, needs := range FollowPermissions() {
		if lacks, err := session.MissingPermissions(ctx, c, t.key.Namespace, needs); err == nil && len(lacks) > 0 {
			missing, facets = append(missing, lacks...), facets&^facet
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		t.env.Logf("some changes of backups and restores are only seen every %s: not permitted to %s %s", t.options.Resync, strings.Join(missing, ", "), session.InNamespace(t.key.Namespace))
	}
	return facets
}

// follow runs a pass over each backup and restore. The error is one that ends the watch.
func (t *resourceSet) follow(ctx context.Context) error {
	if err := t.discover(ctx); err != nil {
		if ctx.Err() != nil {
			return exit.CauseOf(ctx, err)
		}
		t.env.Logf("backups and restores: %s", exit.Explain(err))
		return nil
	}
	for _, p := range t.members[1:] {
		if why := t.notYet(p); why != "" {
			p.holdUp(why)
			continue
		}
		p.kept = nil
		p.err = p.once(ctx)
		if ctx.Err() != nil {
			return exit.CauseOf(ctx, ctx.Err())
		}
		p.printLoss()
	}
	return nil
}

// printLoss prints once how to approve a loss of data, which a watch never does.
func (p *Passes) printLoss() {
	if !wantsLoss(p.Last) || p.lossReported {
		return
	}
	p.lossReported = true
	p.Env.Logf("%s: %s", p.subject(), LossNotWatched)
	for _, hint := range p.lossHints() {
		p.Env.Logf("hint: %s", hint)
	}
}

// LossNotWatched is why backups and restores are not watched.
const LossNotWatched = "a watch never deletes backup data: use a separate command"

// pressing are endings that require the next pass soon.
var pressing = []pace.Ending{pace.Unfinished, pace.Waiting, pace.Held}

// pressingEnding returns how one of them ended; ok is false if that requires no hurry. A failed
// one is read again as late as one that requires manual intervention: it does not delay the
// cluster.
func (p *Passes) pressingEnding() (pace.Ending, bool) {
	e := endingOf(p.Last, p.kept)
	return e, slices.Contains(pressing, e)
}

// retryAfter returns when the last passes want the next. Those over backups and restores can
// only bring it forward.
func (w *watching) retryAfter() time.Duration {
	if w.resources == nil || (w.ending != pace.Settled && w.ending != pace.Blocked) {
		return retryAfter(w.Last)
	}
	for _, p := range w.resources.members[1:] {
		if e, ok := p.pressingEnding(); ok {
			w.ending = e
			return p.Last.RetryAfter
		}
	}
	return w.Last.RetryAfter
}
