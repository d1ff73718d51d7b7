package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// FoundationDBClusterStatus is the memory between passes.
type FoundationDBClusterStatus struct {
	// DatabaseConfiguration is the live configuration, normalised. It is only
	// renewed while the database is available.
	// +optional
	DatabaseConfiguration DatabaseConfiguration `json:"databaseConfiguration"`

	// Generations say which generation of the spec was reached, and what the
	// current one waits for.
	// +optional
	Generations ClusterGenerationStatus `json:"generations"`

	// Health is the health of the database.
	// +optional
	Health ClusterHealth `json:"health"`

	// RequiredAddresses are the kinds of listeners the servers need now: both
	// while TLS is being turned on or off.
	// +optional
	RequiredAddresses RequiredAddressSet `json:"requiredAddresses"`

	// HasIncorrectConfigMap says that the config map is not as desired.
	// +optional
	HasIncorrectConfigMap bool `json:"hasIncorrectConfigMap,omitempty"`

	// HasIncorrectServiceConfig says that the headless service exists though
	// it should not, or the reverse.
	// +optional
	HasIncorrectServiceConfig bool `json:"hasIncorrectServiceConfig,omitempty"`

	// NeedsNewCoordinators says that the coordinators must be chosen anew.
	// +optional
	NeedsNewCoordinators bool `json:"needsNewCoordinators,omitempty"`

	// RunningVersion is the version that most processes run, the newer one
	// when two are even.
	// +optional
	RunningVersion string `json:"runningVersion,omitempty"`

	// ConnectionString is the content of the cluster file.
	// +optional
	ConnectionString string `json:"connectionString,omitempty"`

	// Configured says that the database was configured once. It never goes
	// back to false.
	// +optional
	Configured bool `json:"configured,omitempty"`

	// HasListenIPsForAllPods says that every live pod knows its own address.
	// +optional
	HasListenIPsForAllPods bool `json:"hasListenIPsForAllPods,omitempty"`

	// StorageServersPerDisk are the numbers of servers per storage pod in use,
	// sorted. More than one means that a change is under way.
	// +kubebuilder:validation:MaxItems=5
	// +optional
	StorageServersPerDisk []int `json:"storageServersPerDisk,omitempty"`

	// LogServersPerDisk are the numbers of servers per log pod in use, sorted.
	// +kubebuilder:validation:MaxItems=5
	// +optional
	LogServersPerDisk []int `json:"logServersPerDisk,omitempty"`

	// ImageTypes are the image types in use, sorted. More than one means that
	// a change is under way.
	// +kubebuilder:validation:MaxItems=10
	// +optional
	ImageTypes []ImageType `json:"imageTypes,omitempty"`

	// ProcessGroups are the process groups, sorted by ID.
	// +optional
	ProcessGroups []*ProcessGroupStatus `json:"processGroups,omitempty"`

	// Locks is what is known about the lock in the database.
	// +optional
	Locks LockSystemStatus `json:"locks"`

	// MaintenanceModeInfo is not used.
	//
	// Deprecated: the database itself keeps this.
	// +optional
	MaintenanceModeInfo MaintenanceModeInfo `json:"maintenanceModeInfo"`

	// DesiredProcessGroups is how many process groups the spec wants.
	// +optional
	DesiredProcessGroups int `json:"desiredProcessGroups,omitempty"`

	// ReconciledProcessGroups is how many process groups are as desired.
	// +optional
	ReconciledProcessGroups int `json:"reconciledProcessGroups,omitempty"`
}

// ClusterGenerationStatus says which generation of the spec was reached. Every
// field but Reconciled is the generation that waits for something, 0 when
// nothing waits for it.
type ClusterGenerationStatus struct {
	// Reconciled is the last generation that was reached in every respect.
	// +optional
	Reconciled int64 `json:"reconciled,omitempty"`

	// NeedsConfigurationChange waits for a change of the database
	// configuration.
	// +optional
	NeedsConfigurationChange int64 `json:"needsConfigurationChange,omitempty"`

	// NeedsCoordinatorChange waits for new coordinators.
	// +optional
	NeedsCoordinatorChange int64 `json:"needsCoordinatorChange,omitempty"`

	// NeedsBounce waits for servers to be restarted.
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

	// HasExtraListeners waits for servers to listen with, or without, TLS
	// only.
	// +optional
	HasExtraListeners int64 `json:"hasExtraListeners,omitempty"`

	// NeedsServiceUpdate waits for the headless service.
	// +optional
	NeedsServiceUpdate int64 `json:"needsServiceUpdate,omitempty"`

	// HasPendingRemoval has removed process groups whose resources still
	// terminate. It does not keep a generation from being reached.
	// +optional
	HasPendingRemoval int64 `json:"hasPendingRemoval,omitempty"`

	// HasUnhealthyProcess has a process group with a condition.
	// +optional
	HasUnhealthyProcess int64 `json:"hasUnhealthyProcess,omitempty"`

	// NeedsLockConfigurationChanges waits for the deny list in the database.
	// +optional
	NeedsLockConfigurationChanges int64 `json:"needsLockConfigurationChanges,omitempty"`
}

// ClusterHealth is the health of the database.
type ClusterHealth struct {
	// Available says that the database serves reads and writes.
	// +optional
	Available bool `json:"available,omitempty"`

	// Healthy is what the database calls itself.
	// +optional
	Healthy bool `json:"healthy,omitempty"`

	// FullReplication says that all data has all its copies.
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
// and the servers in it.
type ProcessGroupStatus struct {
	// ProcessGroupID is its ID.
	// +optional
	ProcessGroupID ProcessGroupID `json:"processGroupID,omitempty"`

	// ProcessClass is the class of its servers.
	// +optional
	ProcessClass ProcessClass `json:"processClass,omitempty"`

	// Addresses are its IP addresses without port. Former ones are kept once
	// it is marked for removal and while the database is unavailable.
	// +optional
	Addresses []string `json:"addresses,omitempty"`

	// RemovalTimestamp is when it was marked for removal; nil when it is not.
	// +optional
	RemovalTimestamp *metav1.Time `json:"removalTimestamp,omitempty"`

	// ExclusionTimestamp is when its exclusion was seen to be finished.
	// +optional
	ExclusionTimestamp *metav1.Time `json:"exclusionTimestamp,omitempty"`

	// ExclusionSkipped says that it is removed without being excluded.
	// +optional
	ExclusionSkipped bool `json:"exclusionSkipped,omitempty"`

	// ProcessGroupConditions are what is not as desired.
	// +optional
	ProcessGroupConditions []*ProcessGroupCondition `json:"processGroupConditions,omitempty"`

	// FaultDomain is the zone it was last seen in.
	// +optional
	FaultDomain FaultDomain `json:"faultDomain,omitempty"`
}

// ProcessGroupCondition is one thing that is not as desired.
type ProcessGroupCondition struct {
	// Type is what.
	// +optional
	Type ProcessGroupConditionType `json:"type,omitempty"`

	// Timestamp is since when, in Unix seconds.
	// +optional
	Timestamp int64 `json:"timestamp,omitempty"`
}

// FaultDomain is a zone: what fails together.
//
// +kubebuilder:validation:MaxLength=512
type FaultDomain string

// LockSystemStatus is what is known about the lock in the database.
type LockSystemStatus struct {
	// LockDenyList are the owner IDs that may not take the lock. It is only
	// read when the spec has a deny list.
	// +optional
	LockDenyList []string `json:"lockDenyList,omitempty"`
}

// MaintenanceModeInfo is not used; it stays for resources that have it.
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
