package v1beta2

import "strings"

// PodName is the name of the pod of the process group, and of its service.
//
// It is the process group ID with dashes for underscores, from the first
// occurrence of the class. A prefix that contains the class therefore becomes
// part of the name: storage-west-storage-3 has the pod c-storage-west-storage-3.
// The operator finds its pods by this name, so it cannot be improved without
// recreating them.
func (s *ProcessGroupStatus) PodName(c *FoundationDBCluster) string {
	id := strings.ReplaceAll(string(s.ProcessGroupID), "_", "-")
	if start := strings.Index(id, s.ProcessClass.ForNames()); start > 0 {
		id = id[start:]
	}
	return c.Name + "-" + id
}

// PVCName is the name of the PVC of the process group. Only stateful classes
// have one.
func (s *ProcessGroupStatus) PVCName(c *FoundationDBCluster) string { return s.PodName(c) + "-data" }

// ServiceName is the name of the service of the process group, which exists
// when public addresses come from services.
func (s *ProcessGroupStatus) ServiceName(c *FoundationDBCluster) string { return s.PodName(c) }

// DNSName is the DNS name of the pod of the process group.
func (s *ProcessGroupStatus) DNSName(c *FoundationDBCluster) string {
	return strings.Join([]string{s.PodName(c), c.HeadlessServiceName(), c.Namespace, "svc", c.DNSDomain()}, ".")
}

// HeadlessServiceName is the name of the headless service of the cluster.
func (c *FoundationDBCluster) HeadlessServiceName() string { return c.Name }

// ConfigMapName is the name of the config map of the cluster.
func (c *FoundationDBCluster) ConfigMapName() string { return c.Name + "-config" }

// DatabaseName is the description in the first cluster file.
func (c *FoundationDBCluster) DatabaseName() string {
	if name := c.Spec.PartialConnectionString.DatabaseName; name != "" {
		return name
	}
	return strings.NewReplacer("-", "_", ".", "_").Replace(c.Name)
}

// DeploymentName is the name of the deployment of the backup agents.
func (b *FoundationDBBackup) DeploymentName() string { return b.Name + "-backup-agents" }
