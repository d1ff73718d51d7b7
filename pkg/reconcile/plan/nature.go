package plan

import "time"

// Nature is what ends a wait, which decides in which words it is reported.
type Nature string

// The natures.
const (
	// Ordinary waits end with time, or with what the cluster, the database and passes do anyway.
	Ordinary Nature = "ordinary"
	// Approval waits end when the user approves an action.
	Approval Nature = "approval"
	// Problem is what a user should look at: it requires manual intervention, or something is
	// unavailable, refused or unknown that should not be.
	Problem Nature = "problem"
)

// ordinaryHolds are the reasons that end by themselves in the normal course of a change. All others
// are problems; HoldCheckRefused is what the refused checks are.
var ordinaryHolds = map[HoldCode]bool{
	HoldAddressesUnknown: true, HoldAgentsStarting: true, HoldBackupEnding: true, HoldBudgetClosed: true,
	HoldClientsUnknown: true, HoldClusterFileFirst: true, HoldConfigMapMissing: true, HoldConfigurationUnknown: true,
	HoldCoordinatorNames: true, HoldCoordinatorsFirst: true, HoldDetectorTerminating: true, HoldEarlierRemoval: true,
	HoldEvictionRefused: true, HoldEvictionsRemain: true, HoldExclusionBudget: true, HoldIncompatibleProcesses: true, HoldLeftToOtherInstances: true,
	HoldListenersChanging: true, HoldMorePodsFollow: true, HoldNoDatabase: true, HoldNotReconciled: true,
	HoldNotReporting: true, HoldNotRestorableYet: true, HoldOneFaultDomainAtATime: true, HoldOtherInstancesNotReady: true,
	HoldOtherRestoreActive: true, HoldPodConfigStale: true, HoldPodsPending: true, HoldPodsRecreated: true,
	HoldPodsUnsettled: true, HoldProcessesStarting: true, HoldRegionNotFull: true, HoldRegionSteps: true,
	HoldRemovalInterval: true, HoldRemovalsPending: true, HoldReplacementBudget: true, HoldReplacementsRemain: true,
	HoldRestartsPending: true, HoldRestoreRunning: true, HoldServiceAddressMissing: true, HoldSpecsFrozen: true,
	HoldTLSConversionActive: true, HoldTooFewPods: true, HoldUpgradeActive: true, HoldVersionNotSeen: true,

	HoldAdmissionRefused: false, HoldQuotaExhausted: false,
	HoldAgentsNotOwned: false, HoldAnnotationInvalid: false, HoldBackupDeletionBlocked: false, HoldBackupStateRefused: false,
	HoldBackupStateUnknown: false, HoldBudgetConflict: false, HoldBudgetsUnknown: false, HoldClientsIncompatible: false,
	HoldConnectionStringUnproven: false, HoldCoordinatorsIncomplete: false, HoldDatabaseLost: false, HoldDatabaseUnavailable: false,
	HoldDeletionModeNone: false, HoldDenyListUnknown: false, HoldDetectorNotOwned: false, HoldDetectorUnknown: false,
	HoldDistributionRefused: false, HoldExclusionsKept: false, HoldExclusionsUnread: false, HoldFieldsDropped: false,
	HoldImageMissing: false, HoldImageTypeDiffers: false, HoldKeptBySpec: false, HoldKeptDiffer: false,
	HoldLockUnread: false, HoldLocksDisabled: false, HoldNeverExcluded: false, HoldNoAddress: false,
	HoldNoBetterCoordinators: false, HoldNoChoice: false, HoldNoCoordinators: false, HoldNodesUnknown: false,
	HoldNotOwnBackup: false, HoldNotesUnread: false, HoldObjectsStuck: false, HoldPodEndedEarly: false, HoldProcessesUnknown: false,
	HoldRemovalInSpec: false, HoldRestartsKeptBack: false, HoldRestoreAborted: false, HoldRestoreLost: false,
	HoldRestoreStateUnknown: false, HoldRestoreTargetOccupied: false, HoldRestoreTargetUnknown: false, HoldRestoreTimeRefused: false,
	HoldRestoreTimeUnknown: false, HoldSharedListsUnread: false,
	HoldSpecContradiction: false, HoldStoreUnknown: false, HoldTagChanged: false, HoldTemplateForbidden: false, HoldTooLateToKeep: false,
	HoldVersionUnsafe: false, HoldVolumeGoing: false, HoldVolumeLost: false, HoldBeingDeleted: false,
}

// ordinaryGates are the safety questions whose answer becomes yes in the normal course of a change:
// data has to move, a recovery has to be old enough, another run or another zone has to finish.
var ordinaryGates = map[Gate]bool{
	GateBudget: true, GateExcluded: true, GateReplicas: true, GateDD: true, GateGens: true, GateLease: true,
	GateLock: true, GateMaintain: true, GateQoS: true, GateRecovery: true, GateSync: true, GateUptime: true,

	GateAdmission: false, GateAudit: false, GateAvailable: false, GateBackup: false, GateClock: false, GateConfig: false, GateCoord: false, GateDBLock: false, GateDeny: false,
	GateLockOwner: false, GateOperator: false, GatePlan: false, GateRestore: false, GateDeletion: false,
}

// Nature returns what ends the decision's hold; without a hold it is Ordinary.
func (d Decision) Nature() Nature {
	switch {
	case d.Hold == nil:
		return Ordinary
	case d.Hold.Manual:
		return Problem
	case d.Hold.Code != HoldCheckRefused:
		if ordinaryHolds[d.Hold.Code] {
			return Ordinary
		}
		return Problem
	}
	for _, c := range d.Checks {
		if c.Nature() == Problem {
			return Problem
		}
	}
	return Ordinary
}

// Nature returns whether a refused check is passed later by itself. One without a gate is Ordinary:
// its stage decides whether it needs manual intervention. So is one that passed.
func (c Check) Nature() Nature {
	if c.OK || c.Gate == "" || ordinaryGates[c.Gate] {
		return Ordinary
	}
	return Problem
}

// Left returns how long after the observation the hold ends at the earliest, where it ends by time
// alone; 0 otherwise: RetryAfter then only is when to read again.
func (d Decision) Left() time.Duration {
	switch {
	case d.Hold == nil:
		return 0
	case d.Hold.Code == HoldRemovalInterval:
		return d.Hold.RetryAfter
	case d.Hold.Code != HoldCheckRefused && d.Hold.Code != HoldExclusionBudget:
		return 0
	}
	var longest time.Duration
	for _, c := range d.Checks {
		if !c.OK && c.Left == 0 {
			return 0
		}
		if !c.OK {
			longest = max(longest, c.Left)
		}
	}
	return longest
}
