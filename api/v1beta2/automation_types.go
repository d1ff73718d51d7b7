package v1beta2

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// FoundationDBClusterAutomationOptions define which actions are automatic,
// and how much of each is done at once.
type FoundationDBClusterAutomationOptions struct {
	// ConfigureDatabase allows changes of the database configuration. Default
	// true.
	// +optional
	ConfigureDatabase *bool `json:"configureDatabase,omitempty"`

	// KillProcesses allows restarting processes. Default true.
	// +optional
	KillProcesses *bool `json:"killProcesses,omitempty"`

	// CacheDatabaseStatusForReconciliation makes the operator read the status
	// document once per reconciliation. Passes of this plugin read it again
	// whenever an action made it stale, regardless of this setting.
	// +optional
	CacheDatabaseStatusForReconciliation *bool `json:"cacheDatabaseStatusForReconciliation,omitempty"`

	// Replacements configure the replacement of failed process groups.
	// +optional
	Replacements AutomaticReplacementOptions `json:"replacements"`

	// IgnorePendingPodsDuration is how long a pod may be pending before it is
	// left out of decisions about others. It is a number of nanoseconds.
	// Default 5 minutes when 0.
	// +optional
	IgnorePendingPodsDuration time.Duration `json:"ignorePendingPodsDuration,omitempty"`

	// UseNonBlockingExcludes makes exclusions that check a removal return at
	// once. Exclusions that start one always do. Default false.
	// +optional
	UseNonBlockingExcludes *bool `json:"useNonBlockingExcludes,omitempty"`

	// UseLocalitiesForExclusion excludes by process group ID instead of
	// address where the running version can. Default true.
	// +optional
	UseLocalitiesForExclusion *bool `json:"useLocalitiesForExclusion,omitempty"`

	// IgnoreTerminatingPodsSeconds is for how long a terminating pod whose
	// processes do not report blocks pod updates, in seconds. Default 600.
	// +optional
	IgnoreTerminatingPodsSeconds *int `json:"ignoreTerminatingPodsSeconds,omitempty"`

	// IgnoreMissingProcessesSeconds is how long processes may be missing
	// before restarts go on without them, in seconds. Default 30.
	// +optional
	IgnoreMissingProcessesSeconds *int `json:"ignoreMissingProcessesSeconds,omitempty"`

	// FailedPodDurationSeconds is how long a pod may be terminating before it
	// counts as failing, in seconds. Default 300.
	// +optional
	FailedPodDurationSeconds *int `json:"failedPodDurationSeconds,omitempty"`

	// MaxConcurrentReplacements is how many misconfigured process groups may
	// be in replacement at once; 0 for none. The default is no bound.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxConcurrentReplacements *int `json:"maxConcurrentReplacements,omitempty"`

	// DeletionMode is how many pods may be deleted at once to update them.
	// Default Zone.
	// +kubebuilder:validation:Enum=All;Zone;ProcessGroup;None
	// +kubebuilder:default=Zone
	// +optional
	DeletionMode PodUpdateMode `json:"deletionMode,omitempty"`

	// RemovalMode is how many process groups may be removed at once. Default
	// Zone.
	// +kubebuilder:validation:Enum=All;Zone;ProcessGroup;None
	// +kubebuilder:default=Zone
	// +optional
	RemovalMode PodUpdateMode `json:"removalMode,omitempty"`

	// WaitBetweenRemovalsSeconds is how long to wait at most between two
	// removals, in seconds. Default 60 when nil or negative; 0 does not wait.
	// +optional
	WaitBetweenRemovalsSeconds *int `json:"waitBetweenRemovalsSeconds,omitempty"`

	// PodUpdateStrategy is how a changed pod spec is rolled out. Default
	// ReplaceTransactionSystem.
	// +kubebuilder:validation:Enum=Replace;ReplaceTransactionSystem;Delete
	// +kubebuilder:default=ReplaceTransactionSystem
	// +optional
	PodUpdateStrategy PodUpdateStrategy `json:"podUpdateStrategy,omitempty"`

	// UseManagementAPI has no effect.
	//
	// Deprecated: replaced by databaseInteractionMode.
	// +optional
	UseManagementAPI *bool `json:"useManagementAPI,omitempty"`

	// MaintenanceModeOptions configure FoundationDB's maintenance mode during
	// pod updates.
	// +optional
	MaintenanceModeOptions MaintenanceModeOptions `json:"maintenanceModeOptions"`

	// IgnoreLogGroupsForUpgrade are log groups whose clients never block an
	// upgrade. Default: the operator's own. A list replaces the default.
	// +kubebuilder:validation:MaxItems=10
	// +optional
	IgnoreLogGroupsForUpgrade []LogGroup `json:"ignoreLogGroupsForUpgrade,omitempty"`

	// SynchronizationMode defines whether the control-plane instances of one
	// database exclude, restart and include together. Default local.
	// +kubebuilder:validation:Enum=local;global
	// +kubebuilder:default=local
	// +optional
	SynchronizationMode *SynchronizationMode `json:"synchronizationMode,omitempty"`

	// DatabaseInteractionMode is the tool the operator uses for exclusions and
	// maintenance. Default fdbcli.
	// +optional
	DatabaseInteractionMode *DatabaseInteractionMode `json:"databaseInteractionMode,omitempty"`
}

// AutomaticReplacementOptions configure the replacement of failed process
// groups.
type AutomaticReplacementOptions struct {
	// Enabled allows replacing failed process groups. Default true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// FaultDomainBasedReplacements counts and replaces by zone instead of by
	// process group. Default false.
	// +optional
	FaultDomainBasedReplacements *bool `json:"faultDomainBasedReplacements,omitempty"`

	// FailureDetectionTimeSeconds is how long a failure must last, in seconds.
	// Default 7200.
	// +optional
	FailureDetectionTimeSeconds *int `json:"failureDetectionTimeSeconds,omitempty"`

	// TaintReplacementTimeSeconds is how long NodeTaintReplacing must last, in
	// seconds. Default 1800.
	// +optional
	TaintReplacementTimeSeconds *int `json:"taintReplacementTimeSeconds,omitempty"`

	// MaxConcurrentReplacements is how many failed process groups may be in
	// replacement at once; 0 for none. Default 1.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=1
	// +optional
	MaxConcurrentReplacements *int `json:"maxConcurrentReplacements,omitempty"`

	// TaintReplacementOptions are the node taints that lead to replacement.
	// An empty list turns the feature off.
	// +kubebuilder:validation:MaxItems=32
	// +optional
	TaintReplacementOptions []TaintReplacementOption `json:"taintReplacementOptions,omitempty"`

	// MaxFaultDomainsWithTaintedProcessGroups is the number or share of zones
	// up to which tainted process groups are replaced. Default 10%, rounded
	// down, at least 1.
	// +optional
	MaxFaultDomainsWithTaintedProcessGroups *intstr.IntOrString `json:"maxFaultDomainsWithTaintedProcessGroups,omitempty"`

	// FailureDetectionCronJob configures the CronJob that looks for failures
	// between runs. It is no field of the operator;
	// AnnotationFailureDetectionCronJob is its other form.
	// +optional
	FailureDetectionCronJob *FailureDetectionCronJob `json:"failureDetectionCronJob,omitempty"`
}

// TaintReplacementOption is one taint that leads to replacement.
type TaintReplacementOption struct {
	// Key is the key of the taint; * is every key that no other option names.
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^([\-._\/a-z0-9A-Z\*])*$`
	Key *string `json:"key,omitempty"`

	// DurationInSeconds is how old the taint must be; the largest 64-bit
	// number means never.
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:Minimum=0
	DurationInSeconds *int64 `json:"durationInSeconds,omitempty"`
}

// MaintenanceModeOptions configure FoundationDB's maintenance mode.
type MaintenanceModeOptions struct {
	// UseMaintenanceModeChecker sets maintenance mode before pods of a zone
	// are updated and resets it after. Default false. The name in JSON starts
	// with a capital letter.
	// +optional
	UseMaintenanceModeChecker *bool `json:"UseMaintenanceModeChecker,omitempty"`

	// ResetMaintenanceMode resets maintenance mode that was set manually or by
	// another tool, once the storage processes of the zone restarted. Default
	// false, but on with UseMaintenanceModeChecker.
	// +optional
	ResetMaintenanceMode *bool `json:"resetMaintenanceMode,omitempty"`

	// MaintenanceModeTimeSeconds is the time limit given to the database, in
	// seconds. Default 600.
	// +optional
	MaintenanceModeTimeSeconds *int `json:"maintenanceModeTimeSeconds,omitempty"`
}

// PodUpdateMode is how much may be taken down at once.
type PodUpdateMode string

// The pod update modes.
const (
	PodUpdateModeAll          PodUpdateMode = "All"
	PodUpdateModeZone         PodUpdateMode = "Zone"
	PodUpdateModeProcessGroup PodUpdateMode = "ProcessGroup"
	PodUpdateModeNone         PodUpdateMode = "None"
)

// PodUpdateStrategy is how a changed pod spec is rolled out.
type PodUpdateStrategy string

// The pod update strategies.
const (
	// PodUpdateStrategyReplace replaces every process group.
	PodUpdateStrategyReplace PodUpdateStrategy = "Replace"
	// PodUpdateStrategyReplaceTransactionSystem replaces process groups of the
	// transaction system and recreates the pods of the others.
	PodUpdateStrategyReplaceTransactionSystem PodUpdateStrategy = "ReplaceTransactionSystem"
	// PodUpdateStrategyDelete recreates every pod.
	PodUpdateStrategyDelete PodUpdateStrategy = "Delete"
)

// SynchronizationMode defines whether control-plane instances act together.
type SynchronizationMode string

// The synchronization modes.
const (
	SynchronizationModeLocal  SynchronizationMode = "local"
	SynchronizationModeGlobal SynchronizationMode = "global"
)

// DatabaseInteractionMode is a way to access the database.
//
// +kubebuilder:validation:MaxLength=256
type DatabaseInteractionMode string

// The database interaction modes.
const (
	DatabaseInteractionModeFdbcli        DatabaseInteractionMode = "fdbcli"
	DatabaseInteractionModeManagementAPI DatabaseInteractionMode = "managementapi"
)

// LogGroup is a trace log group.
//
// +kubebuilder:validation:MaxLength=256
type LogGroup string
