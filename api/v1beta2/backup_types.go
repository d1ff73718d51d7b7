package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FoundationDBBackup is one backup of a cluster to a blob store, and the
// agents that make it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=fdbbackup
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:annotations="foundationdb.org/release=v2.33.0"
// +kubebuilder:printcolumn:name="Generation",type="integer",JSONPath=".metadata.generation"
// +kubebuilder:printcolumn:name="Reconciled",type="integer",JSONPath=".status.generations.reconciled"
// +kubebuilder:printcolumn:name="Restorable",type="boolean",JSONPath=".status.backupDetails.restorable"
// +kubebuilder:printcolumn:name="Tag",type="string",JSONPath=".status.backupDetails.tag"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type FoundationDBBackup struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata"`

	// Spec is the desired state.
	// +optional
	Spec FoundationDBBackupSpec `json:"spec"`

	// Status is the last observed state.
	// +optional
	Status FoundationDBBackupStatus `json:"status"`
}

// FoundationDBBackupList is a list of backups, as the API server returns it.
//
// +kubebuilder:object:root=true
type FoundationDBBackupList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata"`

	// Items are the backups.
	Items []FoundationDBBackup `json:"items"`
}

// FoundationDBBackupSpec is the desired state of a backup.
type FoundationDBBackupSpec struct {
	// Version is the FoundationDB version of the agents.
	Version string `json:"version"`

	// ClusterName is the FoundationDBCluster, in the same namespace.
	ClusterName string `json:"clusterName"`

	// DataCenter is the dcid locality of the agents.
	// +optional
	DataCenter string `json:"dataCenter,omitempty"`

	// BackupState is the desired state. Default Running. A paused backup is
	// started too.
	// +optional
	BackupState BackupState `json:"backupState,omitempty"`

	// AgentCount is the number of agent pods. Default 2; 0 for none at all.
	// +optional
	AgentCount *int `json:"agentCount,omitempty"`

	// SnapshotPeriodSeconds is the time one snapshot takes, in seconds, in
	// continuous mode. Default 864000.
	// +optional
	SnapshotPeriodSeconds *int `json:"snapshotPeriodSeconds,omitempty"`

	// BackupDeploymentMetadata are labels and annotations of the deployment.
	// +optional
	BackupDeploymentMetadata *metav1.ObjectMeta `json:"backupDeploymentMetadata,omitempty"`

	// PodTemplateSpec is the pod of the agents.
	// +optional
	PodTemplateSpec *corev1.PodTemplateSpec `json:"podTemplateSpec,omitempty"`

	// CustomParameters are further parameters of the agents. All but localities
	// are passed to the backup commands too.
	// +optional
	CustomParameters FoundationDBCustomParameters `json:"customParameters,omitempty"`

	// AllowTagOverride accepts an image with a tag of its own in the pod
	// template. Default false.
	//
	// Deprecated: image rules do the same.
	// +kubebuilder:default=false
	// +optional
	AllowTagOverride *bool `json:"allowTagOverride,omitempty"`

	// BlobStoreConfiguration is where the backup goes.
	// +optional
	BlobStoreConfiguration *BlobStoreConfiguration `json:"blobStoreConfiguration,omitempty"`

	// EncryptionKeyPath is the file that holds the encryption key. Versions
	// that cannot encrypt ignore it.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	EncryptionKeyPath string `json:"encryptionKeyPath,omitempty"`

	// MainContainer has the image rules of the agents.
	// +optional
	MainContainer ContainerOverrides `json:"mainContainer"`

	// SidecarContainer has the image rules of the sidecar of the split image.
	// +optional
	SidecarContainer ContainerOverrides `json:"sidecarContainer"`

	// ImageType is the kind of image the agents run. The API server's default
	// is split.
	// +kubebuilder:validation:Enum=split;unified
	// +kubebuilder:default=split
	// +optional
	ImageType *ImageType `json:"imageType,omitempty"`

	// BackupType is how changes are read for the backup. Default backup_agent.
	// +kubebuilder:default=backup_agent
	// +optional
	BackupType *BackupType `json:"backupType,omitempty"`

	// DeletionPolicy is what happens to the backup when the resource is
	// deleted. Default noop.
	// +kubebuilder:default=noop
	// +optional
	DeletionPolicy *BackupDeletionPolicy `json:"deletionPolicy,omitempty"`

	// BackupMode defines when the backup ends. Default continuous.
	// +kubebuilder:default=continuous
	// +optional
	BackupMode *BackupMode `json:"backupMode,omitempty"`

	// Tag is the tag of the backup in the database. Default: default. It
	// cannot be changed.
	// +optional
	Tag *BackupTag `json:"tag,omitempty"`
}

// BackupState is the desired state of a backup.
//
// +kubebuilder:validation:Enum=Running;Stopped;Paused
type BackupState string

// The backup states.
const (
	BackupStateRunning BackupState = "Running"
	BackupStateStopped BackupState = "Stopped"
	BackupStatePaused  BackupState = "Paused"
)

// BackupType is how changes are read for the backup.
//
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:Enum=backup_agent;partitioned_log;unmanaged
type BackupType string

// The backup types.
const (
	// BackupTypeAgent reads changes from the database.
	BackupTypeAgent BackupType = "backup_agent"
	// BackupTypePartitionedLog has backup workers read changes from the logs.
	BackupTypePartitionedLog BackupType = "partitioned_log"
	// BackupTypeUnmanaged runs agents and leaves the backup to others.
	BackupTypeUnmanaged BackupType = "unmanaged"
)

// BackupDeletionPolicy is what happens to the backup of a deleted resource.
//
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:Enum=noop;stop;cleanup
type BackupDeletionPolicy string

// The backup deletion policies.
const (
	// BackupDeletionPolicyNoop leaves the backup alone.
	BackupDeletionPolicyNoop BackupDeletionPolicy = "noop"
	// BackupDeletionPolicyStop stops the backup and keeps its data.
	BackupDeletionPolicyStop BackupDeletionPolicy = "stop"
	// BackupDeletionPolicyCleanup stops the backup and deletes its data.
	BackupDeletionPolicyCleanup BackupDeletionPolicy = "cleanup"
)

// BackupMode defines when a backup ends.
//
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:Enum=continuous;oneTime
type BackupMode string

// The backup modes.
const (
	// BackupModeContinuous runs until it is stopped.
	BackupModeContinuous BackupMode = "continuous"
	// BackupModeOneTime ends after one snapshot.
	BackupModeOneTime BackupMode = "oneTime"
)

// BackupTag is the tag of a backup in the database.
//
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the tag of a backup cannot be changed"
type BackupTag string

// BlobStoreConfiguration is a destination in a blob store.
type BlobStoreConfiguration struct {
	// BackupName is the path in the bucket. Default: the name of the resource.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	BackupName string `json:"backupName,omitempty"`

	// AccountName is [key[:secret[:token]]]@host[:port]. The default port is
	// 443, or 80 when a parameter turns secure connections off.
	// +kubebuilder:validation:MaxLength=100
	AccountName string `json:"accountName"`

	// Bucket is the bucket. Default fdb-backups.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Bucket string `json:"bucket,omitempty"`

	// URLParameters are further parameters, each name=value.
	// +kubebuilder:validation:MaxItems=100
	// +optional
	URLParameters []URLParameter `json:"urlParameters,omitempty"`
}

// URLParameter is one parameter of a blob store URL, name=value.
//
// +kubebuilder:validation:MaxLength=1024
type URLParameter string

// FoundationDBBackupStatus is the last observed state of a backup.
type FoundationDBBackupStatus struct {
	// AgentCount is the number of agents that are ready and up to date.
	// +optional
	AgentCount int `json:"agentCount,omitempty"`

	// DeploymentConfigured reports that the deployment matches the spec.
	// +optional
	DeploymentConfigured bool `json:"deploymentConfigured,omitempty"`

	// BackupDetails is what the database reports about the backup.
	// +optional
	BackupDetails *FoundationDBBackupStatusBackupDetails `json:"backupDetails,omitempty"`

	// Generations are the generations of the spec that were reconciled.
	// +optional
	Generations BackupGenerationStatus `json:"generations"`
}

// FoundationDBBackupStatusBackupDetails is what the database reports about a
// backup.
type FoundationDBBackupStatusBackupDetails struct {
	// URL is its destination.
	// +optional
	URL string `json:"url,omitempty"`

	// Running reports that it runs.
	// +optional
	Running bool `json:"running,omitempty"`

	// Paused reports that the agents are paused.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// SnapshotTime is the time one snapshot takes, in seconds.
	// +optional
	SnapshotTime int `json:"snapshotTime,omitempty"`

	// Restorable reports that it can be restored.
	// +optional
	Restorable bool `json:"restorable,omitempty"`

	// Tag is its tag.
	// +optional
	Tag string `json:"tag,omitempty"`
}

// BackupGenerationStatus has the generations of the spec that were
// reconciled. Every field but Reconciled is the generation that waits for
// something, 0 when none does.
type BackupGenerationStatus struct {
	// Reconciled is the last generation that was reconciled.
	// +optional
	Reconciled int64 `json:"reconciled,omitempty"`

	// NeedsBackupAgentUpdate waits for the deployment or its agents.
	// +optional
	NeedsBackupAgentUpdate int64 `json:"needsBackupAgentUpdate,omitempty"`

	// NeedsBackupStart waits for the backup to be started.
	// +optional
	NeedsBackupStart int64 `json:"needsBackupStart,omitempty"`

	// NeedsBackupStop waits for the backup to be stopped.
	// +optional
	NeedsBackupStop int64 `json:"needsBackupStop,omitempty"`

	// NeedsBackupPauseToggle waits for the backup to be paused or resumed.
	// +optional
	NeedsBackupPauseToggle int64 `json:"needsBackupPauseToggle,omitempty"`

	// NeedsBackupModification waits for a change of period or destination.
	// +optional
	NeedsBackupModification int64 `json:"needsBackupModification,omitempty"`
}
