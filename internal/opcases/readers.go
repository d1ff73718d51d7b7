package opcases

// The packages that compare.
const (
	Exported     = "test/operatorcases"
	Stages       = "pkg/reconcile/stages/cluster"
	Replacements = "pkg/reconcile/stages/replacements"
)

// Readers names for each file the package whose test compares it. A file of the folder that
// is not in here fails the test of every package, so that no recorded fact is left out.
var Readers = map[string]string{
	"operator-hashes.jsonl.gz":   Exported,
	"backup-deployment.jsonl.gz": Exported,

	"versions/version.gates.jsonl.gz": Exported,
	"versions/version.pairs.jsonl.gz": Exported,

	"api_v1beta2/v1beta2.DatabaseConfiguration.GetConfigurationString.jsonl.gz":      Exported,
	"api_v1beta2/v1beta2.DatabaseConfiguration.GetNextConfigurationChange.jsonl.gz":  Exported,
	"api_v1beta2/v1beta2.FoundationDBBackup.BackupURL.jsonl.gz":                      Exported,
	"api_v1beta2/v1beta2.FoundationDBBackup.CheckReconciliation.jsonl.gz":            Stages,
	"api_v1beta2/v1beta2.FoundationDBCluster.CheckReconciliation.jsonl.gz":           Exported,
	"api_v1beta2/v1beta2.FoundationDBCluster.Validate.jsonl.gz":                      Exported,
	"api_v1beta2/v1beta2.FoundationDBRestore.BackupURL.jsonl.gz":                     Exported,
	"api_v1beta2/v1beta2.ParseConnectionString.jsonl.gz":                             Exported,
	"api_v1beta2/v1beta2.ProcessGroupStatus.AllAddressesExcluded.jsonl.gz":           Exported,
	"api_v1beta2/v1beta2.ProcessGroupStatus.NeedsReplacementWithConditions.jsonl.gz": Replacements,

	"c_replace/replacements.ReplaceFailedProcessGroups.jsonl.gz":                   Replacements,
	"coordsel/coordinator.selectCandidates.jsonl.gz":                               Stages,
	"internal_buggify/buggify.FilterBlockedRemovals.jsonl.gz":                      Stages,
	"internal_coordination/coordination.AllProcessesReady.jsonl.gz":                Exported,
	"internal_coordination/coordination.AllProcessesReadyForExclusion.jsonl.gz":    Exported,
	"internal_coordination/restarts.ShouldBeIgnoredBecauseMissing.jsonl.gz":        Stages,
	"internal_coordinator/locality.CheckCoordinatorValidity.jsonl.gz":              Exported,
	"internal_coordinator/locality.ChooseDistributedProcesses.jsonl.gz":            Stages,
	"internal_maintenance/maintenance.GetMaintenanceInformation.jsonl.gz":          Stages,
	"internal_removals/removals.GetProcessGroupsToRemove.jsonl.gz":                 Stages,
	"internal_removals/removals.GetZonedRemovals.jsonl.gz":                         Stages,
	"internal_removals/removals.RemovalAllowed.jsonl.gz":                           Stages,
	"internal_removals/removals.getAddressesToValidateBeforeRemoval.jsonl.gz":      Stages,
	"internal_replacements/replacements.nodeTaintReplacementsAllowed.jsonl.gz":     Replacements,
	"internal_replacements/replacements.processGroupNeedsRemovalForPVC.jsonl.gz":   Replacements,
	"internal_replacements/replacements.processGroupNeedsRemovalForPod.jsonl.gz":   Replacements,
	"internal_restarts/restarts.GetFilterConditions.jsonl.gz":                      Stages,
	"pkg_fdbstatus/fdbstatus.CanSafelyBounceProcesses.jsonl.gz":                    Exported,
	"pkg_fdbstatus/fdbstatus.CanSafelyChangeCoordinators.jsonl.gz":                 Stages,
	"pkg_fdbstatus/fdbstatus.CanSafelyExcludeProcessesWithRecoveryState.jsonl.gz":  Stages,
	"pkg_fdbstatus/fdbstatus.CanSafelyIncludeProcesses.jsonl.gz":                   Stages,
	"pkg_fdbstatus/fdbstatus.CheckQosStatus.jsonl.gz":                              Exported,
	"pkg_fdbstatus/fdbstatus.ConfigurationChangeAllowedWithMinimumUptime.jsonl.gz": Stages,
	"pkg_fdbstatus/fdbstatus.DefaultSafetyChecks.jsonl.gz":                         Exported,
	"pkg_fdbstatus/fdbstatus.DoFaultDomainChecksOnStatus.jsonl.gz":                 Exported,
	"pkg_fdbstatus/fdbstatus.DoLogServerFaultDomainCheckOnStatus.jsonl.gz":         Exported,
	"pkg_fdbstatus/fdbstatus.DoStorageServerFaultDomainCheckOnStatus.jsonl.gz":     Exported,
	"pkg_fdbstatus/fdbstatus.GetCoordinatorsFromStatus.jsonl.gz":                   Exported,
	"pkg_fdbstatus/fdbstatus.GetExclusions.jsonl.gz":                               Exported,
	"pkg_fdbstatus/fdbstatus.GetMinimumUptimeAndAddressMap.jsonl.gz":               Exported,
	"pkg_fdbstatus/fdbstatus.HasDesiredFaultToleranceFromStatus.jsonl.gz":          Exported,
	"pkg_fdbstatus/fdbstatus.getRemainingAndExcludedFromStatus.jsonl.gz":           Exported,
}

// Unread maps files to the reason why no test compares them. There is none.
var Unread = map[string]string{}
