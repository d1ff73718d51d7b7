package plan

import "time"

// HoldCode identifies why a stage holds. Text for users is rendered from the hold.
type HoldCode string

// The reasons of holds.
const (
	HoldAddressesUnknown         HoldCode = "addresses-unknown"          // the database does not report the addresses of processes
	HoldAdmissionRefused         HoldCode = "admission-refused"          // the API server does not accept an object, and time does not help
	HoldAgentsNotOwned           HoldCode = "agents-not-owned"           // a Deployment of that name belongs to something else
	HoldAgentsStarting           HoldCode = "agents-starting"            // backup agents are not ready yet
	HoldAnnotationInvalid        HoldCode = "annotation-invalid"         // an annotation of the resource or of a pod has an invalid value
	HoldBackupDeletionBlocked    HoldCode = "backup-deletion-blocked"    // the resource stays because its backup may still run
	HoldBackupEnding             HoldCode = "backup-ending"              // the backup has not ended yet
	HoldBackupStateRefused       HoldCode = "backup-state-refused"       // the backup state cannot be changed this way
	HoldBackupStateUnknown       HoldCode = "backup-state-unknown"       // cannot determine whether the backup runs
	HoldBeingDeleted             HoldCode = "being-deleted"              // the resource or its namespace is being deleted
	HoldBudgetClosed             HoldCode = "budget-closed"              // the PodDisruptionBudget allows no eviction for now
	HoldBudgetConflict           HoldCode = "budget-conflict"            // another PodDisruptionBudget selects the same pods
	HoldBudgetsUnknown           HoldCode = "budgets-unknown"            // the PodDisruptionBudgets could not be read
	HoldCheckRefused             HoldCode = "check-refused"              // a safety check refused; see the checks of the decision
	HoldClientsIncompatible      HoldCode = "clients-incompatible"       // clients cannot use the new version
	HoldClientsUnknown           HoldCode = "clients-unknown"            // cannot determine which clients are connected
	HoldClusterFileFirst         HoldCode = "cluster-file-first"         // ConfigMap and pods need the new cluster file first
	HoldConfigMapMissing         HoldCode = "config-map-missing"         // there is no ConfigMap for pods to mount
	HoldConfigurationUnknown     HoldCode = "configuration-unknown"      // the database does not report its configuration
	HoldConnectionStringUnproven HoldCode = "connection-string-unproven" // no connection string is proven to be in force
	HoldCoordinatorNames         HoldCode = "coordinator-names"          // coordinators are still known by the name of a service
	HoldCoordinatorsFirst        HoldCode = "coordinators-first"         // coordinators move before their processes are excluded
	HoldCoordinatorsIncomplete   HoldCode = "coordinators-incomplete"    // fewer coordinators than desired are the best choice for now
	HoldDatabaseLost             HoldCode = "database-lost"              // the database that the status describes cannot be found
	HoldDatabaseUnavailable      HoldCode = "database-unavailable"       // the database is unavailable or does not answer
	HoldDeletionModeNone         HoldCode = "deletion-mode-none"         // automationOptions.deletionMode is None
	HoldDenyListUnknown          HoldCode = "deny-list-unknown"          // the deny list could not be read
	HoldDetectorNotOwned         HoldCode = "detector-not-owned"         // a CronJob of that name belongs to something else
	HoldDetectorTerminating      HoldCode = "detector-terminating"       // the former CronJob is being deleted
	HoldDetectorUnknown          HoldCode = "detector-unknown"           // the CronJob could not be read
	HoldDistributionRefused      HoldCode = "distribution-refused"       // the distribution has too few fault domains
	HoldEarlierRemoval           HoldCode = "earlier-removal"            // an earlier removal is not finished
	HoldEvictionRefused          HoldCode = "eviction-refused"           // a disruption budget or a webhook allows no eviction for now
	HoldEvictionsRemain          HoldCode = "evictions-remain"           // pods remain on the nodes
	HoldExclusionBudget          HoldCode = "exclusion-budget"           // no further exclusion is allowed now
	HoldExclusionsKept           HoldCode = "exclusions-kept"            // these exclusions are kept
	HoldExclusionsUnread         HoldCode = "exclusions-unread"          // the exclusions in force could not be read
	HoldFieldsDropped            HoldCode = "fields-dropped"             // the API server dropped fields of the spec
	HoldImageTypeDiffers         HoldCode = "image-type-differs"         // pods are not of the image type of the spec
	HoldImageMissing             HoldCode = "image-missing"              // no image is set
	HoldIncompatibleProcesses    HoldCode = "incompatible-processes"     // incompatible processes are still trying to join
	HoldKeptBySpec               HoldCode = "kept-by-spec"               // the spec keeps the process groups from being replaced
	HoldKeptDiffer               HoldCode = "kept-differ"                // process groups differ from the spec, and the spec keeps them
	HoldLeftToOtherInstances     HoldCode = "left-to-other-instances"    // other control-plane instances are responsible
	HoldListenersChanging        HoldCode = "listeners-changing"         // listeners are changing
	HoldLockUnread               HoldCode = "lock-unread"                // the lock could not be read
	HoldLocksDisabled            HoldCode = "locks-disabled"             // locks are not used here
	HoldMorePodsFollow           HoldCode = "more-pods-follow"           // deleted pods are recreated by the next pass, and more follow
	HoldNeverExcluded            HoldCode = "never-excluded"             // processes of this class are never excluded
	HoldNoAddress                HoldCode = "no-address"                 // a process group never had an address to exclude
	HoldNoBetterCoordinators     HoldCode = "no-better-coordinators"     // no better coordinators can be chosen
	HoldNoChoice                 HoldCode = "no-choice"                  // no choice is possible among the process groups
	HoldNoCoordinators           HoldCode = "no-coordinators"            // coordinators cannot be chosen yet
	HoldNoDatabase               HoldCode = "no-database"                // there is no database yet
	HoldNodesUnknown             HoldCode = "nodes-unknown"              // the nodes could not be read
	HoldNotOwnBackup             HoldCode = "not-own-backup"             // the backup on the tag belongs to something else
	HoldNotReconciled            HoldCode = "not-reconciled"             // other stages have something to do
	HoldNotReporting             HoldCode = "not-reporting"              // processes do not report
	HoldNotRestorableYet         HoldCode = "not-restorable-yet"         // the backup is not restorable yet
	HoldNotesUnread              HoldCode = "notes-unread"               // the maintenance notes could not be read
	HoldObjectsStuck             HoldCode = "objects-stuck"              // objects of removed process groups are kept, and time does not end that
	HoldOneFaultDomainAtATime    HoldCode = "one-fault-domain-at-a-time" // one fault domain at a time
	HoldOtherInstancesNotReady   HoldCode = "other-instances-not-ready"  // other control-plane instances are not ready
	HoldOtherRestoreActive       HoldCode = "other-restore-active"       // another restore is active
	HoldPodConfigStale           HoldCode = "pod-config-stale"           // pods have not loaded the configuration yet
	HoldPodEndedEarly            HoldCode = "pod-ended-early"            // a pod ended soon after its creation
	HoldPodsPending              HoldCode = "pods-pending"               // pods are pending
	HoldPodsRecreated            HoldCode = "pods-recreated"             // deleted pods are recreated by the next pass
	HoldPodsUnsettled            HoldCode = "pods-unsettled"             // pods are starting or terminating
	HoldProcessesStarting        HoldCode = "processes-starting"         // processes are starting
	HoldProcessesUnknown         HoldCode = "processes-unknown"          // cannot determine which processes these are
	HoldQuotaExhausted           HoldCode = "quota-exhausted"            // a ResourceQuota has no room for an object
	HoldRegionNotFull            HoldCode = "region-not-full"            // a region has no full copy yet
	HoldRegionSteps              HoldCode = "region-steps"               // further steps between regions follow
	HoldRemovalInSpec            HoldCode = "removal-in-spec"            // the spec lists the process groups for removal
	HoldRemovalInterval          HoldCode = "removal-interval"           // the interval between removals is not over
	HoldRemovalsPending          HoldCode = "removals-pending"           // removals are not finished
	HoldReplacementBudget        HoldCode = "replacement-budget"         // the number of concurrent replacements is limited
	HoldReplacementsRemain       HoldCode = "replacements-remain"        // further replacements follow
	HoldRestartsKeptBack         HoldCode = "restarts-kept-back"         // process groups are kept from restarting
	HoldRestartsPending          HoldCode = "restarts-pending"           // further restarts follow
	HoldRestoreAborted           HoldCode = "restore-aborted"            // the restore was aborted
	HoldRestoreLost              HoldCode = "restore-lost"               // the database does not know the restore
	HoldRestoreRunning           HoldCode = "restore-running"            // the restore is running
	HoldRestoreStateUnknown      HoldCode = "restore-state-unknown"      // cannot determine whether a restore runs
	HoldRestoreTargetOccupied    HoldCode = "restore-target-occupied"    // the key ranges to restore hold data
	HoldRestoreTargetUnknown     HoldCode = "restore-target-unknown"     // cannot determine whether the key ranges hold data
	HoldRestoreTimeRefused       HoldCode = "restore-time-refused"       // the requested time cannot be restored
	HoldRestoreTimeUnknown       HoldCode = "restore-time-unknown"       // cannot determine which version is of the requested time
	HoldServiceAddressMissing    HoldCode = "service-address-missing"    // a service has no address yet
	HoldSharedListsUnread        HoldCode = "shared-lists-unread"        // the lists of control-plane instances could not be read
	HoldSpecContradiction        HoldCode = "spec-contradiction"         // the spec contradicts itself
	HoldSpecsFrozen              HoldCode = "specs-frozen"               // pods keep their spec for now
	HoldStoreUnknown             HoldCode = "store-unknown"              // the store could not be read
	HoldTemplateForbidden        HoldCode = "template-forbidden"         // a restriction of the run forbids a value of a pod template
	HoldTLSConversionActive      HoldCode = "tls-conversion-active"      // a conversion to or from TLS is active
	HoldTagChanged               HoldCode = "tag-changed"                // spec.tag changed, which a backup cannot follow
	HoldTooFewPods               HoldCode = "too-few-pods"               // too few pods are running
	HoldTooLateToKeep            HoldCode = "too-late-to-keep"           // the process groups cannot be kept any more
	HoldUpgradeActive            HoldCode = "upgrade-active"             // an upgrade is active
	HoldVersionUnsafe            HoldCode = "version-unsafe"             // a known fact about the change of version forbids it
	HoldVolumeGoing              HoldCode = "volume-going"               // the volume of a pod would end with it
	HoldVolumeLost               HoldCode = "volume-lost"                // a PVC with data no longer exists, and nothing proves another copy
	HoldVersionNotSeen           HoldCode = "version-not-seen"           // the running version has not been read yet
)

// Text returns the reason and what it rests on as one clause.
func (h Hold) Text() string {
	if h.Detail == "" {
		return h.Reason
	}
	return h.Reason + ": " + h.Detail
}

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
