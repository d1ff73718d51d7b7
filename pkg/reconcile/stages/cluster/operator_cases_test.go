package cluster

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// TestStagesDecideAsTheOperatorsRelease compares internal decisions of stages, which cannot be tested
// from outside, with the operator's recorded decisions.
func TestStagesDecideAsTheOperatorsRelease(t *testing.T) {
	opcases.Suite{Package: opcases.Stages, Comparisons: map[string]opcases.Comparison{
		"api_v1beta2/v1beta2.FoundationDBBackup.CheckReconciliation.jsonl.gz":            compareBackupGenerations,
		"api_v1beta2/v1beta2.ProcessGroupStatus.NeedsReplacementWithConditions.jsonl.gz": compareFailedTooLong,

		"c_replace/replacements.ReplaceFailedProcessGroups.jsonl.gz":                 compareReplaceFailed,
		"internal_replacements/replacements.nodeTaintReplacementsAllowed.jsonl.gz":   compareTaintSpread,
		"internal_replacements/replacements.processGroupNeedsRemovalForPVC.jsonl.gz": compareClaimDiffers,
		"internal_replacements/replacements.processGroupNeedsRemovalForPod.jsonl.gz": comparePodDiffers,

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

// recordedInput is what most decisions were recorded with.
type recordedInput struct {
	Now          opcases.Seconds              `json:"now"`
	Cluster      *v1beta2.FoundationDBCluster `json:"cluster"`
	ProcessGroup *v1beta2.ProcessGroupStatus  `json:"processGroup"`
	Status       opcases.Document             `json:"status"`
}

func (in *recordedInput) snapshot(status *fdb.Status) plan.Snapshot {
	now := in.Now.Time()
	if in.Cluster == nil {
		in.Cluster = &v1beta2.FoundationDBCluster{}
	}
	s := plan.Snapshot{Now: now, Cluster: in.Cluster}
	if status != nil {
		s.Database = plan.DatabaseFacts{Status: status, AsOf: now}
	}
	return s
}

// recordedVerdict is the outcome of a function that returns an error or a truth value.
type recordedVerdict struct {
	Err opcases.Failure `json:"err"`
	R0  *bool           `json:"r0"`
}

func (v recordedVerdict) outcome() opcases.Outcome {
	return opcases.Verdict(v.Err == "" && (v.R0 == nil || *v.R0))
}
