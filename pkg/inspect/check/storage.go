package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// OtherControllers are the objects by which other controllers act on the pods and volumes of a
// cluster. Each list that could not be read has the reason: nothing is known about it then.
type OtherControllers struct {
	// Budgets are the PodDisruptionBudgets of the cluster's namespace.
	Budgets       []policyv1.PodDisruptionBudget
	BudgetsUnread string
	// Nodes are all nodes.
	Nodes       []corev1.Node
	NodesUnread string
	// Classes are all storage classes.
	Classes       []storagev1.StorageClass
	ClassesUnread string
}

func (o OtherControllers) budgetsByName() []*policyv1.PodDisruptionBudget {
	all := make([]*policyv1.PodDisruptionBudget, len(o.Budgets))
	for i := range o.Budgets {
		all[i] = &o.Budgets[i]
	}
	slices.SortFunc(all, func(a, b *policyv1.PodDisruptionBudget) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// node returns a node by its name; nil if it is unknown.
func (o OtherControllers) node(name string) *corev1.Node {
	i := slices.IndexFunc(o.Nodes, func(n corev1.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Nodes[i]
}

// withNodes returns the facts with the nodes that were read for the rules about autoscalers, where a pass needs none.
func (f Facts) withNodes() Facts {
	switch o := f.Others; {
	case f.Nodes != nil || f.NodesHidden != "" || len(o.Nodes) == 0:
	default:
		f.Nodes = map[string]*corev1.Node{}
		for i := range o.Nodes {
			f.Nodes[o.Nodes[i].Name] = &o.Nodes[i]
		}
	}
	return f
}

// unreadNodes returns why rules about nodes cannot be evaluated; empty if they can.
func (o OtherControllers) unreadNodes() string {
	if o.NodesUnread != "" {
		return "nodes could not be read: " + o.NodesUnread
	}
	return ""
}

// storageClasses returns the rules about the storage classes of the cluster's PVCs, of those to come
// included.
func storageClasses() []Rule {
	return []Rule{
		classRule("STORAGE-001", Info, "Volumes outlive their PVCs",
			"With the reclaim policy Delete the volume and its data are deleted with the PVC, so nothing remains of a PVC or namespace that is deleted by mistake. With Retain a volume can be bound again; released volumes have to be deleted manually. A class keeps its policy: the fix patches the volumes that exist, whose own policy is not read, and new ones need another class.",
			func(f Facts, c *storagev1.StorageClass, by classUsers) (string, []string) {
				if c.ReclaimPolicy == nil || *c.ReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
					return "its new volumes have the reclaim policy Delete", f.retain(by.claims)
				}
				return "", nil
			}),
		classRule("STORAGE-002", Info, "PVCs can be expanded",
			"Without allowVolumeExpansion no PVC can be made larger in place, for example manually while a disk is full. Passes never do that: for a larger volumeClaimTemplate they replace process groups, and data is copied. The fix requires a provisioner that can expand volumes.",
			func(_ Facts, c *storagev1.StorageClass, _ classUsers) (string, []string) {
				if c.AllowVolumeExpansion == nil || !*c.AllowVolumeExpansion {
					return "it does not allow volume expansion", []string{"patch", "storageclass", c.Name, "-p", `{"allowVolumeExpansion":true}`}
				}
				return "", nil
			}),
		{
			Code: "STORAGE-003", OfSpec: true, Severity: Warning, Title: "Every storage class exists",
			Why:  "No volume is provisioned for the next PVC of that class, so replacements and new process groups stay pending, and existing volumes cannot grow. The class is that of a PVC, the one that spec.processes names, or the default class where it names none. PersistentVolumes that were created manually need no class.",
			Find: missingClasses,
		},
		zoneRule(),
	}
}

// zoneRule needs the nodes too.
func zoneRule() Rule {
	r := classRule("STORAGE-004", Info, "Volumes are provisioned where their pods are scheduled",
		"With volumeBindingMode Immediate a volume is provisioned in some zone before its pod is scheduled, and binds the pod to that zone, whatever the pod's fault domain should be: it stays pending, or fault domains get uneven. Volumes that can be attached in every zone are not concerned. Use a class with WaitForFirstConsumer.",
		func(f Facts, c *storagev1.StorageClass, _ classUsers) (string, []string) {
			zones := f.Others.zones()
			if len(zones) < 2 || c.VolumeBindingMode != nil && *c.VolumeBindingMode != storagev1.VolumeBindingImmediate {
				return "", nil
			}
			return "volumeBindingMode Immediate, with nodes in " + phrase.Count(len(zones), "zone"), nil
		})
	find := r.Find
	r.Find = func(f Facts) ([]Finding, string) {
		found, unknown := find(f)
		untested := reasons{}
		untested.add("", unknown)
		untested.add("", f.Others.unreadNodes())
		return found, untested.String()
	}
	return r
}

// zones returns the zones of all nodes, sorted.
func (o OtherControllers) zones() []string {
	zones := map[string]bool{}
	for _, n := range o.Nodes {
		if zone := n.Labels[corev1.LabelTopologyZone]; zone != "" {
			zones[zone] = true
		}
	}
	return slices.Sorted(maps.Keys(zones))
}

// classUsers are what uses a storage class: PVCs of the cluster, by name, and process classes whose next
// PVCs get it.
type classUsers struct {
	claims    []string
	processes []v1beta2.ProcessClass
}

func (u classUsers) String() string {
	if len(u.claims) > 0 {
		return phrase.Count(len(u.claims), "PVC") + " of the cluster"
	}
	return "new PVCs of " + phrase.List(u.processes)
}

func (u classUsers) subjects() []string {
	var all []string
	for _, name := range u.claims {
		all = append(all, findings.Claim(name))
	}
	for _, class := range u.processes {
		all = append(all, "class/"+string(class))
	}
	return all
}

// classRule returns a rule about each storage class that PVCs of the cluster have, or will have. Its fix
// shows the class where judge returns none.
func classRule(code string, severity Severity, title, why string, judge func(Facts, *storagev1.StorageClass, classUsers) (message string, fix []string)) Rule {
	return Rule{Code: code, Severity: severity, Title: title, Why: why, OfSpec: true, Find: func(f Facts) ([]Finding, string) {
		used, untested := f.usedClasses()
		var found []Finding
		for _, name := range slices.Sorted(maps.Keys(used)) {
			c := f.Others.class(name)
			if c == nil {
				continue // STORAGE-003 finds it
			}
			message, fix := judge(f, c, used[name])
			if message == "" {
				continue
			}
			if fix == nil {
				fix = []string{"get", "storageclass", name, "-o", "yaml"}
			}
			found = append(found, one("storageclass/"+name, fmt.Sprintf("%s (%s)", message, used[name]), fix...)...)
		}
		return found, untested.String()
	}}
}

// retain returns the patch that keeps the volumes of PVCs; nil without a volume.
func (f Facts) retain(claims []string) []string {
	var volumes []string
	for _, name := range claims {
		if v := f.Volumes[name].Spec.VolumeName; v != "" {
			volumes = append(volumes, v)
		}
	}
	return inspect.RetainArgs(volumes...)
}

func missingClasses(f Facts) ([]Finding, string) {
	used, untested := f.usedClasses()
	if f.Others.ClassesUnread != "" {
		return nil, untested.String()
	}
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if f.Others.class(name) != nil {
			continue
		}
		message := "storage class " + name + " does not exist"
		if name == "" {
			message = "no default storage class exists, and the spec names none"
		}
		found = append(found, Finding{Subjects: used[name].subjects(), Message: message, Fix: []string{"get", "storageclass"}})
	}
	return found, untested.String()
}

// usedClasses returns what uses each storage class, and why some may be missing. Under the empty name are
// the process classes that need a default class where there is none. PVCs without a class bind to volumes
// that were created manually.
func (f Facts) usedClasses() (map[string]classUsers, *reasons) {
	untested := &reasons{}
	if f.Others.ClassesUnread != "" {
		untested.add("", "storage classes could not be read: "+f.Others.ClassesUnread)
	}
	used := map[string]classUsers{}
	manual := false
	for _, name := range slices.Sorted(maps.Keys(f.Volumes)) {
		class := classOf(f.Volumes[name])
		if class == "" {
			manual = manual || f.Volumes[name].Status.Phase != corev1.ClaimPending
			continue
		}
		by := used[class]
		by.claims = append(by.claims, name)
		used[class] = by
	}
	for _, process := range v1beta2.ProcessClasses() {
		if !process.IsStateful() || f.Cluster.DesiredProcessCounts()[process] <= 0 {
			continue
		}
		class, needed := f.nextClass(process)
		if !needed || class == "" && manual {
			continue
		}
		by := used[class]
		by.processes = append(by.processes, process)
		used[class] = by
	}
	return used, untested
}

// nextClass returns the storage class that the next PVC of a process class gets: what the spec names, or
// the default class; empty if there is none. It is not needed if the spec requests volumes without a class.
func (f Facts) nextClass(process v1beta2.ProcessClass) (class string, needed bool) {
	template := f.Cluster.Settings(process).VolumeClaimTemplate
	if template != nil {
		if class = classOf(template); class != "" || template.Spec.StorageClassName != nil {
			return class, class != ""
		}
	}
	return f.Others.defaultClass(), true
}

// defaultClass returns the name of the default class, empty without one. Of several Kubernetes takes the
// newest.
func (o OtherControllers) defaultClass() string {
	var found *storagev1.StorageClass
	for i := range o.Classes {
		c := &o.Classes[i]
		if !objects.IsDefaultClass(*c) {
			continue
		}
		if found == nil || found.CreationTimestamp.Before(&c.CreationTimestamp) {
			found = c
		}
	}
	if found == nil {
		return ""
	}
	return found.Name
}

// classOf returns the storage class of a PVC; empty without one. Kubernetes sets the default class
// when a PVC is created.
func classOf(c *corev1.PersistentVolumeClaim) string {
	if old := strings.TrimSpace(c.Annotations[corev1.BetaStorageClassAnnotation]); old != "" {
		return old
	}
	if c.Spec.StorageClassName == nil {
		return ""
	}
	return *c.Spec.StorageClassName
}

// class returns a storage class by its name; nil if there is none.
func (o OtherControllers) class(name string) *storagev1.StorageClass {
	i := slices.IndexFunc(o.Classes, func(c storagev1.StorageClass) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Classes[i]
}
