package safety

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// replicasWanted is the desired number of replicas of all data: from the configuration in
// force, which reports its own numbers where its policies are custom ones, and without it
// from the spec. For an unknown mode it is unknown, which is never few enough.
func replicasWanted(s plan.Snapshot) (n int, known bool) {
	if c := s.Database.Status.Cluster.Configuration; c != nil && (c.RedundancyMode != "" || c.StorageReplicas > 0) {
		return c.Replicas()
	}
	return fdb.MinimumFaultDomains(redundancyOf(s))
}

// unknownRedundancy is the evidence for an unknown replicasWanted.
func unknownRedundancy(s plan.Snapshot) string {
	return fmt.Sprintf("the number of replicas of the redundancy mode %s is unknown", redundancyOf(s))
}
