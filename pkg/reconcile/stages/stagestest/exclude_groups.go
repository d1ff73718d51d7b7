package stagestest

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Excluding adds an exclusion, which the processes concerned report.
func Excluding(target string, groups ...v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		excluded := fdb.ExcludedServer{Address: target}
		if strings.HasPrefix(target, "locality_") {
			excluded = fdb.ExcludedServer{Locality: target}
		}
		s.Database.Status.Cluster.Configuration.ExcludedServers = append(s.Database.Status.Cluster.Configuration.ExcludedServers, excluded)
		yes := true
		for _, id := range groups {
			EditProcess(s, s.Cluster.ProcessGroup(id), func(p *fdb.Process) { p.Excluded = &yes })
		}
	}
}
