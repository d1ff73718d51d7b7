package apply

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
)

// resourceSet runs passes over one resource, or over a cluster, its backups and the restores into it, in this
// order: a backup requires a database, and a restore the agents of a backup. Each pass takes the Lease
// of its resource, and releases it before the next begins.
type resourceSet struct {
	env     *session.Env
	key     types.NamespacedName // of the cluster
	options ReconcileOptions
	members []*Passes // the cluster's come first
	known   map[types.UID]*Passes
	// plans are those that were approved, by the names of their resources; nil without --plan.
	plans map[string]*planned.ApprovedPlan
	out   *format.Sections
	// available is whether the cluster's last pass found its database available.
	available bool
	// alone is true for passes over one resource, beside which no others are looked for.
	alone bool
}

// alone returns the passes over one resource, whatever it is.
func alone(p *Passes) *resourceSet {
	return &resourceSet{env: p.Env, key: p.Key, options: ReconcileOptions{ChangeFlags: p.ChangeFlags}, members: []*Passes{p}, alone: true}
}

// CheckTogether validates the flags with --with-backups.
func (o ReconcileOptions) CheckTogether() error {
	switch {
	case !o.WithBackups:
		return nil
	case len(o.Only)+len(o.Skip) > 0:
		return exit.Usagef("--only and --skip conflict with --with-backups: they name the stages of one resource")
	default:
		return nil
	}
}

// togetherPermissions are required to run passes over a cluster, its backups and restores.
func (o ReconcileOptions) togetherPermissions() []session.Permission {
	return WithBackups(o.Permissions())
}

// WithBackups adds the permissions for passes over backups and restores, and to find them, to
// those for the cluster.
func WithBackups(cluster []session.Permission) []session.Permission {
	var needs []session.Permission
	for _, p := range slices.Concat(cluster, session.BackupPermissions(), session.RestorePermissions(), FindResourcePermissions()) {
		if !slices.Contains(needs, p) {
			needs = append(needs, p)
		}
	}
	return needs
}

// FindResourcePermissions are required to find the backups and restores of a cluster.
func FindResourcePermissions() []session.Permission {
	crd := v1beta2.GroupVersion.Group
	return []session.Permission{{Verb: "list", Group: crd, Resource: "foundationdbbackups"}, {Verb: "list", Group: crd, Resource: "foundationdbrestores"}}
}

func resources(e *session.Env, key types.NamespacedName, o ReconcileOptions) *resourceSet {
	return &resourceSet{env: e, key: key, options: o, out: format.NewSections(e.Out), known: map[types.UID]*Passes{}}
}

// ReconcileTogether reconciles a cluster, its backups and its restores.
func ReconcileTogether(ctx context.Context, e *session.Env, key types.NamespacedName, o ReconcileOptions) error {
	if o.dry() {
		return planTogether(ctx, e, key, o)
	}
	if err := o.canAsk(e); err != nil {
		return err
	}
	t := resources(e, key, o)
	if err := t.adopt(); err != nil {
		return err
	}
	e.Run.Planned = t.plans[key.Name]
	cluster, err := PassesOver(ctx, e, key, t.change(nil))
	if err != nil {
		return err
	}
	t.attach(cluster)
	if o.Watch {
		return watchTogether(ctx, cluster, t)
	}
	if err := t.discover(ctx); err != nil {
		return exit.CauseOf(ctx, err)
	}
	return t.all(ctx)
}

// adopt reads the plans of --plan.
func (t *resourceSet) adopt() error {
	if t.options.Plan == "" {
		return nil
	}
	all, err := ReadPlans(t.options.Plan)
	t.plans = map[string]*planned.ApprovedPlan{}
	for _, p := range all {
		t.plans[p.Metadata.Cluster] = p
	}
	return err
}

// change returns the change of a resource of a kind; nil is the cluster.
func (t *resourceSet) change(kind *session.ResourceKind) Change {
	c := Change{ChangeFlags: t.options.ChangeFlags, Args: t.options.Args(t.key.Name), Permissions: t.options.togetherPermissions(), ResourceKind: kind}
	if kind == nil {
		c.Stages = stages.ClusterWith(t.options.Options)
		return c
	}
	c.Stages = kind.Stages()
	return c
}

// discover finds the current backups and restores of the cluster. Passes over known ones
// continue as they were.
func (t *resourceSet) discover(ctx context.Context) error {
	c, err := t.env.Client()
	if err != nil {
		return err
	}
	members := t.members[:1:1]
	for _, kind := range []*session.ResourceKind{session.BackupKind, session.RestoreKind} {
		records, err := kind.Resources(ctx, c, t.key.Namespace)
		if err != nil {
			return err
		}
		for _, cluster := range records {
			if kind.Cluster(cluster) != t.key.Name {
				continue
			}
			p, err := t.member(ctx, kind, cluster)
			if err != nil {
				return err
			}
			members = append(members, p)
		}
	}
	t.members = members
	t.env.Run.About = t.key
	return nil
}

// member returns the passes over a resource: the existing ones if there are any.
func (t *resourceSet) member(ctx context.Context, kind *session.ResourceKind, cluster client.Object) (*Passes, error) {
	if p := t.known[cluster.GetUID()]; p != nil {
		return p, nil
	}
	c, key := t.change(kind), client.ObjectKeyFromObject(cluster)
	t.env.Run.Planned = t.plans[kind.Named(key).Name] // its digest is stored with the Lease, and in the audit
	p, err := openPasses(ctx, t.env, key, c, NewAuditor(t.env, key, c))
	if err != nil {
		return nil, err
	}
	t.known[cluster.GetUID()] = p
	t.attach(p)
	return p, nil
}

// attach makes passes report under the name of their resource.
func (t *resourceSet) attach(p *Passes) {
	p.shared = true
	p.report = p.out.EventsOf(p.subject(), t.out)
	if p.Run.ResourceKind == nil {
		p.report = all(p.report, t.seesDatabase)
		t.members = []*Passes{p}
	}
}

// seesDatabase records whether the database is available whenever a pass reads it. An earlier
// pass does not count: one that ends before reading it determines nothing.
func (t *resourceSet) seesDatabase(e reconcile.Event) {
	switch e := e.(type) { //nolint:gochecksumtype // no other event is about the database
	case reconcile.PassStarted:
		t.available = t.available && e.Round > 1
	case reconcile.Observed:
		if e.Facets&plan.Database != 0 {
			t.available = e.Snapshot.Database.Available()
		}
	}
}
