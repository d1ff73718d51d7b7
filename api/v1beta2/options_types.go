package v1beta2

// LockOptions configure the lock in the database that control-plane instances
// share.
type LockOptions struct {
	// DisableLocks never takes the lock when true, always when false. Unset,
	// the lock is used with several zones of Kubernetes clusters, several
	// regions, or three_data_hall.
	// +optional
	DisableLocks *bool `json:"disableLocks,omitempty"`

	// LockKeyPrefix is the key prefix of the lock and of all other state that
	// control-plane instances share. Default DefaultLockKeyPrefix.
	// +optional
	LockKeyPrefix string `json:"lockKeyPrefix,omitempty"`

	// LockDurationMinutes is how long a lock lasts once taken, in minutes.
	// Default 10.
	// +optional
	LockDurationMinutes *int `json:"lockDurationMinutes,omitempty"`

	// DenyList adds control-plane instances to the lock deny list, or removes
	// them.
	// +optional
	DenyList []LockDenyListEntry `json:"denyList,omitempty"`
}

// LockDenyListEntry adds one control-plane instance to the lock deny list, or
// removes it.
type LockDenyListEntry struct {
	// ID is the owner ID of the control-plane instance: its process group ID
	// prefix.
	// +optional
	ID string `json:"id,omitempty"`

	// Allow removes the ID from the list; otherwise it is added.
	// +optional
	Allow bool `json:"allow,omitempty"`
}

// RoutingConfig configures addresses, services and DNS names.
type RoutingConfig struct {
	// HeadlessService creates a headless service with the name of the cluster.
	// It also exists whenever DNS localities are on. Default false.
	// +optional
	HeadlessService *bool `json:"headlessService,omitempty"`

	// PublicIPSource is where public addresses come from. Default pod. Changing
	// it replaces the process groups.
	// +optional
	PublicIPSource *PublicIPSource `json:"publicIPSource,omitempty"`

	// PodIPFamily is 4 or 6 to pick one family of the pods' addresses. Default
	// 0: the first one. Changing it replaces the process groups.
	// +optional
	PodIPFamily *int `json:"podIPFamily,omitempty"`

	// UseDNSInClusterFile names coordinators by DNS name. Default true.
	// +optional
	UseDNSInClusterFile *bool `json:"useDNSInClusterFile,omitempty"`

	// DefineDNSLocalityFields gives processes the dns_name locality. Default
	// false, but on with UseDNSInClusterFile.
	// +optional
	DefineDNSLocalityFields *bool `json:"defineDNSLocalityFields,omitempty"`

	// DNSDomain is the domain of the Kubernetes cluster. Default cluster.local.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	DNSDomain *string `json:"dnsDomain,omitempty"`
}

// PublicIPSource is where the public address of a process comes from.
type PublicIPSource string

// The public IP sources.
const (
	// PublicIPSourcePod takes the address of the pod.
	PublicIPSourcePod PublicIPSource = "pod"
	// PublicIPSourceService takes the address of a service per process group.
	PublicIPSourceService PublicIPSource = "service"
)

// BuggifyConfig injects faults.
type BuggifyConfig struct {
	// NoSchedule are process groups whose pods cannot be scheduled.
	// +optional
	NoSchedule []ProcessGroupID `json:"noSchedule,omitempty"`

	// CrashLoop are process groups whose main container crashes, * for all.
	//
	// Deprecated: crashLoopContainers can do the same and more.
	// +optional
	CrashLoop []ProcessGroupID `json:"crashLoop,omitempty"`

	// CrashLoopContainers are containers that crash.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=8
	// +optional
	CrashLoopContainers []CrashLoopContainerObject `json:"crashLoopContainers,omitempty"`

	// EmptyMonitorConf runs no process. The monitor of the unified image does
	// not honor it. Default false.
	// +optional
	EmptyMonitorConf bool `json:"emptyMonitorConf,omitempty"`

	// IgnoreDuringRestart are process groups that are left out of restarts.
	// +kubebuilder:validation:MaxItems=1000
	// +optional
	IgnoreDuringRestart []ProcessGroupID `json:"ignoreDuringRestart,omitempty"`

	// BlockRemoval are process groups that are excluded but never deleted.
	// +kubebuilder:validation:MaxItems=1000
	// +optional
	BlockRemoval []ProcessGroupID `json:"blockRemoval,omitempty"`
}

// CrashLoopContainerObject makes one container crash.
type CrashLoopContainerObject struct {
	// ContainerName is the container.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ContainerName string `json:"containerName,omitempty"`

	// Targets are the process groups it crashes in, * for all.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=10000
	// +optional
	Targets []ProcessGroupID `json:"targets,omitempty"`
}

// LabelConfig defines by which labels resources are selected and which they
// carry.
type LabelConfig struct {
	// MatchLabels select the resources of the cluster and are put on them.
	// Default: LabelClusterName with the name of the cluster.
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`

	// ResourceLabels are added to resources as well. Default: LabelClusterName
	// with the name of the cluster.
	// +optional
	ResourceLabels map[string]string `json:"resourceLabels,omitempty"`

	// ProcessGroupIDLabels are the labels that carry the process group ID; the
	// first one selects. Default: LabelProcessGroupID.
	// +kubebuilder:validation:MaxItems=100
	// +optional
	ProcessGroupIDLabels []string `json:"processGroupIDLabels,omitempty"`

	// ProcessClassLabels are the labels that carry the process class; the
	// first one selects. Default: LabelProcessClass.
	// +kubebuilder:validation:MaxItems=100
	// +optional
	ProcessClassLabels []string `json:"processClassLabels,omitempty"`

	// FilterOnOwnerReference ignores resources that the cluster does not own.
	// Default false.
	//
	// Deprecated: labels are enough.
	// +optional
	FilterOnOwnerReference *bool `json:"filterOnOwnerReference,omitempty"`
}
