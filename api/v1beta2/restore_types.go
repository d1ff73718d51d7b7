package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// FoundationDBRestore is one restore of a backup into a cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=fdbrestore
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:annotations="foundationdb.org/release=v2.33.0"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=".status.state"
type FoundationDBRestore struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata"`

	// Spec is the desired state.
	// +optional
	Spec FoundationDBRestoreSpec `json:"spec"`

	// Status is the last observed state.
	// +optional
	Status FoundationDBRestoreStatus `json:"status"`
}

// FoundationDBRestoreList is a list of restores, as the API server returns it.
//
// +kubebuilder:object:root=true
type FoundationDBRestoreList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata"`

	// Items are the restores.
	Items []FoundationDBRestore `json:"items"`
}

// FoundationDBRestoreSpec is the desired state of a restore.
type FoundationDBRestoreSpec struct {
	// DestinationClusterName is the FoundationDBCluster that is restored into,
	// in the same namespace.
	DestinationClusterName string `json:"destinationClusterName"`

	// KeyRanges are what is restored. Default: everything.
	// +optional
	KeyRanges []FoundationDBKeyRange `json:"keyRanges,omitempty"`

	// BlobStoreConfiguration is where the backup is.
	// +optional
	BlobStoreConfiguration *BlobStoreConfiguration `json:"blobStoreConfiguration,omitempty"`

	// CustomParameters are further parameters of the restore commands.
	// Localities are left out.
	// +optional
	CustomParameters FoundationDBCustomParameters `json:"customParameters,omitempty"`

	// EncryptionKeyPath is the file that holds the encryption key. Versions
	// that cannot encrypt ignore it.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	EncryptionKeyPath string `json:"encryptionKeyPath,omitempty"`

	// BackupVersion is the version of the database, a commit number, that is
	// restored. Default: the latest one that can be.
	// +nullable
	// +optional
	BackupVersion *uint64 `json:"backupVersion,omitempty"`
}

// FoundationDBKeyRange is a range of keys. Bytes other than letters, digits,
// slashes and dashes are written \xHH.
type FoundationDBKeyRange struct {
	// Start is the first key of the range.
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9\/\\-]+$`
	Start string `json:"start"`

	// End is the first key after the range.
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9\/\\-]+$`
	End string `json:"end"`
}

// FoundationDBRestoreStatus is the last observed state of a restore.
type FoundationDBRestoreStatus struct {
	// Running reports that the restore was started. It is never reset.
	// +optional
	Running bool `json:"running,omitempty"`

	// State is the state as fdbrestore prints it.
	// +optional
	State FoundationDBRestoreState `json:"state,omitempty"`
}

// FoundationDBRestoreState is the state of a restore, as fdbrestore prints
// it.
//
// +kubebuilder:validation:MaxLength=50
type FoundationDBRestoreState string

// The restore states that are known. Only Unknown is capitalized.
const (
	RestoreStateUninitialized FoundationDBRestoreState = "uninitialized"
	RestoreStateQueued        FoundationDBRestoreState = "queued"
	RestoreStateStarting      FoundationDBRestoreState = "starting"
	RestoreStateRunning       FoundationDBRestoreState = "running"
	RestoreStateCompleted     FoundationDBRestoreState = "completed"
	RestoreStateAborted       FoundationDBRestoreState = "aborted"
	RestoreStateUnknown       FoundationDBRestoreState = "Unknown"
)
