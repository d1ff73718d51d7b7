package cluster

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
)

// TestStagesMatchTheOperatorsRecordedDecisions compares internal decisions of stages, which cannot be tested
// from outside, with the operator's recorded decisions.
func TestStagesMatchTheOperatorsRecordedDecisions(t *testing.T) {
	opcases.Suite{Package: opcases.Stages, Comparisons: map[string]opcases.Comparison{
		"api_v1beta2/v1beta2.FoundationDBBackup.CheckReconciliation.jsonl.gz": compareBackupGenerations,

		"coordsel/coordinator.selectCandidates.jsonl.gz":                      compareCandidates,
		"internal_coordinator/locality.ChooseDistributedProcesses.jsonl.gz":   compareSpread,
		"internal_maintenance/maintenance.GetMaintenanceInformation.jsonl.gz": compareNotes,

		"internal_coordination/restarts.ShouldBeIgnoredBecauseMissing.jsonl.gz": compareMissingTooLong,
		"internal_restarts/restarts.GetFilterConditions.jsonl.gz":               compareMustRestart,

		"internal_buggify/buggify.FilterBlockedRemovals.jsonl.gz":                 compareBlockedRemovals,
		"internal_removals/removals.GetProcessGroupsToRemove.jsonl.gz":            compareNextRemovals,
		"internal_removals/removals.GetZonedRemovals.jsonl.gz":                    compareZonedRemovals,
		"internal_removals/removals.RemovalAllowed.jsonl.gz":                      compareRestBetweenRemovals,
		"internal_removals/removals.getAddressesToValidateBeforeRemoval.jsonl.gz": compareRemovalTargets,

		"pkg_fdbstatus/fdbstatus.CanSafelyChangeCoordinators.jsonl.gz":                 compareCoordinatorChecks,
		"pkg_fdbstatus/fdbstatus.CanSafelyExcludeProcessesWithRecoveryState.jsonl.gz":  compareExcludeChecks,
		"pkg_fdbstatus/fdbstatus.CanSafelyIncludeProcesses.jsonl.gz":                   compareIncludeChecks,
		"pkg_fdbstatus/fdbstatus.ConfigurationChangeAllowedWithMinimumUptime.jsonl.gz": compareConfigureChecks,
	}}.Run(t)
}
