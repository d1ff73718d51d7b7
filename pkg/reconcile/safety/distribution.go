package safety

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// DistributionHolds checks whether spec.distributionConfig has as many fault domains as the
// coordinators and the replicas of this resource need: pods that are packed into fewer leave none
// for them. The cluster must pack its pods.
func DistributionHolds(c *v1beta2.FoundationDBCluster) plan.Check {
	have, need := c.Distribution().DesiredFaultDomains, max(ownCoordinators(c), ownDataDomains(c))
	return plan.Check{
		ID: plan.CheckDistributionHolds, Gate: plan.GateConfig, OK: have >= need,
		Question: "are the desired fault domains enough for coordinators and replicas?",
		Evidence: fmt.Sprintf("spec.distributionConfig.desiredFaultDomains is %d, %d required: %s, and %s keeps data available in %d",
			have, need, phrase.Count(ownCoordinators(c), "coordinator"), redundancyMode(c), ownDataDomains(c)),
		Have: fmt.Sprint(have), Need: fmt.Sprintf("at least %d", need),
	}
}

func redundancyMode(c *v1beta2.FoundationDBCluster) string {
	if mode := c.Spec.DatabaseConfiguration.RedundancyMode; mode != "" {
		return string(mode)
	}
	return fdb.RedundancyDouble
}

// ownCoordinators returns how many coordinators this resource has to hold, each in a fault domain of
// its own.
func ownCoordinators(c *v1beta2.FoundationDBCluster) int {
	limit := c.DesiredCoordinators()
	switch limits := CoordinatorLimits(c); {
	case limits[fdb.LocalityDCID] > 0:
		return min(limit, limits[fdb.LocalityDCID])
	case limits[fdb.LocalityDataHall] > 0 && c.Spec.DataHall != "":
		return min(limit, limits[fdb.LocalityDataHall])
	default:
		return limit
	}
}

// ownDataDomains returns how many fault domains of this resource keep its data fully replicated while
// as many fail as its redundancy tolerates. A resource with one of three data halls has a third.
func ownDataDomains(c *v1beta2.FoundationDBCluster) int {
	domains := c.MinimumFaultDomains() + c.FaultTolerance()
	if c.Spec.DatabaseConfiguration.RedundancyMode == v1beta2.RedundancyModeThreeDataHall && c.Spec.DataHall != "" {
		return (domains + threeDataHalls - 1) / threeDataHalls
	}
	return domains
}
