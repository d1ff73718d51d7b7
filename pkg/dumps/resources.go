package dumps

import "github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"

// Resource is a type of objects that commands read.
type Resource struct {
	Group, Version, Resource, Kind string
	// Collect is which of them a dump always has.
	Collect Collection
}

// Collection is which objects of a resource a dump always has.
type Collection int

const (
	// OnDemand are objects that only some commands read, one at a time: a dump has no others, since
	// a namespace may have those of other programs.
	OnDemand Collection = iota
	// InNamespace are all objects in the namespaces of the clusters.
	InNamespace
	// Everywhere are all objects of the Kubernetes cluster.
	Everywhere
)

// Resources returns all types of objects that commands read.
func Resources() []Resource {
	crd := v1beta2.GroupVersion
	return []Resource{
		{crd.Group, crd.Version, clustersResource, "FoundationDBCluster", InNamespace},
		{crd.Group, crd.Version, "foundationdbbackups", "FoundationDBBackup", InNamespace},
		{crd.Group, crd.Version, "foundationdbrestores", "FoundationDBRestore", InNamespace},
		{"", "v1", "pods", "Pod", InNamespace},
		{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", InNamespace},
		{"", "v1", "services", "Service", InNamespace},
		{"", "v1", "events", "Event", InNamespace},
		{"coordination.k8s.io", "v1", "leases", "Lease", InNamespace},
		{"apps", "v1", "deployments", "Deployment", InNamespace},
		{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", InNamespace},
		{"batch", "v1", "cronjobs", "CronJob", InNamespace},
		{"", "v1", "nodes", "Node", Everywhere},
		{"", "v1", "persistentvolumes", "PersistentVolume", Everywhere},
		{"storage.k8s.io", "v1", "storageclasses", "StorageClass", Everywhere},
		{"", "v1", "namespaces", "Namespace", OnDemand},
		{"", "v1", "configmaps", "ConfigMap", OnDemand},
		{"", "v1", "secrets", "Secret", OnDemand},
		{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", OnDemand},
	}
}
