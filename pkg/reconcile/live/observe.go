package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// reader reads the cluster's objects, and what can be read in its pods only.
type reader struct {
	*Options
	known *known
	db    *database
	files *podFiles
}

// Observe implements reconcile.Observer. The cluster comes first, since it determines which
// objects belong to it; then the objects, in parallel; then what must be read in the pods.
func (w *Cluster) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.ClusterResource != 0 || into.Cluster == nil {
		cluster, err := w.reader.readResource(ctx)
		if err != nil {
			return explain(err)
		}
		into.Cluster, into.InvalidSpec = cluster, plan.InvalidFields(w.known.cluster().Validate())
	}
	if err := w.reader.readObjects(ctx, into, facets); err != nil {
		return explain(err)
	}
	if err := w.reader.readInPods(ctx, into, facets); err != nil {
		return explain(err)
	}
	into.Now, into.Clock, into.Overrides = w.Clock.Now().UTC(), w.clockFacts(), w.Overrides
	return nil
}

// readCluster reads a cluster as it is stored, and in its normal form.
func readCluster(ctx context.Context, c client.Reader, key types.NamespacedName) (stored, normalized *v1beta2.FoundationDBCluster, err error) {
	stored = &v1beta2.FoundationDBCluster{}
	if err := c.Get(ctx, key, stored); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil, &NotFoundError{Key: key}
		}
		return nil, nil, fmt.Errorf("read FoundationDBCluster %s: %w", key.Name, err)
	}
	return stored, stored.NormalizedToRead(), nil
}

// Given is a resource that the command has read just before, and when. The zero value is none.
type Given struct {
	Cluster *v1beta2.FoundationDBCluster
	At      time.Time
}

// givenAge is the highest age at which the first observation uses a Given.
const givenAge = 5 * time.Second

// UseFirst makes the first observation use a resource instead of another read of the same.
// Between the two reads of a command nothing is decided; every later observation reads.
func (w *Cluster) UseFirst(g Given) { w.known.useFirst(g) }

func (k *known) useFirst(g Given) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.given = g
}

// takeGiven returns the resource of UseFirst once; nil for none, or one that is too old.
func (k *known) takeGiven() *v1beta2.FoundationDBCluster {
	k.mu.Lock()
	defer k.mu.Unlock()
	g := k.given
	k.given = Given{}
	if age := k.Clock.Now().Sub(g.At); g.Cluster == nil || age < 0 || age > givenAge {
		return nil
	}
	return g.Cluster
}

func (r *reader) readResource(ctx context.Context) (*v1beta2.FoundationDBCluster, error) {
	cluster, normalized, err := r.firstOrRead(ctx)
	if err != nil {
		return nil, err
	}
	r.known.remember(cluster)
	return normalized, nil
}

func (r *reader) firstOrRead(ctx context.Context) (stored, normalized *v1beta2.FoundationDBCluster, err error) {
	if given := r.known.takeGiven(); given != nil {
		return given, given.NormalizedToRead(), nil
	}
	return readCluster(ctx, r.Client, r.Key)
}

// readObjects lists each kind once, whatever the number of process groups.
func (r *reader) readObjects(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	group, ctx := errgroup.WithContext(ctx)
	read := besideOthers(group, facets)
	c := into.Cluster
	ofPods := plan.Pods
	if into.Pods == nil {
		ofPods |= plan.Database | plan.PodFiles | plan.Coordination
	}
	read(ofPods, func() error {
		pods, err := listed[corev1.Pod](ctx, r.Client, c, &corev1.PodList{})
		if err == nil {
			into.Pods = pods
			r.known.rememberPods(pods)
		}
		return err
	})
	read(plan.Volumes, func() (err error) {
		if into.Volumes, err = listed[corev1.PersistentVolumeClaim](ctx, r.Client, c, &corev1.PersistentVolumeClaimList{}); err != nil {
			return err
		}
		into.BoundVolumes, into.BoundVolumesHidden, err = r.readBoundVolumes(ctx, into.Volumes)
		return err
	})
	read(plan.Services, func() (err error) {
		into.Services, err = listed[corev1.Service](ctx, r.Client, c, &corev1.ServiceList{})
		return err
	})
	read(plan.ConfigMap, func() (err error) {
		into.ConfigMap, err = r.readConfigMap(ctx, c)
		return err
	})
	read(plan.Detector, func() (err error) {
		into.Detector, err = r.readDetector(ctx, c)
		return err
	})
	read(plan.DisruptionBudgets, func() (err error) {
		into.DisruptionBudgets, into.DisruptionBudgetsHidden, err = r.readDisruptionBudgets(ctx)
		return err
	})
	read(plan.Namespace, func() (err error) {
		into.Namespace, err = readNamespaceObject(ctx, r.Client, r.Key.Namespace)
		return err
	})
	read(plan.OtherClusters, func() (err error) {
		into.OtherClusters, err = others[v1beta2.FoundationDBCluster](ctx, r.Client, r.Key, &v1beta2.FoundationDBClusterList{})
		return err
	})
	read(plan.Successors, func() (err error) {
		into.Successors, err = r.readSuccessors(ctx, c)
		return err
	})
	read(plan.FirstObjects, func() (err error) {
		into.FirstObjects, err = r.readFirstObjects(ctx, c)
		return err
	})
	read(plan.Agents, func() (err error) {
		into.Agents, err = r.readAgentsOf(ctx)
		return err
	})
	read(plan.Nodes, func() (err error) {
		into.Nodes, into.NodesHidden, err = r.readNodes(ctx, c)
		return err
	})
	return group.Wait()
}

// besideOthers returns a function that reads one facet, if it is among the given ones, concurrently with others.
func besideOthers(group *errgroup.Group, facets plan.Facet) func(of plan.Facet, read func() error) {
	return func(of plan.Facet, read func() error) {
		if facets&of != 0 {
			group.Go(guarded(read))
		}
	}
}

// guarded is for a goroutine of its own, in which a panic would end the program without restoring the terminal.
func guarded(do func() error) func() error {
	return func() error { return reconcile.Guarded(do) }
}

func (k *known) rememberPods(pods map[string]*corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pods = pods
}

// readInPods reads what can only be read in pods: their files, and the database.
func (r *reader) readInPods(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	group, ctx := errgroup.WithContext(ctx)
	read := besideOthers(group, facets)
	read(plan.PodFiles, func() (err error) {
		into.PodFiles, err = r.files.readPodFiles(ctx, into)
		return err
	})
	read(plan.Database, func() (err error) {
		into.Database, err = r.db.readDatabase(ctx, into.Cluster, into.Pods)
		return err
	})
	read(plan.Coordination, func() (err error) {
		into.Coordination, err = r.db.readCoordination(ctx, into.Cluster, into.Pods)
		return err
	})
	return group.Wait()
}

func (r *reader) readConfigMap(ctx context.Context, c *v1beta2.FoundationDBCluster) (*corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: c.ConfigMapName()}, cm)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s: %w", c.ConfigMapName(), err)
	}
	return cm, nil
}

// readNodes reads the nodes only where they matter, and for commands about nodes. Nodes belong to no namespace, and many users who may reconcile a cluster may not
// list them: missing permission is a fact.
func (r *reader) readNodes(ctx context.Context, c *v1beta2.FoundationDBCluster) (nodes map[string]*corev1.Node, why string, err error) {
	if !plan.NodesMatter(c, r.Clock.Now()) && !r.known.nodesNeeded() {
		return nil, "", nil
	}
	nodes, err = listed[corev1.Node](ctx, r.Client, nil, &corev1.NodeList{})
	if hidden(err) {
		return nil, "listing nodes is forbidden; manifests/rbac/read-nodes.yaml allows it", nil
	}
	return nodes, "", err
}

// pageSize is how many objects one request lists at most.
const pageSize = 500

// listed lists all objects of a kind that carry the cluster's labels, by name; for
// a nil cluster, all objects of the kind. Each page is read into a list of its own:
// JSON read into a used one would overwrite the objects of the page before, and
// leave its continue token where the last page has none.
func listed[T any, P interface {
	*T
	client.Object
}](ctx context.Context, c client.Client, cluster *v1beta2.FoundationDBCluster, empty client.ObjectList,
) (map[string]P, error) {
	options := []client.ListOption{client.Limit(pageSize)}
	if cluster != nil {
		options = append(options, client.InNamespace(cluster.Namespace), client.MatchingLabels(cluster.MatchLabels()))
	}
	byName := map[string]P{}
	for {
		list := empty.DeepCopyObject().(client.ObjectList) // a deep copy has the type of its original
		if err := c.List(ctx, list, options...); err != nil {
			var one P = new(T)
			return nil, fmt.Errorf("list %ss: %w", kindOf(one), err)
		}
		for _, o := range itemsOf[T, P](list) {
			byName[nameOf(o, cluster)] = o
		}
		next := list.GetContinue()
		if next == "" {
			return byName, nil
		}
		options = append(slices.Clip(options), client.Continue(next))
	}
}

// nameOf is an object's name, with its namespace where several namespaces are listed.
func nameOf(o client.Object, cluster *v1beta2.FoundationDBCluster) string {
	if cluster == nil && o.GetNamespace() != "" {
		return o.GetNamespace() + "/" + o.GetName()
	}
	return o.GetName()
}

// itemsOf returns pointers to the items of a list.
func itemsOf[T any, P interface {
	*T
	client.Object
}](list client.ObjectList,
) []P {
	objects, err := meta.ExtractList(list)
	if err != nil {
		return nil // only lists without items fail, and those have nothing to return
	}
	var items []P
	for _, o := range objects {
		if p, ok := o.(P); ok {
			items = append(items, p)
		}
	}
	return items
}

// explain marks errors of an API server that is not reachable.
func explain(err error) error {
	var (
		urlError *url.Error
		netError net.Error
		status   apierrors.APIStatus
	)
	switch {
	case errors.As(err, &status):
		if apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err) {
			return &reconcile.UnreachableError{Err: err}
		}
		return err
	case errors.As(err, &urlError), errors.As(err, &netError), errors.Is(err, context.DeadlineExceeded):
		return &reconcile.UnreachableError{Err: err}
	default:
		return err
	}
}
