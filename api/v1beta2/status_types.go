package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// FoundationDBClusterStatus is what is kept between passes.
type FoundationDBClusterStatus struct {
	// DatabaseConfiguration is the live configuration, normalized. It is only
	// updated while the database is available.
	// +optional
	DatabaseConfiguration DatabaseConfiguration `json:"databaseConfiguration"`

	// Generations are the generations of the spec that were reconciled, and what
	// the current one waits for.
	// +optional
	Generations ClusterGenerationStatus `json:"generations"`

	// Health is the health of the database.
	// +optional
	Health ClusterHealth `json:"health"`

	// RequiredAddresses are the kinds of listeners the processes need now: both
	// while TLS is being turned on or off.
	// +optional
	RequiredAddresses RequiredAddressSet `json:"requiredAddresses"`

	// HasIncorrectConfigMap reports that the config map does not match the spec.
	// +optional
	HasIncorrectConfigMap bool `json:"hasIncorrectConfigMap,omitempty"`

	// HasIncorrectServiceConfig reports that the headless service exists
	// although it should not, or the reverse.
	// +optional
	HasIncorrectServiceConfig bool `json:"hasIncorrectServiceConfig,omitempty"`

	// NeedsNewCoordinators reports that the coordinators must be changed.
	// +optional
	NeedsNewCoordinators bool `json:"needsNewCoordinators,omitempty"`

	// RunningVersion is the version that most processes run, the newer one on a
	// tie.
	// +optional
	RunningVersion string `json:"runningVersion,omitempty"`

	// ConnectionString is the content of the cluster file.
	// +optional
	ConnectionString string `json:"connectionString,omitempty"`

	// Configured reports that the database was configured once. It never becomes
	// false again.
	// +optional
	Configured bool `json:"configured,omitempty"`

	// HasListenIPsForAllPods reports that every live pod has its own address.
	// +optional
	HasListenIPsForAllPods bool `json:"hasListenIPsForAllPods,omitempty"`

	// StorageServersPerDisk are the numbers of processes per storage pod in use,
	// sorted. More than one means that a change is in progress.
	// +kubebuilder:validation:MaxItems=5
	// +optional
	StorageServersPerDisk []int `json:"storageServersPerDisk,omitempty"`

	// LogServersPerDisk are the numbers of processes per log pod in use, sorted.
	// +kubebuilder:validation:MaxItems=5
	// +optional
	LogServersPerDisk []int `json:"logServersPerDisk,omitempty"`

	// ImageTypes are the image types in use, sorted. More than one means that a
	// change is in progress.
	// +kubebuilder:validation:MaxItems=10
	// +optional
	ImageTypes []ImageType `json:"imageTypes,omitempty"`

	// ProcessGroups are the process groups, sorted by ID.
	// +optional
	ProcessGroups []*ProcessGroupStatus `json:"processGroups,omitempty"`

	// Locks is the observed state of the lock in the database.
	// +optional
	Locks LockSystemStatus `json:"locks"`

	// MaintenanceModeInfo is not used.
	//
	// Deprecated: the database itself keeps this.
	// +optional
	MaintenanceModeInfo MaintenanceModeInfo `json:"maintenanceModeInfo"`

	// DesiredProcessGroups is the desired number of process groups.
	// +optional
	DesiredProcessGroups int `json:"desiredProcessGroups,omitempty"`

	// ReconciledProcessGroups is how many process groups are reconciled.
	// +optional
	ReconciledProcessGroups int `json:"reconciledProcessGroups,omitempty"`
}

// ClusterGenerationStatus has the generations of the spec that were
// reconciled. Every field but Reconciled is the generation that waits for
// something, 0 when none does.
type ClusterGenerationStatus struct {
	// Reconciled is the last generation that was reconciled.
	// +optional
	Reconciled int64 `json:"reconciled,omitempty"`

	// NeedsConfigurationChange waits for a change of the database
	// configuration.
	// +optional
	NeedsConfigurationChange int64 `json:"needsConfigurationChange,omitempty"`

	// NeedsCoordinatorChange waits for new coordinators.
	// +optional
	NeedsCoordinatorChange int64 `json:"needsCoordinatorChange,omitempty"`

	// NeedsBounce waits for processes to be restarted.
	// +optional
	NeedsBounce int64 `json:"needsBounce,omitempty"`

	// NeedsPodDeletion waits for pods to be recreated.
	// +optional
	NeedsPodDeletion int64 `json:"needsPodDeletion,omitempty"`

	// NeedsShrink waits for process groups to be removed.
	// +optional
	NeedsShrink int64 `json:"needsShrink,omitempty"`

	// NeedsGrow waits for process groups to be added.
	// +optional
	NeedsGrow int64 `json:"needsGrow,omitempty"`

	// NeedsMonitorConfUpdate waits for the config map.
	// +optional
	NeedsMonitorConfUpdate int64 `json:"needsMonitorConfUpdate,omitempty"`

	// MissingDatabaseStatus waits for the database to be available.
	// +optional
	MissingDatabaseStatus int64 `json:"missingDatabaseStatus,omitempty"`

	// HasExtraListeners waits for processes to listen with, or without, TLS
	// only.
	// +optional
	HasExtraListeners int64 `json:"hasExtraListeners,omitempty"`

	// NeedsServiceUpdate waits for the headless service.
	// +optional
	NeedsServiceUpdate int64 `json:"needsServiceUpdate,omitempty"`

	// HasPendingRemoval waits for the resources of removed process groups to
	// terminate. It does not keep a generation from being reconciled.
	// +optional
	HasPendingRemoval int64 `json:"hasPendingRemoval,omitempty"`

	// HasUnhealthyProcess waits for a process group with a condition.
	// +optional
	HasUnhealthyProcess int64 `json:"hasUnhealthyProcess,omitempty"`

	// NeedsLockConfigurationChanges waits for the deny list in the database.
	// +optional
	NeedsLockConfigurationChanges int64 `json:"needsLockConfigurationChanges,omitempty"`
}

// ClusterHealth is the health of the database.
type ClusterHealth struct {
	// Available reports that the database serves reads and writes.
	// +optional
	Available bool `json:"available,omitempty"`

	// Healthy is what the database reports about its health.
	// +optional
	Healthy bool `json:"healthy,omitempty"`

	// FullReplication reports that all data has all its replicas.
	// +optional
	FullReplication bool `json:"fullReplication,omitempty"`

	// DataMovementPriority is the highest priority among data movements.
	// +optional
	DataMovementPriority int `json:"dataMovementPriority,omitempty"`
}

// RequiredAddressSet are kinds of listeners.
type RequiredAddressSet struct {
	// TLS is a listener with TLS.
	// +optional
	TLS bool `json:"tls,omitempty"`

	// NonTLS is a listener without TLS.
	// +optional
	NonTLS bool `json:"nonTLS,omitempty"`
}

// ProcessGroupStatus is one process group: a pod with its volume and service,
// and the processes in it.
type ProcessGroupStatus struct {
	// ProcessGroupID is its ID.
	// +optional
	ProcessGroupID ProcessGroupID `json:"processGroupID,omitempty"`

	// ProcessClass is the class of its processes.
	// +optional
	ProcessClass ProcessClass `json:"processClass,omitempty"`

	// Addresses are its IP addresses without port. Former ones are kept once
	// it is marked for removal and while the database is unavailable.
	// +optional
	Addresses []string `json:"addresses,omitempty"`

	// RemovalTimestamp is when it was marked for removal; nil when it is not.
	// +optional
	RemovalTimestamp *metav1.Time `json:"removalTimestamp,omitempty"`

	// ExclusionTimestamp is when its exclusion was observed to be complete.
	// +optional
	ExclusionTimestamp *metav1.Time `json:"exclusionTimestamp,omitempty"`

	// ExclusionSkipped reports that it is removed without exclusion.
	// +optional
	ExclusionSkipped bool `json:"exclusionSkipped,omitempty"`

	// ProcessGroupConditions are the deviations from the desired state.
	// +optional
	ProcessGroupConditions []*ProcessGroupCondition `json:"processGroupConditions,omitempty"`

	// FaultDomain is the zone it was last observed in.
	// +optional
	FaultDomain FaultDomain `json:"faultDomain,omitempty"`
}

// ProcessGroupCondition is one deviation from the desired state.
type ProcessGroupCondition struct {
	// Type is the kind of deviation.
	// +optional
	Type ProcessGroupConditionType `json:"type,omitempty"`

	// Timestamp is when it began, in Unix seconds.
	// +optional
	Timestamp int64 `json:"timestamp,omitempty"`
}

// FaultDomain is a zone: what fails together.
//
// +kubebuilder:validation:MaxLength=512
type FaultDomain string

// LockSystemStatus is the observed state of the lock in the database.
type LockSystemStatus struct {
	// LockDenyList are the owner IDs that may not take the lock. It is only
	// read when the spec has a deny list.
	// +optional
	LockDenyList []string `json:"lockDenyList,omitempty"`
}

// MaintenanceModeInfo is not used; it is kept for resources that have it.
type MaintenanceModeInfo struct {
	// StartTimestamp is not used.
	// +optional
	StartTimestamp *metav1.Time `json:"startTimestamp,omitempty"`

	// ZoneID is not used.
	// +optional
	ZoneID FaultDomain `json:"zoneID,omitempty"`

	// ProcessGroups are not used.
	// +kubebuilder:validation:MaxItems=200
	// +optional
	ProcessGroups []string `json:"processGroups,omitempty"`
}
