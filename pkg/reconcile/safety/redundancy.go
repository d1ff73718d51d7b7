package safety

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// replicasWanted is how many copies of all data there should be: by what is in force, which
// tells its own numbers where its policies are custom ones, and where it tells nothing by
// the spec. Of a mode that nobody knows it is not known, which is never few enough.
func replicasWanted(s plan.Snapshot) (n int, known bool) {
	if c := s.Database.Status.Cluster.Configuration; c != nil && (c.RedundancyMode != "" || c.StorageReplicas > 0) {
		return c.Replicas()
	}
	return fdb.MinimumFaultDomains(redundancyOf(s))
}

// unknownRedundancy says that replicasWanted is not known.
func unknownRedundancy(s plan.Snapshot) string {
	return fmt.Sprintf("how many replicas the redundancy mode %s asks for is not known", redundancyOf(s))
}
