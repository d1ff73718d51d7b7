package apply

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
)

// resourceSet runs passes over one resource, over those of one database in several Kubernetes clusters, or over clusters,
// backups and restores of one namespace, in this order: a backup requires a database, and a restore the agents of a backup. Each pass takes the Lease
// of its resource, and releases it before the next begins.
type resourceSet struct {
	env     *session.Env
	key     types.NamespacedName // of the first resource; with --with-backups that is the cluster
	options ReconcileOptions
	members []*Passes // those of clusters come first
	known   map[types.UID]*Passes
	// plans are those that were approved, by the names of their resources or sites; nil without --plan.
	plans map[string]*planned.ApprovedPlan
	out   *format.Sections
	// available is whether the last pass over a cluster found its database available, by the names of the clusters.
	available map[string]bool
	// alone is true for passes over one resource, beside which no others are looked for.
	alone bool
	// sites is true for passes over the resources of one database in several Kubernetes clusters.
	sites bool
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
	return union(cluster, session.BackupPermissions(), session.RestorePermissions(), FindResourcePermissions())
}

// union returns permissions, each once.
func union(lists ...[]session.Permission) (all []session.Permission) {
	for _, p := range slices.Concat(lists...) {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// FindResourcePermissions are required to find the backups and restores of a cluster.
func FindResourcePermissions() []session.Permission {
	crd := v1beta2.GroupVersion.Group
	return []session.Permission{{Verb: "list", Group: crd, Resource: "foundationdbbackups"}, {Verb: "list", Group: crd, Resource: "foundationdbrestores"}}
}

func resources(e *session.Env, key types.NamespacedName, o ReconcileOptions) *resourceSet {
	return &resourceSet{env: e, key: key, options: o, out: format.NewSections(e.Out), known: map[types.UID]*Passes{}, available: map[string]bool{}}
}

// CarryOutAll previews changes of resources that nothing has stored yet, or confirms them, has them stored and carries them
// out, in the order in which they come.
func CarryOutAll(ctx context.Context, e *session.Env, o ReconcileOptions, all []Keyed) (err error) {
	several := len(all) > 1
	switch {
	case o.dry() && (several || o.Printed().Prune):
		return planAll(ctx, e, all)
	case o.dry():
		return CarryOut(ctx, e, all[0].Key, all[0].Change)
	case several && o.Output != "json" && !o.PrintsText():
		return exit.Usagef("-o %s is not supported with several resources: must be text or json", o.Output)
	}
	if err := mayStore(e, all); err != nil {
		return err
	}
	if several {
		return carryOutTogether(ctx, e, o, all)
	}
	if o.Plan != "" {
		if e.Run.Planned, err = ReadPlan(o.Plan); err != nil {
			return err
		}
	}
	return CarryOut(ctx, e, all[0].Key, all[0].Change)
}

func carryOutTogether(ctx context.Context, e *session.Env, o ReconcileOptions, all []Keyed) error {
	t := resources(e, all[0].Key, o)
	if err := t.adopt(); err != nil {
		return err
	}
	if err := o.canAsk(e); err != nil {
		return err
	}
	var needs []session.Permission
	for _, c := range all {
		needs = union(needs, c.required())
	}
	if err := session.MayDo(ctx, e, t.key.Namespace, needs); err != nil {
		return err
	}
	e.Run.Reason = o.Reason
	for _, c := range all {
		p, err := t.open(ctx, c)
		if err != nil {
			return err
		}
		t.members = append(t.members, p)
	}
	e.Run.About = t.key
	return t.all(ctx)
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
	t.members = []*Passes{cluster}
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
	c.Stages, c.Of = kind.Stages(), t.key.Name
	return c
}

// discover finds the current backups and restores of the cluster. Passes over known ones
// continue as they were.
func (t *resourceSet) discover(ctx context.Context) error {
	members := t.members[:1:1]
	err := t.others(ctx, func(kind *session.ResourceKind, resource client.Object) error {
		p, err := t.member(ctx, kind, resource)
		members = append(members, p)
		return err
	})
	if err != nil {
		return err
	}
	t.members = members
	t.env.Run.About = t.key
	return nil
}

// others calls a function with each backup of the cluster, then with each restore into it.
func (t *resourceSet) others(ctx context.Context, found func(*session.ResourceKind, client.Object) error) error {
	c, err := t.env.Client()
	if err != nil {
		return err
	}
	for _, kind := range []*session.ResourceKind{session.BackupKind, session.RestoreKind} {
		all, err := kind.Resources(ctx, c, t.key.Namespace)
		if err != nil {
			return err
		}
		for _, resource := range all {
			if kind.Cluster(resource) != t.key.Name {
				continue
			}
			if err := found(kind, resource); err != nil {
				return err
			}
		}
	}
	return nil
}

// member returns the passes over a resource: the existing ones if there are any.
func (t *resourceSet) member(ctx context.Context, kind *session.ResourceKind, resource client.Object) (*Passes, error) {
	if p := t.known[resource.GetUID()]; p != nil {
		return p, nil
	}
	p, err := t.open(ctx, Keyed{client.ObjectKeyFromObject(resource), t.change(kind)})
	if err == nil {
		t.known[resource.GetUID()] = p
	}
	return p, err
}

// open returns the passes of a change, once its permissions are verified.
func (t *resourceSet) open(ctx context.Context, c Keyed) (*Passes, error) {
	t.env.Run.Planned = t.plans[c.subject()] // its digest is stored with the Lease, and in the audit
	p, err := openPasses(ctx, t.env, c.Key, c.Change, NewAuditor(t.env, c.Key, c.Change))
	if err != nil {
		return nil, err
	}
	t.attach(p)
	return p, nil
}

// attach makes passes report under the name of their resource.
func (t *resourceSet) attach(p *Passes) {
	p.shared = true
	p.report = p.out.EventsOf(p.Env.Metadata(p.Run.ResourceKind.Named(p.Key)), t.out)
	if p.Run.ResourceKind == nil {
		t.available[p.Key.Name] = false
		p.report = all(p.report, func(e reconcile.Event) { t.seesDatabase(p.Key.Name, e) })
	}
}

// seesDatabase records whether the database of a cluster is available whenever a pass reads it. An earlier
// pass does not count: one that ends before reading it determines nothing.
func (t *resourceSet) seesDatabase(cluster string, e reconcile.Event) {
	switch e := e.(type) { //nolint:gochecksumtype // no other event is about the database
	case reconcile.PassStarted:
		t.available[cluster] = t.available[cluster] && e.Round > 1
	case reconcile.Observed:
		if e.Facets&plan.Database != 0 {
			t.available[cluster] = e.Snapshot.Database.Available()
		}
	}
}

// watchTogether watches a cluster, and runs passes over its backups and restores after each
// pass over it. They are discovered again each time.
func watchTogether(ctx context.Context, cluster *Passes, t *resourceSet) error {
	return watchPasses(ctx, &watching{Passes: cluster, WatchFlags: t.options.WatchFlags, resources: t})
}

// agreeForGood prompts for approval of all that later passes may do, of any of the resources.
// Loss of data is excluded: an unattended run never causes it.
func (t *resourceSet) agreeForGood(ctx context.Context, question string) error {
	if err := t.discover(ctx); err != nil {
		return err
	}
	for _, p := range t.members {
		if _, err := p.show(ctx); err != nil {
			return err
		}
	}
	if err := t.env.Prompt().Confirm(ctx, question); err != nil {
		return err
	}
	t.options.Yes = true
	for _, p := range t.members {
		p.Approved = Approval{Everything: true}
	}
	return nil
}

// FollowPermissions are required to see changes of backups, restores and agents as they occur,
// by facet.
func FollowPermissions() map[plan.Facet][]session.Permission {
	crd := v1beta2.GroupVersion.Group
	return map[plan.Facet][]session.Permission{
		plan.Backup:  {{Verb: "watch", Group: crd, Resource: "foundationdbbackups"}},
		plan.Restore: {{Verb: "watch", Group: crd, Resource: "foundationdbrestores"}},
		plan.Agents:  {{Verb: "list", Group: "apps", Resource: "deployments"}, {Verb: "watch", Group: "apps", Resource: "deployments"}},
	}
}

// followable returns the facets that may be watched; the others are reported once. If that
// cannot be determined, they are watched, and errors are reported.
func (t *resourceSet) followable(ctx context.Context) plan.Facet {
	facets := plan.Backup | plan.Restore | plan.Agents
	c, err := t.env.Client()
	if err != nil {
		return facets
	}
	var missing []string
	for facet, needs := range FollowPermissions() {
		if lacks, err := session.MissingPermissions(ctx, c, t.key.Namespace, needs); err == nil && len(lacks) > 0 {
			missing, facets = append(missing, lacks...), facets&^facet
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		t.env.Logf("some changes of backups and restores are only seen every %s: not permitted to %s %s", t.options.Resync, strings.Join(missing, ", "), session.InNamespace(t.key.Namespace))
	}
	return facets
}

// follow runs a pass over each backup and restore. The error is one that ends the watch.
func (t *resourceSet) follow(ctx context.Context) error {
	if err := t.discover(ctx); err != nil {
		if ctx.Err() != nil {
			return exit.CauseOf(ctx, err)
		}
		t.env.Logf("backups and restores: %s", exit.Explain(err))
		return nil
	}
	for _, p := range t.members[1:] {
		if why := t.notYet(p); why != "" {
			p.holdUp(why)
			continue
		}
		p.kept = nil
		p.err = p.once(ctx)
		if ctx.Err() != nil {
			return exit.CauseOf(ctx, ctx.Err())
		}
		p.printLoss()
	}
	return nil
}

// printLoss prints once how to approve a loss of data, which a watch never does.
func (p *Passes) printLoss() {
	if !wantsLoss(p.Last) || p.lossReported {
		return
	}
	p.lossReported = true
	p.Env.Logf("%s: %s", p.subject(), LossNotWatched)
	for _, hint := range p.lossHints() {
		p.Env.Logf("hint: %s", hint)
	}
}

// LossNotWatched is why backups and restores are not watched.
const LossNotWatched = "a watch never deletes backup data: use a separate command"

// pressing are endings that require the next pass soon.
var pressing = []pace.Ending{pace.Unfinished, pace.Waiting, pace.Held}

// pressingEnding returns how one of them ended; ok is false if that requires no hurry. A failed
// one is read again as late as one that requires manual intervention: it does not delay the
// cluster.
func (p *Passes) pressingEnding() (pace.Ending, bool) {
	e := endingOf(p.Last, p.kept)
	return e, slices.Contains(pressing, e)
}

// retryAfter returns when the last passes want the next. Those over backups and restores can
// only bring it forward.
func (w *watching) retryAfter() time.Duration {
	if w.resources == nil || (w.ending != pace.Settled && w.ending != pace.Blocked) {
		return retryAfter(w.Last)
	}
	for _, p := range w.resources.members[1:] {
		if e, ok := p.pressingEnding(); ok {
			w.ending = e
			return p.Last.RetryAfter
		}
	}
	return w.Last.RetryAfter
}
