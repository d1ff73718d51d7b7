// Package rebuild infers the manifest of a FoundationDBCluster that was deleted from what is left of it:
// pods, PVCs, volumes, services, the ConfigMap and the database. It is pure. What is left is no proof
// of a whole spec: each field has its source, and what cannot be inferred is listed.
package rebuild

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Facts are what is left of a cluster.
type Facts struct {
	Name, Namespace string
	// Exists is whether the FoundationDBCluster exists.
	Exists   bool
	Pods     []corev1.Pod
	Claims   []corev1.PersistentVolumeClaim
	Services []corev1.Service
	// Volumes are those that are, or were, of a PVC whose name begins with the one of the cluster.
	Volumes   []corev1.PersistentVolume
	ConfigMap *corev1.ConfigMap
	// Status is nil if the database was not read, or only in part; StatusUnknown has the cause.
	Status        *fdb.Status
	StatusUnknown string
	// Unread has the errors of objects that could not be listed, by their kind.
	Unread map[string]string
}

// SetStatus sets the status document. One that is incomplete is not used: what it lacks exists all the
// same, and processes that it does not list would seem to be lost.
func (f *Facts) SetStatus(s *fdb.Status) {
	f.Status, f.StatusUnknown = s, ""
	if s.Incomplete() {
		f.Status, f.StatusUnknown = nil, "the status document is incomplete"
	}
}

// Found reports whether anything of the cluster is left.
func (f Facts) Found() bool {
	return len(f.Pods) > 0 || len(f.Claims) > 0 || f.ConfigMap != nil || len(f.groups()) > 0
}

// group is a process group of which something is left.
type group struct {
	ID    v1beta2.ProcessGroupID
	Class v1beta2.ProcessClass
	pod   *corev1.Pod
	claim *corev1.PersistentVolumeClaim
	// volume is the last one that was of the PVC of the group.
	volume *corev1.PersistentVolume
}

// status returns the entry of the group in a status.
func (g group) status() *v1beta2.ProcessGroupStatus {
	return &v1beta2.ProcessGroupStatus{ProcessGroupID: g.ID, ProcessClass: g.Class}
}

// groups returns the process groups by ID. Pods and PVCs have ID and class as labels; of a volume
// both are inferred from the name of its PVC, unless a PVC of that name exists.
func (f Facts) groups() []group {
	byID := map[v1beta2.ProcessGroupID]*group{}
	of := func(labels map[string]string) *group {
		id := v1beta2.ProcessGroupID(labels[v1beta2.LabelProcessGroupID])
		if id == "" {
			return nil
		}
		if byID[id] == nil {
			byID[id] = &group{ID: id, Class: v1beta2.ProcessClass(labels[v1beta2.LabelProcessClass])}
		}
		return byID[id]
	}
	claimed := map[string]*group{}
	for i := range f.Pods {
		if g := of(f.Pods[i].Labels); g != nil && f.Pods[i].DeletionTimestamp == nil {
			g.pod = &f.Pods[i]
			claimed[f.Pods[i].Name+"-data"] = g
		}
	}
	for i := range f.Claims {
		if g := of(f.Claims[i].Labels); g != nil {
			g.claim = &f.Claims[i]
			claimed[f.Claims[i].Name] = g
		}
	}
	for i := range f.Volumes {
		v := &f.Volumes[i]
		g := claimed[v.Spec.ClaimRef.Name]
		if owner := GroupOfPVC(&v1beta2.FoundationDBCluster{ObjectMeta: f.meta()}, v.Spec.ClaimRef.Name); g == nil && owner != nil {
			g = of(map[string]string{v1beta2.LabelProcessGroupID: string(owner.ProcessGroupID), v1beta2.LabelProcessClass: string(owner.ProcessClass)})
		}
		if g != nil {
			g.volume = v
		}
	}
	all := []group{}
	for _, g := range byID {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b group) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// GroupOfPVC returns the process group of a cluster that has a PVC of this name; nil if none has.
func GroupOfPVC(c *v1beta2.FoundationDBCluster, pvc string) *v1beta2.ProcessGroupStatus {
	rest := strings.TrimSuffix(strings.TrimPrefix(pvc, c.Name+"-"), "-data")
	i := strings.LastIndex(rest, "-")
	if i < 0 {
		return nil
	}
	number, err := strconv.Atoi(rest[i+1:])
	class := v1beta2.ProcessClass(strings.ReplaceAll(rest[:i], "-", "_"))
	if err != nil || !class.IsStateful() {
		return nil
	}
	g := &v1beta2.ProcessGroupStatus{ProcessGroupID: c.ProcessGroupIDFor(class, number), ProcessClass: class}
	if g.PVCName(c) != pvc { // also one without the prefix or the suffix
		return nil
	}
	return g
}
