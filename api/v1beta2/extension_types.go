package v1beta2

import batchv1 "k8s.io/api/batch/v1"

// DistributionConfig packs the pods of a cluster into a given number of fault
// domains.
type DistributionConfig struct {
	// Enabled turns the packing on. Default false.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// DesiredFaultDomains is the number of fault domains to use. It must be at
	// least 1 where the packing is enabled. Default 0.
	// +kubebuilder:validation:Minimum=0
	// +optional
	DesiredFaultDomains *int `json:"desiredFaultDomains,omitempty"`

	// BinPack is which pods share a fault domain. Default Class.
	// +kubebuilder:validation:Enum=All;Stateful;Class
	// +optional
	BinPack *BinPack `json:"binPack,omitempty"`

	// Required makes pods pend that cannot have their fault domain, instead of
	// running elsewhere. Default false.
	// +optional
	Required *bool `json:"required,omitempty"`
}

// BinPack is which pods share a fault domain.
type BinPack string

// The ways to pack pods.
const (
	// BinPackAll packs the pods of all classes together.
	BinPackAll BinPack = "All"
	// BinPackStateful packs the pods of stateful classes together, and those
	// of the others together.
	BinPackStateful BinPack = "Stateful"
	// BinPackClass packs each class on its own.
	BinPackClass BinPack = "Class"
)

// FailureDetectionCronJob configures the CronJob of a cluster that looks for
// failed process groups between runs.
type FailureDetectionCronJob struct {
	// Enabled creates the CronJob. It also needs replacements to be enabled.
	// Default false.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// Schedule is when it runs, in cron syntax. The default follows from
	// failureDetectionTimeSeconds.
	// +optional
	Schedule *string `json:"schedule,omitempty"`

	// Image is the image of the container kubectl-fdb. There is no default.
	// +optional
	Image *string `json:"image,omitempty"`

	// Template is merged over the generated spec of the CronJob. Its container
	// kubectl-fdb changes the generated one.
	// +optional
	Template *batchv1.CronJobSpec `json:"template,omitempty"`
}
