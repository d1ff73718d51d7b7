package commands

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// watchTogether watches a cluster, and runs passes over its backups and restores after each
// pass over it. They are discovered again each time.
func (e *Env) watchTogether(ctx context.Context, cluster *passes, t *resourceSet) error {
	return e.watchPasses(ctx, &watching{passes: cluster, watchFlags: t.options.watchFlags, resources: t})
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
	if err := t.env.confirm(ctx, question); err != nil {
		return err
	}
	t.options.yes = true
	for _, p := range t.members {
		p.approved = approval{everything: true}
	}
	return nil
}

// followPermissions are required to see changes of backups, restores and agents as they occur,
// by facet.
func followPermissions() map[plan.Facet][]permission {
	crd := v1beta2.GroupVersion.Group
	return map[plan.Facet][]permission{
		plan.Backup:  {{"watch", crd, "foundationdbbackups", ""}},
		plan.Restore: {{"watch", crd, "foundationdbrestores", ""}},
		plan.Agents:  {{"list", "apps", "deployments", ""}, {"watch", "apps", "deployments", ""}},
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
	for facet, needs := range followPermissions() {
		if lacks, err := missingPermissions(ctx, c, t.key.Namespace, needs); err == nil && len(lacks) > 0 {
			missing, facets = append(missing, lacks...), facets&^facet
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		t.env.logf("some changes of backups and restores are only seen every %s: not permitted to %s %s", t.options.resync, strings.Join(missing, ", "), inNamespace(t.key.Namespace))
	}
	return facets
}

// follow runs a pass over each backup and restore. The error is one that ends the watch.
func (t *resourceSet) follow(ctx context.Context) error {
	if err := t.discover(ctx); err != nil {
		if ctx.Err() != nil {
			return causeOf(ctx, err)
		}
		t.env.logf("backups and restores: %s", explain(err))
		return nil
	}
	for _, p := range t.members[1:] {
		if why := t.notYet(p); why != "" {
			p.holdUp(why)
			continue
		}
		p.kept = nil
		p.trouble = p.once(ctx)
		if ctx.Err() != nil {
			return causeOf(ctx, ctx.Err())
		}
		p.printLoss()
	}
	return nil
}

// printLoss prints once how to approve a loss of data, which a watch never does.
func (p *passes) printLoss() {
	if !p.wantsLoss() || p.lossReported {
		return
	}
	p.lossReported = true
	p.env.logf("%s: %s", p.subject(), lossNotWatched)
	for _, hint := range p.lossHints() {
		p.env.logf("hint: %s", hint)
	}
}

const lossNotWatched = "a watch never deletes backup data: use a separate command"

// pressing are endings that require the next pass soon.
var pressing = []pace.Ending{pace.Unfinished, pace.Waiting, pace.Held}

// pressingEnding returns how one of them ended; ok is false if that requires no hurry. A failed
// one is read again as late as one that requires manual intervention: it does not delay the
// cluster.
func (p *passes) pressingEnding() (pace.Ending, bool) {
	e := endingOf(p.last, p.kept)
	return e, slices.Contains(pressing, e)
}

// retryAfter returns when the last passes want the next. Those over backups and restores can
// only bring it forward.
func (w *watching) retryAfter() time.Duration {
	if w.resources == nil || (w.ending != pace.Settled && w.ending != pace.Blocked) {
		return retryAfter(w.last)
	}
	for _, p := range w.resources.members[1:] {
		if e, ok := p.pressingEnding(); ok {
			w.ending = e
			return p.last.RetryAfter
		}
	}
	return w.last.RetryAfter
}
