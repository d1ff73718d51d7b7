package reconcile

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// overSites are the passes over the sites of one database.
type overSites struct {
	apply.ReconcileOptions
	env   *session.Env
	named []sites.Site
	args  []string
}

// plan prints what passes at the sites would do. Nothing is decided about those that cannot be read.
func (o overSites) plan(ctx context.Context, shows apply.PlanOptions) error {
	opened, err := o.open(ctx)
	if err != nil {
		return err
	}
	all, err := o.changes(opened)
	if err != nil {
		return err
	}
	var unread []inspect.UnreadSite
	for _, site := range opened {
		if site.Unread != "" {
			unread = append(unread, site.AsUnread(site.Unread))
		}
	}
	return apply.PlanSites(ctx, o.env, all, unread, shows)
}

// run runs passes at the sites in turn. Nothing is changed beside a site that cannot be read.
func (o overSites) run(ctx context.Context) error {
	opened, err := o.open(ctx)
	if err != nil {
		return err
	}
	for _, site := range opened {
		if site.Unread != "" {
			return &exit.Error{Code: exit.ExitUnreachable, Err: errors.New(site.AsUnread(site.Unread).Warning() + " (nothing was changed)")}
		}
	}
	if err := sites.MayChange(opened); err != nil {
		return err
	}
	all, err := o.changes(opened)
	if err != nil {
		return err
	}
	return apply.ReconcileSites(ctx, o.env, all, o.ReconcileOptions)
}

// open reads the resources of all sites. Specs that contradict each other have no common plan.
func (o overSites) open(ctx context.Context) ([]*sites.Opened, error) {
	if _, err := check(o.ReconcileOptions, o.env); err != nil {
		return nil, err
	}
	if err := o.CheckConfirm(nil, ""); err != nil {
		return nil, err
	}
	opened, err := sites.Open(ctx, o.env, o.named, o.args, o.Name)
	if err != nil {
		return nil, err
	}
	if differences := sites.Contradictions(opened); len(differences) > 0 {
		return nil, exit.Usage(errors.New("the specs of the sites contradict each other: " + strings.Join(differences, "; ")))
	}
	return opened, nil
}

// changes returns the change at each site that was read.
func (o overSites) changes(opened []*sites.Opened) (all []apply.SitePlan, err error) {
	selected, err := o.Stages()
	if err != nil {
		return nil, err
	}
	across := &apply.Across{Env: o.env, Args: slices.DeleteFunc(o.Args(o.typed()), func(word string) bool { return word == "" })}
	for _, site := range sites.Read(opened) {
		if err := apply.MayCarryOut(site.Env, site.Resource, selected); err != nil {
			return nil, site.Problem(err)
		}
		all = append(all, apply.SitePlan{Env: site.Env, Keyed: apply.Keyed{Key: site.Key(), Change: apply.Change{
			ChangeFlags: o.ChangeFlags, Args: o.Args(site.Resource.Name), Stages: selected, Permissions: o.Permissions(), Partial: len(o.Only)+len(o.Skip) > 0,
			Across: across, Given: live.Given{Cluster: site.Resource, At: site.At},
		}}})
	}
	return all, nil
}

// typed is the name of the resource on the command line; empty without one.
func (o overSites) typed() string {
	if len(o.args) > 0 {
		return o.args[0]
	}
	return o.Name
}
