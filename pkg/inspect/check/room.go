package check

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// codeRoom is the rule about quotas and ranges, which only manifests have.
const codeRoom = "ADM-002"

// noRoom finds what the quotas and ranges of the namespace will refuse of the process groups that a manifest adds.
func noRoom(f Facts) (found []Finding, untested string) {
	added, err := f.addedGroups()
	if err != nil || len(added) == 0 {
		return nil, why(err)
	}
	rules, peak := *f.Manifests.Namespace, []metav1.Object{}
	p := admission.NewPeak(rules, nil)
	for _, class := range slices.Sorted(maps.Keys(added)) {
		of := added[class]
		peak = append(peak, of.all()...)
		subject := "class/" + string(class)
		if by := refusedBy(rules, admission.Completed(rules.Limits, of.pod), plan.WrittenPod); by != "" {
			found = append(found, f.edit(subject, f.templateField(class), by))
		}
		if of.claim == nil {
			continue
		}
		if by := refusedBy(rules, of.claim, plan.WrittenPVC); by != "" {
			found = append(found, f.edit(subject, f.claimField(class), by))
		}
	}
	p.Count(peak)
	if room := p.Rules(); room != nil {
		found = append(found, f.exceeded(room.Quotas)...)
	}
	var unread reasons
	unread.add("", rules.QuotasHidden)
	unread.add("", rules.LimitsHidden)
	return found, unread.String()
}

// why returns the text of an error; empty for none.
func why(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// exceeded returns a finding for each quota that has no room.
func (f Facts) exceeded(uses []admission.QuotaUse) (found []Finding) {
	byQuota := map[string][]string{}
	for _, u := range uses {
		if u.Exceeded {
			byQuota[u.Quota] = append(byQuota[u.Quota], fmt.Sprintf("%s %s of %s", u.Resource, u.Peak, u.Hard))
		}
	}
	for _, quota := range slices.Sorted(maps.Keys(byQuota)) {
		message := "ResourceQuota " + quota + " has no room for the added process groups: " + phrase.List(byQuota[quota]) + "; " + plan.Refusal{Kind: plan.RefusedByQuota}.Remedy()
		found = append(found, f.edit("foundationdbcluster/"+f.Cluster.Name, "spec.processCounts", message))
	}
	return found
}

// added are the process groups of one class that a manifest adds: so many pods and PVCs that are alike.
type added struct {
	n     int
	pod   *corev1.Pod
	claim *corev1.PersistentVolumeClaim
}

// addedGroups returns the process groups that the classes lack.
func (f Facts) addedGroups() (map[v1beta2.ProcessClass]added, error) {
	have := map[v1beta2.ProcessClass]int{}
	for _, g := range f.Cluster.Status.ProcessGroups {
		if !g.IsMarkedForRemoval() {
			have[g.ProcessClass]++
		}
	}
	all := map[v1beta2.ProcessClass]added{}
	for class, n := range f.Cluster.DesiredProcessCounts() {
		if n <= have[class] {
			continue
		}
		pod, claim, err := objects.Successor(f.Cluster, class)
		if err != nil {
			return nil, err
		}
		all[class] = added{n - have[class], pod, claim}
	}
	return all, nil
}

// all returns all objects.
func (a added) all() (all []metav1.Object) {
	for range a.n {
		if all = append(all, a.pod.DeepCopy()); a.claim != nil {
			all = append(all, a.claim.DeepCopy())
		}
	}
	return all
}

// refusedBy returns which rule refuses each such object, however many there are; empty for none.
func refusedBy(rules plan.NamespaceFacts, o metav1.Object, kind string) string {
	cause := admission.Classify(rules, o, func() bool { return false })
	if cause.Kind != plan.RefusedByQuotaValues && cause.Kind != plan.RefusedByLimitRange {
		return ""
	}
	refusal := plan.Refusal{Kind: cause.Kind, By: cause.By}
	return refusal.Rule() + " refuses each " + kind + " of the class; " + refusal.Remedy()
}

// claimField returns the path of the PVC template that a class has: its own, or the general one.
func (f Facts) claimField(class v1beta2.ProcessClass) string {
	if f.Resource.Spec.Processes[class].VolumeClaimTemplate == nil && f.Resource.Spec.Processes[v1beta2.ProcessClassGeneral].VolumeClaimTemplate != nil {
		class = v1beta2.ProcessClassGeneral
	}
	return "spec.processes[" + string(class) + "].volumeClaimTemplate"
}
