package stages

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// removeServices deletes the headless service once the spec needs none. Services of process
// groups are deleted together with their groups.
//
// The operator deletes any service with the cluster's name; here it has to be the cluster's
// own, since a user's service may well have that name. And it stays as long as a coordinator
// has a DNS name: without the service the name could not be resolved, and the database would
// be unavailable.
var removeServices = plan.Stage{
	Name:  plan.StageRemoveServices,
	Reads: plan.Record | plan.Services,
	Decide: func(s plan.Snapshot) plan.Decision {
		service := superfluousService(s)
		if service == nil || service.DeletionTimestamp != nil {
			return plan.Decision{}
		}
		if named := namedCoordinators(s.Cluster); len(named) > 0 {
			return plan.WaitBehind(coordinatorRetry, plan.HoldCoordinatorNames, fmt.Sprintf("service %s stays until no coordinator is addressed by DNS name: %s", service.Name, someOf(named)))
		}
		return plan.Decision{
			Why:     "no pod needs a DNS name any more",
			Actions: []plan.Action{plan.DeleteService{Name: service.Name, UID: service.UID}},
		}
	},
}

// superfluousService returns the cluster's own headless service where the spec needs none.
func superfluousService(s plan.Snapshot) *corev1.Service {
	service := s.Services[s.Cluster.HeadlessServiceName()]
	if service == nil || objects.HeadlessService(s.Cluster) != nil || !isOwn(s.Cluster, service) {
		return nil
	}
	return service
}

// isOwn reports whether an object was created for this very cluster: it has its labels, and
// this resource controls it.
func isOwn(c *v1beta2.FoundationDBCluster, object metav1.Object) bool {
	for key, value := range c.MatchLabels() {
		if object.GetLabels()[key] != value {
			return false
		}
	}
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return owner.Kind == "FoundationDBCluster" && owner.UID == c.UID && c.UID != ""
	})
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
