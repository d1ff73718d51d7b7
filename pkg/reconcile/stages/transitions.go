package stages

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// compatibleUpgrade reports whether the cluster is between two versions that can
// talk to each other, so that its processes may run either. Pods are made for the
// new version at once.
func compatibleUpgrade(c *v1beta2.FoundationDBCluster) bool {
	running, err := fdb.ParseVersion(c.RunningVersion())
	if err != nil {
		return false
	}
	wanted, err := fdb.ParseVersion(c.Spec.Version)
	return err == nil && running != wanted && running.ProtocolCompatible(wanted)
}

// incompatibleUpgrade reports whether the cluster is between two versions that
// cannot talk to each other, so that all of its processes have to be restarted at
// once. A new pod would start with a version that the database does not run: none
// should be made needlessly. Versions that cannot be compared count as incompatible.
// A record that names no running version is of a cluster that is not being upgraded.
func incompatibleUpgrade(c *v1beta2.FoundationDBCluster) bool {
	return c.IsBeingUpgradedIncompatibly()
}

// tlsConversion reports whether the cluster is on its way to TLS or back: its
// processes have to be reachable both ways, because the spec asks for one and a
// coordinator still uses the other.
func tlsConversion(c *v1beta2.FoundationDBCluster) bool {
	return c.Status.RequiredAddresses.TLS && c.Status.RequiredAddresses.NonTLS
}
