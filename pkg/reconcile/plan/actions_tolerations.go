package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// AnnotationTolerationsBefore is on pods whose tolerations SetTolerations changed: the seconds
// that they had before by the key of the taint, null for forever. Without it nothing could be
// reverted: the defaults are a setting of the API server.
const AnnotationTolerationsBefore = "kubectl-fdb/tolerations-before"

// TolerationsBefore are the seconds that a pod waited before SetTolerations changed them;
// changed is false where none were. An annotation that cannot be read has no keys.
func TolerationsBefore(pod *corev1.Pod) (seconds map[string]*int64, changed bool) {
	text, changed := pod.Annotations[AnnotationTolerationsBefore]
	if !changed || json.Unmarshal([]byte(text), &seconds) != nil {
		return nil, changed
	}
	return seconds, true
}

// SetTolerations sets how long a running pod stays bound to a node that is lost, without a
// restart: of all fields of a running pod Kubernetes lets this one change. The spec that the pod
// was created from, and its recorded hash, are unchanged.
type SetTolerations struct {
	// Group is the owner of the pod; empty for the pod of a backup agent.
	Group v1beta2.ProcessGroupID `json:"group,omitempty"`
	Name  string                 `json:"name"`
	UID   types.UID              `json:"-"`
	// Seconds are the times by the key of the taint; nil means forever.
	Seconds map[string]*int64 `json:"seconds"`
	// Before are the times to record for a later revert, by the key; nil to remove the record.
	Before map[string]*int64 `json:"before,omitempty"`
	// Observed is the pod that the decision is about.
	Observed *corev1.Pod `fingerprint:"-" json:"-"`
}

// Describe implements Action.
func (a SetTolerations) Describe() string {
	if len(a.Seconds) == 0 {
		return fmt.Sprintf("remove annotation %s from pod %s", AnnotationTolerationsBefore, a.Name)
	}
	waits := make([]string, 0, len(a.Seconds))
	for _, key := range slices.Sorted(maps.Keys(a.Seconds)) {
		wait := "forever"
		if seconds := a.Seconds[key]; seconds != nil {
			wait = fmt.Sprintf("%d s", *seconds)
		}
		waits = append(waits, strings.TrimPrefix(key, "node.kubernetes.io/")+" "+wait)
	}
	return fmt.Sprintf("set how long pod %s tolerates a lost node: %s", a.Name, strings.Join(waits, ", "))
}

// Subject implements Action.
func (a SetTolerations) Subject() string {
	if a.Group == "" {
		return string(KindPod) + "/" + a.Name
	}
	return string(a.Group)
}

func (SetTolerations) effect() Effect {
	return Effect{Stale: Pods | Agents, Parallel: true, Impact: NoImpact}
}

// Apply implements Edit.
func (a SetTolerations) Apply(s Snapshot) Snapshot {
	for _, pods := range []*map[string]*corev1.Pod{&s.Pods, &s.Agents.Pods} {
		if pod := (*pods)[a.Name]; pod != nil && pod.UID == a.UID {
			*pods = maps.Clone(*pods)
			(*pods)[a.Name] = pod.DeepCopy()
			a.Edit((*pods)[a.Name])
		}
	}
	return s
}

// Edit changes a pod, in place. A toleration that exists keeps everything but its seconds:
// Kubernetes refuses any other change.
func (a SetTolerations) Edit(pod *corev1.Pod) {
	for _, key := range slices.Sorted(maps.Keys(a.Seconds)) {
		i := slices.IndexFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return LostNodeToleration(t, key) })
		if i < 0 {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
			i = len(pod.Spec.Tolerations) - 1
		}
		pod.Spec.Tolerations[i].TolerationSeconds = a.Seconds[key]
	}
	if a.Before == nil {
		delete(pod.Annotations, AnnotationTolerationsBefore)
		return
	}
	text, err := json.Marshal(a.Before)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, AnnotationTolerationsBefore, string(text))
}

// LostNodeTaints are the keys of the taints that Kubernetes sets on nodes that are not ready or
// not reachable.
func LostNodeTaints() []string {
	return []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}
}

// LostNodeToleration reports whether a toleration is the one for this very taint, in the form in
// which the API server adds it to pods that have none.
func LostNodeToleration(t corev1.Toleration, key string) bool {
	return t.Key == key && t.Operator == corev1.TolerationOpExists && t.Effect == corev1.TaintEffectNoExecute
}

// Tolerates reports whether a toleration covers a lost node's taint, whatever its form: these
// taints have no value.
func Tolerates(t corev1.Toleration, key string) bool {
	return (t.Effect == "" || t.Effect == corev1.TaintEffectNoExecute) &&
		(t.Key == key || t.Key == "" && t.Operator == corev1.TolerationOpExists) &&
		(t.Operator == corev1.TolerationOpExists || t.Value == "")
}

// EvictAgent deletes the running pod of a backup agent; its Deployment creates another one, on
// another node if this one is cordoned.
type EvictAgent struct {
	Name string    `json:"name"`
	UID  types.UID `json:"-"`
	// Deployment is the owner of the pod.
	Deployment string `json:"deployment"`
	// Evict is true when the eviction API deletes it, which respects disruption budgets.
	Evict bool `json:"evict,omitempty"`
}

// Describe implements Action.
func (a EvictAgent) Describe() string {
	if a.Evict {
		return "evict the pod of a backup agent: " + a.Name
	}
	return "recreate the pod of a backup agent: " + a.Name
}

// Subject implements Action.
func (a EvictAgent) Subject() string { return string(KindPod) + "/" + a.Name }

func (EvictAgent) effect() Effect { return Effect{Stale: Agents, Impact: NoImpact} }
