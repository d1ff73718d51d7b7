package safety

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// selects reports whether the pod's node selector and one of its required node affinity terms
// match the node.
func selects(node *corev1.Node, pod *corev1.Pod) bool {
	for key, value := range pod.Spec.NodeSelector {
		if node.Labels[key] != value {
			return false
		}
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	return slices.ContainsFunc(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return takes(t, node)
	})
}

// takes reports whether a node matches all requirements of a term; an empty term matches none.
func takes(t corev1.NodeSelectorTerm, node *corev1.Node) bool {
	if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
		return false
	}
	asks := func(of map[string]string) func(corev1.NodeSelectorRequirement) bool {
		return func(r corev1.NodeSelectorRequirement) bool { return !meets(r, of) }
	}
	return !slices.ContainsFunc(t.MatchExpressions, asks(node.Labels)) &&
		!slices.ContainsFunc(t.MatchFields, asks(map[string]string{"metadata.name": node.Name}))
}

// meets reports whether a requirement is met; one of an unknown kind is not.
func meets(r corev1.NodeSelectorRequirement, of map[string]string) bool {
	value, there := of[r.Key]
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return there && slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !there || !slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpExists:
		return there
	case corev1.NodeSelectorOpDoesNotExist:
		return !there
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		return compares(r, value)
	default:
		return false
	}
}

func compares(r corev1.NodeSelectorRequirement, value string) bool {
	if len(r.Values) != 1 {
		return false
	}
	have, err := strconv.ParseInt(value, 10, 64)
	limit, limitErr := strconv.ParseInt(r.Values[0], 10, 64)
	if err != nil || limitErr != nil {
		return false
	}
	return (r.Operator == corev1.NodeSelectorOpGt && have > limit) || (r.Operator == corev1.NodeSelectorOpLt && have < limit)
}

// apart reports whether a pod in the node's topology domain conflicts with this one, by the
// anti-affinity of either. Terms with namespace selectors are not evaluated.
func (p Places) apart(node *corev1.Node, pod *corev1.Pod) (apart, known bool) {
	for _, other := range p.Pods {
		place := p.Nodes[other.Spec.NodeName]
		if place == nil {
			continue
		}
		for _, pair := range [][2]*corev1.Pod{{pod, other}, {other, pod}} {
			for _, term := range keepsAway(pair[0]) {
				zone, there := node.Labels[term.TopologyKey]
				if !there || place.Labels[term.TopologyKey] != zone {
					continue
				}
				matches, known := concerns(term, pair[0], pair[1])
				if matches || !known {
					return matches, known
				}
			}
		}
	}
	return false, true
}

func keepsAway(pod *corev1.Pod) []corev1.PodAffinityTerm {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// concerns reports whether a term of one pod selects another.
func concerns(t corev1.PodAffinityTerm, of, other *corev1.Pod) (matches, known bool) {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil || t.NamespaceSelector != nil || len(t.MatchLabelKeys)+len(t.MismatchLabelKeys) > 0 {
		return false, false
	}
	namespaces := t.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{of.Namespace}
	}
	return slices.Contains(namespaces, other.Namespace) && selector.Matches(labels.Set(other.Labels)), true
}

// SuccessorAccepted checks that the API server accepts the objects of a new process group of a class, by a dry run.
// Without its successor a group that is marked for removal is missed until a user helps.
func SuccessorAccepted(s plan.Snapshot, class v1beta2.ProcessClass) plan.Check {
	c := plan.Check{
		ID: plan.CheckSuccessorAccepted, Subject: string(class), Gate: plan.GateAdmission,
		Question: fmt.Sprintf("does the API server accept pod and PVC of another %s process group?", class),
	}
	refused, isRefused := s.Successors.Refused[class]
	unknown, isUnknown := s.Successors.Unknown[class]
	switch {
	case !s.Successors.Read:
		c.Evidence = "cannot determine: no dry run was made"
	case isRefused:
		c.Evidence = refused.Rule() + ": " + refused.Message + "; " + refused.Remedy()
	case isUnknown:
		c.Evidence = "cannot determine: " + unknown
	default:
		c.OK, c.Evidence = true, "a dry run was accepted"
	}
	return c
}

// RecreationAccepted checks that the API server does not refuse the pods of a class as the spec has them, by a dry run. A
// quota is no refusal: the pod that is recreated frees its share. Nor is an unknown answer, since a webhook may refuse
// dry runs alone; the first pod proves its template then.
func RecreationAccepted(s plan.Snapshot, class v1beta2.ProcessClass) plan.Check {
	c := plan.Check{
		ID: plan.CheckSuccessorAccepted, Subject: string(class), Gate: plan.GateAdmission, OK: true, Evidence: "a dry run was accepted",
		Question: fmt.Sprintf("does the API server accept %s pods as the spec has them?", class),
	}
	refused, isRefused := s.Successors.Refused[class]
	unknown, isUnknown := s.Successors.Unknown[class]
	switch {
	case !s.Successors.Read:
		c.Evidence = "cannot determine: no dry run was made"
	case isUnknown:
		c.Evidence = "cannot determine: " + unknown
	case isRefused && (refused.ObjectKind != plan.WrittenPod || refused.Waits()):
		c.Evidence = refused.Rule() + " refuses one more process group; a recreated pod takes the place of the old one"
	case isRefused:
		c.OK, c.Evidence = false, refused.Rule()+": "+refused.Message+"; "+refused.Remedy()
	}
	return c
}

// RecreationRoom is what the quotas of the namespace have left for pods that take the place of smaller ones.
type RecreationRoom struct {
	s     plan.Snapshot
	room  admission.Room
	after map[v1beta2.ProcessClass]*corev1.Pod
}

// NewRecreationRoom returns the room before the first pod is recreated.
func NewRecreationRoom(s plan.Snapshot) *RecreationRoom {
	return &RecreationRoom{s: s, room: admission.Room{Facts: s.Successors.Namespace}, after: map[v1beta2.ProcessClass]*corev1.Pod{}}
}

// Fits checks that the quotas have room for what the pod of a process group takes more once it is recreated, beside
// those that were checked before. Quotas that cannot be read refuse nothing: the dry run of a whole pod comes before.
func (r *RecreationRoom) Fits(id v1beta2.ProcessGroupID) plan.Check {
	c := plan.Check{
		ID: plan.CheckRecreationFits, Subject: string(id), Gate: plan.GateAdmission, OK: true,
		Question: fmt.Sprintf("do the ResourceQuotas have room for the pod of %s as the spec has it?", id), Evidence: "it takes no more than they have left",
	}
	if hidden := r.room.Facts.QuotasHidden; hidden != "" {
		c.Evidence = "cannot determine: " + hidden
		return c
	}
	g := r.s.Cluster.ProcessGroup(id)
	before := r.s.Pod(g)
	if before == nil {
		return c // nothing is deleted
	}
	after, err := r.pod(g.ProcessClass)
	if err != nil {
		c.OK, c.Evidence = false, "cannot determine: "+err.Error()
		return c
	}
	if lacks := r.room.Replace(before, after); len(lacks) > 0 {
		c.OK, c.Evidence = false, shortages(lacks)+"; "+plan.Refusal{Kind: plan.RefusedByQuota}.Remedy()
	}
	return c
}

// pod returns a pod of a class as the spec has it.
func (r *RecreationRoom) pod(class v1beta2.ProcessClass) (*corev1.Pod, error) {
	if pod := r.after[class]; pod != nil {
		return pod, nil
	}
	pod, _, err := objects.Successor(r.s.Cluster, class)
	r.after[class] = pod
	return pod, err
}

func shortages(lacks []admission.Shortage) string {
	words := make([]string, len(lacks))
	for i, l := range lacks {
		words[i] = fmt.Sprintf("%s more of %s, ResourceQuota %s has %s left", l.Needs, l.Resource, l.Quota, l.Left)
	}
	return phrase.List(words)
}
