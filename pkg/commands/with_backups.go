package commands

import (
	"context"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// resourceSet runs passes over a cluster, its backups and the restores into it, in this order:
// a backup requires a database, and a restore the agents of a backup. Each pass takes the Lease
// of its resource, and releases it before the next begins.
type resourceSet struct {
	env     *Env
	key     types.NamespacedName // of the cluster
	options reconcileOptions
	members []*passes // the cluster's come first
	known   map[types.UID]*passes
	out     *sectionWriter
	// available is whether the cluster's last pass found its database available.
	available bool
}

// checkTogether validates the flags with --with-backups.
func (o reconcileOptions) checkTogether() error {
	switch {
	case !o.withBackups:
		return nil
	case len(o.only)+len(o.skip) > 0:
		return usagef("--only and --skip conflict with --with-backups: they name the stages of one resource")
	case o.plan != "":
		return usagef("--plan conflicts with --with-backups: apply a plan per resource")
	default:
		return nil
	}
}

// togetherPermissions are required to run passes over a cluster, its backups and restores.
func (o reconcileOptions) togetherPermissions() []permission {
	return withBackups(o.permissions())
}

// withBackups adds the permissions for passes over backups and restores, and to find them, to
// those for the cluster.
func withBackups(cluster []permission) []permission {
	var needs []permission
	for _, p := range slices.Concat(cluster, backupPermissions(), restorePermissions(), findRecordPermissions()) {
		if !slices.Contains(needs, p) {
			needs = append(needs, p)
		}
	}
	return needs
}

// findRecordPermissions are required to find the backups and restores of a cluster.
func findRecordPermissions() []permission {
	crd := v1beta2.GroupVersion.Group
	return []permission{{"list", crd, "foundationdbbackups", ""}, {"list", crd, "foundationdbrestores", ""}}
}

func (e *Env) resources(key types.NamespacedName, o reconcileOptions) *resourceSet {
	return &resourceSet{env: e, key: key, options: o, out: &sectionWriter{w: e.Out}, known: map[types.UID]*passes{}}
}

// reconcileTogether reconciles a cluster, its backups and its restores.
func (e *Env) reconcileTogether(ctx context.Context, key types.NamespacedName, o reconcileOptions) error {
	if o.dry() {
		return e.planTogether(ctx, key, o, planOptions{outputFlags: outputFlags{format: o.output}})
	}
	t := e.resources(key, o)
	cluster, err := e.passesOver(ctx, key, t.change(nil))
	if err != nil {
		return err
	}
	t.attach(cluster)
	if o.watch {
		return e.watchTogether(ctx, cluster, t)
	}
	if err := t.discover(ctx); err != nil {
		return causeOf(ctx, err)
	}
	return t.all(ctx)
}

// change returns the change of a resource of a kind; nil is the cluster.
func (t *resourceSet) change(kind *recordKind) change {
	c := change{changeFlags: t.options.changeFlags, words: t.options.words(t.key.Name), permissions: t.options.togetherPermissions(), record: kind}
	if kind == nil {
		c.stages = stages.ClusterWith(t.options.options)
		return c
	}
	c.stages = kind.stages()
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
	for _, kind := range []*recordKind{backupKind, restoreKind} {
		records, err := kind.records(ctx, c, t.key.Namespace)
		if err != nil {
			return err
		}
		for _, record := range records {
			if kind.cluster(record) != t.key.Name {
				continue
			}
			p, err := t.member(ctx, kind, record)
			if err != nil {
				return err
			}
			members = append(members, p)
		}
	}
	t.members = members
	t.env.about = t.key
	return nil
}

// member returns the passes over a resource: the existing ones if there are any.
func (t *resourceSet) member(ctx context.Context, kind *recordKind, record client.Object) (*passes, error) {
	if p := t.known[record.GetUID()]; p != nil {
		return p, nil
	}
	c, key := t.change(kind), client.ObjectKeyFromObject(record)
	p, err := t.env.openPasses(ctx, key, c, t.env.auditor(key, c))
	if err != nil {
		return nil, err
	}
	t.known[record.GetUID()] = p
	t.attach(p)
	return p, nil
}

// attach makes passes report under the name of their resource.
func (t *resourceSet) attach(p *passes) {
	p.report = p.reporterTo(t.out.under(p.subject()), p.subject())
	if p.run.record == nil {
		p.report = all(p.report, t.seesDatabase)
		t.members = []*passes{p}
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

// reporterTo reports the events of passes that share a stream.
func (p *passes) reporterTo(w io.Writer, resource string) func(reconcile.Event) {
	if p.output == "json" {
		return ui.JSONOf(p.env.Out, resource)
	}
	return ui.Text(w, ui.TextOptions{Paint: p.env.paint(p.env.Out), Verbose: p.env.global.verbose > 0})
}

// sectionWriter writes the output of several resources, with a header whenever the resource
// changes.
type sectionWriter struct {
	w    io.Writer
	last string
}

func (h *sectionWriter) under(name string) io.Writer { return sectionPart{h, name} }

type sectionPart struct {
	*sectionWriter
	name string
}

func (s sectionPart) Write(text []byte) (int, error) {
	if s.last != s.name {
		s.last = s.name
		if _, err := io.WriteString(s.w, s.name+"\n"); err != nil {
			return 0, err
		}
	}
	return s.w.Write(text)
}
