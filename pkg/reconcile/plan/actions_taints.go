package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AnnotationTaintsSeen is on pods whose node has taints that match a rule of the spec: since
// when passes have observed each key there, in Unix seconds. The status has one time for all
// taints of a node.
const AnnotationTaintsSeen = "kubectl-fdb/taints-seen"

// TaintsSeen are the keys of taints that the last pass observed on a pod's node, and since when, in
// Unix seconds; recorded is false where no pass has recorded any. An annotation that cannot be
// read has no keys, so the age of every taint starts again.
func TaintsSeen(pod *corev1.Pod) (seen map[string]int64, recorded bool) {
	text, recorded := pod.Annotations[AnnotationTaintsSeen]
	if !recorded || json.Unmarshal([]byte(text), &seen) != nil {
		return nil, recorded
	}
	return seen, true
}

// RecordTaints writes to a pod which taints its node has and since when; without any, it
// removes what was written.
type RecordTaints struct {
	Pod string `json:"pod"`
	// Seen are the keys, and since when they are known, in Unix seconds.
	Seen map[string]int64 `json:"seen"`
}

// Describe implements Action.
func (a RecordTaints) Describe() string {
	if len(a.Seen) == 0 {
		return fmt.Sprintf("record on %s that no taint of its node matches a rule", a.Subject())
	}
	return fmt.Sprintf("record on %s the taints of its node: %s", a.Subject(), strings.Join(slices.Sorted(maps.Keys(a.Seen)), ", "))
}

// Subject implements Action.
func (a RecordTaints) Subject() string { return string(KindPod) + "/" + a.Pod }

func (a RecordTaints) effect() Effect { return a.Patch().effect() }

// Patch is the change of metadata that records the taints.
func (a RecordTaints) Patch() PatchMetadata {
	patch := PatchMetadata{Kind: KindPod, Name: a.Pod}
	if len(a.Seen) == 0 {
		patch.Remove = []string{AnnotationTaintsSeen}
		return patch
	}
	text, err := json.Marshal(a.Seen)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	patch.Annotations = map[string]string{AnnotationTaintsSeen: string(text)}
	return patch
}

// Apply implements Edit.
func (a RecordTaints) Apply(s Snapshot) Snapshot {
	if s.Pods[a.Pod] == nil {
		return s
	}
	pod, patch := s.Pods[a.Pod].DeepCopy(), a.Patch()
	delete(pod.Annotations, AnnotationTaintsSeen)
	for key, value := range patch.Annotations {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
	}
	s.Pods = maps.Clone(s.Pods)
	s.Pods[a.Pod] = pod
	return s
}
