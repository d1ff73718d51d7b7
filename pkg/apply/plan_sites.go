package apply

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
)

// SitePlan is the change of the resource at one site of a database.
type SitePlan struct {
	Env *session.Env
	Keyed
	// Idle is true at a site where the command changes nothing. Its Lease is taken all the same: no other run acts there meanwhile.
	Idle bool
}

// PlanSites prints what passes at the sites of one database would do, in the order of the sites. Each is planned as if no
// other site changed anything before it; nothing is decided about unread sites.
func PlanSites(ctx context.Context, e *session.Env, all []SitePlan, unread []inspect.UnreadSite, o PlanOptions) error {
	views, ends, errs := make([]planned.PlanView, len(all)), make([]error, len(all)), make([]error, len(all))
	var group errgroup.Group
	for i, c := range all {
		group.Go(func() error {
			errs[i] = reconcile.Guarded(func() (err error) {
				views[i], ends[i], err = planSite(ctx, c, o)
				return err
			})
			return nil
		})
	}
	_ = group.Wait() // errors are in errs
	if ctx.Err() != nil {
		return exit.CauseOf(ctx, ctx.Err())
	}
	var read []planned.PlanView
	for i, c := range all {
		if errs[i] != nil {
			unread = append(unread, inspect.UnreadSite{Site: c.Env.Site, Context: c.Env.Connection().ContextName(), Namespace: c.Key.Namespace, Cluster: c.Key.Name, Reason: exit.Explain(errs[i])})
			continue
		}
		read = append(read, views[i])
	}
	list := planned.NewPlanList(e.Metadata(types.NamespacedName{}), read).OverSites(unread)
	if !o.IsTable() {
		for _, warning := range list.Warnings {
			e.Logf("warning: %s", warning)
		}
	}
	if err := format.SitePlans(e, o.Flags, list, subjectsOfAll(list)); err != nil {
		return err
	}
	if len(unread) > 0 {
		return MostSignificant(slices.Concat(ends, []error{exit.AnswerError{Code: exit.ExitUnreachable}}))
	}
	return MostSignificant(ends)
}

func planSite(ctx context.Context, c SitePlan, o PlanOptions) (view planned.PlanView, end, err error) {
	r := runOf(c.Env, c.Change)
	if err := r.Open(ctx, c.Key); err != nil {
		return view, nil, err
	}
	view, done, err := r.plan(ctx, o)
	return view, planEnd(view, done), err
}

// subjectsOfAll returns the subjects of the actions at all sites; those of a common action once.
func subjectsOfAll(v planned.PlanListView) (names []string) {
	for i := range v.Plans {
		names = append(names, subjectsOf(v.Own(i))...)
	}
	return names
}
