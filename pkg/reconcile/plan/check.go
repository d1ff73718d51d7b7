package plan

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// CheckID identifies a safety question, whatever it is about. Together with the check's
// subject it identifies the check; see Check.Key.
type CheckID string

// Checks of the database as a whole.
const (
	CheckAudited                 CheckID = "audited"                   // the audit file of this machine can be continued
	CheckAvailable               CheckID = "available"                 // the database is available
	CheckOwnDatabase             CheckID = "own-database"              // the status document is of this cluster's database
	CheckStatusRecent            CheckID = "status-recent"             // the status document is recent
	CheckNotLocked               CheckID = "not-locked"                // no restore and no DR has locked the database
	CheckFewGenerations          CheckID = "few-generations"           // few active log generations
	CheckRecoveryOver            CheckID = "recovery-over"             // the last recovery is over
	CheckRecoveryAge             CheckID = "recovery-age"              // the last recovery is long enough ago
	CheckDataDistributionHealthy CheckID = "data-distribution-healthy" // data distribution is healthy
	CheckKeepsUp                 CheckID = "keeps-up"                  // lag and queues are within limits
	CheckFaultTolerant           CheckID = "fault-tolerant"            // the database is fully fault tolerant
	CheckToleratesLoss           CheckID = "tolerates-loss"            // the redundancy mode tolerates the loss of a fault domain
	CheckCopyStays               CheckID = "copy-stays"                // a copy of all data remains
	CheckLossNoticed             CheckID = "loss-noticed"              // the database shows every process that was stopped
)

// Checks of processes, process groups and their pods.
const (
	CheckExclusionBudget    CheckID = "exclusion-budget"      // enough processes of the class are up; the subject is the class
	CheckReportingBudget    CheckID = "reporting-budget"      // enough are up without those that stopped reporting; the subject is the class
	CheckDrained            CheckID = "drained"               // the process group holds no data; the subject is the group
	CheckDrainedFirst       CheckID = "drained-first"         // the process group is drained before its pod is removed
	CheckNothingMoved       CheckID = "nothing-moved"         // no data of the process group has been moved yet
	CheckNoData             CheckID = "no-data"               // the process group holds no data of the database
	CheckDataFits           CheckID = "data-fits"             // the remaining processes can hold the data
	CheckDataHasRoom        CheckID = "data-has-room"         // other processes have space for the group's data
	CheckCopyElsewhere      CheckID = "copy-elsewhere"        // the database needs nothing of a lost volume
	CheckKeepsVolume        CheckID = "keeps-volume"          // the process group keeps its volume
	CheckAllUp              CheckID = "all-up"                // all processes have been up for long enough
	CheckOthersUpLong       CheckID = "others-up-long"        // processes with data in other fault domains have been up for long enough
	CheckOtherDomainsUp     CheckID = "other-domains-up"      // all other fault domains are up
	CheckClassUp            CheckID = "class-up"              // the other process groups of the class are up; the subject is the class
	CheckNotIsolated        CheckID = "not-isolated"          // no user isolated the pod; the subject is the process group
	CheckOneFaultDomain     CheckID = "one-fault-domain"      // the pods are in one fault domain
	CheckOneFaultDomainDown CheckID = "one-fault-domain-down" // pods of at most one fault domain are unavailable
	CheckPodsSettled        CheckID = "pods-settled"          // no pod is starting or terminating
	CheckProcessesEnded     CheckID = "processes-ended"       // the processes whose exclusions would end have ended
	CheckProcessesNamed     CheckID = "processes-named"       // every incompatible process reports what it is
	CheckRestartsAlone      CheckID = "restarts-alone"        // a process may restart while others do not
	CheckCleanBounce        CheckID = "clean-bounce"          // the database can restart all processes at once
	CheckNodeCordoned       CheckID = "node-cordoned"         // the node takes no new pods; the subject is the node
	CheckSpecHolds          CheckID = "spec-holds"            // processes as the spec has them can form a database
	CheckStorageClasses     CheckID = "storage-classes"       // the storage classes of the first PVCs exist
	CheckFirstObjects       CheckID = "first-objects"         // the API server accepts the first objects of a cluster
	CheckReplaceable        CheckID = "replaceable"           // replace marks the process group for removal, now or later
	CheckSuccessorAccepted  CheckID = "successor-accepted"    // the API server accepts the objects of a successor; the subject is the class
	CheckRecreationFits     CheckID = "recreation-fits"       // the quotas have room for a recreated pod that is larger; the subject is the group
	CheckDetectorKnown      CheckID = "detector-known"        // the CronJob of the failure detector could be read
	CheckKept               CheckID = "kept"                  // the spec keeps the process group; the subject is the group
	CheckKeptExist          CheckID = "kept-exist"            // the process groups that the spec keeps exist
	CheckFewTaintedNodes    CheckID = "few-tainted-nodes"     // few enough nodes are tainted
	CheckTaintsKnown        CheckID = "taints-known"          // the taints of all nodes are known
)

// Checks of coordinators, regions and the configuration.
const (
	CheckNoCoordinator       CheckID = "no-coordinator"        // the process group is no coordinator
	CheckCoordinatorsCanMove CheckID = "coordinators-can-move" // coordinators can move to other process groups
	CheckCoordinatorsKnown   CheckID = "coordinators-known"    // the status document reports the coordinators
	CheckCoordinatorAway     CheckID = "coordinator-away"      // a coordinator that does not report is away for long enough
	CheckSameCoordinators    CheckID = "same-coordinators"     // key and status document name the same coordinators
	CheckConfigurationHolds  CheckID = "configuration-holds"   // the processes that report can hold the redundancy mode
	CheckEngineMigrates      CheckID = "engine-migrates"       // the database accepts another storage engine
	CheckNeverCreated        CheckID = "never-created"         // files prove that no database was ever created
	CheckDistributionHolds   CheckID = "distribution-holds"    // the desired fault domains are enough for coordinators and replicas
	CheckVersionAllowed      CheckID = "version-allowed"       // database and clients can use the version; the subject is the version
	CheckVersionFact         CheckID = "version-fact"          // a known fact about the change of version; the subject is the fact
	CheckClientsListed       CheckID = "clients-listed"        // the status document lists the clients
	CheckCertificatesSet     CheckID = "certificates-set"      // processes that have to listen with TLS have certificate and key
	CheckRegionsFull         CheckID = "regions-full"          // each region has a full copy of the data
	CheckRegionServes        CheckID = "region-serves"         // the region with the highest priority serves
	CheckStorageInRegions    CheckID = "storage-in-regions"    // each storage server is in one of the regions
	CheckRegionsAgree        CheckID = "regions-agree"         // all resources of the database have the same regions
	CheckRegionsReached      CheckID = "regions-reached"       // the database has the regions of the spec
	CheckRegionEligible      CheckID = "region-eligible"       // the region may become primary; the subject is its data center
	CheckRegionCaughtUp      CheckID = "region-caught-up"      // the second region lags little
	CheckResourcesKnown      CheckID = "resources-known"       // all resources of the database are known
	CheckConfiguresDatabase  CheckID = "configures-database"   // the spec lets passes configure the database
	CheckNoOtherMaintenance  CheckID = "no-other-maintenance"  // no other zone is under maintenance
)

// Checks of locks, operators, runs and plans.
const (
	CheckLockAllowed     CheckID = "lock-allowed"     // this control-plane instance can take the lock
	CheckLockOwnerNamed  CheckID = "lock-owner-named" // the lock's owner has a name
	CheckNotDenied       CheckID = "not-denied"       // this control-plane instance is not on the deny list
	CheckInstancesReady  CheckID = "instances-ready"  // all control-plane instances are ready for a common action; the subject is the action
	CheckTemplateAllowed CheckID = "template-allowed" // the restrictions of the run allow the pod templates
	CheckNotDeleted      CheckID = "not-deleted"      // neither the resource nor its namespace is being deleted
	CheckNoOperator      CheckID = "no-operator"      // no live operator manages the resource
	CheckClock           CheckID = "clock"            // the clock of this machine agrees with the API server's
	CheckNoOtherRun      CheckID = "no-other-run"     // no other run is active
	CheckPlanCurrent     CheckID = "plan-current"     // the cluster state is that of the plan
	CheckFieldKept       CheckID = "field-kept"       // the API server kept the field of the spec; the subject is the field
	CheckPermissions     CheckID = "permissions"      // the user may do what a pass needs
	CheckSpecValid       CheckID = "spec-valid"       // no pass refuses the spec
)

// Checks of backups and restores.
const (
	CheckOwnBackup          CheckID = "own-backup"           // the backup on the tag is this resource's; the subject is the tag
	CheckNoOtherBackupTo    CheckID = "no-other-backup-to"   // no other resource uses the destination
	CheckNoBackupTo         CheckID = "no-backup-to"         // no backup runs to the destination
	CheckWroteThere         CheckID = "wrote-there"          // this resource's backup wrote to the destination
	CheckBackupReached      CheckID = "backup-reached"       // the backup has reached the version
	CheckStaysRestorable    CheckID = "stays-restorable"     // the backup is restorable without what expires
	CheckBackupsAgree       CheckID = "backups-agree"        // the backups of a cluster agree whether agents pause
	CheckNotRestoredFrom    CheckID = "not-restored-from"    // no restore reads from the destination
	CheckNoOtherRestore     CheckID = "no-other-restore"     // no other restore into the database is active
	CheckOwnRestore         CheckID = "own-restore"          // the active restore was not started by another resource
	CheckRestoreTargetEmpty CheckID = "restore-target-empty" // the key ranges to restore hold no data
	CheckRestoreTime        CheckID = "restore-time"         // the requested time can be restored
	CheckRestoreAccepted    CheckID = "restore-accepted"     // the database accepts the restore
	CheckRestoreAbortable   CheckID = "restore-abortable"    // the restore can be aborted
	CheckRestoresKeepAgents CheckID = "restores-keep-agents" // every active restore keeps backup agents
)

// Checks of rules as such.
const (
	CheckAlways CheckID = "always"  // the rule always allows it
	CheckNever  CheckID = "never"   // the rule never allows it
	CheckAnyOf  CheckID = "any-of"  // one of several alternatives of a rule holds
	CheckNoRule CheckID = "no-rule" // no rule covers the case
)

// Key identifies a check within a decision: "exclusion-budget/storage".
func (c Check) Key() string {
	if c.Subject == "" {
		return string(c.ID)
	}
	return string(c.ID) + "/" + c.Subject
}

// ClockFacts are how the clock of the machine that runs a pass compares with that of the API server.
// Passes use the latter's time.
type ClockFacts struct {
	// Compared is false where there is no API server to compare with, as for a dump.
	Compared bool
	// Known is false while no answer of the API server had a time.
	Known bool
	// Ahead is by how much the clock of the machine is ahead; negative if it is behind.
	Ahead time.Duration
}

// MaxClockDifference is the difference from which on nothing is changed: a clock that is further off
// is no clock that anyone maintains, and programs beside this one write timestamps by it.
const MaxClockDifference = 30 * time.Second

// Check returns whether the clock of the machine agrees with the API server's.
func (c ClockFacts) Check() Check {
	check := Check{ID: CheckClock, Question: "does the clock of this machine agree with the API server's?", Gate: GateClock}
	switch off := c.Ahead.Abs(); {
	case !c.Compared:
		check.OK, check.Evidence = true, "there is no API server to compare with"
	case !c.Known:
		check.Evidence = "cannot determine the time of the API server: its answers have no Date"
	case off >= MaxClockDifference:
		check.Evidence = phrase.Duration(off) + " " + c.direction() + ", less than " + phrase.Duration(MaxClockDifference) + " required"
	default:
		check.OK, check.Evidence = true, "less than "+phrase.Duration(MaxClockDifference)+" of difference"
	}
	return check
}

func (c ClockFacts) direction() string {
	if c.Ahead < 0 {
		return "behind"
	}
	return "ahead"
}

// Warnings returns the warning, if there is one, for documents that have several.
func (c ClockFacts) Warnings() []string {
	if warning := c.Warning(); warning != "" {
		return []string{warning}
	}
	return nil
}

// Warning returns what a reader has to know of the clock of this machine; empty where it agrees.
func (c ClockFacts) Warning() string {
	switch check := c.Check(); {
	case check.OK:
		return ""
	case !c.Known:
		return check.Evidence + ": times and ages are those of this machine, and changes are refused (" + string(GateClock) + ")"
	}
	return "the clock of this machine is " + phrase.Duration(c.Ahead.Abs()) + " " + c.direction() +
		" of the API server's: times and ages are those of the API server, and changes are refused (" + string(GateClock) + ")"
}
