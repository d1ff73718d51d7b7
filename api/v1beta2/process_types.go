package v1beta2

import corev1 "k8s.io/api/core/v1"

// ProcessSettings are the settings of the process groups of one class.
type ProcessSettings struct {
	// PodTemplate is the pod. An image in it must come without a tag; tags are
	// chosen by image rules. Default: a template that only has our containers.
	// +optional
	PodTemplate *corev1.PodTemplateSpec `json:"podTemplate,omitempty"`

	// VolumeClaimTemplate is the volume of stateful classes. Default:
	// ReadWriteOnce, 128G. Changing its spec replaces the process group.
	// +optional
	VolumeClaimTemplate *corev1.PersistentVolumeClaim `json:"volumeClaimTemplate,omitempty"`

	// CustomParameters are further fdbserver parameters.
	// +optional
	CustomParameters FoundationDBCustomParameters `json:"customParameters,omitempty"`
}

// FoundationDBCustomParameter is one command line parameter, name=value
// without leading dashes. A value $NAME stands for an environment variable.
//
// +kubebuilder:validation:MaxLength=100
type FoundationDBCustomParameter string

// FoundationDBCustomParameters are command line parameters, in order.
//
// +kubebuilder:validation:MaxItems=100
type FoundationDBCustomParameters []FoundationDBCustomParameter

// ProcessCounts are numbers of process groups by class. 0 means derived for
// storage, log and stateless and none for the others; a negative number means
// none for all of them.
type ProcessCounts struct {
	// Unset is the number of processes without a class.
	// +optional
	Unset int `json:"unset,omitempty"`
	// Storage is the number of storage process groups, derived when 0.
	// +optional
	Storage int `json:"storage,omitempty"`
	// Transaction is the number of transaction process groups.
	// +optional
	Transaction int `json:"transaction,omitempty"`
	// Resolution is the number of dedicated resolvers. More than 0 takes
	// resolvers out of the stateless count.
	// +optional
	Resolution int `json:"resolution,omitempty"`
	// Tester is the number of testers.
	//
	// Deprecated: the class is called test.
	// +optional
	Tester int `json:"tester,omitempty"`
	// Test is the number of testers.
	// +optional
	Test int `json:"test,omitempty"`
	// Proxy is the number of dedicated combined proxies. More than 0 takes them
	// out of the stateless count.
	// +optional
	Proxy int `json:"proxy,omitempty"`
	// CommitProxy is the number of dedicated commit proxies. More than 0 takes
	// them out of the stateless count.
	// +optional
	CommitProxy int `json:"commit_proxy,omitempty"`
	// GrvProxy is the number of dedicated GRV proxies. More than 0 takes them
	// out of the stateless count.
	// +optional
	GrvProxy int `json:"grv_proxy,omitempty"`
	// Master is the number of dedicated masters. More than 0 takes the master
	// out of the stateless count.
	// +optional
	Master int `json:"master,omitempty"`
	// Stateless is the number of process groups for every role that keeps
	// nothing on disk, derived when 0.
	// +optional
	Stateless int `json:"stateless,omitempty"`
	// Log is the number of log process groups, derived when 0.
	// +optional
	Log int `json:"log,omitempty"`
	// ClusterController is the number of dedicated cluster controllers. More
	// than 0 takes it out of the stateless count.
	// +optional
	ClusterController int `json:"cluster_controller,omitempty"`
	// Router is the number of dedicated log routers.
	// +optional
	Router int `json:"router,omitempty"`
	// FastRestore is the number of fast restore workers.
	// +optional
	FastRestore int `json:"fast_restore,omitempty"`
	// DataDistributor is the number of dedicated data distributors. More than 0
	// takes it out of the stateless count.
	// +optional
	DataDistributor int `json:"data_distributor,omitempty"`
	// Coordinator is the number of dedicated coordinators. They have a volume.
	// +optional
	Coordinator int `json:"coordinator,omitempty"`
	// Ratekeeper is the number of dedicated ratekeepers. More than 0 takes it
	// out of the stateless count.
	// +optional
	Ratekeeper int `json:"ratekeeper,omitempty"`
	// StorageCache is the number of storage caches.
	// +optional
	StorageCache int `json:"storage_cache,omitempty"`
	// Backup is the number of workers of the partitioned-log backup.
	// +optional
	Backup int `json:"backup,omitempty"`
}

// FoundationDBClusterFaultDomain defines what a zone is.
type FoundationDBClusterFaultDomain struct {
	// Key is the topology key pods are spread over. Default
	// kubernetes.io/hostname. FaultDomainKeyNone makes every pod a zone,
	// FaultDomainKeyKubernetesCluster makes this whole resource one.
	// +optional
	Key string `json:"key,omitempty"`

	// Value is the zone of this resource, for the Kubernetes cluster key.
	// +optional
	Value string `json:"value,omitempty"`

	// ValueFrom is the pod's field that holds the zone, or $NAME for an
	// environment variable. Default spec.nodeName.
	// +optional
	ValueFrom string `json:"valueFrom,omitempty"`

	// ZoneCount is the number of Kubernetes clusters that share the data
	// center. Default: minimum fault domains plus fault tolerance. More than 1
	// turns locks on.
	// +optional
	ZoneCount int `json:"zoneCount,omitempty"`

	// ZoneIndex is the index of this resource among them, from 0. It decides
	// which resource gets the remainder of a count. With a negative one no count
	// is derived.
	// +optional
	ZoneIndex int `json:"zoneIndex,omitempty"`
}

// The fault domain keys with a meaning of their own.
const (
	// FaultDomainKeyNone makes every pod its own zone.
	FaultDomainKeyNone = "foundationdb.org/none"
	// FaultDomainKeyKubernetesCluster makes one Kubernetes cluster one zone.
	FaultDomainKeyKubernetesCluster = "foundationdb.org/kubernetes-cluster"
)

// ContainerOverrides change one of our containers.
type ContainerOverrides struct {
	// EnableLivenessProbe probes the sidecar of the split image. Default true.
	// +optional
	EnableLivenessProbe *bool `json:"enableLivenessProbe,omitempty"`

	// EnableReadinessProbe probes the sidecar of the split image. Default
	// false.
	//
	// Deprecated: readiness of the sidecar is unrelated to the database.
	// +optional
	EnableReadinessProbe *bool `json:"enableReadinessProbe,omitempty"`

	// EnableTLS makes the processes listen with TLS in the main container, and
	// the sidecar's own API in the sidecar. Default false.
	// +optional
	EnableTLS bool `json:"enableTls,omitempty"`

	// PeerVerificationRules are the rules for the certificates of peers.
	// +kubebuilder:validation:MaxLength=10000
	// +optional
	PeerVerificationRules string `json:"peerVerificationRules,omitempty"`

	// ImageConfigs are the image rules. For each field the first rule wins
	// that is for the version and sets it; the default image comes last.
	// +kubebuilder:validation:MaxItems=100
	// +optional
	ImageConfigs []ImageConfig `json:"imageConfigs,omitempty"`
}

// ImageConfig is one image rule.
type ImageConfig struct {
	// Version is the FoundationDB version the rule is for; empty for all.
	// +kubebuilder:validation:MaxLength=20
	// +optional
	Version string `json:"version,omitempty"`

	// BaseImage is the image without a tag.
	// +kubebuilder:validation:MaxLength=200
	// +optional
	BaseImage string `json:"baseImage,omitempty"`

	// Tag is the whole tag. Default: the version and the tag suffix.
	// +kubebuilder:validation:MaxLength=100
	// +optional
	Tag string `json:"tag,omitempty"`

	// TagSuffix is appended to the version to make the tag.
	// +kubebuilder:validation:MaxLength=50
	// +optional
	TagSuffix string `json:"tagSuffix,omitempty"`
}

// ImageType is a kind of image.
//
// +kubebuilder:validation:MaxLength=1024
type ImageType string

// The image types.
const (
	// ImageTypeSplit is the foundationdb image with a Python sidecar.
	ImageTypeSplit ImageType = "split"
	// ImageTypeUnified is one image with the Kubernetes monitor.
	ImageTypeUnified ImageType = "unified"
)

// CoordinatorSelectionSetting allows one class to hold coordinators.
type CoordinatorSelectionSetting struct {
	// ProcessClass is the class; it must be stateful.
	// +optional
	ProcessClass ProcessClass `json:"processClass,omitempty"`

	// Priority is the preference among classes: higher first.
	// +optional
	Priority int `json:"priority,omitempty"`
}
