package v1beta2

import (
	"fmt"
	"math"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// The defaults of backups. Source: the operator.
const (
	defaultAgentCount     = 2
	defaultSnapshotPeriod = 864000 * time.Second
	defaultBackupTag      = BackupTag("default")
	defaultBucket         = "fdb-backups"
)

// AgentCount is the number of agent pods. Default 2.
func (b *FoundationDBBackup) AgentCount() int { return ptr.Deref(b.Spec.AgentCount, defaultAgentCount) }

// SnapshotPeriod is the time one snapshot takes. Default 10 days.
func (b *FoundationDBBackup) SnapshotPeriod() time.Duration {
	if b.Spec.SnapshotPeriodSeconds == nil {
		return defaultSnapshotPeriod
	}
	return Seconds(int64(*b.Spec.SnapshotPeriodSeconds))
}

// Tag is the tag of the backup in the database. Default: default.
func (b *FoundationDBBackup) Tag() BackupTag { return ptr.Deref(b.Spec.Tag, defaultBackupTag) }

// BackupType is how changes are read for the backup. Default backup_agent.
func (b *FoundationDBBackup) BackupType() BackupType {
	return ptr.Deref(b.Spec.BackupType, BackupTypeAgent)
}

// BackupMode defines when the backup ends. Default continuous.
func (b *FoundationDBBackup) BackupMode() BackupMode {
	return ptr.Deref(b.Spec.BackupMode, BackupModeContinuous)
}

// DeletionPolicy is what happens to the backup when the resource is deleted.
// Default noop.
func (b *FoundationDBBackup) DeletionPolicy() BackupDeletionPolicy {
	return ptr.Deref(b.Spec.DeletionPolicy, BackupDeletionPolicyNoop)
}

// ImageType is the kind of image the agents run. Default split, as in the
// CRD; the operator's own code, which never reads a resource without the
// field, defaults to unified.
func (b *FoundationDBBackup) ImageType() ImageType {
	return ptr.Deref(b.Spec.ImageType, ImageTypeSplit)
}

// AllowTagOverride reports whether the pod template may choose tags. Default
// false.
func (b *FoundationDBBackup) AllowTagOverride() bool {
	return ptr.Deref(b.Spec.AllowTagOverride, false)
}

// IsManaged reports whether the backup itself is managed, and not only the
// agents.
func (b *FoundationDBBackup) IsManaged() bool { return b.BackupType() != BackupTypeUnmanaged }

// ShouldRun reports whether the backup should be started: unless it should be
// stopped, or was to end after its snapshot and has one.
func (b *FoundationDBBackup) ShouldRun() bool {
	restorable := b.Status.BackupDetails != nil && b.Status.BackupDetails.Restorable
	if b.BackupMode() == BackupModeOneTime && restorable {
		return false
	}
	return b.Spec.BackupState != BackupStateStopped
}

// ShouldBePaused reports whether the agents should be paused.
func (b *FoundationDBBackup) ShouldBePaused() bool { return b.Spec.BackupState == BackupStatePaused }

// BucketOrDefault is the bucket. Default fdb-backups.
func (s BlobStoreConfiguration) BucketOrDefault() string {
	if s.Bucket != "" {
		return s.Bucket
	}
	return defaultBucket
}

// Validate returns an error unless the spec of the backup is valid. The error
// has a line per invalid field, with its value and the fix.
func (b *FoundationDBBackup) Validate() error {
	spec := field.NewPath("spec")
	errs := checkSupported(spec.Child("version"), b.Spec.Version)
	errs = append(errs, required(spec.Child("clusterName"), b.Spec.ClusterName, "the FoundationDBCluster to back up")...)
	errs = append(errs, b.checkChoices(spec)...)
	errs = append(errs, notNegative(spec.Child("agentCount"), b.AgentCount())...)
	errs = append(errs, b.Spec.CustomParameters.check(spec.Child("customParameters"),
		"locality-zoneid", "locality-machineid", "locality-dcid")...)
	if b.IsManaged() {
		errs = append(errs, b.Spec.BlobStoreConfiguration.check(spec.Child("blobStoreConfiguration"))...)
	}
	if !b.AllowTagOverride() {
		settings := ProcessSettings{PodTemplate: b.Spec.PodTemplateSpec}
		errs = append(errs, settings.checkImages(spec.Child("podTemplateSpec", "spec"))...)
	}
	return join(errs)
}

func (b *FoundationDBBackup) checkChoices(spec *field.Path) field.ErrorList {
	errs := oneOf(spec.Child("backupState"), b.Spec.BackupState, "", BackupStateRunning, BackupStateStopped, BackupStatePaused)
	errs = append(errs, oneOf(spec.Child("backupType"), b.BackupType(), BackupTypeAgent, BackupTypePartitionedLog, BackupTypeUnmanaged)...)
	errs = append(errs, oneOf(spec.Child("backupMode"), b.BackupMode(), BackupModeContinuous, BackupModeOneTime)...)
	errs = append(errs, oneOf(spec.Child("deletionPolicy"), b.DeletionPolicy(),
		BackupDeletionPolicyNoop, BackupDeletionPolicyStop, BackupDeletionPolicyCleanup)...)
	errs = append(errs, b.checkSnapshotPeriod(spec.Child("snapshotPeriodSeconds"))...)
	return append(errs, oneOf(spec.Child("imageType"), b.ImageType(), ImageTypeSplit, ImageTypeUnified)...)
}

// checkSnapshotPeriod rejects numbers that fdbbackup would truncate to 32 bits.
func (b *FoundationDBBackup) checkSnapshotPeriod(path *field.Path) field.ErrorList {
	if period := b.Spec.SnapshotPeriodSeconds; period != nil && int64(*period) > math.MaxInt32 {
		return field.ErrorList{field.Invalid(path, *period, fmt.Sprintf("must be at most %d", math.MaxInt32))}
	}
	return nil
}

// Validate returns an error unless the spec of the restore is valid. The
// error has a line per invalid field, with its value and the fix.
func (r *FoundationDBRestore) Validate() error {
	spec := field.NewPath("spec")
	errs := required(spec.Child("destinationClusterName"), r.Spec.DestinationClusterName, "the FoundationDBCluster to restore into")
	errs = append(errs, r.Spec.BlobStoreConfiguration.check(spec.Child("blobStoreConfiguration"))...)
	errs = append(errs, r.Spec.CustomParameters.check(spec.Child("customParameters"))...)
	for i, keys := range r.Spec.KeyRanges {
		at := spec.Child("keyRanges").Index(i)
		errs = append(errs, required(at.Child("start"), keys.Start, "the first key")...)
		errs = append(errs, required(at.Child("end"), keys.End, "the key after the last one")...)
	}
	return join(errs)
}

// check requires a destination although the CRD calls it optional: no backup
// or restore works without one.
func (s *BlobStoreConfiguration) check(path *field.Path) field.ErrorList {
	if s == nil {
		return field.ErrorList{field.Required(path, "the blob store of the backup")}
	}
	if _, host, found := strings.Cut(s.AccountName, "@"); found && host != "" {
		return nil
	}
	if s.AccountName == "" {
		return field.ErrorList{field.Required(path.Child("accountName"), "must be key@host[:port]")}
	}
	return field.ErrorList{field.Invalid(path.Child("accountName"), withoutSecret(s.AccountName), "must be key@host[:port], without a scheme; the bucket has a field of its own")}
}

// withoutSecret returns the name of an account without what follows a colon, which is its secret, unless the colon is
// that of a scheme.
func withoutSecret(account string) string {
	scheme, rest := "", account
	for _, s := range []string{"http://", "https://"} {
		if after, found := strings.CutPrefix(account, s); found {
			scheme, rest = s, after
		}
	}
	key, _, found := strings.Cut(rest, ":")
	if found {
		return scheme + key + ":(hidden)"
	}
	return scheme + key
}

func required(path *field.Path, text, what string) field.ErrorList {
	if text == "" {
		return field.ErrorList{field.Required(path, what)}
	}
	return nil
}
