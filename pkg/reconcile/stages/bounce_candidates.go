package stages

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// bounce is what is known about the process groups whose servers have to restart.
type bounce struct {
	groups    []v1beta2.ProcessGroupID
	addresses []fdb.Address
	// lagging have not loaded the configuration that they would start with.
	lagging []string
	// silent should restart, and the database does not tell where they are.
	silent []string
	// spared should restart, and the spec keeps them from it.
	spared []v1beta2.ProcessGroupID
	// missing counts groups by class that cannot be waited for.
	missing map[v1beta2.ProcessClass]int
	// leaving counts groups by class that are marked for removal.
	leaving map[v1beta2.ProcessClass]int
	// staying counts groups by class that the spec keeps from restarting.
	staying map[v1beta2.ProcessClass]int
}

func collectBounce(s plan.Snapshot) bounce {
	b := bounce{missing: map[v1beta2.ProcessClass]int{}, leaving: map[v1beta2.ProcessClass]int{}, staying: map[v1beta2.ProcessClass]int{}}
	for _, g := range s.Groups() {
		if g.ProcessClass.IsTester() || g.HasCondition(v1beta2.ConditionResourcesTerminating) {
			continue
		}
		b.sort(s, g)
	}
	return b
}

func (b *bounce) sort(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
	upgrade := incompatibleUpgrade(s.Cluster)
	if g.IsMarkedForRemoval() {
		b.leaving[g.ProcessClass]++
		if upgrade && g.IsExcluded() && !isSpared(s, g.ProcessGroupID) && !missingTooLong(s, g) {
			b.add(s, g) // nothing may be left that speaks the old protocol
			return
		}
	}
	switch {
	case missingTooLong(s, g), pendingTooLong(s, g):
		b.missing[g.ProcessClass]++
	case isSpared(s, g.ProcessGroupID):
		b.staying[g.ProcessClass]++
		if mustRestart(s, g) {
			b.spared = append(b.spared, g.ProcessGroupID)
		}
	case g.HasCondition(v1beta2.ConditionIncorrectConfigMap) && keepsItsConfig(s.Cluster, g):
		// it is drained with the arguments that it has
	case g.HasCondition(v1beta2.ConditionIncorrectConfigMap):
		b.lagging = append(b.lagging, string(g.ProcessGroupID))
	case !mustRestart(s, g):
	case s.Database.Status != nil && len(addressesOf(s.Database.Status, g.ProcessGroupID)) == 0:
		b.silent = append(b.silent, string(g.ProcessGroupID))
		b.groups = append(b.groups, g.ProcessGroupID)
	default:
		b.add(s, g)
	}
}

func (b *bounce) add(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
	b.groups = append(b.groups, g.ProcessGroupID)
	if s.Database.Status != nil {
		b.addresses = append(b.addresses, addressesOf(s.Database.Status, g.ProcessGroupID)...)
	}
}

// isSpared reports whether the spec keeps a group of this instance from restarting.
func isSpared(s plan.Snapshot, id v1beta2.ProcessGroupID) bool {
	return slices.Contains(s.Cluster.Spec.Buggify.IgnoreDuringRestart, id)
}

func missingTooLong(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	since, missing := g.Condition(v1beta2.ConditionMissingProcesses)
	return missing && s.Now.Sub(since) > s.Cluster.IgnoreMissingProcessesFor()
}

// mustRestart reports whether a group's servers would start otherwise than they run, and
// nothing else has to happen to their pod first. While listeners change, pods wait for
// the restart and so the restart must not wait for the pods.
func mustRestart(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	if !g.HasCondition(v1beta2.ConditionIncorrectCommandLine) {
		return false
	}
	first := []v1beta2.ProcessGroupConditionType{v1beta2.ConditionSidecarUnreachable, v1beta2.ConditionIncorrectPodSpec}
	switch {
	case incompatibleUpgrade(s.Cluster):
		first = []v1beta2.ProcessGroupConditionType{v1beta2.ConditionIncorrectSidecarImage}
	case tlsConversion(s.Cluster):
		first = first[:1]
	}
	return !slices.ContainsFunc(first, g.HasCondition)
}

// keptFromRestarting names those that the spec spares, with the field that does it.
func (b *bounce) keptFromRestarting() string {
	return "kept from restarting by spec.buggify.ignoreDuringRestart: " + someOf(b.spared)
}

// notReady says why nobody restarts yet: a restart that reaches only some of those that
// need it has to come again, and costs another recovery.
func (b *bounce) notReady() string {
	switch {
	case len(b.silent) > 0:
		return fmt.Sprintf("the database does not tell the addresses of %s, whose processes have to restart", someOf(b.silent))
	case len(b.lagging) > 0:
		return fmt.Sprintf("processes restart together, and these have not loaded the current configuration: %s", someOf(b.lagging))
	default:
		return ""
	}
}
