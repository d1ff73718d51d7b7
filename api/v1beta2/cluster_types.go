package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FoundationDBCluster is one FoundationDB database, or the share of a database
// that runs in one namespace when several namespaces or Kubernetes clusters
// serve it together.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=fdb
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:annotations="foundationdb.org/release=v2.33.0"
// +kubebuilder:printcolumn:name="Generation",type="integer",JSONPath=".metadata.generation"
// +kubebuilder:printcolumn:name="Reconciled",type="integer",JSONPath=".status.generations.reconciled"
// +kubebuilder:printcolumn:name="Available",type="boolean",JSONPath=".status.health.available"
// +kubebuilder:printcolumn:name="FullReplication",type="boolean",JSONPath=".status.health.fullReplication"
// +kubebuilder:printcolumn:name="ReconciledProcessGroups",type="integer",JSONPath=".status.reconciledProcessGroups",priority=1
// +kubebuilder:printcolumn:name="DesiredProcessGroups",type="integer",JSONPath=".status.desiredProcessGroups",priority=1
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".status.runningVersion"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type FoundationDBCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata"`

	// Spec is the desired state.
	// +optional
	Spec FoundationDBClusterSpec `json:"spec"`

	// Status is what is kept between passes: the last observations and
	// decisions.
	// +optional
	Status FoundationDBClusterStatus `json:"status"`
}

// FoundationDBClusterList is a list of clusters, as the API server returns it.
//
// +kubebuilder:object:root=true
type FoundationDBClusterList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata"`

	// Items are the clusters.
	Items []FoundationDBCluster `json:"items"`
}

// FoundationDBClusterSpec is the desired state of a cluster.
type FoundationDBClusterSpec struct {
	// Version is the FoundationDB release to run, as X.Y.Z. The CRD's pattern
	// is not anchored, so it accepts text around the number; Validate rejects
	// that. The oldest supported release is 7.1.0.
	// +kubebuilder:validation:Pattern=`(\d+)\.(\d+)\.(\d+)`
	Version string `json:"version"`

	// DatabaseConfiguration is what the database is configured to with the
	// configure command. The default is double redundancy on ssd-2.
	// +optional
	DatabaseConfiguration DatabaseConfiguration `json:"databaseConfiguration"`

	// Processes are pod, volume and parameter settings by process class. The
	// key general holds the fallback: each field that a class leaves unset is
	// taken from there, whole and without a deep merge.
	// +optional
	Processes map[ProcessClass]ProcessSettings `json:"processes,omitempty"`

	// ProcessCounts are the numbers of process groups per class. 0 means derived
	// from the database configuration, a negative number means none.
	// +optional
	ProcessCounts ProcessCounts `json:"processCounts"`

	// SeedConnectionString is the connection string used when neither the status
	// nor the config map has one. It makes a new resource join an existing
	// database.
	// +optional
	SeedConnectionString string `json:"seedConnectionString,omitempty"`

	// PartialConnectionString pins description and ID of the first cluster
	// file. It is not read when a seed connection string is given.
	// +optional
	PartialConnectionString ConnectionString `json:"partialConnectionString"`

	// FaultDomain defines what a zone is: what fails together.
	// +optional
	FaultDomain FoundationDBClusterFaultDomain `json:"faultDomain"`

	// ProcessGroupsToRemove are excluded, then deleted. Removing an ID from
	// this list later does not bring the process group back.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=500
	// +optional
	ProcessGroupsToRemove []ProcessGroupID `json:"processGroupsToRemove,omitempty"`

	// ProcessGroupsToRemoveWithoutExclusion are deleted without moving their
	// data away first. Data without another replica is lost.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=500
	// +optional
	ProcessGroupsToRemoveWithoutExclusion []ProcessGroupID `json:"processGroupsToRemoveWithoutExclusion,omitempty"`

	// CancelReplacementsForInstance are process groups that stay: their
	// exclusions and removal marks are reverted, and nothing marks them again
	// while they are listed. It is no field of the operator, which ignores it
	// and whose CRD drops it; AnnotationCancelReplacements is its other form.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=500
	// +optional
	CancelReplacementsForInstance []ProcessGroupID `json:"cancelReplacementsForInstance,omitempty"`

	// DistributionConfig packs the pods into a given number of fault domains.
	// Without it they are spread over as many as possible. It is no field of
	// the operator; AnnotationDistributionConfig is its other form.
	// +optional
	DistributionConfig *DistributionConfig `json:"distributionConfig,omitempty"`

	// ConfigMap is a template for the config map of the cluster: its labels,
	// annotations and data are added, and its data wins over generated keys.
	// Its name is not used.
	// +optional
	ConfigMap *corev1.ConfigMap `json:"configMap,omitempty"`

	// MainContainer changes the foundationdb container. With the unified image
	// its image rules serve the sidecar as well.
	// +optional
	MainContainer ContainerOverrides `json:"mainContainer"`

	// SidecarContainer changes the sidecar of the split image. Nothing in it
	// is read with the unified image.
	// +optional
	SidecarContainer ContainerOverrides `json:"sidecarContainer"`

	// TrustedCAs are PEM root certificates. They are mounted as one file and
	// FDB_TLS_CA_FILE points there.
	// +optional
	TrustedCAs []string `json:"trustedCAs,omitempty"`

	// SidecarVariables are further environment variables that the sidecar of
	// the split image substitutes in the monitor configuration. They are not
	// read with the unified image.
	// +optional
	SidecarVariables []string `json:"sidecarVariables,omitempty"`

	// LogGroup is the trace log group of the processes. The default is the name
	// of the cluster.
	// +optional
	LogGroup string `json:"logGroup,omitempty"`

	// DataCenter is the dcid locality of all processes of this resource. Empty
	// means that data centers are not distinguished.
	// +optional
	DataCenter string `json:"dataCenter,omitempty"`

	// DataHall is the data_hall locality of all processes of this resource.
	// +optional
	DataHall string `json:"dataHall,omitempty"`

	// AutomationOptions define which actions are automatic, and how much of each
	// is done at once.
	// +optional
	AutomationOptions FoundationDBClusterAutomationOptions `json:"automationOptions"`

	// ProcessGroupIDPrefix starts every process group ID and names this
	// resource as owner of the database lock. Changing it replaces all process
	// groups.
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:Pattern=`^[a-z0-9A-Z]([\-._a-z0-9A-Z])*[a-z0-9A-Z]$`
	// +optional
	ProcessGroupIDPrefix string `json:"processGroupIDPrefix,omitempty"`

	// LockOptions configure the lock that the control-plane instances of one
	// database share.
	// +optional
	LockOptions LockOptions `json:"lockOptions"`

	// Routing configures addresses, services and DNS names.
	// +optional
	Routing RoutingConfig `json:"routing"`

	// IgnoreUpgradabilityChecks allows a version change despite incompatible
	// clients, and allows downgrades.
	// +optional
	IgnoreUpgradabilityChecks bool `json:"ignoreUpgradabilityChecks,omitempty"`

	// Buggify injects faults, for tests.
	// +optional
	Buggify BuggifyConfig `json:"buggify"`

	// StorageServersPerPod is the number of processes in a storage pod. Default
	// 1. Changing it replaces the storage process groups.
	// +optional
	StorageServersPerPod int `json:"storageServersPerPod,omitempty"`

	// LogServersPerPod is the number of processes in a log or transaction pod.
	// Default 1. Changing it replaces those process groups.
	// +optional
	LogServersPerPod int `json:"logServersPerPod,omitempty"`

	// MinimumUptimeSecondsForBounce is how long processes must have been up
	// before they are restarted, in seconds. Default 600.
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=1
	// +optional
	MinimumUptimeSecondsForBounce int `json:"minimumUptimeSecondsForBounce,omitempty"`

	// ReplaceInstancesWhenResourcesChange replaces a process group, instead of
	// recreating its pod, when it requests more CPU or memory. Default false.
	// +kubebuilder:default=false
	// +optional
	ReplaceInstancesWhenResourcesChange *bool `json:"replaceInstancesWhenResourcesChange,omitempty"`

	// Skip makes operators ignore this cluster. Default false.
	// +kubebuilder:default=false
	// +optional
	Skip bool `json:"skip,omitempty"`

	// CoordinatorSelection are the classes that may hold coordinators. Without
	// it every stateful class may, log and transaction first.
	// +optional
	CoordinatorSelection []CoordinatorSelectionSetting `json:"coordinatorSelection,omitempty"`

	// Labels define by which labels resources are selected and which they carry.
	// +optional
	Labels LabelConfig `json:"labels"`

	// UseExplicitListenAddress passes --listen_address beside the public
	// address. Default true.
	//
	// Deprecated: kept for resources that set it.
	// +optional
	UseExplicitListenAddress *bool `json:"useExplicitListenAddress,omitempty"`

	// ImageType is the kind of image the pods run. Default unified.
	// +kubebuilder:validation:Enum=split;unified
	// +kubebuilder:default=unified
	// +optional
	ImageType *ImageType `json:"imageType,omitempty"`

	// MaxZonesWithUnavailablePods bounds pod updates by the number of zones
	// with unavailable stateful pods: from it on, only pods of those zones are
	// deleted. The default is no bound.
	// +optional
	MaxZonesWithUnavailablePods *int `json:"maxZonesWithUnavailablePods,omitempty"`
}
