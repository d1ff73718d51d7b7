// Package orphans finds objects and exclusions without an owner, with the proof; pure.
package orphans

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Kind is a kind of what can have no owner.
type Kind string

// The kinds.
const (
	Pod       Kind = "Pod"
	PVC       Kind = "PersistentVolumeClaim"
	Service   Kind = "Service"
	ConfigMap Kind = "ConfigMap"
	Lease     Kind = "Lease"
	Exclusion Kind = "Exclusion"
)

// Object is a Kubernetes object with the labels of a cluster, or its Lease.
type Object struct {
	Kind            Kind
	Name            string
	UID             string
	ResourceVersion string
	Created         time.Time
	// Group is the process group ID of its labels; empty without one.
	Group       v1beta2.ProcessGroupID
	Terminating bool
	// Controller is the object that owns it; nil for none.
	Controller *Controller
	// Addresses are those at which processes could be reached by it.
	Addresses []string
	// Ended is whether a pod runs nothing: it has ended, or is on no node.
	Ended bool
	// Holder is the run that holds a Lease, Until when it expires; empty and zero for none.
	Holder string
	Until  time.Time
}

// Controller is the owner of an object, as its owner references have it.
type Controller struct{ Kind, Name, UID string }

// Facts are what is known of a cluster, or of one whose resource does not exist.
type Facts struct {
	Name string
	// Now is when the facts were read.
	Now time.Time
	// Stored is the resource as it is stored; nil if it does not exist.
	Stored *v1beta2.FoundationDBCluster
	// Seen is the snapshot of an existing cluster, with the status that a pass would write.
	Seen plan.Snapshot
	// Objects have the labels of the cluster, and of no other one.
	Objects []Object
	// Users are pods that mount a PVC and have not ended, by its name.
	Users map[string][]string
	// Volumes are PersistentVolumes that belong or belonged to a PVC of the cluster.
	Volumes []string
	// Unread is why a kind, or which pods mount PVCs (Users), could not be read; absent where it was.
	Unread map[Subject]string
	// Chosen are the PVCs that the user named.
	Chosen []string
}

// Subject is what was read, or could not be.
type Subject string

// The subjects, besides kinds.
const (
	SubjectUsers   Subject = "users"
	SubjectVolumes Subject = "volumes"
)
