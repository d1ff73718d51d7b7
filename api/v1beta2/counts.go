package v1beta2

import "maps"

// DesiredProcessCounts are the desired numbers of process groups per class,
// without classes that have none.
func (c *FoundationDBCluster) DesiredProcessCounts() map[ProcessClass]int {
	counts := c.Spec.ProcessCounts.ByClass()
	switch {
	case c.isSatelliteOnly():
		// The operator derives storage and stateless process groups as well when
		// the number of logs is given. They would be useless in a satellite.
		deriveCount(counts, ProcessClassLog, 1+c.satelliteLogs())
	default:
		roles := c.RoleCounts()
		stateless := c.statelessRoles(roles)
		deriveCount(counts, ProcessClassStorage, c.share(roles.Storage))
		deriveCount(counts, ProcessClassLog, c.share(c.withSpares(roles.Logs+c.satelliteLogs(), roles.RemoteLogs)))
		deriveCount(counts, ProcessClassStateless, c.share(c.withSpares(stateless, roles.LogRouters)))
	}
	maps.DeleteFunc(counts, func(_ ProcessClass, n int) bool { return n <= 0 })
	return counts
}

// DesiredProcessGroups is the desired number of process groups in total.
func (c *FoundationDBCluster) DesiredProcessGroups() int {
	total := 0
	for _, n := range c.DesiredProcessCounts() {
		total += n
	}
	return total
}

// ByClass returns the counts by class as they are set: 0 and negative ones
// too.
func (p ProcessCounts) ByClass() map[ProcessClass]int {
	return map[ProcessClass]int{
		ProcessClassUnset:             p.Unset,
		ProcessClassStorage:           p.Storage,
		ProcessClassTransaction:       p.Transaction,
		ProcessClassResolution:        p.Resolution,
		ProcessClassTester:            p.Tester,
		ProcessClassTest:              p.Test,
		ProcessClassProxy:             p.Proxy,
		ProcessClassCommitProxy:       p.CommitProxy,
		ProcessClassGrvProxy:          p.GrvProxy,
		ProcessClassMaster:            p.Master,
		ProcessClassStateless:         p.Stateless,
		ProcessClassLog:               p.Log,
		ProcessClassClusterController: p.ClusterController,
		ProcessClassRouter:            p.Router,
		ProcessClassFastRestore:       p.FastRestore,
		ProcessClassDataDistributor:   p.DataDistributor,
		ProcessClassCoordinator:       p.Coordinator,
		ProcessClassRatekeeper:        p.Ratekeeper,
		ProcessClassStorageCache:      p.StorageCache,
		ProcessClassBackup:            p.Backup,
	}
}

func deriveCount(counts map[ProcessClass]int, class ProcessClass, n int) {
	if counts[class] == 0 {
		counts[class] = n
	}
}

// withSpares is the larger of two counts and, unless that is 0, one more for
// each zone that may fail.
func (c *FoundationDBCluster) withSpares(a, b int) int {
	if n := max(a, b, 0); n > 0 {
		return n + c.FaultTolerance()
	}
	return 0
}

// share is the part of a derived total that falls to this resource. With a
// fault domain that is a Kubernetes cluster, all of them share the total and
// the first ones take the remainder. A negative zone index takes nothing,
// whatever the fault domain is.
func (c *FoundationDBCluster) share(total int) int {
	domain := c.Spec.FaultDomain
	if domain.ZoneIndex < 0 {
		return 0
	}
	if domain.Key != FaultDomainKeyKubernetesCluster {
		return total
	}
	zones := c.ZoneCount()
	if domain.ZoneIndex < total%zones {
		return total/zones + 1
	}
	return total / zones
}

// statelessRoles is how many processes are needed for the roles that have no
// class of their own.
func (c *FoundationDBCluster) statelessRoles(roles RoleCounts) int {
	p := c.Spec.ProcessCounts
	proxies := unlessDedicated(roles.Proxies, p.Proxy)
	if roles.SeparateProxies() {
		proxies = unlessDedicated(roles.GrvProxies, p.GrvProxy) + unlessDedicated(roles.CommitProxies, p.CommitProxy)
	}
	return proxies +
		unlessDedicated(1, p.Master) +
		unlessDedicated(1, p.ClusterController) +
		unlessDedicated(roles.Resolvers, p.Resolution) +
		unlessDedicated(1, p.Ratekeeper) +
		unlessDedicated(1, p.DataDistributor)
}

func unlessDedicated(roles, dedicated int) int {
	if dedicated > 0 || roles < 0 {
		return 0
	}
	return roles
}

// satelliteLogs is the largest number of satellite logs of the regions that
// this data center is a satellite of.
func (c *FoundationDBCluster) satelliteLogs() int {
	logs := 0
	for _, region := range c.Spec.DatabaseConfiguration.Regions {
		for _, dc := range region.Datacenters {
			if dc.Satellite == 1 && dc.ID == c.Spec.DataCenter {
				logs = max(logs, region.SatelliteLogs)
			}
		}
	}
	return logs
}

// isSatelliteOnly reports whether this data center is the satellite of some
// region and the main data center of none.
func (c *FoundationDBCluster) isSatelliteOnly() bool {
	satellite := false
	for _, region := range c.Spec.DatabaseConfiguration.Regions {
		for _, dc := range region.Datacenters {
			if dc.ID != c.Spec.DataCenter {
				continue
			}
			if dc.Satellite == 0 {
				return false
			}
			satellite = true
		}
	}
	return satellite
}
