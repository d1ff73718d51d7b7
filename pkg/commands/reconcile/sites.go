package reconcile

import (
	"context"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// overSites are the passes over the sites of one database.
type overSites struct {
	apply.ReconcileOptions
	env   *session.Env
	named []sites.Site
	args  []string
	// edits are the changes of the spec of every resource that nothing has stored yet; source are their flags.
	edits  []proposal.Edit
	source string
}

// newOverSites returns the passes over sites, after the same changes of the spec of every resource.
func newOverSites(o apply.ReconcileOptions, f proposedFlags, env *session.Env, named []sites.Site, args []string) (over overSites, err error) {
	over = overSites{ReconcileOptions: o, env: env, named: named, args: args}
	if over.Proposed = f.given(); over.Proposed {
		over.edits, over.source, err = f.edits()
	}
	return over, err
}

// plan prints what passes at the sites would do. Nothing is decided about those that cannot be read.
func (o overSites) plan(ctx context.Context, shows apply.PlanOptions) error {
	opened, err := o.open(ctx)
	if err != nil {
		return err
	}
	all, err := o.changes(ctx, opened)
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
	if err := sites.AreRead(opened); err != nil {
		return err
	}
	all, err := o.changes(ctx, opened)
	if err != nil {
		return err
	}
	if err := sites.MayChange(opened); err != nil {
		return err
	}
	return apply.ReconcileSites(ctx, o.env, all, o.ReconcileOptions)
}

// open reads the resources of all sites.
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
	return opened, nil
}

// changes returns the change at each site that was read. Specs that contradict each other have no common plan.
func (o overSites) changes(ctx context.Context, opened []*sites.Opened) (all []apply.SitePlan, err error) {
	selected, err := o.Stages()
	if err != nil {
		return nil, err
	}
	across := &apply.Across{Env: o.env, Args: slices.DeleteFunc(o.Args(o.typed()), func(word string) bool { return word == "" })}
	for _, site := range sites.Read(opened) {
		keyed, err := o.change(ctx, site, selected)
		if err != nil {
			return nil, site.Problem(err)
		}
		keyed.Across = across
		all = append(all, apply.SitePlan{Env: site.Env, Keyed: keyed})
	}
	return all, sites.Agree(opened)
}

// change returns the change at a site.
func (o overSites) change(ctx context.Context, site *sites.Opened, selected []plan.Stage) (apply.Keyed, error) {
	if o.Proposed {
		return o.proposed(ctx, site)
	}
	return apply.Keyed{Key: site.Key(), Change: apply.Change{
		ChangeFlags: o.ChangeFlags, Args: o.Args(site.Resource.Name), Stages: selected, Permissions: o.Permissions(), Partial: len(o.Only)+len(o.Skip) > 0,
		Given: live.Given{Cluster: site.Resource, At: site.At},
	}}, apply.MayCarryOut(site.Env, site.Resource, selected)
}

// proposed returns the change at a site after a change of the spec. From then on the resource is the one that would be stored.
func (o overSites) proposed(ctx context.Context, site *sites.Opened) (apply.Keyed, error) {
	c, err := site.Env.Client()
	if err != nil {
		return apply.Keyed{}, err
	}
	change, err := proposal.Proposer{Client: c, FieldManager: o.FieldManager}.Edits(ctx, "FoundationDBCluster", site.Key(), o.edits, o.source)
	if err != nil {
		return apply.Keyed{}, err
	}
	stored := &session.Cluster{}
	if err := change.Decode(stored); err != nil {
		return apply.Keyed{}, err
	}
	site.Resource = stored
	session.ReadProposed(site.Env, []*proposal.Change{change})
	return o.For(site.Env, change)
}

// typed is the name of the resource on the command line; empty without one.
func (o overSites) typed() string {
	if len(o.args) > 0 {
		return o.args[0]
	}
	return o.Name
}
