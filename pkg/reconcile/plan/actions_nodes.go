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

// AnnotationCordonTaints is on nodes that CordonNode tainted: the taints that it set, so that
// UncordonNode removes these and leaves those of others.
const AnnotationCordonTaints = "kubectl-fdb/cordon-taints"

// TaintsOfCordon are the taints that CordonNode set on a node; none where the annotation cannot
// be read.
func TaintsOfCordon(n *corev1.Node) (taints []corev1.Taint) {
	if json.Unmarshal([]byte(n.Annotations[AnnotationCordonTaints]), &taints) != nil {
		return nil
	}
	return taints
}

func recordTaintsOfCordon(n *corev1.Node, taints []corev1.Taint) {
	text, err := json.Marshal(taints)
	if err != nil {
		panic(err) // strings always encode
	}
	metav1.SetMetaDataAnnotation(&n.ObjectMeta, AnnotationCordonTaints, string(text))
}

// CordonNode keeps new pods from a node. The pods that run there stay.
type CordonNode struct {
	Node string `json:"node"`
	// Taint is set on the node as well; nil for none.
	Taint *corev1.Taint `json:"taint,omitempty"`
	// Evacuates is true if passes replace the process groups on the node because of the taint.
	Evacuates bool `json:"evacuates,omitempty"`
}

// Describe implements Action.
func (a CordonNode) Describe() string {
	if a.Taint == nil {
		return "cordon node " + a.Node
	}
	words := fmt.Sprintf("cordon node %s and taint it %s", a.Node, a.Taint.ToString())
	if a.Evacuates {
		words += ", for which passes replace its process groups"
	}
	return words
}

// Subject implements Action.
func (a CordonNode) Subject() string { return a.Node }

func (a CordonNode) effect() Effect {
	if a.Evacuates {
		return Effect{Stale: Nodes, Impact: DataMove}
	}
	return Effect{Stale: Nodes, Impact: NoImpact}
}

// Done reports whether a node is in the state that the action sets.
func (a CordonNode) Done(n *corev1.Node) bool {
	return n.Spec.Unschedulable && (a.Taint == nil || slices.ContainsFunc(n.Spec.Taints, like(a.Taint)))
}

// Edit changes a node, in place.
func (a CordonNode) Edit(n *corev1.Node) {
	n.Spec.Unschedulable = true
	if a.Taint != nil && !slices.ContainsFunc(n.Spec.Taints, like(a.Taint)) {
		n.Spec.Taints = append(n.Spec.Taints, *a.Taint)
		recordTaintsOfCordon(n, append(TaintsOfCordon(n), *a.Taint))
	}
}

// Apply implements Edit.
func (a CordonNode) Apply(s Snapshot) Snapshot { return editNode(s, a.Node, a.Edit) }

// UncordonNode lets new pods onto a node again.
type UncordonNode struct {
	Node string `json:"node"`
	// Taint is removed as well, whatever its value; nil for none.
	Taint *corev1.Taint `json:"taint,omitempty"`
	// OfCordon are the taints that CordonNode set. They are removed as long as they are the same.
	OfCordon []corev1.Taint `json:"ofCordon,omitempty"`
}

// Describe implements Action.
func (a UncordonNode) Describe() string {
	var taints []string
	if a.Taint != nil {
		taints = []string{a.Taint.ToString()}
	}
	for _, taint := range a.OfCordon {
		if text := taint.ToString(); !slices.Contains(taints, text) {
			taints = append(taints, text)
		}
	}
	if len(taints) == 0 {
		return "uncordon node " + a.Node
	}
	return fmt.Sprintf("uncordon node %s and remove taint %s", a.Node, strings.Join(taints, ", "))
}

// Subject implements Action.
func (a UncordonNode) Subject() string { return a.Node }

func (UncordonNode) effect() Effect { return Effect{Stale: Nodes, Impact: NoImpact} }

// Done reports whether a node is in the state that the action sets.
func (a UncordonNode) Done(n *corev1.Node) bool {
	return !n.Spec.Unschedulable && !slices.ContainsFunc(n.Spec.Taints, a.removes) && len(TaintsOfCordon(n)) == 0
}

func (a UncordonNode) removes(t corev1.Taint) bool {
	return a.Taint != nil && like(a.Taint)(t) || slices.ContainsFunc(a.OfCordon, func(own corev1.Taint) bool {
		return own.MatchTaint(&t) && own.Value == t.Value
	})
}

// Edit changes a node, in place.
func (a UncordonNode) Edit(n *corev1.Node) {
	n.Spec.Unschedulable = false
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, a.removes)
	delete(n.Annotations, AnnotationCordonTaints)
}

// Apply implements Edit.
func (a UncordonNode) Apply(s Snapshot) Snapshot { return editNode(s, a.Node, a.Edit) }

// like matches taints with the same key and effect: a node has at most one of them.
func like(taint *corev1.Taint) func(corev1.Taint) bool {
	return func(t corev1.Taint) bool { return t.MatchTaint(taint) }
}

func editNode(s Snapshot, name string, edit func(*corev1.Node)) Snapshot {
	if s.Nodes[name] == nil {
		return s
	}
	s.Nodes = maps.Clone(s.Nodes)
	node := s.Nodes[name].DeepCopy()
	edit(node)
	s.Nodes[name] = node
	return s
}

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
