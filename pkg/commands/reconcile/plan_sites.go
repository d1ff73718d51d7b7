package reconcile

import (
	"context"
	"errors"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// planSites prints what passes at the sites of one database would do. Specs that contradict each other have no common plan.
func planSites(ctx context.Context, o apply.ReconcileOptions, shows apply.PlanOptions, env *session.Env, named []sites.Site, args []string) error {
	selected, err := check(o, env)
	if err != nil {
		return err
	}
	opened, err := sites.Open(ctx, env, named, args, o.Name)
	if err != nil {
		return err
	}
	if differences := sites.Contradictions(opened); len(differences) > 0 {
		return exit.Usage(errors.New("the specs of the sites contradict each other: " + strings.Join(differences, "; ")))
	}
	var (
		all    []apply.SitePlan
		unread []inspect.UnreadSite
	)
	for _, site := range opened {
		if site.Unread != "" {
			unread = append(unread, site.AsUnread(site.Unread))
			continue
		}
		if err := apply.MayCarryOut(site.Env, site.Resource, selected); err != nil {
			return site.Problem(err)
		}
		change := apply.Change{ChangeFlags: o.ChangeFlags, Args: o.Args(site.Resource.Name), Stages: selected, Permissions: o.Permissions(), Partial: len(o.Only)+len(o.Skip) > 0}
		all = append(all, apply.SitePlan{Env: site.Env, Keyed: apply.Keyed{Key: site.Key(), Change: change}})
	}
	return apply.PlanSites(ctx, env, all, unread, shows)
}
