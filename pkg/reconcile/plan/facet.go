package plan

import "strings"

// Facet names one separately observed part of the cluster state; facets combine as bits.
type Facet uint32

// The facets of a cluster, of its backups and of restores into it.
const (
	// ClusterResource is the custom resource, spec and status.
	ClusterResource Facet = 1 << iota
	// Nodes are the nodes that the cluster's pods run on, for their taints.
	Nodes
	// Pods are the cluster's pods.
	Pods
	// Volumes are the cluster's PersistentVolumeClaims, and the volumes of those that are being deleted.
	Volumes
	// Services are the cluster's services, the headless one included.
	Services
	// ConfigMap is the one ConfigMap that the pods mount.
	ConfigMap
	// PodFiles is what monitors and sidecars report about the files in their pods.
	PodFiles
	// Database is the database's own status document.
	Database
	// Coordination is the lock, the deny list and the other keys that control-plane instances share.
	Coordination
	// DisruptionBudgets are the PodDisruptionBudgets of the namespace.
	DisruptionBudgets

	// Backup is the custom resource of a backup, spec and status.
	Backup
	// Agents are the deployment of a backup's agents and its pods; the pods of all backups of
	// a cluster in a pass over a restore, and in a drain of nodes.
	Agents
	// BackupStatus is the status of a backup's tag.
	BackupStatus
	// Restore is the custom resource of a restore, spec and status.
	Restore
	// RestoreStatus is the status of restores in the database.
	RestoreStatus
	// OtherRestores are the other custom resources of restores in the namespace.
	OtherRestores
	// BackupStore is the contents of a backup's destination.
	BackupStore
	// BackupUse is which backups and restores of the database use stores.
	BackupUse
	// RestoreSource is the backup that writes to the destination which a restore names.
	RestoreSource
	// RestoreTarget is whether the key ranges that a restore writes hold data.
	RestoreTarget

	// Detector is the CronJob of a cluster's failure detector.
	Detector

	// RestoreTimes are the times of the versions that a restore can restore.
	RestoreTimes

	// OtherClusters are the other FoundationDBClusters of the namespace, as they are stored.
	OtherClusters

	// Successors are whether the API server accepts the objects of one more process group of each class.
	Successors
	// Namespace is the namespace of the cluster, which may be being deleted.
	Namespace
	// FirstObjects are whether the API server accepts the objects of a cluster that has none yet.
	FirstObjects

	// Everything is all of the facets of a cluster.
	Everything = ClusterResource | Nodes | Pods | Volumes | Services | ConfigMap | PodFiles | Database | Coordination | Detector | DisruptionBudgets
	// EverythingOfBackups is all of the facets of a backup or a restore.
	EverythingOfBackups = Backup | Agents | BackupStatus | Restore | RestoreStatus | OtherRestores | BackupStore | BackupUse | RestoreSource | RestoreTarget | RestoreTimes
)

var facetNames = []string{
	"record", "nodes", "pods", "volumes", "services", "config map", "pod files", "database", "coordination", "disruption budgets",
	"backup", "agents", "backup status", "restore", "restore status", "other restores", "backup store", "backup use", "restore source", "restore target",
	"failure detector", "restore times", "other clusters", "successors", "namespace", "first objects",
}

// String lists the facets' names, separated by commas.
func (f Facet) String() string {
	return strings.Join(f.Names(), ", ")
}

// Names returns the names of the facets in f, in their fixed order.
func (f Facet) Names() []string {
	var names []string
	for i, name := range facetNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// MarshalText writes the facets' names, so that JSON has names instead of a bit set.
func (f Facet) MarshalText() ([]byte, error) { return []byte(f.String()), nil }
