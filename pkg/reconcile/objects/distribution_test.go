package objects

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// TestPodsWithoutPackingMatchTheOperators builds pods of clusters that have the field and do not use it.
func TestPodsWithoutPackingMatchTheOperators(t *testing.T) {
	for name, tc := range map[string]struct {
		config *v1beta2.DistributionConfig
		group  *v1beta2.ProcessGroupStatus
	}{
		"empty":    {&v1beta2.DistributionConfig{}, storage1},
		"disabled": {&v1beta2.DistributionConfig{Enabled: new(false), DesiredFaultDomains: new(3), BinPack: new(v1beta2.BinPackAll), Required: new(true)}, storage1},
		"a tester": {&v1beta2.DistributionConfig{Enabled: new(true), DesiredFaultDomains: new(3)}, group(v1beta2.ProcessClassTest, "test-1")},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := Pod(sample(t), tc.group)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Pod(sample(t, func(c *v1beta2.FoundationDBCluster) { c.Spec.DistributionConfig = tc.config }), tc.group)
			if err != nil {
				t.Fatal(err)
			}
			if pretty(t, want) != pretty(t, got) {
				t.Errorf("the pod differs:\n%s", pretty(t, got))
			}
		})
	}
}

func TestTheDistributionKeyIsNeverPatched(t *testing.T) {
	c := sample(t, packed(v1beta2.BinPackClass, false))
	pod, err := Pod(c, storage1)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]string{"another key": "storage-2", "no key": ""} {
		pod.Labels[v1beta2.LabelDistributionKey] = key
		if key == "" {
			delete(pod.Labels, v1beta2.LabelDistributionKey)
		}
		if changed, _ := NewGroupMetadata(c).OfPod(storage1, pod); changed != nil {
			t.Errorf("%s: labels %v", name, changed)
		}
	}
	// An operator's template may have the label, where nothing is packed.
	disabled := sample(t, template(corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1beta2.LabelDistributionKey: "mine"}}}))
	if changed, _ := NewGroupMetadata(disabled).OfPod(storage1, pod); changed != nil {
		t.Errorf("from a template: labels %v", changed)
	}
}

// TestDifferencesOfAPodFromItsDesiredDistribution compares a pod that was created with one distribution with another.
func TestDifferencesOfAPodFromItsDesiredDistribution(t *testing.T) {
	domains := func(n int) given {
		return func(c *v1beta2.FoundationDBCluster) { c.Spec.DistributionConfig.DesiredFaultDomains = &n }
	}
	key := func(key string) given {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Spec.FaultDomain = v1beta2.FoundationDBClusterFaultDomain{Key: key}
		}
	}
	class := packed(v1beta2.BinPackClass, false)
	none := func(*v1beta2.FoundationDBCluster) {}
	storage4 := group(v1beta2.ProcessClassStorage, "storage-4")
	for name, tc := range map[string]struct {
		before, after []given
		edit          func(*corev1.Pod)
		want          string
	}{
		"in no way":                     {before: []given{class}, after: []given{class}},
		"in no way, and required":       {before: []given{packed(v1beta2.BinPackAll, true)}, after: []given{packed(v1beta2.BinPackAll, true)}},
		"by the same key of more":       {before: []given{class, domains(2)}, after: []given{class, domains(4)}},
		"packing is enabled":            {before: []given{none}, after: []given{class}, want: "the pod has no distribution key"},
		"packing is disabled":           {before: []given{class}, after: []given{none}},
		"in fewer fault domains":        {before: []given{class}, after: []given{class, domains(2)}, want: "the distribution key changes from storage-1 to storage-0"},
		"with other classes":            {before: []given{class}, after: []given{packed(v1beta2.BinPackStateful, false)}, want: "the distribution key changes from storage-1 to stateful-1"},
		"it is required":                {before: []given{class}, after: []given{packed(v1beta2.BinPackClass, true)}, want: "spec.distributionConfig.required changes to true"},
		"it is preferred":               {before: []given{packed(v1beta2.BinPackClass, true)}, after: []given{class}, want: "spec.distributionConfig.required changes to false"},
		"over another fault domain key": {before: []given{class}, after: []given{class, key("rack")}, want: "the fault domain key of the distribution changes from kubernetes.io/hostname to rack"},
		"with other labels of the cluster": {before: []given{class}, after: []given{class, func(c *v1beta2.FoundationDBCluster) {
			c.Spec.Labels.MatchLabels = map[string]string{"app": "fdb"}
		}}, want: "the affinity terms of the distribution key storage-1 differ"},
		"without any terms": {before: []given{class}, after: []given{class}, edit: func(p *corev1.Pod) { p.Spec.Affinity = nil }, want: "the pod lacks the affinity terms of the distribution key storage-1"},
		"without the anti-affinity": {before: []given{class}, after: []given{class}, edit: func(p *corev1.Pod) {
			p.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
		}, want: "the pod lacks the affinity terms of the distribution key storage-1"},
		"with another anti-affinity": {before: []given{class}, after: []given{class}, edit: func(p *corev1.Pod) {
			delete(p.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector.MatchLabels, v1beta2.LabelProcessClass)
		}, want: "the affinity terms of the distribution key storage-1 differ"},
		"with more terms of the template": {before: []given{class, template(corev1.PodTemplateSpec{Spec: corev1.PodSpec{Affinity: ownTerms()}})}, after: []given{class}},
		"with the label of another pod":   {before: []given{class}, after: []given{class}, edit: func(p *corev1.Pod) { p.Labels[v1beta2.LabelDistributionKey] = "storage-2" }, want: "the distribution key changes from storage-2 to storage-1"},
	} {
		t.Run(name, func(t *testing.T) {
			pod, err := Pod(sample(t, tc.before...), storage4)
			if err != nil {
				t.Fatal(err)
			}
			if tc.edit != nil {
				tc.edit(pod)
			}
			if got := DistributionDiffers(sample(t, tc.after...), storage4, pod); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestDistributionAffinityAttractsSameBucketAndRepelsOthers applies the terms to the labels of other pods.
func TestDistributionAffinityAttractsSameBucketAndRepelsOthers(t *testing.T) {
	named := func(name string) given { return func(c *v1beta2.FoundationDBCluster) { c.Name = name } }
	storage2, storage4 := group(v1beta2.ProcessClassStorage, "storage-2"), group(v1beta2.ProcessClassStorage, "storage-4")
	log2, stateless2 := group(v1beta2.ProcessClassLog, "log-2"), group(v1beta2.ProcessClassStateless, "stateless-2")
	test2 := group(v1beta2.ProcessClassTest, "test-2")
	const attracts, repels, ignores = "attracts", "repels", "ignores"
	for name, tc := range map[string]struct {
		pack  v1beta2.BinPack
		other *v1beta2.ProcessGroupStatus
		of    []given // of the other's cluster, without packing
		want  string
	}{
		"Class: the same bucket":               {v1beta2.BinPackClass, storage4, nil, attracts},
		"Class: another bucket":                {v1beta2.BinPackClass, storage2, nil, repels},
		"Class: another class":                 {v1beta2.BinPackClass, log2, nil, ignores},
		"Stateful: another bucket":             {v1beta2.BinPackStateful, log2, nil, repels},
		"Stateful: the same bucket of logs":    {v1beta2.BinPackStateful, group(v1beta2.ProcessClassLog, "log-1"), nil, attracts},
		"Stateful: stateless":                  {v1beta2.BinPackStateful, stateless2, nil, ignores},
		"All: another bucket of any class":     {v1beta2.BinPackAll, stateless2, nil, repels},
		"All: the same bucket of any class":    {v1beta2.BinPackAll, group(v1beta2.ProcessClassStateless, "stateless-7"), nil, attracts},
		"All: a tester":                        {v1beta2.BinPackAll, test2, nil, ignores},
		"All: another bucket of another":       {v1beta2.BinPackAll, storage2, []given{named("other"), packed(v1beta2.BinPackAll, true)}, ignores},
		"All: the same bucket of another":      {v1beta2.BinPackAll, storage4, []given{named("other"), packed(v1beta2.BinPackAll, true)}, ignores},
		"Class: one that is not packed":        {v1beta2.BinPackClass, storage2, []given{named("sample")}, ignores},
		"All: one that is packed by its class": {v1beta2.BinPackAll, storage2, []given{packed(v1beta2.BinPackClass, true)}, repels},
	} {
		t.Run(name, func(t *testing.T) {
			terms := packTermsOf(sample(t, packed(tc.pack, true)), storage1)
			if tc.of == nil {
				tc.of = []given{packed(tc.pack, true)}
			}
			pod, err := Pod(sample(t, tc.of...), tc.other)
			if err != nil {
				t.Fatal(err)
			}
			got := ignores
			for what, term := range map[string]corev1.PodAffinityTerm{attracts: terms.together, repels: terms.apart} {
				selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
				if err != nil {
					t.Fatal(err)
				}
				if selector.Matches(labels.Set(pod.Labels)) {
					got = what
				}
			}
			if got != tc.want {
				t.Errorf("storage-1 %s the pod with %v, want %s", got, pod.Labels, tc.want)
			}
		})
	}
}

// TestSpecHashesOfPackedPodsDependOnTheDistributionKey hashes pods of each bucket from one cache.
func TestSpecHashesOfPackedPodsDependOnTheDistributionKey(t *testing.T) {
	for _, pack := range []v1beta2.BinPack{v1beta2.BinPackAll, v1beta2.BinPackStateful, v1beta2.BinPackClass} {
		for _, domains := range []int{1, 2, 3, 7, 4501, v1beta2.MaxProcessGroupNumber} {
			c := sample(t, packed(pack, true), func(c *v1beta2.FoundationDBCluster) { c.Spec.DistributionConfig.DesiredFaultDomains = &domains })
			hashes := NewSpecHashes(c)
			for _, class := range []v1beta2.ProcessClass{v1beta2.ProcessClassStorage, v1beta2.ProcessClassLog, v1beta2.ProcessClassTest} {
				for _, n := range []int{1, 2, 3, 4, 5, 6, 12, 4500, 4501, 99999} {
					g := group(class, c.ProcessGroupIDFor(class, n))
					want, err := hashes.whole(g)
					if err != nil {
						t.Fatal(err)
					}
					if got, err := hashes.Of(g); err != nil || got != want {
						t.Errorf("%s of %d: %s: got %s (%v), want %s", pack, domains, g.ProcessGroupID, got, err, want)
					}
				}
			}
			if domains == 3 && len(hashes.texts) != 7 {
				t.Errorf("%s: %d texts, want one per class and bucket", pack, len(hashes.texts))
			}
			for key, text := range hashes.texts {
				if text.pieces == nil {
					t.Errorf("%s of %d: the text of %v cannot be cut", pack, domains, key)
				}
			}
		}
	}
}
