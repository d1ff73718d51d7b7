// Package fleet is the list of clusters that the dashboard shows.
package fleet

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// Cluster is one cluster of the list.
type Cluster struct {
	Namespace, Name string
	// Status is the last one that was read; nil before the first.
	Status *inspect.StatusView
	// Unread is why it cannot be read now; empty if it can.
	Unread string
	// AsOf is when it was last read, Changed when something that the list shows changed; nil
	// before.
	AsOf, Changed *time.Time
}

// Key identifies a cluster among those of a namespace, or of all namespaces if that is empty.
func (c Cluster) Key(namespace string) string {
	if namespace == c.Namespace {
		return c.Name
	}
	return c.Namespace + "/" + c.Name
}

// List is the clusters, in order.
type List struct {
	Clusters []Cluster
	// Problem is why the clusters cannot be listed now; empty if they can. Those known before
	// stay.
	Problem string
	// AsOf is when they were last listed; nil before.
	AsOf *time.Time
}

// Source is where lists come from.
type Source interface {
	// FollowAll sends the list whenever something of it was read, until ctx ends.
	FollowAll(ctx context.Context, send func(List))
}

// Known returns the list with these clusters and no others, each as far as it was read.
func (l List) Known(clusters []Cluster, at time.Time) List {
	known := List{AsOf: &at}
	for _, c := range clusters {
		if i := l.index(c); i >= 0 {
			c = l.Clusters[i]
		}
		known.Clusters = append(known.Clusters, c)
	}
	return known
}

// Read returns the list with what was read of a cluster, or why it was not. A cluster that is no
// longer listed is not added.
func (l List) Read(c Cluster, at time.Time) List {
	i := l.index(c)
	if i < 0 {
		return l
	}
	before := l.Clusters[i]
	c.Changed = before.Changed
	if before.AsOf != nil && shownOf(before) != shownOf(c) {
		c.Changed = &at
	}
	if c.Unread != "" { // the last status stays, with its age
		c.Status, c.AsOf = before.Status, before.AsOf
	}
	l.Clusters = slices.Clone(l.Clusters)
	l.Clusters[i] = c
	return l
}

func (l List) index(c Cluster) int {
	return slices.IndexFunc(l.Clusters, func(other Cluster) bool { return other.Namespace == c.Namespace && other.Name == c.Name })
}

// shown is what the list shows of a cluster, other than ages.
type shown struct {
	unread              bool
	state               inspect.State
	version             string
	reconciled, desired int
	operation           string
}

func shownOf(c Cluster) shown {
	s := shown{unread: c.Unread != ""}
	if v := c.Status; v != nil && c.Unread == "" {
		s.state, s.version, s.reconciled, s.desired = v.State, v.Database.Version, v.ProcessGroups.Reconciled, v.ProcessGroups.Desired
		if o := v.Locks.Operation; o != nil {
			s.operation = o.ID + o.Command
		}
	}
	return s
}
