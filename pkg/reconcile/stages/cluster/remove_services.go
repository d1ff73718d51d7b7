package cluster

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// RemoveServices deletes the headless service once the spec needs none. Services of process
// groups are deleted together with their groups.
//
// The operator deletes any service with the cluster's name; here it has to be the cluster's
// own, since a user's service may well have that name. And it stays as long as a coordinator
// has a DNS name: without the service the name could not be resolved, and the database would
// be unavailable.
var RemoveServices = plan.Stage{
	Name:  plan.StageRemoveServices,
	Reads: plan.ClusterResource | plan.Services,
	Decide: func(s plan.Snapshot) plan.Decision {
		service := readings.SuperfluousService(s)
		if service == nil || service.DeletionTimestamp != nil {
			return plan.Decision{}
		}
		if named := namedCoordinators(s.Cluster); len(named) > 0 {
			return plan.WaitBehind(coordinatorRetry, plan.HoldCoordinatorNames, fmt.Sprintf("service %s stays until no coordinator is addressed by DNS name: %s", service.Name, readings.SomeOf(named)))
		}
		return plan.Decision{
			Why:     "no pod needs a DNS name any more",
			Actions: []plan.Action{plan.DeleteService{Name: service.Name, UID: service.UID}},
		}
	},
}

// namedCoordinators returns the coordinators with a DNS name in the status' cluster file. An
// unreadable cluster file may name any.
func namedCoordinators(c *v1beta2.FoundationDBCluster) []string {
	if c.Status.ConnectionString == "" {
		return nil
	}
	connection, err := fdb.ParseConnectionString(c.Status.ConnectionString)
	if err != nil {
		return []string{err.Error()}
	}
	var named []string
	for _, coordinator := range connection.Coordinators {
		if !coordinator.IsIP() {
			named = append(named, coordinator.HostPort())
		}
	}
	return named
}
