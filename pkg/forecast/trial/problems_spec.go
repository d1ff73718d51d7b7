package trial

import (
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// edit changes the spec as a user does.
func (h *History) edit(change func(*v1beta2.FoundationDBClusterSpec)) {
	change(&h.w.Resource.Spec)
	h.w.Resource.Generation++
}

// editAll changes the specs of all control-plane instances, as has to be done for what is the database's.
func (h *History) editAll(change func(*v1beta2.FoundationDBClusterSpec)) {
	h.inTurn(func() { h.edit(change) })
}

var specProblems = []problem{
	{"storage-count-edited", "the number of storage groups changes", 2, noGroup, func(h *History, dice *rand.Rand) {
		n := h.fewest() + dice.IntN(4)
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessCounts.Storage = n })
		h.logf("spec: %d storage", n)
	}},
	{"log-count-edited", "the number of log groups changes", 2, noGroup, func(h *History, dice *rand.Rand) {
		n := 4 + dice.IntN(3)
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessCounts.Log = n })
		h.logf("spec: %d log", n)
	}},
	{"stateless-count-edited", "the number of stateless groups changes", 1, noGroup, func(h *History, dice *rand.Rand) {
		n := 4 + dice.IntN(3)
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessCounts.Stateless = n })
		h.logf("spec: %d stateless", n)
	}},
	{"redundancy-edited", "the redundancy changes", 1, noGroup, func(h *History, _ *rand.Rand) {
		mode := v1beta2.RedundancyModeTriple
		if h.w.Resource.Spec.DatabaseConfiguration.RedundancyMode == mode {
			mode = v1beta2.RedundancyModeDouble
		}
		h.editAll(func(s *v1beta2.FoundationDBClusterSpec) {
			s.DatabaseConfiguration.RedundancyMode = mode
			s.ProcessCounts.Storage = max(s.ProcessCounts.Storage, h.fewest())
		})
		h.logf("spec: redundancy %s, %d storage", mode, h.w.Resource.Spec.ProcessCounts.Storage)
	}},
	{"knob-edited", "a knob changes", 1, noGroup, func(h *History, dice *rand.Rand) {
		knob := v1beta2.FoundationDBCustomParameter("knob_max_trace_lines=" + []string{"1000", "2000", "3000"}[dice.IntN(3)])
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) {
			general := s.Processes[v1beta2.ProcessClassGeneral]
			general.CustomParameters = v1beta2.FoundationDBCustomParameters{knob}
			s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: general}
		})
		h.logf("spec: %s", knob)
	}},
	{"template-edited", "the pods' template changes", 1, noGroup, func(h *History, dice *rand.Rand) {
		account := []string{"default", "fdb", "other"}[dice.IntN(3)]
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) {
			general := s.Processes[v1beta2.ProcessClassGeneral]
			general.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{ServiceAccountName: account}}
			s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: general}
		})
		h.logf("spec: pods run as service account %s", account)
	}},
	{"prefix-edited", "the prefix of IDs changes", 1, noGroup, func(h *History, dice *rand.Rand) {
		// By the spec: SynchronizationMode is local while the status is lost, and the lists stay.
		if ptr.Deref(h.w.Resource.Spec.AutomationOptions.SynchronizationMode, v1beta2.SynchronizationModeLocal) == v1beta2.SynchronizationModeGlobal {
			return // what is listed under the old prefix has to be tidied up by users
		}
		prefix := []string{"", "east", "west"}[dice.IntN(3)]
		if len(h.clusters) > 1 && prefix == "" {
			prefix = "north" // by their prefixes control-plane instances tell each other apart
		}
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessGroupIDPrefix = prefix })
		h.logf("spec: prefix %q", prefix)
	}},
	{"removals-edited", "groups are to be removed", 2, aGroup, func(h *History, dice *rand.Rand) {
		for range 1 + dice.IntN(2) {
			if g := h.group(dice); g != nil {
				h.edit(func(s *v1beta2.FoundationDBClusterSpec) {
					s.ProcessGroupsToRemove = append(s.ProcessGroupsToRemove, g.ProcessGroupID)
				})
				h.logf("spec: remove %s", g.ProcessGroupID)
			}
		}
	}},
	{"removal-without-exclusion", "a group is to be removed without exclusion", 1, aGroup, func(h *History, dice *rand.Rand) {
		if g := h.group(dice); g != nil && h.mayLose() {
			h.edit(func(s *v1beta2.FoundationDBClusterSpec) {
				s.ProcessGroupsToRemoveWithoutExclusion = []v1beta2.ProcessGroupID{g.ProcessGroupID}
			})
			h.logf("spec: remove %s without exclusion", g.ProcessGroupID)
		}
	}},
	{"removals-tidied", "a user tidies the lists of removals", 1, noGroup, func(h *History, _ *rand.Rand) { h.tidy() }},
}

// tidy takes removed groups off the spec's lists.
func (h *History) tidy() {
	gone := func(id v1beta2.ProcessGroupID) bool { return h.w.Resource.ProcessGroup(id) == nil }
	h.edit(func(s *v1beta2.FoundationDBClusterSpec) {
		s.ProcessGroupsToRemove = slices.DeleteFunc(slices.Clone(s.ProcessGroupsToRemove), gone)
		s.ProcessGroupsToRemoveWithoutExclusion = slices.DeleteFunc(slices.Clone(s.ProcessGroupsToRemoveWithoutExclusion), gone)
	})
	h.logf("spec: the lists of removals are tidied")
}

// fewest is how many storage groups are enough for the redundancy, and one to spare.
func (h *History) fewest() int {
	if h.w.Resource.Spec.DatabaseConfiguration.RedundancyMode == v1beta2.RedundancyModeTriple {
		return 5
	}
	return 3
}

var resourceProblems = []problem{
	{"resource-status-lost", "the record's status is lost", 1, noGroup, func(h *History, _ *rand.Rand) {
		if h.w.ConfigMap != nil && h.exists() && h.truth().complete {
			h.logf("the record's status is lost")
			delete(h.records, h.w) // what is recorded next is recorded again because of this
			h.w.Resource.Status = v1beta2.FoundationDBClusterStatus{}
		}
	}},
	{"configmap-lost", "the ConfigMap is lost", 1, noGroup, func(h *History, _ *rand.Rand) {
		if h.w.Resource.Status.ConnectionString != "" {
			h.logf("the ConfigMap is lost")
			h.w.ConfigMap = nil
		}
	}},
}

// maxAdded is how many fault domains a user adds for coordinators at the end of a history.
const maxAdded = 2

// repair does what is left to users: it includes what no cluster excludes, and adds a process where
// a pass needs another fault domain for coordinators, as happens when pods that are coordinators by
// address come back beside others.
func (h *History) repair() {
	for _, w := range h.clusters {
		h.replaceGoing(w)
	}
	if last := h.endings[h.w].pass; h.cramped && last.Outcome == reconcile.Blocked && last.Acted == 0 && h.added < maxAdded {
		h.added++
		h.logf("a user adds a storage process, and with it a fault domain")
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessCounts.Storage++ })
	}
	for _, target := range h.excluded() {
		if !h.desired(target) {
			h.logf("a user includes %s", target)
			h.typed("include " + target)
		}
	}
}

// excluded are the exclusions in force.
func (h *History) excluded() []string {
	if !h.exists() {
		return nil
	}
	return h.database().Excluded()
}

// desired reports whether an exclusion is of a group that leaves, or is left to the plugin because it
// is of one that the spec keeps.
func (h *History) desired(target string) bool {
	return slices.ContainsFunc(h.clusters, func(w *sim.Cluster) bool {
		return isOfOne(target, keptGroups(w)) || slices.ContainsFunc(w.Resource.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool {
			return g.IsMarkedForRemoval() && (g.ExclusionString() == target || slices.Contains(g.Addresses, target))
		})
	})
}
