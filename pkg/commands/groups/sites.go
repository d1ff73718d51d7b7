package groups

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// acrossSites is a change of process groups of a database with a resource in each of several Kubernetes clusters. Each group
// is changed at the site whose resource has it.
type acrossSites struct {
	apply.ChangeFlags
	cmdutil.Selection
	// all is true if every process group of the sites is meant without being selected.
	all   bool
	named []sites.Site
	// verb is the command; cluster is the name of the resources, in the arguments or by its flag.
	verb    string
	cluster []string
	flag    string
	// at prepares the change of the groups that a selection has at one site.
	at func(cmdutil.Selection) preparing
}

// read takes process groups and the name of the resources from the arguments. An empty selection is a usage error.
func (a *acrossSites) read(env *session.Env, args []string) (err error) {
	var ids []string
	a.cluster, ids = session.GroupArgsAcross(args, a.flag)
	a.IDs, err = cmdutil.ExpandArgs(slices.Concat(ids, a.IDs), env.In)
	switch {
	case err != nil:
		return err
	case a.all && a.Chooses():
		return exit.Usagef("--all conflicts with named process groups")
	case !a.all:
		return a.MustChoose()
	}
	return nil
}

// run carries out the parts of the change at all sites with one approval. Nothing is changed beside a site that cannot be read.
func (a acrossSites) run(ctx context.Context, env *session.Env, args []string) error {
	if err := a.read(env, args); err != nil {
		return err
	}
	opened, err := sites.Open(ctx, env, a.named, a.cluster, a.flag)
	if err != nil {
		return err
	}
	for _, permits := range []func([]*sites.Opened) error{sites.AreRead, sites.Agree, sites.MayChange} {
		if err := permits(opened); err != nil {
			return err
		}
	}
	all, err := a.changes(ctx, env, opened)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	return apply.CarryOutSites(ctx, env, all, a.ChangeFlags)
}

// changes returns the part of each site. A site without one of the groups keeps its Lease.
func (a acrossSites) changes(ctx context.Context, env *session.Env, opened []*sites.Opened) ([]apply.SitePlan, error) {
	ids, err := a.idsBySite(opened)
	if err != nil {
		return nil, err
	}
	plans, err := a.PlansOfSites()
	if err != nil {
		return nil, err
	}
	across := &apply.Across{Env: env, Args: slices.Concat([]string{a.verb}, a.cluster)}
	all, permissions := make([]apply.SitePlan, len(opened)), []session.Permission(nil)
	for i, site := range opened {
		c, err := a.change(ctx, site, ids[i], plans[site.Name])
		_, idle := errors.AsType[*cmdutil.NoneChosenError](err)
		if err != nil && !idle {
			return nil, site.Problem(err)
		}
		if !idle {
			permissions = c.Permissions
			across.Args = joined(across.Args, c.Args[2:])
		}
		c.Across = across
		all[i] = apply.SitePlan{Env: site.Env, Keyed: apply.Keyed{Key: site.Key(), Change: c}, Idle: idle}
	}
	if permissions == nil {
		return nil, exit.Usagef("no process group of any site matches (nothing was changed)")
	}
	for i := range all {
		all[i].Permissions = permissions // of an idle one for its Lease
	}
	return all, nil
}

// joined adds the process groups and flags of a site to a command line over all sites. The time from which restarts count is that of the
// first site.
func joined(words, of []string) []string {
	for _, word := range of {
		if slices.Contains(words, word) || sinceOf(words) != "" && sinceOf([]string{word}) != "" {
			continue
		}
		words = append(words, word)
	}
	return words
}

// change returns the part of a site. It counts from the time of its approved plan, if there is one.
func (a acrossSites) change(ctx context.Context, site *sites.Opened, ids []string, approved *planned.ApprovedPlan) (apply.Change, error) {
	if len(a.IDs) > 0 && len(ids) == 0 {
		return apply.Change{ChangeFlags: a.ChangeFlags}, &cmdutil.NoneChosenError{Cluster: site.Resource.Name}
	}
	site.Env.Run.Planned = approved
	chosen := a.Selection
	chosen.IDs = ids
	c, err := a.at(chosen)(ctx, site.Env, site.Key())
	if err != nil {
		c = apply.Change{ChangeFlags: a.ChangeFlags}
	}
	return c, err
}

// idsBySite divides the named process groups among the sites. One that no status has any more belongs to the site with its prefix.
func (a acrossSites) idsBySite(opened []*sites.Opened) ([][]string, error) {
	ids := make([][]string, len(opened))
	var unknown []string
	for _, word := range a.IDs {
		at := having(opened, func(c *v1beta2.FoundationDBCluster) bool {
			return len(session.GroupsFor(plan.Snapshot{Cluster: c}, word)) > 0
		})
		if len(at) == 0 {
			at = having(opened, func(c *v1beta2.FoundationDBCluster) bool { return hasPrefix(c, word) })
		}
		switch len(at) {
		case 0:
			unknown = append(unknown, word)
		case 1:
			ids[at[0]] = append(ids[at[0]], word)
		default: // an address that pods of two Kubernetes clusters have, or had
			return nil, exit.Usagef("%q is ambiguous: it matches process groups of sites %s and %s; use an ID (nothing was changed)", word, opened[at[0]].Name, opened[at[1]].Name)
		}
	}
	if len(unknown) > 0 {
		return nil, exit.Usagef("process groups not found at any site: %s (nothing was changed)", strings.Join(unknown, ", "))
	}
	return ids, nil
}

// having returns which of the sites have such a resource.
func having(opened []*sites.Opened, is func(*v1beta2.FoundationDBCluster) bool) (at []int) {
	for i, site := range opened {
		if is(site.Resource) {
			at = append(at, i)
		}
	}
	return at
}

// hasPrefix reports whether a word can be the ID of a process group of a cluster that is not in its status any more.
func hasPrefix(c *v1beta2.FoundationDBCluster, word string) bool {
	prefix := c.Spec.ProcessGroupIDPrefix
	return prefix != "" && strings.HasPrefix(strings.TrimPrefix(word, session.GroupPrefix), prefix+"-")
}
