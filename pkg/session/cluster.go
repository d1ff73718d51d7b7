package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// ClusterVariable is the environment variable of the default cluster.
const ClusterVariable = "KUBECTL_FDB_CLUSTER"

// ClusterFlag names a cluster instead of the first argument.
type ClusterFlag struct{ Name string }

// Intent is the access that a command needs to a cluster.
type Intent int

const (
	// Reads is the intent of a command that changes nothing.
	Reads Intent = iota
	// Writes is the intent of a command that changes the cluster: without a terminal, the cluster
	// name is required.
	Writes
)

// Cluster finds and reads the FoundationDBCluster of a command.
func (e *Env) Cluster(ctx context.Context, args []string, flag string, i Intent) (*v1beta2.FoundationDBCluster, error) {
	cluster, err := e.Lookup().find(ctx, args, flag, i)
	if err != nil {
		return nil, err
	}
	e.Run.first = cluster
	if e.Found != nil {
		if err := e.Found(ctx, cluster); err != nil {
			return nil, err
		}
	}
	return cluster, nil
}

// FirstRead returns the UID of the cluster that a command found first, by its arguments: all that follows is about that one, also
// if another one of the same name takes its place. Empty for a cluster that it did not find in that way.
func FirstRead(e *Env, key types.NamespacedName) types.UID {
	if e.Run.first == nil || e.Run.first.Namespace != key.Namespace || e.Run.first.Name != key.Name {
		return ""
	}
	return e.Run.first.UID
}

func (e Lookup) find(ctx context.Context, args []string, flag string, i Intent) (*v1beta2.FoundationDBCluster, error) {
	name, err := e.ClusterName(args, flag)
	if err != nil {
		return nil, err
	}
	namespace, err := e.Connection().Namespace()
	if err != nil {
		return nil, err
	}
	c, err := e.Client()
	if err != nil {
		return nil, err
	}
	if name != "" {
		return e.Read(ctx, c, types.NamespacedName{Namespace: namespace, Name: name})
	}
	if i == Writes && !e.IsTerminal(e.In) {
		return nil, exit.Usagef("cluster name is required because stdin is not a terminal: as an argument, with -c, or in %s", ClusterVariable)
	}
	return e.Lookup().onlyCluster(ctx, c, namespace)
}

// ClusterName returns the name from the arguments, the flag or the environment.
func (e *Env) ClusterName(args []string, flag string) (string, error) {
	given := []string{}
	for _, text := range append(slices.Clone(args), flag) {
		name, err := bareName(text)
		if err != nil {
			return "", err
		}
		if name != "" && !slices.Contains(given, name) {
			given = append(given, name)
		}
	}
	switch len(given) {
	case 0:
		return bareName(e.Getenv(ClusterVariable))
	case 1:
		return given[0], nil
	default:
		return "", exit.Usagef("only one cluster is allowed, not both %s", strings.Join(given, " and "))
	}
}

// bareName parses NAME and fdb/NAME.
func bareName(text string) (string, error) {
	prefix, name, found := strings.Cut(text, "/")
	if !found {
		return text, nil
	}
	kinds := []string{"fdb", "foundationdbcluster", "foundationdbclusters", "foundationdbclusters.apps.foundationdb.org"}
	if !slices.Contains(kinds, strings.ToLower(prefix)) || name == "" {
		return "", exit.Usagef("invalid cluster %q: must be NAME or fdb/NAME", text)
	}
	return name, nil
}

// Read reads a cluster. Its spec may be invalid: what is changed by it is refused by the pass that would do so.
func (e *Env) Read(ctx context.Context, c client.Client, key types.NamespacedName) (*v1beta2.FoundationDBCluster, error) {
	cluster := &v1beta2.FoundationDBCluster{}
	err := c.Get(ctx, key, cluster)
	switch {
	case exit.IsMissingKind(err):
		return nil, exit.MissingKind(err)
	case apierrors.IsNotFound(err):
		return nil, e.Lookup().unknownCluster(ctx, c, key)
	case err != nil:
		return nil, fmt.Errorf("read FoundationDBCluster %s in namespace %s: %w", key.Name, key.Namespace, err)
	}
	return cluster, nil
}

// RequireValid refuses a cluster whose spec is invalid.
func RequireValid(e *Env, c *v1beta2.FoundationDBCluster) error {
	if err := c.Validate(); err != nil {
		return exit.Usage(fmt.Errorf("FoundationDBCluster %s in namespace %s is invalid: %w", c.Name, c.Namespace, err),
			e.KubectlIn(c.Namespace, "edit", "foundationdbcluster", c.Name))
	}
	return nil
}

func (e Lookup) unknownCluster(ctx context.Context, c client.Client, key types.NamespacedName) error {
	err := fmt.Errorf("FoundationDBCluster %s not found in namespace %s", key.Name, key.Namespace)
	there, listErr := ClustersIn(ctx, c, key.Namespace)
	known := new(*exit.Error)
	switch {
	case errors.As(listErr, known):
		return listErr // the resource type is missing
	case listErr != nil:
		return exit.Usage(err)
	}
	if left := leftBehind(ctx, c, key.Namespace)[key.Name]; left.any() {
		return exit.Usage(fmt.Errorf("%w, but %s of it exist", err, left), e.KubectlIn(key.Namespace, "fdb", "recover", "manifest", key.Name))
	}
	if elsewhere := namespacesWith(ctx, c, key.Name); len(elsewhere) > 0 {
		return exit.Usage(fmt.Errorf("%w; %s has one", err, strings.Join(elsewhere, ", ")), e.KubectlIn(elsewhere[0], "fdb", "status", key.Name))
	}
	switch {
	case len(there) == 0:
		return exit.Usage(fmt.Errorf("%w, which has no FoundationDBCluster", err), e.KubectlIn("", "fdb", "status", "-A"), "choose another namespace with -n NAMESPACE")
	default:
		return exit.Usage(fmt.Errorf("%w, which has %s%s", err, names(there), OrMeant(key.Name, strings.Split(names(there), ", "))))
	}
}

// namespacesWith returns the namespaces that have a cluster of a name; none where the clusters of all
// namespaces cannot be listed.
func namespacesWith(ctx context.Context, c client.Client, name string) (all []string) {
	clusters, err := ClustersIn(ctx, c, "")
	if err != nil {
		return nil
	}
	for _, cluster := range clusters {
		if cluster.Name == name {
			all = append(all, cluster.Namespace)
		}
	}
	slices.Sort(all)
	return all
}

// leftover counts the objects of a cluster whose resource does not exist.
type leftover struct{ pods, pvcs int }

func (l leftover) any() bool { return l.pods+l.pvcs > 0 }

func (l leftover) String() string {
	return phrase.Count(l.pods, "pod") + " and " + phrase.Count(l.pvcs, "PVC")
}

// leftBehind returns the objects of a namespace with the default label of a cluster, by the name of the
// cluster; none of those that cannot be listed.
func leftBehind(ctx context.Context, c client.Client, namespace string) map[string]leftover {
	all := map[string]leftover{}
	pods, pvcs := &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}
	for _, list := range []client.ObjectList{pods, pvcs} {
		// One page: the number is only printed, and a namespace rarely has more pods.
		_ = c.List(ctx, list, client.InNamespace(namespace), client.HasLabels{v1beta2.LabelClusterName}, client.Limit(PageSize))
	}
	for _, pod := range pods.Items {
		of := all[pod.Labels[v1beta2.LabelClusterName]]
		of.pods++
		all[pod.Labels[v1beta2.LabelClusterName]] = of
	}
	for _, pvc := range pvcs.Items {
		of := all[pvc.Labels[v1beta2.LabelClusterName]]
		of.pvcs++
		all[pvc.Labels[v1beta2.LabelClusterName]] = of
	}
	return all
}

func (e Lookup) onlyCluster(ctx context.Context, c client.Client, namespace string) (*v1beta2.FoundationDBCluster, error) {
	there, err := ClustersIn(ctx, c, namespace)
	if err != nil {
		return nil, err
	}
	switch len(there) {
	case 0:
		left := leftBehind(ctx, c, namespace)
		if lost := slices.Sorted(maps.Keys(left)); len(lost) > 0 {
			name := lost[0]
			return nil, exit.Usage(fmt.Errorf("no FoundationDBCluster found in namespace %s, but %s of %s exist", namespace, left[name], name), e.KubectlIn(namespace, "fdb", "recover", "manifest", name))
		}
		return nil, exit.Usage(fmt.Errorf("no FoundationDBCluster found in namespace %s", namespace), "choose another namespace with -n NAMESPACE", e.KubectlIn("", "fdb", "status", "-A"))
	case 1:
		e.Logf("using cluster %s, the only one in namespace %s", there[0].Name, namespace)
		return e.Read(ctx, c, types.NamespacedName{Namespace: namespace, Name: there[0].Name})
	default:
		return nil, exit.Usagef("cluster name is required: namespace %s has %s", namespace, names(there))
	}
}

// PageSize is the maximum number of objects per list request.
const PageSize = 500

// Cluster is the custom resource.
type Cluster = v1beta2.FoundationDBCluster

// ClustersIn lists the clusters of a namespace, or of all if it is empty.
func ClustersIn(ctx context.Context, c client.Client, namespace string) ([]v1beta2.FoundationDBCluster, error) {
	var all []v1beta2.FoundationDBCluster
	var next string
	for {
		page := &v1beta2.FoundationDBClusterList{}
		err := c.List(ctx, page, client.InNamespace(namespace), client.Limit(PageSize), client.Continue(next))
		switch {
		case exit.IsMissingKind(err):
			return nil, exit.MissingKind(err)
		case err != nil:
			return nil, fmt.Errorf("list FoundationDBClusters %s: %w", InNamespace(namespace), err)
		}
		all = append(all, page.Items...)
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}

// Namespaces returns the names of all namespaces, or those of the clusters of a dump.
func (e Lookup) Namespaces(ctx context.Context) ([]string, error) {
	if e.dumped != nil {
		return e.dumped.namespaces(), nil
	}
	c, err := e.Client()
	if err != nil {
		return nil, err
	}
	list := &corev1.NamespaceList{}
	if err := c.List(ctx, list, client.Limit(PageSize)); err != nil {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	names := make([]string, len(list.Items))
	for i, n := range list.Items {
		names[i] = n.Name
	}
	return names, nil
}

// InNamespace returns the words for a namespace in a message; for all namespaces they say so.
func InNamespace(namespace string) string {
	if namespace == "" {
		return "in all namespaces"
	}
	return "in namespace " + namespace
}

func names(clusters []v1beta2.FoundationDBCluster) string {
	words := make([]string, len(clusters))
	for i, c := range clusters {
		words[i] = c.Name
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// OrMeant returns a suggestion for a word that matches nothing, as phrase.OrMeant does.
func OrMeant(typed string, names []string) string { return phrase.OrMeant(typed, names) }

// Unknown is the error of a word that must be one of known, with a suggestion.
func Unknown(what, typed string, known []string, hints ...string) error {
	return exit.Usage(fmt.Errorf("unknown %s %q: must be one of %s%s", what, typed, strings.Join(known, ", "), OrMeant(typed, known)), hints...)
}
