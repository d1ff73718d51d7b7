package admission

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// QuotaUse is how much of one resource a ResourceQuota counts at most while changes run.
type QuotaUse struct {
	Quota    string              `json:"quota"`
	Resource corev1.ResourceName `json:"resource"`
	// Used is what it counts now, Peak at most, Hard its maximum.
	Used string `json:"used"`
	Peak string `json:"peak"`
	Hard string `json:"hard"`
	// Exceeded is true where the peak is above the maximum: some of the objects will be refused.
	Exceeded bool `json:"exceeded"`
}

// LimitRangeConflict is a kind of object that a LimitRange does not allow.
type LimitRangeConflict struct {
	LimitRange string `json:"limitRange"`
	ObjectKind string `json:"objectKind"`
	// Objects counts them.
	Objects int `json:"objects"`
}

// Rules are what the quotas and ranges of a namespace say about changes.
type Rules struct {
	// Quotas are the resources of which changes take more than now.
	Quotas []QuotaUse `json:"quotas"`
	// LimitRanges are the ranges that do not allow objects of the changes.
	LimitRanges []LimitRangeConflict `json:"limitRanges"`
	// Unknown is why they cannot be read, as far as they cannot.
	Unknown []string `json:"unknown,omitempty"`
}

// Peak finds the most that the objects of a cluster add to quotas while they change.
type Peak struct {
	facts plan.NamespaceFacts
	// first and most are what the objects add to each quota: at the beginning, and at most.
	first, most []corev1.ResourceList
	conflicts   map[LimitRangeConflict]map[string]bool
	created     bool
	// added remembers what each object adds.
	added map[metav1.Object][]corev1.ResourceList
}

// NewPeak begins with the objects that exist.
func NewPeak(facts plan.NamespaceFacts, existing []metav1.Object) *Peak {
	p := &Peak{facts: facts, conflicts: map[LimitRangeConflict]map[string]bool{}, added: map[metav1.Object][]corev1.ResourceList{}}
	p.first = p.usage(existing)
	p.most = p.usage(existing)
	return p
}

// Count takes the objects that exist at a moment.
func (p *Peak) Count(existing []metav1.Object) {
	for i, now := range p.usage(existing) {
		for name, n := range now {
			if most := p.most[i][name]; most.Cmp(n) < 0 {
				p.most[i][name] = n
			}
		}
	}
}

// Acted takes an action, and reports whether it creates an object: only then quotas can count more.
func (p *Peak) Acted(a plan.Action) bool {
	o := Created(a)
	if o != nil {
		p.create(o)
	}
	return o != nil
}

// Created returns the pod or PVC that an action creates; nil for others.
func Created(a plan.Action) metav1.Object {
	if pod, is := a.(plan.CreatePod); is {
		return pod.Object
	}
	if claim, is := a.(plan.CreatePVC); is {
		return claim.Object
	}
	return nil
}

// create takes an object that is created.
func (p *Peak) create(o metav1.Object) {
	p.created = true
	kind, subject := plan.WrittenPVC, o
	if pod, is := o.(*corev1.Pod); is {
		kind, subject = plan.WrittenPod, Completed(p.facts.Limits, pod)
	}
	for _, name := range beyond(p.facts.Limits, subject) {
		c := LimitRangeConflict{LimitRange: name, ObjectKind: kind}
		if p.conflicts[c] == nil {
			p.conflicts[c] = map[string]bool{}
		}
		p.conflicts[c][o.GetName()] = true
	}
}

// Objects returns pods and PVCs as one list.
func Objects(pods map[string]*corev1.Pod, claims map[string]*corev1.PersistentVolumeClaim) []metav1.Object {
	all := make([]metav1.Object, 0, len(pods)+len(claims))
	for _, pod := range pods {
		all = append(all, pod)
	}
	for _, claim := range claims {
		all = append(all, claim)
	}
	return all
}

// usage returns what objects add to each quota.
func (p *Peak) usage(existing []metav1.Object) []corev1.ResourceList {
	all := make([]corev1.ResourceList, len(p.facts.Quotas))
	for i := range all {
		all[i] = corev1.ResourceList{}
	}
	if len(all) == 0 {
		return all
	}
	for _, o := range existing {
		for i, more := range p.adds(o) {
			for name, n := range more {
				total := all[i][name]
				total.Add(n)
				all[i][name] = total
			}
		}
	}
	return all
}

// adds returns what an object adds to each quota. An object that changes is another one.
func (p *Peak) adds(o metav1.Object) []corev1.ResourceList {
	if known, is := p.added[o]; is {
		return known
	}
	completed := o
	if pod, is := o.(*corev1.Pod); is {
		completed = Completed(p.facts.Limits, pod)
	}
	all := make([]corev1.ResourceList, len(p.facts.Quotas))
	for i, q := range p.facts.Quotas {
		all[i] = corev1.ResourceList{}
		for name, n := range UsageIn(q, completed) {
			if _, counts := q.Status.Hard[name]; counts {
				all[i][name] = n.DeepCopy()
			}
		}
	}
	p.added[o] = all
	return all
}

// Rules returns what was found; nil where the quotas and ranges say nothing about the changes.
func (p *Peak) Rules() *Rules {
	r := &Rules{Quotas: []QuotaUse{}, LimitRanges: []LimitRangeConflict{}}
	for _, hidden := range []string{p.facts.QuotasHidden, p.facts.LimitsHidden} {
		if hidden != "" && p.created {
			r.Unknown = append(r.Unknown, hidden)
		}
	}
	for i, q := range p.facts.Quotas {
		r.Quotas = append(r.Quotas, usesOf(q, Difference(p.most[i], p.first[i]))...)
	}
	for c, names := range p.conflicts {
		c.Objects = len(names)
		r.LimitRanges = append(r.LimitRanges, c)
	}
	stable.Sort(r.LimitRanges, func(a, b LimitRangeConflict) int {
		return cmp.Or(cmp.Compare(a.LimitRange, b.LimitRange), cmp.Compare(a.ObjectKind, b.ObjectKind))
	})
	if len(r.Quotas)+len(r.LimitRanges)+len(r.Unknown) == 0 {
		return nil
	}
	return r
}

// usesOf returns the resources of a quota that have more added, in order.
func usesOf(q corev1.ResourceQuota, more corev1.ResourceList) (uses []QuotaUse) {
	for _, name := range slices.Sorted(maps.Keys(q.Status.Hard)) {
		add, hard, used := more[name], q.Status.Hard[name], q.Status.Used[name]
		if add.Sign() <= 0 {
			continue
		}
		peak := used.DeepCopy()
		peak.Add(add)
		uses = append(uses, QuotaUse{Quota: q.Name, Resource: name, Used: used.String(), Peak: peak.String(), Hard: hard.String(), Exceeded: peak.Cmp(hard) > 0})
	}
	return uses
}

// Room is what the quotas of a namespace have left while pods take the place of others.
type Room struct {
	Facts plan.NamespaceFacts
	// taken is what the pods so far add to each quota, by its name.
	taken map[string]corev1.ResourceList
}

// Shortage is a resource of a quota that has less left than is needed.
type Shortage struct {
	Quota    string
	Resource corev1.ResourceName
	// Needs is what is added, with what was taken before; Left is what the quota has left.
	Needs, Left string
}

// Replace takes what a pod adds to the quotas when it takes the place of another one, or returns what they lack. What
// is lacking is not taken.
func (r *Room) Replace(before, after *corev1.Pod) (lacks []Shortage) {
	after = Completed(r.Facts.Limits, after)
	next := map[string]corev1.ResourceList{}
	for _, q := range r.Facts.Quotas {
		more := Sum(r.taken[q.Name], Difference(UsageIn(q, after), UsageIn(q, before)))
		next[q.Name] = more
		for _, name := range LacksRoom(q, more) {
			of := corev1.ResourceName(name)
			needs, left := more[of], q.Status.Hard[of].DeepCopy()
			left.Sub(q.Status.Used[of])
			lacks = append(lacks, Shortage{Quota: q.Name, Resource: of, Needs: needs.String(), Left: left.String()})
		}
	}
	if len(lacks) == 0 {
		r.taken = next
	}
	return lacks
}

// Sum returns the amounts of both lists together.
func Sum(a, b corev1.ResourceList) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for _, list := range []corev1.ResourceList{a, b} {
		for name, n := range list {
			total := sum[name].DeepCopy()
			total.Add(n)
			sum[name] = total
		}
	}
	return sum
}

// Difference returns the amounts of the first list without those of the second; negative where that has more.
func Difference(a, b corev1.ResourceList) corev1.ResourceList {
	negative := corev1.ResourceList{}
	for name, n := range b {
		n = n.DeepCopy()
		n.Neg()
		negative[name] = n
	}
	return Sum(a, negative)
}

// Completed returns a copy of a pod with the requests and limits that the API server and the LimitRanges of the
// namespace set where it has none.
func Completed(limits []corev1.LimitRange, pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	items := []corev1.LimitRangeItem{{}}
	for _, l := range limits {
		for _, item := range l.Spec.Limits {
			if item.Type == corev1.LimitTypeContainer {
				items = append(items, item)
			}
		}
	}
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			for _, item := range items {
				r := &containers[i].Resources
				r.Requests, r.Limits = withDefaults(item, *r)
			}
		}
	}
	return pod
}
