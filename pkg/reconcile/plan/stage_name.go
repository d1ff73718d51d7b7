package plan

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// StageName identifies a stage in every output, in plan files, in metrics and for --only
// and --skip. The names of a pass over a cluster are those of the operator's reconcilers in
// release 2.x; newer names of the operator are aliases on the command line.
type StageName string

// The stages of a pass over a cluster, in their order.
const (
	StageUpdateStatus                StageName = "UpdateStatus"
	StageCheckFields                 StageName = "CheckFields"
	StageCheckDeletion               StageName = "CheckDeletion"
	StageCheckTemplates              StageName = "CheckTemplates" // only with restrictions
	StageCheckDistribution           StageName = "CheckDistribution"
	StageCancelReplacements          StageName = "CancelReplacements"
	StageUpdateLockConfiguration     StageName = "UpdateLockConfiguration"
	StageUpdateConfigMap             StageName = "UpdateConfigMap"
	StageFailureDetector             StageName = "FailureDetector"
	StageAdoptSpecs                  StageName = "AdoptSpecs"
	StageCheckClientCompatibility    StageName = "CheckClientCompatibility"
	StageDeletePodsForBuggification  StageName = "DeletePodsForBuggification"
	StageDeleteTerminalPods          StageName = "DeleteTerminalPods"
	StageReplaceMisconfiguredPods    StageName = "ReplaceMisconfiguredPods"
	StageReplaceFailedPods           StageName = "ReplaceFailedPods"
	StageAddProcessGroups            StageName = "AddProcessGroups"
	StageUpdateDisruptionBudget      StageName = "UpdateDisruptionBudget"
	StageAddServices                 StageName = "AddServices"
	StageAddPVCs                     StageName = "AddPVCs"
	StageAddPods                     StageName = "AddPods"
	StageGenerateInitialClusterFile  StageName = "GenerateInitialClusterFile"
	StageRemoveIncompatibleProcesses StageName = "RemoveIncompatibleProcesses"
	StageUpdateSidecarVersions       StageName = "UpdateSidecarVersions"
	StageUpdatePodConfig             StageName = "UpdatePodConfig"
	StageUpdateTolerations           StageName = "UpdateTolerations"
	StageUpdateLabels                StageName = "UpdateLabels"
	StageUpdateDatabaseConfiguration StageName = "UpdateDatabaseConfiguration"
	StageChooseRemovals              StageName = "ChooseRemovals"
	StageExcludeInstances            StageName = "ExcludeInstances"
	StageChangeCoordinators          StageName = "ChangeCoordinators"
	StageBounceProcesses             StageName = "BounceProcesses"
	StageMaintenanceModeChecker      StageName = "MaintenanceModeChecker"
	StageUpdatePods                  StageName = "UpdatePods"
	StageRemoveServices              StageName = "RemoveServices"
	StageRemovePods                  StageName = "RemovePods"
)

// The stages of a pass over a backup or a restore.
const (
	StageCarryOutDeletion    StageName = "CarryOutDeletion"
	StageUpdateBackupStatus  StageName = "UpdateBackupStatus"
	StageUpdateBackupAgents  StageName = "UpdateBackupAgents"
	StageStartBackup         StageName = "StartBackup"
	StageStopBackup          StageName = "StopBackup"
	StageToggleBackupPaused  StageName = "ToggleBackupPaused"
	StageModifyBackup        StageName = "ModifyBackup"
	StageUpdateRestoreStatus StageName = "UpdateRestoreStatus"
	StageStartRestore        StageName = "StartRestore"
)

// The stages that only a command has.
const (
	StageAbortRestore         StageName = "AbortRestore"
	StageClearBackup          StageName = "ClearBackup"
	StageCordonNodes          StageName = "CordonNodes"
	StageDetectFailures       StageName = "DetectFailures"
	StageEvictAgents          StageName = "EvictAgents"
	StageEvictFrom            StageName = "EvictFrom"
	StageExcludeGroups        StageName = "ExcludeGroups"
	StageExpireBackup         StageName = "ExpireBackup"
	StageHoldLock             StageName = "HoldLock"
	StageIncludeTargets       StageName = "IncludeTargets"
	StageKeepGroups           StageName = "KeepGroups"
	StageMaintainZone         StageName = "MaintainZone"
	StagePauseOperators       StageName = "PauseOperators"
	StageReleaseLock          StageName = "ReleaseLock"
	StageReplaceGroups        StageName = "ReplaceGroups"
	StageRestartGroups        StageName = "RestartGroups"
	StageResumeOperators      StageName = "ResumeOperators"
	StageSetBackupState       StageName = "SetBackupState"
	StageSetRestoreVersion    StageName = "SetRestoreVersion"
	StageChangeDenyList       StageName = "ChangeDenyList"
	StageSetPrimaryRegion     StageName = "SetPrimaryRegion"
	StageSkipExclusion        StageName = "SkipExclusion"
	StageStopMaintenance      StageName = "StopMaintenance"
	StageSyncConnectionString StageName = "SyncConnectionString"
	StageUncordonNodes        StageName = "UncordonNodes"
)

// InvalidField is one error of a spec.
type InvalidField struct {
	// Field is the path of the field or annotation.
	Field string `json:"field"`
	// Message is the whole error, with the value and what it must be.
	Message string `json:"message"`
}

// InvalidFields returns the errors of a validation, each with its field; none for nil.
func InvalidFields(err error) []InvalidField {
	if err == nil {
		return nil
	}
	var all []InvalidField
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			all = append(all, InvalidFields(one)...)
		}
		return all
	}
	if of, is := errors.AsType[*field.Error](err); is {
		return []InvalidField{{Field: of.Field, Message: of.Error()}}
	}
	return []InvalidField{{Message: err.Error()}}
}

// InvalidSpecError returns the errors as one; nil for none.
func InvalidSpecError(fields []InvalidField) error {
	if len(fields) == 0 {
		return nil
	}
	all := make([]error, len(fields))
	for i, f := range fields {
		all[i] = errors.New(f.Message)
	}
	return errors.Join(all...)
}

// withoutSpec are the stages that do the same whatever the spec has: they end or show what users began, or write one
// field that they own.
var withoutSpec = []StageName{
	StageUncordonNodes, StageIncludeTargets, StageStopMaintenance, StageMaintainZone, StagePauseOperators, StageResumeOperators,
	StageHoldLock, StageReleaseLock, StageChangeDenyList,
	StageUpdateStatus, // which decides nothing by an invalid spec
}

// NeedsSpec reports whether any of the stages decides by the spec.
func NeedsSpec(all []Stage) bool {
	others := func(s Stage) bool { return s.Name != StageUpdateStatus }
	return !slices.ContainsFunc(all, others) ||
		slices.ContainsFunc(all, func(s Stage) bool { return !slices.Contains(withoutSpec, s.Name) })
}
