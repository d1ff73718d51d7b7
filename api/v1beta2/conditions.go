package v1beta2

// ProcessGroupConditionType names something about a process group that is not
// as desired.
type ProcessGroupConditionType string

// The conditions.
const (
	// ConditionIncorrectPodSpec is a pod that was made from another spec.
	ConditionIncorrectPodSpec ProcessGroupConditionType = "IncorrectPodSpec"
	// ConditionIncorrectPodMetadata is a label or annotation that differs.
	ConditionIncorrectPodMetadata ProcessGroupConditionType = "IncorrectPodMetadata"
	// ConditionIncorrectConfigMap is a pod that has not taken the config map.
	ConditionIncorrectConfigMap ProcessGroupConditionType = "IncorrectConfigMap"
	// ConditionIncorrectCommandLine is a server that runs with other arguments.
	ConditionIncorrectCommandLine ProcessGroupConditionType = "IncorrectCommandLine"
	// ConditionIncorrectSidecarImage is a sidecar of another version.
	ConditionIncorrectSidecarImage ProcessGroupConditionType = "IncorrectSidecarImage"
	// ConditionPodFailing is a pod that failed, is not ready, or does not end.
	ConditionPodFailing ProcessGroupConditionType = "PodFailing"
	// ConditionPodPending is a pod that has not started.
	ConditionPodPending ProcessGroupConditionType = "PodPending"
	// ConditionMissingPod is a pod that does not exist.
	ConditionMissingPod ProcessGroupConditionType = "MissingPod"
	// ConditionMissingPVC is a volume claim that does not exist or has other
	// labels or annotations.
	ConditionMissingPVC ProcessGroupConditionType = "MissingPVC"
	// ConditionMissingService is a service that does not exist.
	ConditionMissingService ProcessGroupConditionType = "MissingService"
	// ConditionMissingProcesses is a server the database does not know.
	ConditionMissingProcesses ProcessGroupConditionType = "MissingProcesses"
	// ConditionResourcesTerminating is a removed process group whose pod,
	// volume or service is still there.
	ConditionResourcesTerminating ProcessGroupConditionType = "ResourcesTerminating"
	// ConditionSidecarUnreachable is a sidecar that does not answer.
	ConditionSidecarUnreachable ProcessGroupConditionType = "SidecarUnreachable"
	// ConditionReady is the absence of all others. It is never stored.
	ConditionReady ProcessGroupConditionType = "Ready"
	// ConditionNodeTaintDetected is a node with a taint we look for.
	ConditionNodeTaintDetected ProcessGroupConditionType = "NodeTaintDetected"
	// ConditionNodeTaintReplacing is such a taint that is older than allowed.
	ConditionNodeTaintReplacing ProcessGroupConditionType = "NodeTaintReplacing"
	// ConditionProcessIsMarkedAsExcluded is an excluded server of a process
	// group that is not being removed.
	ConditionProcessIsMarkedAsExcluded ProcessGroupConditionType = "ProcessIsMarkedAsExcluded"
	// ConditionProcessHasIOError is a server that reports an I/O error.
	ConditionProcessHasIOError ProcessGroupConditionType = "ProcessHasIOError"
	// ConditionProcessHasHighRunLoopBusy is a server without time to spare.
	// It is for information and keeps no generation from being reached.
	ConditionProcessHasHighRunLoopBusy ProcessGroupConditionType = "ProcessHasHighRunLoopBusy"
)
