// Package operatorcases compares this program with what the operator's release decided.
package operatorcases

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
)

func TestDecisionsMatchTheOperatorsRelease(t *testing.T) {
	opcases.Suite{Package: opcases.Exported, Comparisons: map[string]opcases.Comparison{
		"operator-hashes.jsonl.gz":        compareObjects,
		"backup-deployment.jsonl.gz":      compareDeployment,
		"versions/version.gates.jsonl.gz": compareGates,
		"versions/version.pairs.jsonl.gz": compareVersionPairs,
		"api_v1beta2/v1beta2.DatabaseConfiguration.GetConfigurationString.jsonl.gz":     compareConfigureText,
		"api_v1beta2/v1beta2.DatabaseConfiguration.GetNextConfigurationChange.jsonl.gz": compareNextConfiguration,
		"api_v1beta2/v1beta2.FoundationDBBackup.BackupURL.jsonl.gz":                     compareBackupURL,
		"api_v1beta2/v1beta2.FoundationDBCluster.CheckReconciliation.jsonl.gz":          compareReconciliation,
		"api_v1beta2/v1beta2.FoundationDBCluster.Validate.jsonl.gz":                     compareValidation,
		"api_v1beta2/v1beta2.FoundationDBRestore.BackupURL.jsonl.gz":                    compareRestoreURL,
		"api_v1beta2/v1beta2.ParseConnectionString.jsonl.gz":                            compareConnectionString,
		"api_v1beta2/v1beta2.ProcessGroupStatus.AllAddressesExcluded.jsonl.gz":          compareAddressesExcluded,
		"internal_coordination/coordination.AllProcessesReady.jsonl.gz":                 compareReadyForAll,
		"internal_coordination/coordination.AllProcessesReadyForExclusion.jsonl.gz":     compareReadyForExclusion,
		"internal_coordinator/locality.CheckCoordinatorValidity.jsonl.gz":               compareCoordinatorValidity,
		"pkg_fdbstatus/fdbstatus.CanSafelyBounceProcesses.jsonl.gz":                     compareBounce,
		"pkg_fdbstatus/fdbstatus.CheckQosStatus.jsonl.gz":                               compareLoad,
		"pkg_fdbstatus/fdbstatus.DefaultSafetyChecks.jsonl.gz":                          compareDefaultChecks,
		"pkg_fdbstatus/fdbstatus.DoFaultDomainChecksOnStatus.jsonl.gz":                  compareFaultDomains,
		"pkg_fdbstatus/fdbstatus.DoLogServerFaultDomainCheckOnStatus.jsonl.gz":          compareLogFaultDomains,
		"pkg_fdbstatus/fdbstatus.DoStorageServerFaultDomainCheckOnStatus.jsonl.gz":      compareStorageFaultDomains,
		"pkg_fdbstatus/fdbstatus.GetCoordinatorsFromStatus.jsonl.gz":                    compareCoordinatorsOf,
		"pkg_fdbstatus/fdbstatus.GetExclusions.jsonl.gz":                                compareExclusions,
		"pkg_fdbstatus/fdbstatus.GetMinimumUptimeAndAddressMap.jsonl.gz":                compareUptime,
		"pkg_fdbstatus/fdbstatus.HasDesiredFaultToleranceFromStatus.jsonl.gz":           compareFaultTolerance,
		"pkg_fdbstatus/fdbstatus.getRemainingAndExcludedFromStatus.jsonl.gz":            compareDrained,
	}}.Run(t)
}
