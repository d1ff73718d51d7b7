package sites

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Opened is a site whose resource was read, or why it cannot be.
type Opened struct {
	Site
	// Env is the environment of commands at the site.
	Env *session.Env
	// Resource is nil for an unread site.
	Resource *session.Cluster
	// At is when the resource was read.
	At time.Time
	// Unread is why the site cannot be read; empty if it can.
	Unread string

	// server is the UID of the namespace kube-system, which no other API server has; empty where it is unknown.
	server types.UID
}

// Key returns the namespace and name of the resource, as far as they are known.
func (o *Opened) Key() types.NamespacedName {
	if o.Resource != nil {
		return types.NamespacedName{Namespace: o.Resource.Namespace, Name: o.Resource.Name}
	}
	namespace, err := o.Env.Connection().Namespace()
	if err != nil {
		namespace = o.Namespace
	}
	return types.NamespacedName{Namespace: namespace, Name: o.Cluster}
}

// Open reads the resources of all sites concurrently. An API server that does not answer makes its site unread. What the
// user has to correct is an error, before anything else is read: a context that does not exist or may not read, a resource
// that does not exist, and sites that are not those of one database.
func Open(ctx context.Context, env *session.Env, all []Site, args []string, flag string) ([]*Opened, error) {
	opened, errs := make([]*Opened, len(all)), make([]error, len(all))
	var group errgroup.Group
	for i, site := range all {
		opened[i] = &Opened{Site: site, Env: session.At(env, session.Place{Name: site.Name, Context: site.Context, Namespace: site.Namespace})}
		group.Go(func() error {
			errs[i] = reconcile.Guarded(func() error { return opened[i].open(ctx, args, flag) })
			return nil
		})
	}
	_ = group.Wait() // errors are in errs
	if ctx.Err() != nil {
		return nil, exit.CauseOf(ctx, ctx.Err())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return opened, together(ctx, opened)
}

// open reads the resource, and which API server has it.
func (o *Opened) open(ctx context.Context, args []string, flag string) error {
	cluster, err := o.read(ctx, args, flag)
	if err != nil {
		return o.unread(err)
	}
	o.At, o.Resource, o.Env.Run.About = o.Env.Clock.Now(), cluster, types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	return nil
}

func (o *Opened) read(ctx context.Context, args []string, flag string) (*session.Cluster, error) {
	name, err := o.Env.ClusterName(args, flag)
	if err != nil {
		return nil, err
	}
	if name, err = o.named(name, append(slices.Clone(args), flag)); err != nil {
		return nil, err
	}
	c, err := o.Env.Client()
	if err != nil {
		return nil, err
	}
	var group errgroup.Group
	group.Go(func() error { return reconcile.Guarded(func() error { o.server = serverOf(ctx, c); return nil }) })
	cluster, err := o.Env.Cluster(ctx, nil, name, session.Reads)
	return cluster, errors.Join(err, group.Wait())
}

// named returns the name of the resource: that of the site, which what was typed must not contradict.
func (o *Opened) named(name string, typed []string) (string, error) {
	if o.Cluster != "" && strings.Join(typed, "") != "" && name != o.Cluster {
		return "", exit.Usagef("the command line names cluster %s, the sites file %s", name, o.Cluster)
	}
	return phrase.Or(o.Cluster, name), nil
}

// serverOf returns the identity of an API server; empty where it cannot be read, as with the permissions of one namespace.
func serverOf(ctx context.Context, c client.Client) types.UID {
	system := &corev1.Namespace{}
	if err := c.Get(ctx, types.NamespacedName{Name: "kube-system"}, system); err != nil {
		return ""
	}
	return system.UID
}

// unread keeps why an API server does not answer or does not know the user any more, as when a site is lost. Any other
// error is returned.
func (o *Opened) unread(err error) error {
	located := o.Env.Connection().Located(err)
	if exit.Code(err) == exit.ExitUnreachable || apierrors.IsUnauthorized(err) {
		o.Unread = exit.Explain(located)
		return nil
	}
	return o.Problem(err)
}

// AsUnread returns the site as an unread one in documents.
func (o *Opened) AsUnread(reason string) inspect.UnreadSite {
	return inspect.UnreadSite{Site: o.Name, Context: o.Context, Namespace: o.Key().Namespace, Cluster: o.Key().Name, Reason: reason}
}

// Problem returns an error with the name of the site, and with the hints for its API server.
func (o *Opened) Problem(err error) error { return Problem(o.Env, err) }

// Problem returns an error at a site with its name, and with the hints for its API server.
func Problem(at *session.Env, err error) error {
	located := at.Connection().Located(err)
	problem := &exit.Error{Code: exit.Code(err), Err: fmt.Errorf("site %s: %s", at.Site, exit.Explain(located))}
	if known, is := errors.AsType[*exit.Error](located); is {
		problem.Hints = known.Hints
	}
	if apierrors.IsForbidden(err) && len(problem.Hints) == 0 {
		problem.Hints = []string{at.Command("auth", "can-i", "status")}
	}
	return problem
}
