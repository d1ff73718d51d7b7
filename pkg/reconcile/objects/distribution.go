package objects

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
)

// termWeight is the weight of a preferred term: as low as that of the terms it replaces, so that
// the preferences of the user's template count more.
const termWeight = 1

// packTerms are how a pod is packed into fault domains: with the pods of its distribution key, and
// apart from those with other keys of its pack.
type packTerms struct {
	key      string
	required bool
	together corev1.PodAffinityTerm
	apart    corev1.PodAffinityTerm
}

// packTermsOf returns the terms of a group's pod; nil if the group is not packed.
//
// A NotIn requirement alone would also select pods without the label, as those of other
// clusters or of backup agents.
func packTermsOf(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) *packTerms {
	d := distribution.Of(c)
	key, packed := d.KeyOf(g)
	if !packed {
		return nil
	}
	others := &metav1.LabelSelector{
		MatchLabels: merged(c.MatchLabels()),
		MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: v1beta2.LabelDistributionKey, Operator: metav1.LabelSelectorOpNotIn, Values: []string{key}},
			{Key: v1beta2.LabelDistributionKey, Operator: metav1.LabelSelectorOpExists},
		},
	}
	switch classes := d.PackedWith(g.ProcessClass); len(classes) {
	case 0: // all
	case 1:
		others.MatchLabels[c.ProcessClassLabels()[0]] = string(classes[0])
	default:
		members := metav1.LabelSelectorRequirement{Key: c.ProcessClassLabels()[0], Operator: metav1.LabelSelectorOpIn}
		for _, class := range classes {
			members.Values = append(members.Values, string(class))
		}
		others.MatchExpressions = append(others.MatchExpressions, members)
	}
	same := &metav1.LabelSelector{MatchLabels: merged(c.MatchLabels(), map[string]string{v1beta2.LabelDistributionKey: key})}
	return &packTerms{
		key: key, required: d.Required(),
		together: corev1.PodAffinityTerm{TopologyKey: c.FaultDomainKey(), LabelSelector: same},
		apart:    corev1.PodAffinityTerm{TopologyKey: c.FaultDomainKey(), LabelSelector: others},
	}
}

// addTo adds the terms to an affinity, after those of the user's template.
func (p *packTerms) addTo(a *corev1.Affinity) {
	if a.PodAffinity == nil {
		a.PodAffinity = &corev1.PodAffinity{}
	}
	if a.PodAntiAffinity == nil {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	near, far := a.PodAffinity, a.PodAntiAffinity
	if p.required {
		near.RequiredDuringSchedulingIgnoredDuringExecution = append(near.RequiredDuringSchedulingIgnoredDuringExecution, p.together)
		far.RequiredDuringSchedulingIgnoredDuringExecution = append(far.RequiredDuringSchedulingIgnoredDuringExecution, p.apart)
		return
	}
	near.PreferredDuringSchedulingIgnoredDuringExecution = append(near.PreferredDuringSchedulingIgnoredDuringExecution, preferred(p.together))
	far.PreferredDuringSchedulingIgnoredDuringExecution = append(far.PreferredDuringSchedulingIgnoredDuringExecution, preferred(p.apart))
}

func preferred(t corev1.PodAffinityTerm) corev1.WeightedPodAffinityTerm {
	return corev1.WeightedPodAffinityTerm{Weight: termWeight, PodAffinityTerm: t}
}

// DistributionKeyOf returns the distribution key that a pod was created with; empty for none.
func DistributionKeyOf(pod *corev1.Pod) string { return pod.Labels[v1beta2.LabelDistributionKey] }

// DistributionDiffers returns how a group's pod is packed otherwise than it would be now; empty if
// it is not, or its group is not packed now: then nothing has to move.
func DistributionDiffers(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) string {
	want := packTermsOf(c, g)
	if want == nil {
		return ""
	}
	have := DistributionKeyOf(pod)
	near, far, required := termsWith(pod.Spec.Affinity, have)
	switch {
	case have == "":
		return "the pod has no distribution key"
	case have != want.key:
		return fmt.Sprintf("the distribution key changes from %s to %s", have, want.key)
	case near == nil || far == nil:
		return fmt.Sprintf("the pod lacks the affinity terms of the distribution key %s", have)
	case required != want.required:
		return fmt.Sprintf("spec.distributionConfig.required changes to %t", want.required)
	case near.TopologyKey != want.together.TopologyKey:
		return fmt.Sprintf("the fault domain key of the distribution changes from %s to %s", near.TopologyKey, want.together.TopologyKey)
	case !equality.Semantic.DeepEqual(*near, want.together) || !equality.Semantic.DeepEqual(*far, want.apart):
		return fmt.Sprintf("the affinity terms of the distribution key %s differ", have)
	default:
		return ""
	}
}

// termsWith returns the terms of an affinity that a distribution key is in, the last ones where
// there are several, and whether they are required; nil where there is none.
func termsWith(a *corev1.Affinity, key string) (near, far *corev1.PodAffinityTerm, required bool) {
	if a == nil || a.PodAffinity == nil || a.PodAntiAffinity == nil {
		return nil, nil, false
	}
	nearKey := func(t corev1.PodAffinityTerm) bool {
		return t.LabelSelector != nil && t.LabelSelector.MatchLabels[v1beta2.LabelDistributionKey] == key
	}
	farKey := func(t corev1.PodAffinityTerm) bool { return t.LabelSelector != nil && excludes(t.LabelSelector, key) }
	near = lastOf(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, nearKey)
	far = lastOf(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, farKey)
	if near != nil || far != nil {
		return near, far, true
	}
	near = lastOf(termsOf(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution), nearKey)
	far = lastOf(termsOf(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution), farKey)
	return near, far, false
}

func excludes(s *metav1.LabelSelector, key string) bool {
	for _, r := range s.MatchExpressions {
		if r.Key == v1beta2.LabelDistributionKey && r.Operator == metav1.LabelSelectorOpNotIn && len(r.Values) == 1 && r.Values[0] == key {
			return true
		}
	}
	return false
}

func lastOf(terms []corev1.PodAffinityTerm, is func(corev1.PodAffinityTerm) bool) *corev1.PodAffinityTerm {
	for i := len(terms) - 1; i >= 0; i-- {
		if is(terms[i]) {
			return &terms[i]
		}
	}
	return nil
}

func termsOf(weighted []corev1.WeightedPodAffinityTerm) []corev1.PodAffinityTerm {
	terms := make([]corev1.PodAffinityTerm, len(weighted))
	for i, w := range weighted {
		terms[i] = w.PodAffinityTerm
	}
	return terms
}
