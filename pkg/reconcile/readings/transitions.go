package readings

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// CompatibleUpgrade reports whether the cluster is between two compatible versions, so that its
// processes may run either. Pods are created for the new version at once.
func CompatibleUpgrade(c *v1beta2.FoundationDBCluster) bool {
	running, err := fdb.ParseVersion(c.RunningVersion())
	if err != nil {
		return false
	}
	desired, err := fdb.ParseVersion(c.Spec.Version)
	return err == nil && running != desired && running.ProtocolCompatible(desired)
}

// IncompatibleUpgrade reports whether the cluster is between two incompatible versions, so that
// all of its processes have to restart at once. A new pod would start with a version that the
// database does not run: none should be created needlessly. Versions that cannot be compared
// count as incompatible. A status without a running version means that no upgrade is active.
func IncompatibleUpgrade(c *v1beta2.FoundationDBCluster) bool {
	return c.IsBeingUpgradedIncompatibly()
}

// TLSConversion reports whether the cluster is being converted to or from TLS: its processes have
// to be reachable both ways, because the spec sets one and a coordinator still uses the other.
func TLSConversion(c *v1beta2.FoundationDBCluster) bool {
	return c.Status.RequiredAddresses.TLS && c.Status.RequiredAddresses.NonTLS
}
