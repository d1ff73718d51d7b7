package sites

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// together requires that no two sites are the same Kubernetes cluster or resource, and that all are of one database. Of an
// unread site nothing is required.
func together(ctx context.Context, all []*Opened) error {
	read := Read(all)
	for i, later := range read {
		for _, earlier := range read[:i] {
			for _, differ := range []func(ctx context.Context, a, b *Opened) error{serversDiffer, prefixesDiffer, databaseIsOne} {
				if err := differ(ctx, earlier, later); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Read returns the sites that were read.
func Read(all []*Opened) []*Opened {
	return slices.DeleteFunc(slices.Clone(all), func(o *Opened) bool { return o.Resource == nil })
}

// serversDiffer requires that two contexts lead to two API servers. A context that is named twice has two resources there.
func serversDiffer(_ context.Context, a, b *Opened) error {
	switch {
	case a.Resource.UID == b.Resource.UID && a.Resource.UID != "":
		return exit.Usagef("sites %s and %s are the same FoundationDBCluster %s in namespace %s", a.Name, b.Name, a.Resource.Name, a.Resource.Namespace)
	case a.Context != b.Context && a.server != "" && a.server == b.server:
		return exit.Usagef("sites %s and %s are the same Kubernetes cluster: namespace kube-system has UID %s in both contexts", a.Name, b.Name, a.server)
	}
	return nil
}

// databaseIsOne requires that two resources have the connection string of one database. After a change of the
// coordinators, the ID at a site that has not seen it differs: then they share a coordinator, or the database that one of them
// reaches reports process groups of the other.
func databaseIsOne(ctx context.Context, a, b *Opened) error {
	of, is := connectionOf(a.Resource)
	with, known := connectionOf(b.Resource)
	switch {
	case !is && !known:
		return nil // a database that is to be created
	case is != known:
		without := a
		if is {
			without = b
		}
		return exit.Usage(fmt.Errorf("site %s: FoundationDBCluster %s has no connection string, so a pass would create another database: spec.seedConnectionString must be that of the database", without.Name, without.Resource.Name))
	case of.Description == with.Description && of.ID == with.ID, of.Description == with.Description && shareCoordinator(of, with):
		return nil
	case of.Description == with.Description && (a.reports(ctx, b) || b.reports(ctx, a)):
		return nil
	}
	if of.Description != with.Description { // the rest is not printed: it grants access
		return exit.Usagef("sites %s and %s are of two databases: their connection strings have the descriptions %s and %s", a.Name, b.Name, of.Description, with.Description)
	}
	return exit.Usage(fmt.Errorf("sites %s and %s are of two databases, or of one whose coordinators were changed: their connection strings have the description %s, and neither ID, coordinators nor reporting process groups in common", a.Name, b.Name, of.Description),
		a.Env.Command("connection-string", "drift", a.Resource.Name), b.Env.Command("connection-string", "drift", b.Resource.Name))
}

// reports is whether the database of the site has a process of a process group of another one. If that is unknown, it
// has none.
func (o *Opened) reports(ctx context.Context, other *Opened) bool {
	l, err := session.ClusterReader{Env: o.Env, Key: o.Key(), Asks: plan.Database}.Read(ctx)
	if err != nil || l.Seen.Database.Status == nil {
		return false
	}
	for _, p := range l.Seen.Database.Status.Cluster.Processes {
		if slices.ContainsFunc(other.Resource.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool { return p.InstanceID() == string(g.ProcessGroupID) }) {
			return true
		}
	}
	return false
}

func connectionOf(c *session.Cluster) (fdb.ConnectionString, bool) {
	s, err := fdb.ParseConnectionString(phrase.Or(c.Status.ConnectionString, c.Spec.SeedConnectionString))
	return s, err == nil
}

func shareCoordinator(a, b fdb.ConnectionString) bool {
	return slices.ContainsFunc(a.Coordinators, func(one fdb.Address) bool { return slices.Contains(b.Coordinators, one) })
}

// prefixesDiffer requires that the process groups of two resources cannot have the same ID.
func prefixesDiffer(_ context.Context, a, b *Opened) error {
	if prefix := a.Resource.Spec.ProcessGroupIDPrefix; prefix == b.Resource.Spec.ProcessGroupIDPrefix {
		return exit.Usagef("sites %s and %s: spec.processGroupIDPrefix must differ, both have %q", a.Name, b.Name, prefix)
	}
	return nil
}

// AreRead requires that all sites were read: nothing is changed beside one that was not.
func AreRead(all []*Opened) error {
	for _, o := range all {
		if o.Unread != "" {
			return &exit.Error{Code: exit.ExitUnreachable, Err: errors.New(o.AsUnread(o.Unread).Warning() + " (nothing was changed)")}
		}
	}
	return nil
}

// Agree requires that the specs of the sites do not contradict each other: there is no common plan for them.
func Agree(all []*Opened) error {
	if differences := Contradictions(all); len(differences) > 0 {
		return exit.Usage(errors.New("the specs of the sites contradict each other: " + strings.Join(differences, "; ")))
	}
	return nil
}

// MayChange requires that the sites share the database lock: after a site has taken processes down, no other one acts until the
// database shows that.
func MayChange(all []*Opened) error {
	for i, o := range all {
		switch {
		case len(all) > 1 && !o.Resource.LocksUsed():
			return exit.Usagef("site %s: spec.lockOptions.disableLocks of FoundationDBCluster %s must be false: only the database lock keeps two sites from taking down processes at the same time", o.Name, o.Resource.Name)
		case o.Resource.LockKeyPrefix() != all[0].Resource.LockKeyPrefix():
			return exit.Usagef("sites %s and %s: spec.lockOptions.lockKeyPrefix must be the same, or they have a lock each", all[0].Name, all[i].Name)
		}
	}
	return nil
}

// Contradictions returns the settings of the database in which the specs of sites differ: each site moves the database
// towards its own spec. During an upgrade the versions differ until all resources have the new one.
func Contradictions(all []*Opened) (found []string) {
	read := Read(all)
	for _, setting := range []struct {
		field string
		of    func(c *session.Cluster) string
	}{
		{"spec.version", func(c *session.Cluster) string { return c.Spec.Version }},
		{"spec.databaseConfiguration.redundancy_mode", func(c *session.Cluster) string { return objects.DesiredConfiguration(c).RedundancyMode }},
		{"spec.databaseConfiguration.storage_engine", func(c *session.Cluster) string { return objects.DesiredConfiguration(c).StorageEngine }},
	} {
		values, words := map[string]bool{}, []string(nil)
		for _, o := range read {
			values[setting.of(o.Resource)] = true
			words = append(words, setting.of(o.Resource)+" at "+o.Name)
		}
		if len(values) > 1 {
			found = append(found, fmt.Sprintf("%s differs: %s", setting.field, phrase.List(words)))
		}
	}
	return found
}
