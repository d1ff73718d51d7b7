package safety

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// replicasDesired is the desired number of replicas of all data: from the configuration in
// force, which reports its own numbers where its policies are custom ones, and where it reports
// no redundancy from the spec. For an unknown mode, and without the configuration, it is unknown,
// which is never few enough.
func replicasDesired(s plan.Snapshot) (n int, known bool) {
	c := s.Database.Status.Cluster.Configuration
	switch {
	case c == nil:
		return 0, false
	case c.RedundancyMode != "" || c.StorageReplicas > 0:
		return c.Replicas()
	}
	return fdb.MinimumFaultDomains(redundancyOf(s))
}

// unknownRedundancy is the evidence for an unknown number of replicas.
func unknownRedundancy(s plan.Snapshot) string {
	if s.Database.Status.Cluster.Configuration == nil {
		return "the redundancy mode in force is unknown: the status document has no configuration"
	}
	return fmt.Sprintf("the number of replicas of the redundancy mode %s is unknown", redundancyOf(s))
}
