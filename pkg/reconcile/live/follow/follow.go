// Package follow watches the objects of a cluster for changes.
package follow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Follower reports when the objects of a cluster change, so that a watch need not poll. It
// stores no objects, and its reports are hints: a pass observes for itself, and a watch that
// missed a change reads again after its resync interval.
type Follower struct {
	// Client watches. Its requests must not have a limit: a watch lasts for minutes.
	Client client.WithWatch
	// Key names the custom resource.
	Key types.NamespacedName
	// Facets are the facets whose changes count. Only those that are
	// Kubernetes objects can be followed.
	Facets plan.Facet
	// Changed is called with the facet of a changed object, from several goroutines.
	Changed func(plan.Facet)
	// Problem is called with the reason why a facet cannot be followed; retries continue.
	Problem func(plan.Facet, error)

	known     map[plan.Facet][]client.Object // what was read before the next watches begin
	following []subject                      // the subjects of the running watches
	stop      context.CancelFunc
	running   sync.WaitGroup
}

// Follow watches the objects that belong to the given cluster. Called again, it changes nothing
// unless other objects belong to the cluster now. The watches end with the context, or with Stop.
func (f *Follower) Follow(ctx context.Context, c *v1beta2.FoundationDBCluster) {
	desired := slices.DeleteFunc(subjectsOf(f.Key, c), func(s subject) bool { return s.facet&f.Facets == 0 })
	if f.stop != nil && slices.EqualFunc(desired, f.following, subject.same) {
		return
	}
	f.Stop()
	ctx, f.stop = context.WithCancel(ctx)
	f.following = desired
	for _, s := range desired {
		reflector := cache.NewReflectorWithOptions(f.listerWatcher(s), nil, f.marks(s), cache.ReflectorOptions{Name: s.facet.String()})
		f.running.Go(func() { reflector.RunWithContext(ctx) })
	}
}

// Since states the objects of a facet as the caller has read them: what has changed when the watch begins is reported.
// Without it, the watch begins with what it finds.
func (f *Follower) Since(facet plan.Facet, read []client.Object) {
	if f.known == nil {
		f.known = map[plan.Facet][]client.Object{}
	}
	f.known[facet] = read
}

// Stop ends the watches and returns once they have ended.
func (f *Follower) Stop() {
	if f.stop == nil {
		return
	}
	f.stop()
	f.running.Wait()
	f.stop = nil
}

func (f *Follower) marks(s subject) *marks {
	m := &marks{of: s.mark, changed: func() { f.Changed(s.facet) }}
	if read, known := f.known[s.facet]; known {
		m.seen = m.marksOf(read)
		delete(f.known, s.facet)
	}
	return m
}

func (f *Follower) listerWatcher(s subject) plainLists {
	return plainLists{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list := s.list()
			err := f.Client.List(ctx, list, s.options(o))
			f.report(ctx, s.facet, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := f.Client.Watch(ctx, s.list(), s.options(o))
			f.report(ctx, s.facet, err)
			return w, err
		},
	}}
}

func (f *Follower) report(ctx context.Context, facet plan.Facet, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		f.Problem(facet, err)
	}
}

// plainLists makes reflectors list, then watch. Streaming lists are for thousands of objects,
// and API servers and proxies before Kubernetes 1.32 may not support them.
type plainLists struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is called by reflectors.
func (plainLists) IsWatchListSemanticsUnSupported() bool { return true }

// marks stores of every object a string that differs when a relevant part of it changes. A
// Follower stores nothing else.
type marks struct {
	of      func(client.Object) string
	changed func()

	mu   sync.Mutex
	seen map[types.NamespacedName]string // nil before anything was read
}

var _ cache.ReflectorStore = (*marks)(nil)

func (m *marks) Add(o any) error { return m.Update(o) }

func (m *marks) Update(o any) error {
	object, err := asObject(o)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key, mark := client.ObjectKeyFromObject(object), m.of(object)
	if m.seen == nil {
		m.seen = map[types.NamespacedName]string{}
	}
	if m.seen[key] != mark {
		m.seen[key] = mark
		m.changed()
	}
	return nil
}

func (m *marks) Delete(o any) error {
	object, err := asObject(o)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.seen, client.ObjectKeyFromObject(object))
	m.changed()
	return nil
}

// Replace replaces all marks. A list counts when it differs from the stored marks: those of what was read before the
// watch began, or of the watch that broke.
func (m *marks) Replace(list []any, _ string) error {
	objects := make([]client.Object, len(list))
	for i, o := range list {
		var err error
		if objects[i], err = asObject(o); err != nil {
			return err
		}
	}
	now := m.marksOf(objects)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen != nil && !maps.Equal(m.seen, now) {
		m.changed()
	}
	m.seen = now
	return nil
}

func (m *marks) marksOf(objects []client.Object) map[types.NamespacedName]string {
	all := make(map[types.NamespacedName]string, len(objects))
	for _, o := range objects {
		all[client.ObjectKeyFromObject(o)] = m.of(o)
	}
	return all
}

// Resync has nothing to do: a watch reads everything again by itself from time to time.
func (m *marks) Resync() error { return nil }

func asObject(o any) (client.Object, error) {
	object, ok := o.(client.Object)
	if !ok {
		return nil, fmt.Errorf("unexpected type %T in a watch", o)
	}
	return object, nil
}

// text is values as one string, the same for equal values.
func text(values ...any) string { return fmt.Sprintf("%v", values) }

// subject is one kind of objects that a Follower follows.
type subject struct {
	facet     plan.Facet
	kind      schema.GroupVersionKind
	namespace string            // empty for kinds without one
	name      string            // of the only object that counts; empty for all
	labels    map[string]string // that the objects carry; nil for all
	labeled   string            // a label that they carry, whatever its value; empty for all
	// whole is true where metadata alone does not show what counts.
	whole bool
	// mark is the part of an object whose change counts.
	mark func(client.Object) string
}

// subjectsOf are the objects of the given cluster. Nodes count only for specs with rules about
// their taints, as in a pass. Backups and restores are those of the whole namespace: their
// metadata does not show of which cluster they are, and an unneeded pass changes nothing.
func subjectsOf(key types.NamespacedName, c *v1beta2.FoundationDBCluster) []subject {
	belongs := c.MatchLabels()
	core, own := corev1.SchemeGroupVersion.WithKind, v1beta2.GroupVersion.WithKind
	subjects := []subject{
		{facet: plan.ClusterResource, kind: own("FoundationDBCluster"), namespace: key.Namespace, name: key.Name, mark: markOfResource},
		{facet: plan.Pods, kind: core("Pod"), namespace: key.Namespace, labels: belongs, mark: markOfAny},
		{facet: plan.Volumes, kind: core("PersistentVolumeClaim"), namespace: key.Namespace, labels: belongs, mark: markOfAny},
		{facet: plan.Services, kind: core("Service"), namespace: key.Namespace, labels: belongs, mark: markOfAny},
		{facet: plan.ConfigMap, kind: core("ConfigMap"), namespace: key.Namespace, name: c.ConfigMapName(), mark: markOfAny},
		{facet: plan.Backup, kind: own("FoundationDBBackup"), namespace: key.Namespace, mark: markOfResource},
		{facet: plan.Restore, kind: own("FoundationDBRestore"), namespace: key.Namespace, mark: markOfResource},
		{facet: plan.Agents, kind: appsv1.SchemeGroupVersion.WithKind("Deployment"), namespace: key.Namespace, labeled: v1beta2.LabelBackupFor, mark: markOfAny},
	}
	if len(c.Spec.AutomationOptions.Replacements.TaintReplacementOptions) > 0 {
		subjects = append(subjects, subject{facet: plan.Nodes, kind: core("Node"), whole: true, mark: markOfNode})
	}
	return subjects
}

func (s subject) same(other subject) bool {
	return s.facet == other.facet && s.namespace == other.namespace && s.name == other.name && s.labeled == other.labeled && maps.Equal(s.labels, other.labels)
}

// list is what the objects are read into: their metadata alone, where that is enough.
func (s subject) list() client.ObjectList {
	if s.whole {
		return &corev1.NodeList{}
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(s.kind.GroupVersion().WithKind(s.kind.Kind + "List"))
	return list
}

// options limit the list of a reflector to the objects of the cluster.
func (s subject) options(o metav1.ListOptions) *client.ListOptions {
	options := &client.ListOptions{Namespace: s.namespace, Raw: &o, Limit: o.Limit, Continue: o.Continue}
	if s.labels != nil {
		options.LabelSelector = labels.SelectorFromSet(s.labels)
	}
	if s.labeled != "" {
		if carries, err := labels.NewRequirement(s.labeled, selection.Exists, nil); err == nil {
			options.LabelSelector = labels.NewSelector().Add(*carries)
		}
	}
	if s.name != "" {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", s.name)
	}
	return options
}

// markOfAny changes with every write.
func markOfAny(o client.Object) string { return string(o.GetUID()) + " " + o.GetResourceVersion() }

// markOfResource omits the status: passes write it, and must not cause the next pass by that.
func markOfResource(o client.Object) string {
	return text(o.GetUID(), o.GetGeneration(), o.GetLabels(), o.GetAnnotations(), ptr.Deref(o.GetDeletionTimestamp(), metav1.Time{}).Unix())
}

// markOfNode is what rules about taints read. All else of a node changes every few
// minutes, on every node.
func markOfNode(o client.Object) string {
	node, ok := o.(*corev1.Node)
	if !ok {
		return markOfAny(o)
	}
	return text(node.UID, node.Spec.Taints)
}
