package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// Identity is the resource and the generation of its spec that a decision was made for.
type Identity struct {
	UID        string
	Generation int64
}

// identityOf returns the identity of the resource of a pass; ok is false before it was read.
func identityOf(s plan.Snapshot) (of Identity, ok bool) {
	switch {
	case s.Backup != nil:
		return Identity{string(s.Backup.UID), s.Backup.Generation}, true
	case s.Restore != nil:
		return Identity{string(s.Restore.UID), s.Restore.Generation}, true
	case s.Cluster != nil:
		return Identity{string(s.Cluster.UID), s.Cluster.Generation}, true
	}
	return Identity{}, false
}

// bound reads for passes that may carry out approved actions only while the spec is the
// approved one: the text of an action names what it creates, not its content.
type bound struct {
	ofOne
	approved *Approval
}

// Observe implements reconcile.Observer. No decision is made on a spec that was not approved.
func (b bound) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if err := b.ofOne.Observe(ctx, into, facets); err != nil {
		return err
	}
	return b.approved.HoldsFor(*into)
}

// ofOne reads one resource, and refuses another one of the same name: the process groups of a command
// are those of the resource with which its run began.
type ofOne struct {
	reconcile.Observer
	// uid is the UID of the resource; empty before the first read.
	uid *string
}

// Observe implements reconcile.Observer.
func (o ofOne) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if err := o.Observer.Observe(ctx, into, facets); err != nil {
		return err
	}
	now, read := identityOf(*into)
	switch {
	case !read:
	case *o.uid == "":
		*o.uid = now.UID
	case *o.uid != now.UID:
		return &reconcile.BeyondPlanError{Moved: recreated, Recreated: true}
	}
	return nil
}

const recreated = "the resource was deleted and recreated under the same name since the run began"

// About binds the approval to what was shown. Approvals for another spec become void.
func (a *Approval) About(of Identity) {
	if a.Everything {
		return
	}
	if a.of != nil && *a.of != of {
		*a = Approval{}
	}
	a.of = &of
}

// HoldsFor returns why the approval is void for what was read; nil if it holds.
func (a *Approval) HoldsFor(s plan.Snapshot) error {
	now, read := identityOf(s)
	if read && a.Named != nil && *a.Named != now {
		a.Named = nil // the name was typed for another spec or resource
	}
	if a.Everything || a.of == nil || !read {
		return nil
	}
	if now != *a.of && !a.wroteOnly(now, s) {
		return &reconcile.BeyondPlanError{Moved: specChange(*a.of, now), Recreated: a.of.UID != now.UID}
	}
	a.of, a.spec, a.wrote = &now, specsOf(s), nil
	return nil
}

// specs are the specs of the resources of a pass.
type specs struct {
	cluster *v1beta2.FoundationDBClusterSpec
	backup  *v1beta2.FoundationDBBackupSpec
	restore *v1beta2.FoundationDBRestoreSpec
}

func specsOf(s plan.Snapshot) *specs {
	of := &specs{}
	switch {
	case s.Backup != nil:
		of.backup = s.Backup.Spec.DeepCopy()
	case s.Restore != nil:
		of.restore = s.Restore.Spec.DeepCopy()
	case s.Cluster != nil:
		of.cluster = s.Cluster.Spec.DeepCopy()
	}
	return of
}

func specChange(approved, now Identity) string {
	if approved.UID != now.UID {
		return "the approved resource was deleted and recreated under the same name"
	}
	return fmt.Sprintf("the spec changed since the plan was approved: generation %d, now %d", approved.Generation, now.Generation)
}

// Carried notes what a pass has done: process groups that it created, and what it has written to a
// spec: spec.skip and the priorities of regions of a cluster, spec.backupState, or spec.backupVersion. It never writes other fields.
func (a *Approval) Carried(e reconcile.Event) {
	done, ok := e.(reconcile.ActionDone)
	if !ok || done.Err != nil {
		return
	}
	a.later.carried(done.Action)
	switch set := done.Action.(type) { //nolint:gochecksumtype // no other action writes a spec
	case plan.SetPriorities:
		a.wrote = func(of *specs) { setRegions(of.cluster, set) }
	case plan.SetSkip:
		a.wrote = func(of *specs) { of.cluster.Skip = set.Skip }
	case plan.SetBackupState:
		a.wrote = func(of *specs) { of.backup.BackupState = set.State }
	case plan.SetRestoreVersion:
		a.wrote = func(of *specs) { of.restore.BackupVersion = &set.Chosen.Version }
	}
}

// setRegions sets the regions that a pass wrote into the spec of its own resource.
func setRegions(of *v1beta2.FoundationDBClusterSpec, set plan.SetPriorities) {
	for _, r := range set.Resources {
		if r.Name == set.Cluster {
			of.DatabaseConfiguration.Regions = r.Regions
		}
	}
}

// wroteOnly reports whether the spec differs only by what a pass wrote.
func (a *Approval) wroteOnly(now Identity, s plan.Snapshot) bool {
	if a.wrote == nil || a.spec == nil || now != (Identity{a.of.UID, a.of.Generation + 1}) {
		return false
	}
	a.wrote(a.spec)
	is := specsOf(s)
	same := apiequality.Semantic.DeepEqual
	return same(a.spec.cluster, is.cluster) && same(a.spec.backup, is.backup) && same(a.spec.restore, is.restore)
}

// lastRead is what a pass knew of the database at its end: read after all that it did.
type lastRead struct {
	database plan.DatabaseFacts
	known    bool
}

// lastReadAge is the highest age of the document of a lastRead.
const lastReadAge = 5 * time.Second

// readOnce is a session whose first observation of the database is that of the pass before. The
// progress of a command's targets is read right after a pass; nothing is decided by it.
type readOnce struct {
	session.Session
	// of reads for the session.
	of   ofOne
	last *lastRead
	now  time.Time
}

// Observe implements reconcile.Observer.
func (r readOnce) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	last := *r.last
	*r.last = lastRead{}
	age := r.now.Sub(last.database.AsOf)
	if facets&plan.Database == 0 || !last.known || last.database.Status == nil || age < 0 || age > lastReadAge {
		return r.of.Observe(ctx, into, facets)
	}
	if err := r.of.Observe(ctx, into, facets&^plan.Database); err != nil {
		return err
	}
	into.Database = last.database
	return nil
}

// SplitReplaced removes the words that name already replaced process groups: the status has none of
// them, and the audit, the file or Events, has their removal. A repeated command then proceeds
// with the others, while a mistyped word is still an error.
func SplitReplaced(ctx context.Context, e *session.Env, key types.NamespacedName, s plan.Snapshot, words []string) (left []string, removed []v1beta2.ProcessGroupID) {
	unknown := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return len(session.GroupsFor(s, word)) > 0 })
	if len(unknown) == 0 {
		return words, nil
	}
	known := removals(ctx, e, key, s.Cluster.UID)
	for _, word := range words {
		name := strings.TrimPrefix(strings.TrimPrefix(word, session.GroupPrefix), session.PodPrefix)
		if slices.Contains(unknown, word) && known[name] {
			removed = append(removed, v1beta2.ProcessGroupID(name))
			continue
		}
		left = append(left, word)
	}
	return left, removed
}

// removals returns the removals of process groups of a cluster in the audit. What cannot be read of it
// proves nothing, nor do records of another cluster of the same name.
func removals(ctx context.Context, e *session.Env, key types.NamespacedName, cluster types.UID) audit.Removals {
	known := audit.Removals{}
	if path, err := audit.Path(e.Getenv); err == nil {
		err = known.AddFile(path, audit.Run{Context: e.Connection().ContextName(), Namespace: key.Namespace, Cluster: key.Name, UID: cluster})
		if err != nil {
			e.Logf("warning: %s", err)
		}
	}
	events, _ := e.Lookup().EventsOf(ctx, key, key.Name)
	known.AddEvents(events, cluster)
	return known
}
