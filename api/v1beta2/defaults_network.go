package v1beta2

import (
	"time"

	"k8s.io/utils/ptr"
)

// defaultLockDuration is how long a lock lasts, in minutes. Source: the operator.
const defaultLockDuration = 10

// PublicIPSource is where public addresses come from. Default pod.
func (c *FoundationDBCluster) PublicIPSource() PublicIPSource {
	return ptr.Deref(c.Spec.Routing.PublicIPSource, PublicIPSourcePod)
}

// PublicIPFromService reports whether public addresses come from services.
func (c *FoundationDBCluster) PublicIPFromService() bool {
	return c.PublicIPSource() == PublicIPSourceService
}

// PodIPFamily is 4 or 6 when the spec selects an address family, otherwise 0.
func (c *FoundationDBCluster) PodIPFamily() int { return ptr.Deref(c.Spec.Routing.PodIPFamily, 0) }

// UseDNSInClusterFile reports whether the cluster file has coordinators by DNS name. Default true.
func (c *FoundationDBCluster) UseDNSInClusterFile() bool {
	return ptr.Deref(c.Spec.Routing.UseDNSInClusterFile, true)
}

// DefineDNSLocalityFields reports whether processes have the dns_name locality.
// It is always on with DNS names in the cluster file.
func (c *FoundationDBCluster) DefineDNSLocalityFields() bool {
	return c.UseDNSInClusterFile() || ptr.Deref(c.Spec.Routing.DefineDNSLocalityFields, false)
}

// NeedsHeadlessService reports whether the headless service should exist: for DNS names, or if the spec requires it.
func (c *FoundationDBCluster) NeedsHeadlessService() bool {
	return c.DefineDNSLocalityFields() || ptr.Deref(c.Spec.Routing.HeadlessService, false)
}

// DNSDomain is the domain of the Kubernetes cluster. Default cluster.local.
func (c *FoundationDBCluster) DNSDomain() string {
	return ptr.Deref(c.Spec.Routing.DNSDomain, defaultDNSDomain)
}

// NeedsExplicitListenAddress reports whether processes get a listen address argument: unless the spec turns it off,
// and always when the public address belongs to a service, on which no process can listen.
func (c *FoundationDBCluster) NeedsExplicitListenAddress() bool {
	return c.PublicIPFromService() || ptr.Deref(c.Spec.UseExplicitListenAddress, true)
}

// OmitListenAddress has processes start without a listen address argument, as old resources do.
func (s *FoundationDBClusterSpec) OmitListenAddress() { s.UseExplicitListenAddress = new(false) }

// LocksUsed reports whether actions on the database require the shared lock:
// as set in the spec, otherwise whenever several control-plane instances are
// likely to manage the database.
func (c *FoundationDBCluster) LocksUsed() bool {
	if disable := c.Spec.LockOptions.DisableLocks; disable != nil {
		return !*disable
	}
	d := c.Spec.DatabaseConfiguration
	return c.Spec.FaultDomain.ZoneCount > 1 || len(d.Regions) > 1 || d.RedundancyMode == RedundancyModeThreeDataHall
}

// LockKeyPrefix is the key prefix of the state that control-plane instances
// share. Default DefaultLockKeyPrefix.
func (c *FoundationDBCluster) LockKeyPrefix() string {
	if c.Spec.LockOptions.LockKeyPrefix != "" {
		return c.Spec.LockOptions.LockKeyPrefix
	}
	return DefaultLockKeyPrefix
}

// LockDuration is how long a lock lasts once taken. Default 10 minutes.
func (c *FoundationDBCluster) LockDuration() time.Duration {
	return Minutes(int64(ptr.Deref(c.Spec.LockOptions.LockDurationMinutes, defaultLockDuration)))
}

// LockOwner is the owner ID with which this resource takes the lock. It is
// empty when the spec has no prefix, and then shared with all resources
// without one.
func (c *FoundationDBCluster) LockOwner() string { return c.Spec.ProcessGroupIDPrefix }
