package v1beta2

// ProcessGroupID names a process group: [<prefix>-]<class>-<number>. In lists
// of the spec that say so, * stands for all.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^(([\w-]+)-(\d+)|\*)$`
type ProcessGroupID string
