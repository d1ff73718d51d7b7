package plan

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// ApplyConfigMap creates the cluster's ConfigMap, or updates it.
type ApplyConfigMap struct {
	Name string `json:"name"`
	// Keys are the data keys that differ; empty when it is new or only its labels
	// or annotations differ.
	Keys   []string          `json:"keys,omitempty"`
	Object *corev1.ConfigMap `json:"-"`
	// Create is true when it does not exist yet.
	Create bool `json:"create,omitempty"`
}

// Describe implements Action.
func (a ApplyConfigMap) Describe() string {
	if a.Create {
		return "create ConfigMap " + a.Name
	}
	what := "labels or annotations"
	if len(a.Keys) > 0 {
		what = strings.Join(a.Keys, ", ")
	}
	return fmt.Sprintf("update ConfigMap %s (%s)", a.Name, what)
}

// Subject implements Action.
func (a ApplyConfigMap) Subject() string { return "configmap/" + a.Name }

func (ApplyConfigMap) effect() Effect { return Effect{Stale: ConfigMap | PodFiles, Impact: NoImpact} }

// Apply implements Edit.
func (a ApplyConfigMap) Apply(s Snapshot) Snapshot {
	s.ConfigMap = a.Object
	return s
}

// ApplyService creates a service, updates it, or replaces it where it cannot be updated.
type ApplyService struct {
	// Group is the owner of the service; empty for the headless service of the cluster.
	Group  v1beta2.ProcessGroupID `json:"group,omitempty"`
	Name   string                 `json:"name"`
	Object *corev1.Service        `json:"-"`
	Verb   ServiceVerb            `json:"verb"`
}

// ServiceVerb is how a service is reconciled.
type ServiceVerb string

// The ways to reconcile a service.
const (
	CreateService  ServiceVerb = "create"
	UpdateService  ServiceVerb = "update"
	ReplaceService ServiceVerb = "replace" // delete and create: an IP family never changes
)

// Describe implements Action.
func (a ApplyService) Describe() string { return fmt.Sprintf("%s service %s", a.Verb, a.Name) }

// Subject implements Action.
func (a ApplyService) Subject() string { return "service/" + a.Name }

func (ApplyService) effect() Effect { return Effect{Stale: Services, Parallel: true, Impact: NoImpact} }

// CreatePVC creates the PVC of one process group.
type CreatePVC struct {
	Group  v1beta2.ProcessGroupID        `json:"group"`
	Name   string                        `json:"name"`
	Object *corev1.PersistentVolumeClaim `json:"-"`
}

// Describe implements Action.
func (a CreatePVC) Describe() string { return fmt.Sprintf("create PVC %s", a.Name) }

// Subject implements Action.
func (a CreatePVC) Subject() string { return string(a.Group) }

func (CreatePVC) effect() Effect { return Effect{Stale: Volumes, Parallel: true, Impact: NoImpact} }

// CreatePod creates the pod of one process group.
type CreatePod struct {
	Group  v1beta2.ProcessGroupID `json:"group"`
	Name   string                 `json:"name"`
	Object *corev1.Pod            `json:"-"`
}

// Describe implements Action.
func (a CreatePod) Describe() string { return fmt.Sprintf("create pod %s", a.Name) }

// Subject implements Action.
func (a CreatePod) Subject() string { return string(a.Group) }

func (CreatePod) effect() Effect {
	return Effect{Stale: Pods | PodFiles | Database, Parallel: true, Impact: NoImpact}
}

// SyncPodFiles requests a pod's sidecar to copy files from its mounted ConfigMap.
type SyncPodFiles struct {
	Group v1beta2.ProcessGroupID `json:"group"`
	Pod   string                 `json:"pod"`
	Files []string               `json:"files"`
}

// Describe implements Action.
func (a SyncPodFiles) Describe() string {
	return fmt.Sprintf("copy %s in the sidecar of %s", strings.Join(a.Files, ", "), a.Pod)
}

// Subject implements Action.
func (a SyncPodFiles) Subject() string { return string(a.Group) }

func (SyncPodFiles) effect() Effect { return Effect{Stale: PodFiles, Parallel: true, Impact: NoImpact} }

// PatchMetadata sets and removes labels and annotations of one object; all others are
// unchanged.
type PatchMetadata struct {
	// Group is the owner of the object.
	Group       v1beta2.ProcessGroupID `json:"group,omitempty"`
	Kind        ObjectKind             `json:"kind"`
	Name        string                 `json:"name"`
	Labels      map[string]string      `json:"labels,omitempty"`
	Annotations map[string]string      `json:"annotations,omitempty"`
	// Remove are the annotations to remove.
	Remove []string `json:"remove,omitempty"`
}

// AdoptSpec records, for a pod or a PVC, that it was created from the current desired spec.
// The spec of the object itself is unchanged.
type AdoptSpec struct {
	// Group is the owner of the object.
	Group v1beta2.ProcessGroupID `json:"group,omitempty"`
	Kind  ObjectKind             `json:"kind"`
	Name  string                 `json:"name"`
	// Hash is that of the desired spec.
	Hash string `json:"hash"`
	// Differences are where the object differs from the desired spec; none when only the hash differs.
	Differences []string `json:"differences,omitempty"`
}

// Describe implements Action.
func (a AdoptSpec) Describe() string {
	if len(a.Differences) == 0 {
		return fmt.Sprintf("adopt %s unchanged: it matches the spec", a.Subject())
	}
	return fmt.Sprintf("adopt %s unchanged, although it differs from the spec: %s", a.Subject(), strings.Join(a.Differences, "; "))
}

// Subject implements Action.
func (a AdoptSpec) Subject() string { return string(a.Kind) + "/" + a.Name }

func (a AdoptSpec) effect() Effect { return a.Patch().effect() }

// Apply implements Edit.
func (a AdoptSpec) Apply(s Snapshot) Snapshot {
	if a.Kind == KindPVC {
		if claim := s.Volumes[a.Name]; claim != nil {
			s.Volumes = maps.Clone(s.Volumes)
			s.Volumes[a.Name] = claim.DeepCopy()
			metav1.SetMetaDataAnnotation(&s.Volumes[a.Name].ObjectMeta, v1beta2.AnnotationLastAppliedSpec, a.Hash)
		}
		return s
	}
	if pod := s.Pods[a.Name]; pod != nil {
		s.Pods = maps.Clone(s.Pods)
		s.Pods[a.Name] = pod.DeepCopy()
		metav1.SetMetaDataAnnotation(&s.Pods[a.Name].ObjectMeta, v1beta2.AnnotationLastAppliedSpec, a.Hash)
	}
	return s
}

// Patch is the change of metadata by which the spec is adopted.
func (a AdoptSpec) Patch() PatchMetadata {
	return PatchMetadata{Group: a.Group, Kind: a.Kind, Name: a.Name, Annotations: map[string]string{v1beta2.AnnotationLastAppliedSpec: a.Hash}}
}

// ObjectKind is a kind of object whose metadata a pass reconciles.
type ObjectKind string

// The kinds of objects whose metadata a pass reconciles.
const (
	KindPod ObjectKind = "pod"
	KindPVC ObjectKind = "persistentvolumeclaim"
)

// Describe implements Action.
func (a PatchMetadata) Describe() string {
	return fmt.Sprintf("set on %s: %s", a.Subject(), strings.Join(a.keys(), ", "))
}

// Subject implements Action.
func (a PatchMetadata) Subject() string { return string(a.Kind) + "/" + a.Name }

// identity is what is set and removed. The time of AnnotationOutdatedConfigMapSeen does not count, only its presence.
func (a PatchMetadata) identity() any {
	if _, marked := a.Annotations[v1beta2.AnnotationOutdatedConfigMapSeen]; marked {
		a.Annotations = maps.Clone(a.Annotations)
		a.Annotations[v1beta2.AnnotationOutdatedConfigMapSeen] = ""
	}
	return a
}

func (a PatchMetadata) effect() Effect {
	if a.Kind == KindPVC {
		return Effect{Stale: Volumes, Parallel: true, Impact: NoImpact}
	}
	return Effect{Stale: Pods | PodFiles, Parallel: true, Impact: NoImpact}
}

// DeletePods deletes pods that a later stage recreates. Their PVCs and their process groups
// remain.
type DeletePods struct {
	Pods []PodOfGroup `json:"pods"`
	// Shared is true when no other control-plane instance may stop processes at the same time,
	// so that the lock is needed.
	Shared bool `json:"shared,omitempty"`
	// Evict is true when the eviction API deletes them, which respects disruption budgets.
	Evict bool `json:"evict,omitempty"`
}

// PodOfGroup is one pod by its UID, not another one of the same name.
type PodOfGroup struct {
	Group v1beta2.ProcessGroupID `json:"group"`
	Name  string                 `json:"name"`
	UID   types.UID              `json:"-"`
}

// Describe implements Action.
func (a DeletePods) Describe() string {
	names := make([]string, len(a.Pods))
	for i, pod := range a.Pods {
		names[i] = pod.Name
	}
	if a.Evict {
		return fmt.Sprintf("evict pods: %s", strings.Join(names, ", "))
	}
	return fmt.Sprintf("recreate pods: %s", strings.Join(names, ", "))
}

// Subject implements Action.
func (a DeletePods) Subject() string { return phrase.List(GroupsOf(a)) }

func (a DeletePods) effect() Effect {
	e := Effect{Stale: Pods | PodFiles | Database, Impact: ProcessRestart}
	if a.Shared {
		e.Locked, e.Cooldown = true, fdb.DeathNoticedAfter
	}
	return e
}

// SetSidecarImage sets the image of one container of a running pod. The kubelet restarts only
// that container; the fdbserver processes continue.
type SetSidecarImage struct {
	PodOfGroup

	Container string `json:"container"`
	Image     string `json:"image"`
}

// Describe implements Action.
func (a SetSidecarImage) Describe() string {
	return fmt.Sprintf("set the image of container %s of pod %s to %s", a.Container, a.Name, a.Image)
}

// Subject implements Action.
func (a SetSidecarImage) Subject() string { return string(a.Group) }

func (SetSidecarImage) effect() Effect {
	return Effect{Stale: Pods | PodFiles, Parallel: true, Impact: NoImpact}
}

// DeleteService deletes a service that is no longer needed.
type DeleteService struct {
	Name string    `json:"name"`
	UID  types.UID `json:"-"`
}

// Describe implements Action.
func (a DeleteService) Describe() string { return "delete service " + a.Name }

// Subject implements Action.
func (a DeleteService) Subject() string { return "service/" + a.Name }

func (DeleteService) effect() Effect { return Effect{Stale: Services, Impact: NoImpact} }
