package live

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// known is what a run knows of its cluster from what it read and wrote itself.
type known struct {
	*Options

	mu             sync.Mutex
	given          Given
	resource       *v1beta2.FoundationDBCluster // as the API server has it, spec not normalized; nil before the first read
	pods           map[string]*corev1.Pod       // newest known, to find one to run fdbcli in
	nodesRequested bool                         // nodes are read even if no rule of the spec needs them
	leaseOf        types.UID                    // of the resource that the Lease is of, where passes are not over the cluster itself
}

// cluster returns the resource as the API server has it; nil before the first read.
func (k *known) cluster() *v1beta2.FoundationDBCluster {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.resource
}

// setLeaseOf notes the resource that the Lease is of: a backup, or the destination of a restore.
func (k *known) setLeaseOf(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leaseOf = uid
}

// leaseUID returns the UID of the resource that the Lease is of; empty before it was read.
func (k *known) leaseUID() types.UID {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.leaseOf == "" && k.resource != nil && k.Lease == "" {
		return k.resource.UID
	}
	return k.leaseOf
}

// toReach returns the resource and the pods, which lead to the database.
func (k *known) toReach() (*v1beta2.FoundationDBCluster, map[string]*corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.resource, k.pods
}
