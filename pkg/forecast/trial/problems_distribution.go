package trial

import (
	"math/rand/v2"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

var evictionProblems = []problem{
	{"evictions-edited", "a budget or tolerations are requested, or not any more", 3, noGroup, func(h *History, dice *rand.Rand) {
		annotations := map[string]string{}
		for _, name := range []string{plan.AnnotationDisruptionBudgets, plan.AnnotationTolerations} {
			if dice.IntN(3) > 0 {
				annotations[name] = "true"
			}
		}
		h.w.Resource.Annotations = annotations
		h.logf("annotations: %v", annotations)
	}},
}

var distributionProblems = []problem{
	{"packing-edited", "how pods are packed changes", 3, noGroup, func(h *History, dice *rand.Rand) {
		if key := h.w.Resource.FaultDomainKey(); key == v1beta2.FaultDomainKeyNone || key == v1beta2.FaultDomainKeyKubernetesCluster {
			return
		}
		pack := []v1beta2.BinPack{v1beta2.BinPackAll, v1beta2.BinPackStateful, v1beta2.BinPackClass}[dice.IntN(3)]
		config := Packs(h.fewestDomains()+dice.IntN(3), pack, new(dice.IntN(4) == 0))
		config.Enabled = new(dice.IntN(4) > 0)
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.DistributionConfig = config })
		h.logf("spec: fault domains %d, packed by %s: enabled %t, required %t", *config.DesiredFaultDomains, pack, *config.Enabled, *config.Required)
	}},
}

// fewestDomains is how many fault domains are enough for coordinators and redundancy.
func (h *History) fewestDomains() int {
	if h.w.Resource.Spec.DatabaseConfiguration.RedundancyMode == v1beta2.RedundancyModeTriple {
		return 5
	}
	return 3
}

// repack does what is left to a user: enough fault domains for another redundancy, and no required
// ones, which a pod waits for until all others of its bucket have left a node.
func (h *History) repack() {
	h.inTurn(func() {
		have := h.w.Resource.Spec.DistributionConfig
		if have == nil {
			return
		}
		config := Packs(max(*have.DesiredFaultDomains, h.fewestDomains()), *have.BinPack, new(false))
		config.Enabled = have.Enabled
		if *config.DesiredFaultDomains == *have.DesiredFaultDomains && !*have.Required {
			return
		}
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.DistributionConfig = config })
		h.logf("spec: fault domains %d, preferred", *config.DesiredFaultDomains)
	})
}

// Packs is a distribution over fault domains.
func Packs(domains int, pack v1beta2.BinPack, required *bool) *v1beta2.DistributionConfig {
	return &v1beta2.DistributionConfig{Enabled: new(true), DesiredFaultDomains: &domains, BinPack: &pack, Required: required}
}
