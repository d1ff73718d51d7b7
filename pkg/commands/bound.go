package commands

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// identity is which resource, with which spec, something was decided for.
type identity struct {
	uid        string
	generation int64
}

// identityOf is that of the resource that a pass is about; ok is false before it was read.
func identityOf(s plan.Snapshot) (of identity, ok bool) {
	switch {
	case s.Backup != nil:
		return identity{string(s.Backup.UID), s.Backup.Generation}, true
	case s.Restore != nil:
		return identity{string(s.Restore.UID), s.Restore.Generation}, true
	case s.Cluster != nil:
		return identity{string(s.Cluster.UID), s.Cluster.Generation}, true
	}
	return identity{}, false
}

// bound reads for passes that may do what was approved, and only as long as the spec is the
// one it was approved for: the words of an action name what it makes, and not what is in it.
type bound struct {
	reconcile.Observer
	approved *approval
}

// Observe implements reconcile.Observer. Nothing is decided on a spec that nobody approved.
func (b bound) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if err := b.Observer.Observe(ctx, into, facets); err != nil {
		return err
	}
	return b.approved.holdsFor(*into)
}

// about binds the approval to what was shown. What was approved for another spec is void.
func (a *approval) about(of identity) {
	if a.everything {
		return
	}
	if a.of != nil && *a.of != of {
		*a = approval{}
	}
	a.of = &of
}

// holdsFor is why nothing of the approval holds for what was read; nil when it does.
func (a *approval) holdsFor(s plan.Snapshot) error {
	now, read := identityOf(s)
	if a.everything || a.of == nil || !read {
		return nil
	}
	if now != *a.of && !a.skippedOnly(now, s) {
		return &reconcile.BeyondPlanError{Moved: movedWords(*a.of, now)}
	}
	a.of, a.skip = &now, nil
	if s.Cluster != nil {
		a.spec = s.Cluster.Spec.DeepCopy()
	}
	return nil
}

func movedWords(approved, now identity) string {
	if approved.uid != now.uid {
		return "what the plan was approved for was deleted, and made anew under its name"
	}
	return fmt.Sprintf("the spec has changed since the plan was approved: generation %d then, generation %d now", approved.generation, now.generation)
}

// carried notes that a pass has set spec.skip: that is the one part of a spec which passes
// write.
func (a *approval) carried(e reconcile.Event) {
	done, ok := e.(reconcile.ActionDone)
	if !ok || done.Err != nil {
		return
	}
	if set, ok := done.Action.(plan.SetSkip); ok {
		a.skip = &set.Skip
	}
}

// skippedOnly reports whether the spec is another one because a pass has set spec.skip, and
// for no other reason.
func (a *approval) skippedOnly(now identity, s plan.Snapshot) bool {
	if a.skip == nil || a.spec == nil || s.Cluster == nil || now != (identity{a.of.uid, a.of.generation + 1}) {
		return false
	}
	want := *a.spec
	want.Skip = *a.skip
	return apiequality.Semantic.DeepEqual(want, s.Cluster.Spec)
}
