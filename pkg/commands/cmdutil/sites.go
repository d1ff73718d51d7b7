package cmdutil

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// OverSites returns what a command requires with --contexts or --sites, in each Kubernetes cluster: all that it requires
// without, and to see that two contexts lead to one API server.
func OverSites(needs func() []declare.Requirement) map[string]func() []declare.Requirement {
	return map[string]func() []declare.Requirement{"--contexts": func() []declare.Requirement {
		return append(needs(), Everywhere(Optional("whether two contexts of --contexts lead to the same Kubernetes cluster is unknown", session.NamespacePermission()))...)
	}}
}

// OfEachSite opens the sites of a database and reads each one concurrently, in their order, the status of the database once.
// A site that could not be opened, or whose API server stopped answering since, is among the unread ones. A panic of a
// reader is an error.
func OfEachSite[T any](ctx context.Context, opened []*sites.Opened, read func(context.Context, session.ClusterReader, *sites.Opened) (T, error)) (all []T, unread []inspect.UnreadSite, err error) {
	results, errs := make([]T, len(opened)), make([]error, len(opened))
	shared := new(session.SharedDatabase)
	var group errgroup.Group
	for i, site := range opened {
		if site.Unread != "" {
			continue
		}
		group.Go(func() error {
			reader := session.ClusterReader{Env: site.Env, Key: site.Key(), Within: 2 * session.ViewLimit, Shared: shared}
			errs[i] = reconcile.Guarded(func() (err error) {
				results[i], err = read(ctx, reader, site)
				return err
			})
			return nil
		})
	}
	_ = group.Wait() // errors are in errs
	if ctx.Err() != nil {
		return nil, nil, exit.CauseOf(ctx, ctx.Err())
	}
	for i, site := range opened {
		reason := site.Unread
		if reason == "" && errs[i] != nil {
			reason = exit.Explain(site.Env.Connection().Located(errs[i]))
		}
		if reason == "" {
			all = append(all, results[i])
			continue
		}
		unread = append(unread, site.AsUnread(reason))
	}
	return all, unread, nil
}
