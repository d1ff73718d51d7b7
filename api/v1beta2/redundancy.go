package v1beta2

import "github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"

// FaultTolerance is how many zones may fail without loss of data. An unset mode
// is double.
func (m RedundancyMode) FaultTolerance() int { return fdb.FaultTolerance(string(m)) }

// MinimumFaultDomains is how many zones the data must be in to be fully
// replicated. An unset mode is double; an unknown one needs one.
func (m RedundancyMode) MinimumFaultDomains() int {
	n, known := fdb.MinimumFaultDomains(string(m))
	if !known {
		return 1
	}
	return n
}

// FaultTolerance is how many zones may fail without loss of data.
func (c *FoundationDBCluster) FaultTolerance() int {
	return c.Spec.DatabaseConfiguration.RedundancyMode.FaultTolerance()
}

// MinimumFaultDomains is how many zones the data must be in to be fully
// replicated.
func (c *FoundationDBCluster) MinimumFaultDomains() int {
	return c.Spec.DatabaseConfiguration.RedundancyMode.MinimumFaultDomains()
}

// DesiredCoordinators is the desired number of coordinators.
func (c *FoundationDBCluster) DesiredCoordinators() int {
	d := c.Spec.DatabaseConfiguration
	return fdb.DesiredCoordinators(string(d.RedundancyMode), d.UsableRegions)
}

// RoleCounts are the numbers of roles the database should have, with every
// default filled in. -1 leaves a number to the database.
func (c *FoundationDBCluster) RoleCounts() RoleCounts {
	d := c.Spec.DatabaseConfiguration
	counts := d.RoleCounts
	orDefault(&counts.Storage, 2*c.FaultTolerance()+1)
	orDefault(&counts.Logs, defaultLogs(d.RedundancyMode))
	orDefault(&counts.Resolvers, 1)
	counts.proxyDefaults()
	remote := -1
	if d.UsableRegions > 1 {
		remote = counts.Logs
	}
	orDefault(&counts.RemoteLogs, remote)
	orDefault(&counts.LogRouters, remote)
	return counts
}

func defaultLogs(m RedundancyMode) int {
	if m == RedundancyModeThreeDataHall {
		return 4
	}
	return 3
}

// SeparateProxies reports whether commit or GRV proxies are configured, which
// excludes combined ones.
func (r RoleCounts) SeparateProxies() bool { return r.CommitProxies > 0 || r.GrvProxies > 0 }

func (r *RoleCounts) proxyDefaults() {
	if !r.SeparateProxies() {
		r.CommitProxies, r.GrvProxies = 0, 0
		orDefault(&r.Proxies, 3)
		return
	}
	r.Proxies = 0
	orDefault(&r.CommitProxies, 2)
	orDefault(&r.GrvProxies, 1)
}

func orDefault(n *int, value int) {
	if *n == 0 {
		*n = value
	}
}
