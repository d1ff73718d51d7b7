package v1beta2

import "github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"

// IsBeingUpgraded reports whether the database runs another version than the
// desired one.
func (c *FoundationDBCluster) IsBeingUpgraded() bool { return c.RunningVersion() != c.Spec.Version }

// IsBeingUpgradedIncompatibly reports whether the database runs a version whose
// processes cannot communicate with those of the desired one. All of them have
// to be restarted at once then.
func (c *FoundationDBCluster) IsBeingUpgradedIncompatibly() bool {
	return c.IsBeingUpgraded() && !c.versionsCompatible()
}

func (c *FoundationDBCluster) versionsCompatible() bool {
	running, err := fdb.ParseExactVersion(c.RunningVersion())
	if err != nil {
		return false
	}
	desired, err := fdb.ParseExactVersion(c.Spec.Version)
	return err == nil && running.ProtocolCompatible(desired)
}
