package describe

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// Tree is the document of `describe --tree`: a cluster and the objects that belong to it.
type Tree struct {
	inspect.Document
	Root TreeItem `json:"root"`
}

// TreeItem is an object, or a process group, which is no object of its own.
type TreeItem struct {
	// Kind is that of Kubernetes, or ProcessGroup.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// State is the state in a few words: healthy, reporting, Running, Bound, ready, not found.
	State string `json:"state"`
	// Problem is true where the state needs attention.
	Problem bool `json:"problem"`
	// Notes are what else matters about it: its class and zone, a coordinator, an exclusion.
	Notes []string `json:"notes,omitempty"`
	// Conditions are those of a process group.
	Conditions []inspect.ConditionView `json:"conditions,omitempty"`
	Children   []TreeItem              `json:"children,omitempty"`
}

// notFound is the state of an object that the process group needs and that is not there.
const notFound = "not found"

// NewTree makes the document.
func NewTree(m inspect.Metadata, f inspect.Facts) Tree {
	status := inspect.NewStatusView(m, f)
	v := Tree{Document: inspect.NewDocument("ClusterTree", m, f.Now, f.Judged().Source)}
	v.Warnings = append(v.Warnings, status.Warnings...)
	if why := f.UnknownReason("the states of process groups"); why != "" {
		v.Warnings = append(v.Warnings, why)
	}
	v.Root = TreeItem{
		Kind: "FoundationDBCluster", Name: f.Cluster.Name, State: inspect.Spaced(strings.ReplaceAll(string(status.State), "-", "_")),
		Problem: status.State != inspect.StateHealthy, Notes: []string{"version " + phrase.Or(f.Cluster.Status.RunningVersion, f.Cluster.Spec.Version)},
	}
	if !status.Reconciliation.Reconciled {
		v.Root.Notes = append(v.Root.Notes, "not reconciled")
	}
	v.Root.Children = append(v.Root.Children, shared(f)...)
	for _, g := range f.Groups() {
		v.Root.Children = append(v.Root.Children, groupItem(f, g))
	}
	return v
}

// Unhealthy leaves out what is below the cluster and needs no attention.
func (t Tree) Unhealthy() Tree {
	t.Root.Children = slices.DeleteFunc(slices.Clone(t.Root.Children), func(i TreeItem) bool { return !i.hasProblem() })
	return t
}

// hasProblem reports whether the item or anything below it needs attention.
func (i TreeItem) hasProblem() bool {
	return i.Problem || slices.ContainsFunc(i.Children, TreeItem.hasProblem)
}

// shared are the objects of the whole cluster.
func shared(f inspect.Facts) []TreeItem {
	config := TreeItem{Kind: "ConfigMap", Name: f.Cluster.ConfigMapName(), State: "exists"}
	if f.ConfigMap == nil {
		config.State, config.Problem = notFound, true
	}
	items := []TreeItem{config}
	if f.Cluster.NeedsHeadlessService() {
		items = append(items, serviceItem(f, f.Cluster.HeadlessServiceName()))
	}
	return items
}

func serviceItem(f inspect.Facts, name string) TreeItem {
	if f.Services[name] == nil {
		return TreeItem{Kind: "Service", Name: name, State: notFound, Problem: true}
	}
	return TreeItem{Kind: "Service", Name: name, State: "exists"}
}

func groupItem(f inspect.Facts, g *v1beta2.ProcessGroupStatus) TreeItem {
	v := f.Group(g)
	item := TreeItem{Kind: "ProcessGroup", Name: v.ID, Notes: []string{v.Class}, Conditions: v.Conditions, Problem: len(v.Conditions) > 0}
	switch {
	case v.Processes == nil:
		item.State = "unknown"
	case *v.Processes > 0:
		item.State = "reporting"
	default:
		item.State, item.Problem = "not reporting", true
	}
	if v.Zone != "" {
		item.Notes = append(item.Notes, "zone "+v.Zone)
	}
	if v.Coordinator != nil && *v.Coordinator {
		item.Notes = append(item.Notes, "coordinator")
	}
	if v.RemovalSince != nil {
		item.Notes = append(item.Notes, "marked for removal")
	}
	if v.Exclusion != inspect.NotExcluded && v.Exclusion != inspect.ExclusionUnknown {
		item.Notes = append(item.Notes, "exclusion "+string(v.Exclusion))
	}
	item.Children = append(item.Children, podItem(f, g, v))
	if v.PVC != "" {
		item.Children = append(item.Children, volumeItem(f, v.PVC))
	}
	if f.Cluster.PublicIPSource() == v1beta2.PublicIPSourceService {
		item.Children = append(item.Children, serviceItem(f, g.ServiceName(f.Cluster)))
	}
	return item
}

func podItem(f inspect.Facts, g *v1beta2.ProcessGroupStatus, v inspect.GroupView) TreeItem {
	item := TreeItem{Kind: "Pod", Name: v.Pod}
	pod := f.Pod(g)
	if pod == nil {
		item.State, item.Problem = notFound, true
		return item
	}
	item.State = string(pod.Status.Phase)
	switch {
	case pod.DeletionTimestamp != nil:
		item.State, item.Problem = "Terminating", true
	case pod.Status.Phase != corev1.PodRunning:
		item.Problem = true
	case objects.IsUnready(pod):
		item.State, item.Problem = "Running, not ready", true
	}
	if v.Restarts != nil && *v.Restarts > 0 {
		item.Notes = append(item.Notes, phrase.Count(*v.Restarts, "restart"))
	}
	if pod.Spec.NodeName != "" {
		item.Children = append(item.Children, nodeItem(f, pod.Spec.NodeName))
	}
	return item
}

// nodeItem returns unknown for a node that could not be read.
func nodeItem(f inspect.Facts, name string) TreeItem {
	item := TreeItem{Kind: "Node", Name: name, State: "unknown"}
	node, read := f.Nodes[name]
	switch {
	case !read:
		return item
	case node == nil:
		item.State, item.Problem = notFound, true
		return item
	}
	for _, c := range node.Status.Conditions {
		switch {
		case c.Type != corev1.NodeReady:
		case c.Status == corev1.ConditionTrue:
			item.State = "ready"
		default: // a node that stopped reporting is Unknown
			item.State, item.Problem = "not ready", true
		}
	}
	if node.Spec.Unschedulable {
		item.Notes = append(item.Notes, "cordoned")
	}
	for _, taint := range node.Spec.Taints {
		if taint.Key != corev1.TaintNodeUnschedulable {
			item.Notes = append(item.Notes, "taint "+taint.ToString())
		}
	}
	return item
}

func volumeItem(f inspect.Facts, name string) TreeItem {
	item := TreeItem{Kind: "PersistentVolumeClaim", Name: name}
	pvc := f.Volumes[name]
	if pvc == nil {
		item.State, item.Problem = notFound, true
		return item
	}
	item.State = phrase.Or(string(pvc.Status.Phase), "unknown")
	item.Problem = pvc.Status.Phase == corev1.ClaimPending || pvc.Status.Phase == corev1.ClaimLost
	if pvc.DeletionTimestamp != nil {
		item.State, item.Problem = "Terminating", true
	}
	if size, known := pvc.Status.Capacity[corev1.ResourceStorage]; known {
		item.Notes = append(item.Notes, size.String())
	}
	return item
}
