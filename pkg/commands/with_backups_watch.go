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

// watchTogether watches a cluster, and has passes over its backups and restores follow each
// pass over it. Which there are is read anew each time.
func (e *Env) watchTogether(ctx context.Context, cluster *passes, t *family) error {
	return e.watchPasses(ctx, &watching{passes: cluster, watchFlags: t.options.watchFlags, others: t})
}

// agreeForGood has everything approved that later passes may want, of whatever there will be.
// What loses data is not among it: an unattended run never does that.
func (t *family) agreeForGood(ctx context.Context, question string) error {
	if err := t.gather(ctx); err != nil {
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

// followPowers are what it takes to see changes of backups, restores and agents as they come,
// by what they are of.
func followPowers() map[plan.Facet][]power {
	crd := v1beta2.GroupVersion.Group
	return map[plan.Facet][]power{
		plan.Backup:  {{"watch", crd, "foundationdbbackups", ""}},
		plan.Restore: {{"watch", crd, "foundationdbrestores", ""}},
		plan.Agents:  {{"list", "apps", "deployments", ""}, {"watch", "apps", "deployments", ""}},
	}
}

// followable are those whose changes may be watched; that of the others is said, once. Where
// nobody can tell they are watched, and what that meets is said.
func (t *family) followable(ctx context.Context) plan.Facet {
	facets := plan.Backup | plan.Restore | plan.Agents
	c, err := t.env.Client()
	if err != nil {
		return facets
	}
	var missing []string
	for facet, needs := range followPowers() {
		if lacks, err := missingPowers(ctx, c, t.key.Namespace, needs); err == nil && len(lacks) > 0 {
			missing, facets = append(missing, lacks...), facets&^facet
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		t.env.talk("some changes of backups and restores show every %s only: not allowed to %s %s", t.options.resync, strings.Join(missing, ", "), inNamespace(t.key.Namespace))
	}
	return facets
}

// follow runs a pass over each backup and restore. The error is one that ends the watch.
func (t *family) follow(ctx context.Context) error {
	if err := t.gather(ctx); err != nil {
		if ctx.Err() != nil {
			return causeOf(ctx, err)
		}
		t.env.talk("backups and restores: %s", explain(err))
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
		p.tellLoss()
	}
	return nil
}

// tellLoss says once what it takes to have done what no watch does.
func (p *passes) tellLoss() {
	if !p.wantsLoss() || p.said == lossNotWatched {
		return
	}
	p.said = lossNotWatched
	p.env.talk("%s: %s", p.subject(), lossNotWatched)
	for _, hint := range p.lossHints() {
		p.env.talk("hint: %s", hint)
	}
}

const lossNotWatched = "no watch deletes the data of a backup; that takes a command of its own"

// pressing are endings that want the next pass sooner than time alone brings it.
var pressing = []pace.Ending{pace.Unfinished, pace.Waiting, pace.Held}

// pressingEnding is how one of them ended; ok is false where that hastens nothing. One that failed is
// looked at again as late as one that waits for a person: the cluster is not kept back by it.
func (p *passes) pressingEnding() (pace.Ending, bool) {
	e := endingOf(p.last, p.kept)
	return e, slices.Contains(pressing, e)
}

// retryAfter is when the last passes want the next. Those over backups and restores may only
// bring it forward.
func (w *watching) retryAfter() time.Duration {
	if w.others == nil || (w.ending != pace.Settled && w.ending != pace.Blocked) {
		return retryAfter(w.last)
	}
	for _, p := range w.others.members[1:] {
		if e, ok := p.pressingEnding(); ok {
			w.ending = e
			return p.last.RetryAfter
		}
	}
	return w.last.RetryAfter
}
