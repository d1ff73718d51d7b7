package stages

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// bounce lists the process groups whose processes have to restart.
type bounce struct {
	groups    []v1beta2.ProcessGroupID
	addresses []fdb.Address
	// outdated groups have not loaded the configuration that they would start with.
	outdated []string
	// notReporting groups have to restart, and the database does not report their addresses.
	notReporting []string
	// spared groups have to restart, and the spec prevents it.
	spared []v1beta2.ProcessGroupID
	// missing counts the groups of each class that are not waited for.
	missing map[v1beta2.ProcessClass]int
	// leaving counts the groups of each class that are marked for removal.
	leaving map[v1beta2.ProcessClass]int
	// staying counts the groups of each class that the spec keeps from restarting.
	staying map[v1beta2.ProcessClass]int
}

func collectBounce(s plan.Snapshot) bounce {
	b := bounce{missing: map[v1beta2.ProcessClass]int{}, leaving: map[v1beta2.ProcessClass]int{}, staying: map[v1beta2.ProcessClass]int{}}
	for _, g := range s.Groups() {
		if g.ProcessClass.IsTester() || g.HasCondition(v1beta2.ConditionResourcesTerminating) {
			continue
		}
		b.classify(s, g)
	}
	return b
}

func (b *bounce) classify(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
	upgrade := incompatibleUpgrade(s.Cluster)
	if g.IsMarkedForRemoval() {
		b.leaving[g.ProcessClass]++
		if upgrade && g.IsExcluded() && !isSpared(s, g.ProcessGroupID) && !missingTooLong(s, g) {
			b.add(s, g) // no process may remain that uses the old protocol
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
		// it is drained with its current arguments
	case g.HasCondition(v1beta2.ConditionIncorrectConfigMap):
		b.outdated = append(b.outdated, string(g.ProcessGroupID))
	case !mustRestart(s, g):
	case s.Database.Status != nil && len(addressesOf(s.Database.Status, g.ProcessGroupID)) == 0:
		b.notReporting = append(b.notReporting, string(g.ProcessGroupID))
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

// isSpared reports whether the spec keeps a process group of this cluster from restarting.
func isSpared(s plan.Snapshot, id v1beta2.ProcessGroupID) bool {
	return slices.Contains(s.Cluster.Spec.Buggify.IgnoreDuringRestart, id)
}

func missingTooLong(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	since, missing := g.Condition(v1beta2.ConditionMissingProcesses)
	return missing && s.Now.Sub(since) > s.Cluster.IgnoreMissingProcessesFor()
}

// mustRestart reports whether a group's processes would start with other arguments than they
// run with, and their pod needs no other change first. While listeners change, pods wait for
// the restart, so the restart must not wait for the pods.
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

// keptFromRestarting describes the spared groups, with the field that spares them.
func (b *bounce) keptFromRestarting() string {
	return "kept from restarting by spec.buggify.ignoreDuringRestart: " + someOf(b.spared)
}

// notReady describes why no process restarts yet: a restart of only some of the processes
// has to be repeated, and costs another recovery.
func (b *bounce) notReady() string {
	switch {
	case len(b.notReporting) > 0:
		return fmt.Sprintf("the processes of %s have to restart, and the database does not report their addresses", someOf(b.notReporting))
	case len(b.outdated) > 0:
		return fmt.Sprintf("all processes restart together, and these process groups have not loaded the current configuration: %s", someOf(b.outdated))
	default:
		return ""
	}
}
