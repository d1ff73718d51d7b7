package readings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Inspection compares the process groups of one cluster with the spec, one after the other.
type Inspection struct {
	s       plan.Snapshot
	options plan.Options
	specs   *objects.SpecHashes
	// claims are the PVCs by the ID in their labels.
	claims map[v1beta2.ProcessGroupID]*corev1.PersistentVolumeClaim
	// claimHashes are the hashes of the PVC spec that each class has now.
	claimHashes map[v1beta2.ProcessClass]string
	// excess returns why process groups have to leave their buckets, by group; computed once, and
	// only where it is needed.
	excess func() map[v1beta2.ProcessGroupID]string
}

// NewInspection returns an inspection of the pods and PVCs of a snapshot.
func NewInspection(s plan.Snapshot, o plan.Options) Inspection {
	i := Inspection{s: s, options: o, specs: objects.RememberedSpecHashes(s.Cluster, s.Hashes), claims: claimsByGroup(s), claimHashes: map[v1beta2.ProcessClass]string{}}
	i.excess = sync.OnceValue(i.excessGroups)
	return i
}

// claimsByGroup returns the cluster's own PVCs by the ID in their labels, the first by name
// where there are several.
func claimsByGroup(s plan.Snapshot) map[v1beta2.ProcessGroupID]*corev1.PersistentVolumeClaim {
	claims := map[v1beta2.ProcessGroupID]*corev1.PersistentVolumeClaim{}
	for _, name := range slices.Sorted(maps.Keys(s.Volumes)) {
		claim := s.Volumes[name]
		if id := idOf(s.Cluster, claim); belongs(s.Cluster, &claim.ObjectMeta) && claims[id] == nil {
			claims[id] = claim
		}
	}
	return claims
}

func idOf(c *v1beta2.FoundationDBCluster, claim *corev1.PersistentVolumeClaim) v1beta2.ProcessGroupID {
	return v1beta2.ProcessGroupID(claim.Labels[c.ProcessGroupIDLabels()[0]])
}

// claim returns the PVC with the group's name, if its labels name the group, and otherwise one
// whose labels do.
func (i Inspection) claim(g *v1beta2.ProcessGroupStatus) *corev1.PersistentVolumeClaim {
	named := i.s.Volumes[g.PVCName(i.s.Cluster)]
	if named != nil && idOf(i.s.Cluster, named) == g.ProcessGroupID && belongs(i.s.Cluster, &named.ObjectMeta) {
		return named
	}
	return i.claims[g.ProcessGroupID]
}

// trigger is one reason to replace a process group: it describes what differs, in words that
// the group's ID can follow, or nothing. It returns an error when that is unknown.
type trigger func(Inspection, *v1beta2.ProcessGroupStatus, *corev1.Pod) (wrong string, err error)

// triggers are evaluated in this order; the first that finds something decides. Those of the
// second list are evaluated only for pods that were created from another spec. Between the two
// comes the distribution, for which some groups are replaced because of others.
var (
	triggers = []trigger{
		ClaimDiffers, idDiffers, podInvalid, addressSourceDiffers, serversDiffer, requestsMore,
	}
	triggersOfChangedPods = []trigger{
		nodeSelectorDiffers, imageTypeDiffers, ipFamilyDiffers, strategyReplaces, securityContextDiffers,
	}
)

// Group returns why a process group has to be replaced; empty when it has not. How a group
// without a pod was created is unknown: it gets a pod by the current spec first.
func (i Inspection) Group(g *v1beta2.ProcessGroupStatus) (reason string, err error) {
	pod := i.s.Pod(g)
	if pod == nil {
		return "", nil
	}
	if reason, err := i.first(triggers, g, pod); reason != "" || err != nil {
		return reason, err
	}
	if reason, err := i.distributionDiffers(g, pod); reason != "" || err != nil {
		return reason, err
	}
	return i.changed(g, pod)
}

// changed returns why a group is replaced whose pod was created from another spec.
func (i Inspection) changed(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (reason string, err error) {
	changed, err := i.podChanged(g, pod)
	if !changed || err != nil {
		return "", err
	}
	return i.first(triggersOfChangedPods, g, pod)
}

func (i Inspection) first(triggers []trigger, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	for _, trigger := range triggers {
		if wrong, err := trigger(i, g, pod); wrong != "" || err != nil {
			return wrong, err
		}
	}
	return "", nil
}

var errNoHash = errors.New("has no annotation with the hash of its spec: add the process group to spec.processGroupsToRemove to replace it")

// podChanged reports whether the pod was created from another spec than the current one.
func (i Inspection) podChanged(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (bool, error) {
	want, err := i.specs.Of(g)
	if err != nil {
		return false, err
	}
	have := pod.Annotations[v1beta2.AnnotationLastAppliedSpec]
	if have == "" {
		return false, fmt.Errorf("pod %s %w", pod.Name, errNoHash)
	}
	return have != want, nil
}

// ClaimDiffers returns why a group is replaced for its PVC: it was created from another spec, or under another name. A PVC is never
// changed; its data moves to a new one.
func ClaimDiffers(i Inspection, g *v1beta2.ProcessGroupStatus, _ *corev1.Pod) (string, error) {
	have := i.claim(g)
	if have == nil || !g.ProcessClass.IsStateful() {
		return "", nil
	}
	want, err := i.claimHash(g.ProcessClass)
	if err != nil {
		return "", err
	}
	hash := have.Annotations[v1beta2.AnnotationLastAppliedSpec]
	switch {
	case have.Name != g.PVCName(i.s.Cluster):
		return "the PVC has another name", nil
	case hash == "":
		return "", fmt.Errorf("PVC %s %w", have.Name, errNoHash)
	case hash != want:
		return "the spec of the PVC differs", nil
	default:
		return "", nil
	}
}

// claimHash returns the hash of a class' PVC spec, computed once: there are many PVCs, and few
// specs.
func (i Inspection) claimHash(class v1beta2.ProcessClass) (string, error) {
	if hash, known := i.claimHashes[class]; known {
		return hash, nil
	}
	hash, err := objects.ClaimSpecHash(i.s.Cluster, class)
	if err == nil {
		i.claimHashes[class] = hash
	}
	return hash, err
}

// idDiffers: the ID is not the one that the spec's prefix gives to a group of this class and
// number.
func idDiffers(i Inspection, g *v1beta2.ProcessGroupStatus, _ *corev1.Pod) (string, error) {
	_, _, number, err := g.ProcessGroupID.Split()
	if err != nil {
		return "", err
	}
	if g.ProcessGroupID != i.s.Cluster.ProcessGroupIDFor(g.ProcessClass, number) {
		return "the prefix of process group IDs differs", nil
	}
	return "", nil
}

// addressSourceDiffers: the pod's public address has another source than the spec sets.
func addressSourceDiffers(i Inspection, _ *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	if have, want := objects.PublicIPSourceOf(pod), i.s.Cluster.PublicIPSource(); have != want {
		return fmt.Sprintf("the public IP comes from the %s and not from the %s", have, want), nil
	}
	return "", nil
}

// serversDiffer: the pod was created for another number of processes.
func serversDiffer(i Inspection, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	have, err := objects.ServersPerPodOf(pod, g.ProcessClass)
	if err != nil {
		return "", err
	}
	if want := i.s.Cluster.ServersPerPod(g.ProcessClass); have != want {
		return fmt.Sprintf("the pod runs %s and not %d", phrase.Count(have, "fdbserver process"), want), nil
	}
	return "", nil
}

// requestsMore: the spec now requests more CPU or memory than the pod has, and such a pod is to
// be replaced by the spec. A smaller request is never a reason.
func requestsMore(i Inspection, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	if !i.s.Cluster.ReplaceInstancesWhenResourcesChange() {
		return "", nil
	}
	want, err := objects.PodSpec(i.s.Cluster, g)
	if err != nil {
		return "", err
	}
	if anyGrew(pod.Spec.Containers, want.Containers) || anyGrew(pod.Spec.InitContainers, want.InitContainers) {
		return "the pod requests less CPU or memory than the spec", nil
	}
	return "", nil
}

// LostDatabase returns a hold if there is, or may be, a database that the status does not
// describe: no pass may treat the cluster as new then, since it would create a second database
// over the volumes of the first. It returns nil for a status with a cluster file and for a
// cluster that is proven to be new.
//
// The ConfigMap or the spec's seed can hold the cluster file: it is copied to the status first.
// Where none has it and there are volumes that the status does not list, only a user can
// decide which database they belong to.
func LostDatabase(s plan.Snapshot) *plan.Hold {
	if s.Cluster.Status.ConnectionString != "" {
		return nil
	}
	if RememberedClusterFile(s) != "" {
		return &plan.Hold{
			Code:       plan.HoldDatabaseLost,
			Reason:     "status.connectionString is empty, but the ConfigMap or spec.seedConnectionString has a connection string; UpdateStatus restores it first",
			RetryAfter: plan.PodDelay, Then: plan.EndPass,
		}
	}
	var left []string
	for _, g := range Orphans(s) {
		if g.Class.IsStateful() {
			left = append(left, string(g.ID))
		}
	}
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	return &plan.Hold{
		Code: plan.HoldDatabaseLost,
		Reason: fmt.Sprintf("pods or PVCs of %s may hold a database, and no connection string is in the status, the ConfigMap or the spec; "+
			"set spec.seedConnectionString to it, or delete them if their data is not needed", SomeOf(left)),
		Manual: true, Then: plan.EndPass,
	}
}

// RememberedClusterFile returns the cluster file that replaces a missing one in the status.
func RememberedClusterFile(s plan.Snapshot) string {
	if s.ConfigMap != nil && s.ConfigMap.Data[objects.KeyClusterFile] != "" {
		return s.ConfigMap.Data[objects.KeyClusterFile]
	}
	return s.Cluster.Spec.SeedConnectionString
}

// FormerDatabase returns what shows that the database at the connection string existed before this resource,
// so that it must not be created: the spec names it, or a process group has a PVC that is older than the
// resource. It returns an empty string for a cluster that may be new.
func FormerDatabase(s plan.Snapshot) string {
	if s.Cluster.Spec.SeedConnectionString != "" {
		return "spec.seedConnectionString names a database that exists"
	}
	created, older := s.Cluster.CreationTimestamp, []string{}
	for _, g := range s.Groups() {
		claim := s.Volumes[g.PVCName(s.Cluster)]
		if claim != nil && g.ProcessClass.IsStateful() && claim.CreationTimestamp.Before(&created) {
			older = append(older, claim.Name)
		}
	}
	if len(older) == 0 {
		return ""
	}
	slices.Sort(older)
	return "PVCs are older than the FoundationDBCluster: " + SomeOf(older)
}

// Orphans returns the process groups of which only objects exist.
func Orphans(s plan.Snapshot) []plan.NewGroup {
	known := map[v1beta2.ProcessGroupID]bool{}
	for _, g := range s.Groups() {
		known[g.ProcessGroupID] = true
	}
	var groups []plan.NewGroup
	for _, object := range groupObjects(s) {
		id := v1beta2.ProcessGroupID(object.Labels[s.Cluster.ProcessGroupIDLabels()[0]])
		class := v1beta2.ProcessClass(object.Labels[s.Cluster.ProcessClassLabels()[0]])
		if id == "" || known[id] || object.DeletionTimestamp != nil || !belongs(s.Cluster, object) {
			continue
		}
		known[id] = true
		groups = append(groups, plan.NewGroup{ID: id, Class: class})
	}
	return groups
}

func groupObjects(s plan.Snapshot) []*metav1.ObjectMeta {
	objects := make([]*metav1.ObjectMeta, 0, len(s.Pods)+len(s.Volumes)+len(s.Services))
	for _, pod := range s.Pods {
		objects = append(objects, &pod.ObjectMeta)
	}
	for _, claim := range s.Volumes {
		objects = append(objects, &claim.ObjectMeta)
	}
	for _, service := range s.Services {
		objects = append(objects, &service.ObjectMeta)
	}
	return objects
}

// belongs reports whether an object is the cluster's own, for specs that require more than matching
// labels.
func belongs(c *v1beta2.FoundationDBCluster, object *metav1.ObjectMeta) bool {
	return !c.FilterOnOwnerReference() || metav1.IsControlledBy(object, c)
}
