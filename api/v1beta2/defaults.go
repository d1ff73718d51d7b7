package v1beta2

import (
	"maps"

	"k8s.io/utils/ptr"
)

// The defaults of spec fields that are not listed elsewhere. They are those
// of the CRD and of the operator, so that a resource which an API server
// never defaulted means the same.
const (
	defaultFaultDomainKey  = "kubernetes.io/hostname"
	defaultFaultDomainFrom = "spec.nodeName"
	defaultDNSDomain       = "cluster.local"
)

// RunningVersion is the version the database runs: the last observed one, or
// the desired one before a database exists.
func (c *FoundationDBCluster) RunningVersion() string {
	if c.Status.RunningVersion != "" {
		return c.Status.RunningVersion
	}
	return c.Spec.Version
}

// ImageType is the desired kind of image of the pods. Default unified.
func (c *FoundationDBCluster) ImageType() ImageType {
	return ptr.Deref(c.Spec.ImageType, ImageTypeUnified)
}

// UsesUnifiedImage reports whether the pods should run the unified image.
func (c *FoundationDBCluster) UsesUnifiedImage() bool { return c.ImageType() == ImageTypeUnified }

// LogGroup is the trace log group of the processes. Default: the name of the
// cluster.
func (c *FoundationDBCluster) LogGroup() string {
	if c.Spec.LogGroup != "" {
		return c.Spec.LogGroup
	}
	return c.Name
}

// ServersPerPod is the desired number of processes in a pod of the class:
// from the spec for storage, log and transaction, otherwise 1.
func (c *FoundationDBCluster) ServersPerPod(class ProcessClass) int {
	switch {
	case class == ProcessClassStorage:
		return max(1, c.Spec.StorageServersPerPod)
	case class.IsLog():
		return max(1, c.Spec.LogServersPerPod)
	default:
		return 1
	}
}

// ReplaceInstancesWhenResourcesChange reports whether a process group that
// requests more CPU or memory is replaced. Default false.
func (c *FoundationDBCluster) ReplaceInstancesWhenResourcesChange() bool {
	return ptr.Deref(c.Spec.ReplaceInstancesWhenResourcesChange, false)
}

// FaultDomainKey is the topology key pods are spread over. Default
// kubernetes.io/hostname.
func (c *FoundationDBCluster) FaultDomainKey() string {
	if c.Spec.FaultDomain.Key != "" {
		return c.Spec.FaultDomain.Key
	}
	return defaultFaultDomainKey
}

// FaultDomainValueFrom is the field of the pod, or the $VARIABLE, that holds
// the zone. Default spec.nodeName. It is ignored with the two keys that have a
// meaning of their own.
func (c *FoundationDBCluster) FaultDomainValueFrom() string {
	if c.Spec.FaultDomain.ValueFrom != "" {
		return c.Spec.FaultDomain.ValueFrom
	}
	return defaultFaultDomainFrom
}

// ZoneCount is the number of Kubernetes clusters that share the data center.
// Default: minimum fault domains plus fault tolerance.
func (c *FoundationDBCluster) ZoneCount() int {
	if c.Spec.FaultDomain.ZoneCount > 0 {
		return c.Spec.FaultDomain.ZoneCount
	}
	return c.MinimumFaultDomains() + c.FaultTolerance()
}

// MatchLabels select the resources of the cluster. Default: LabelClusterName
// with the name of the cluster. The caller owns the map.
func (c *FoundationDBCluster) MatchLabels() map[string]string {
	return c.labelsOrName(c.Spec.Labels.MatchLabels)
}

// ResourceLabels are put on resources besides the match labels. Default:
// LabelClusterName with the name of the cluster. The caller owns the map.
func (c *FoundationDBCluster) ResourceLabels() map[string]string {
	return c.labelsOrName(c.Spec.Labels.ResourceLabels)
}

// AddMatchLabels adds the match labels to a map that the caller fills for one of many
// objects: allocating a separate map per object would dominate the cost of its labels.
func (c *FoundationDBCluster) AddMatchLabels(to map[string]string) {
	c.addLabelsOrName(to, c.Spec.Labels.MatchLabels)
}

// AddResourceLabels adds the resource labels to a map, as AddMatchLabels does.
func (c *FoundationDBCluster) AddResourceLabels(to map[string]string) {
	c.addLabelsOrName(to, c.Spec.Labels.ResourceLabels)
}

func (c *FoundationDBCluster) labelsOrName(labels map[string]string) map[string]string {
	own := make(map[string]string, max(len(labels), 1))
	c.addLabelsOrName(own, labels)
	return own
}

func (c *FoundationDBCluster) addLabelsOrName(to, labels map[string]string) {
	if labels == nil {
		to[LabelClusterName] = c.Name
	}
	maps.Copy(to, labels)
}

// ProcessGroupIDLabels are the labels that carry the process group ID, the one
// that selects first. Default: LabelProcessGroupID.
func (c *FoundationDBCluster) ProcessGroupIDLabels() []string {
	if len(c.Spec.Labels.ProcessGroupIDLabels) > 0 {
		return c.Spec.Labels.ProcessGroupIDLabels
	}
	return []string{LabelProcessGroupID}
}

// ProcessClassLabels are the labels that carry the process class, the one that
// selects first. Default: LabelProcessClass.
func (c *FoundationDBCluster) ProcessClassLabels() []string {
	if len(c.Spec.Labels.ProcessClassLabels) > 0 {
		return c.Spec.Labels.ProcessClassLabels
	}
	return []string{LabelProcessClass}
}

// FilterOnOwnerReference reports whether resources that the cluster does not
// own are ignored. Default false.
func (c *FoundationDBCluster) FilterOnOwnerReference() bool {
	return ptr.Deref(c.Spec.Labels.FilterOnOwnerReference, false)
}

// EnableLivenessProbe reports whether the sidecar of the split image has a
// liveness probe. Default true.
func (c *FoundationDBCluster) EnableLivenessProbe() bool {
	return ptr.Deref(c.Spec.SidecarContainer.EnableLivenessProbe, true)
}

// EnableReadinessProbe reports whether the sidecar of the split image has a
// readiness probe. Default false.
func (c *FoundationDBCluster) EnableReadinessProbe() bool {
	return ptr.Deref(c.Spec.SidecarContainer.EnableReadinessProbe, false)
}

// CoordinatorPriority is the priority of a class for coordinators, and whether
// it may hold any. Without a selection log and transaction have priority 1 and
// the other stateful classes 0; with one, only stateful classes in it may.
func (c *FoundationDBCluster) CoordinatorPriority(class ProcessClass) (priority int, eligible bool) {
	if !class.IsStateful() {
		return 0, false
	}
	for _, selection := range c.Spec.CoordinatorSelection {
		if selection.ProcessClass == class {
			return selection.Priority, true
		}
	}
	if class.IsLog() {
		priority = 1
	}
	return priority, len(c.Spec.CoordinatorSelection) == 0
}

// Settings are the settings of process groups of the class: each field from the class
// if it is set there, otherwise whole from general. They are shared with the spec:
// copy before changing them.
func (c *FoundationDBCluster) Settings(class ProcessClass) ProcessSettings {
	merged, general := c.Spec.Processes[class], c.Spec.Processes[ProcessClassGeneral]
	if merged.PodTemplate == nil {
		merged.PodTemplate = general.PodTemplate
	}
	if merged.VolumeClaimTemplate == nil {
		merged.VolumeClaimTemplate = general.VolumeClaimTemplate
	}
	if merged.CustomParameters == nil {
		merged.CustomParameters = general.CustomParameters
	}
	return merged
}
