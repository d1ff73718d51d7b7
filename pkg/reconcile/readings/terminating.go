package readings

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Kinds of objects of process groups, as reports have them.
const (
	KindPod     = "pod"
	KindPVC     = "PVC"
	KindService = "service"
)

// StuckAfter is after which time a deletion does not finish by itself any more: what keeps the
// object is a node that has not been ready for so long, or a finalizer that was not removed in it.
// Kubernetes itself gives a node 300 s to come back, by the tolerations that it adds to pods.
const StuckAfter = 5 * time.Minute

// Terminating is an object of a process group that is being deleted and still exists, and what
// keeps it.
type Terminating struct {
	// Kind is pod, PVC or service.
	Kind string `json:"kind"`
	// Name is the object's name.
	Name string `json:"name"`
	// Due is when the object should have been gone: at the end of its grace period.
	Due time.Time `json:"due"`
	// Finalizers are those that keep it: without that of a PVC that is in use, whose pod is in Pod.
	Finalizers []string `json:"finalizers,omitempty"`
	// Pod is the terminating pod that uses the PVC.
	Pod string `json:"pod,omitempty"`
	// Node is the node of the pod, if it is not ready.
	Node string `json:"node,omitempty"`
	// NotReadySince is since when the node has not been ready.
	NotReadySince *time.Time `json:"notReadySince,omitempty"`
	// Stuck is true where time does not end it, and manual intervention is required.
	Stuck bool `json:"stuck"`

	onNode  string // of the pod, ready or not
	unknown string // why it is unknown whether that is ready
}

// TerminatingOf returns the objects of a process group whose deletion is overdue. Nodes that were
// not read are taken for ready, so that they only delay the answer that an object is stuck.
func TerminatingOf(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []Terminating {
	var all []Terminating
	pod := s.Pod(g)
	if t, is := overdue(s, KindPod, pod); is {
		t.onNode, t.unknown = pod.Spec.NodeName, s.NodesHidden
		t.judgeNode(s.Nodes[pod.Spec.NodeName])
		all = append(all, t.judged(s.Now))
	}
	if claim := s.Volumes[g.PVCName(s.Cluster)]; claim != nil {
		if t, is := overdue(s, KindPVC, claim); is {
			if pod != nil { // which uses it
				t.Finalizers = slices.DeleteFunc(t.Finalizers, func(f string) bool { return f == pvcProtection })
				t.Pod = pod.Name
			}
			all = append(all, t.judged(s.Now))
		}
	}
	if service := s.Services[g.ServiceName(s.Cluster)]; service != nil {
		if t, is := overdue(s, KindService, service); is {
			all = append(all, t.judged(s.Now))
		}
	}
	return all
}

// pvcProtection keeps a PVC while a pod uses it.
const pvcProtection = "kubernetes.io/pvc-protection"

// overdue returns an object that should have been gone by now.
func overdue[T any, P interface {
	*T
	metav1.Object
}](s plan.Snapshot, kind string, o P) (Terminating, bool) {
	if o == nil || o.GetDeletionTimestamp() == nil || s.Now.Before(o.GetDeletionTimestamp().Time) {
		return Terminating{}, false
	}
	return Terminating{Kind: kind, Name: o.GetName(), Due: o.GetDeletionTimestamp().Time, Finalizers: slices.Clone(o.GetFinalizers())}, true
}

// judgeNode records a node that is not ready: its kubelet cannot confirm that the pod has ended.
func (t *Terminating) judgeNode(node *corev1.Node) {
	if node == nil {
		return
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			t.Node, t.NotReadySince = node.Name, &c.LastTransitionTime.Time
		}
	}
}

func (t Terminating) judged(now time.Time) Terminating {
	switch {
	case t.Pod != "" && len(t.Finalizers) == 0: // it ends with its pod
	case t.Node != "" && len(t.Finalizers) == 0:
		t.Stuck = now.Sub(*t.NotReadySince) >= StuckAfter
	default:
		t.Stuck = now.Sub(t.Due) >= StuckAfter
	}
	return t
}

// Text returns what keeps the object, in one clause with the object as its subject.
func (t Terminating) Text(now time.Time) string {
	object := fmt.Sprintf("%s %s", t.Kind, t.Name)
	overdue := phrase.Duration(now.Sub(t.Due))
	switch {
	case len(t.Finalizers) > 0:
		return fmt.Sprintf("%s does not terminate for %s: it has the %s %s", object, overdue, phrase.Either(len(t.Finalizers), "finalizer", "finalizers"), phrase.List(t.Finalizers))
	case t.Pod != "":
		return fmt.Sprintf("%s does not terminate for %s: pod %s uses it", object, overdue, t.Pod)
	case t.Node != "":
		return fmt.Sprintf("%s cannot terminate: node %s has not been ready for %s", object, t.Node, phrase.Duration(now.Sub(*t.NotReadySince)))
	case t.onNode != "" && t.unknown != "":
		return fmt.Sprintf("%s does not terminate for %s; cannot determine whether its node %s is ready: %s", object, overdue, t.onNode, t.unknown)
	case t.onNode != "":
		return fmt.Sprintf("%s does not terminate for %s on node %s", object, overdue, t.onNode)
	default:
		return fmt.Sprintf("%s does not terminate for %s", object, overdue)
	}
}

// Remedy returns the sentence that ends a deletion which time does not end; empty for others.
func (t Terminating) Remedy() string {
	switch {
	case !t.Stuck:
		return ""
	case t.Kind == KindPVC && slices.Equal(t.Finalizers, []string{pvcProtection}):
		return "another pod uses it: kubectl describe pvc " + t.Name
	case len(t.Finalizers) > 0:
		return phrase.Either(len(t.Finalizers), "the controller that set it has to remove it", "the controllers that set them have to remove them")
	case t.Node != "":
		return NodeLost(t.Node)
	default:
		return "its kubelet has to end it: kubectl describe pod " + t.Name
	}
}

// NodeLost returns what ends the pods of a node that does not come back. Nothing here deletes them
// by force: only a user knows whether the machine is off, and its processes with it.
func NodeLost(node string) string {
	return "if its machine is off for good: kubectl delete node " + node
}

// Key identifies what keeps the object: the same node keeps the pods of many process groups.
func (t Terminating) Key() string {
	if t.Node != "" && len(t.Finalizers) == 0 {
		return "node " + t.Node
	}
	return t.Kind + " " + t.Name
}
