package backup

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// Expiry is which part of a backup to delete.
type Expiry struct {
	// Before is the first version to keep; nil to use OlderThan.
	Before *int64
	// OlderThan keeps all that is needed to restore any version of this last time.
	OlderThan time.Duration
	// Force deletes even if nothing can be restored afterwards.
	Force bool
}

// ExpireBackup returns a stage that deletes old data of a backup, if it is proven to be that
// backup's alone. The remaining data can be restored, unless a user forces the deletion.
func ExpireBackup(e Expiry) plan.Stage {
	return plan.Stage{
		Name:  plan.StageExpireBackup,
		Reads: plan.Backup | plan.BackupStore | plan.BackupUse,
		Decide: func(s plan.Snapshot) plan.Decision {
			url, err := objects.BackupURL(s.Backup)
			if err != nil {
				return readings.InvalidSpec(err)
			}
			if why := s.BackupStore.Why(); why != "" {
				return plan.Wait(backupDelay, plan.HoldStoreUnknown, "cannot determine the content of the store: "+why)
			}
			there := s.BackupStore.There
			if there == nil || there.MaxLogEnd == nil {
				return held("no backup at " + fdb.WithoutSecrets(url) + " yet")
			}
			before, some := e.before(there)
			if !some || there.ExpiredEnd != nil && there.ExpiredEnd.Version >= before {
				return plan.Decision{}
			}
			return e.decide(s, url, before)
		},
	}
}

// before returns the first version to keep; false if nothing is deleted. By time it is the
// beginning of the newest snapshot that all of that time can be restored from.
func (e Expiry) before(there *fdb.BackupDescription) (version int64, some bool) {
	if e.Before != nil {
		return *e.Before, *e.Before > 0
	}
	if there.MaxRestorable == nil {
		return 0, false
	}
	needed := there.MaxRestorable.Version - fdb.VersionsIn(e.OlderThan)
	for _, s := range there.Snapshots {
		if s.Restorable && s.End.Version <= needed && s.Start.Version > version {
			version, some = s.Start.Version, true
		}
	}
	return version, some && hasOlder(there, version)
}

// hasOlder reports whether the backup has data from before a version.
func hasOlder(there *fdb.BackupDescription, version int64) bool {
	return len(there.Before(version)) > 0 || there.MinLogBegin != nil && there.MinLogBegin.Version < version
}

func (e Expiry) decide(s plan.Snapshot, url string, before int64) plan.Decision {
	there := s.BackupStore.There
	from, restorable := there.KeepsRestorable(before)
	checks := []plan.Check{wroteThere(s.Backup, url), checkDestinationUnshared(s.OtherBackups, url), checkNoRestoreFrom(s.BackupUse, url), isWritten(there, before)}
	if !e.Force {
		checks = append(checks, staysRestorable(there, before))
	}
	d := plan.Decision{Checks: checks, Why: plan.RequestedByUser}
	if c, refused := d.Refused(); refused {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Manual: true, Reason: "no data is deleted", Detail: c.Evidence}
		return d
	}
	removed := there.Before(before)
	action := plan.ExpireBackup{Backup: s.Backup.Name, URL: url, Before: before, Snapshots: len(removed), Bytes: bytesOf(removed), Force: e.Force}
	if restorable {
		action.RestorableFrom = &from
	}
	d.Actions = []plan.Action{action}
	return d
}

func bytesOf(snapshots []fdb.DescribedSnapshot) (bytes int64) {
	for _, s := range snapshots {
		bytes += s.Bytes
	}
	return bytes
}

// isWritten checks whether the backup has reached a version.
func isWritten(there *fdb.BackupDescription, before int64) plan.Check {
	return plan.Check{
		ID:       plan.CheckBackupReached,
		Question: fmt.Sprintf("has the backup reached version %d?", before), Gate: plan.GateBackup,
		OK: before <= there.MaxLogEnd.Version, Evidence: fmt.Sprintf("its log ends at version %d", there.MaxLogEnd.Version),
	}
}

// staysRestorable checks whether a backup can be restored without the data before a version.
func staysRestorable(there *fdb.BackupDescription, before int64) plan.Check {
	from, restorable := there.KeepsRestorable(before)
	c := plan.Check{ID: plan.CheckStaysRestorable, Question: fmt.Sprintf("can the backup be restored without the data before version %d?", before), Gate: plan.GateBackup, OK: restorable}
	c.Evidence = "no complete snapshot begins at or after that version, and every restore needs one"
	if restorable {
		c.Evidence = fmt.Sprintf("from version %d on", from)
	}
	return c
}

// checkNoRestoreFrom checks whether the database is not being restored from a destination.
func checkNoRestoreFrom(use plan.UseFacts, url string) plan.Check {
	c := plan.Check{ID: plan.CheckNotRestoredFrom, Subject: fdb.WithoutSecrets(url), Question: "does no restore read from " + fdb.WithoutSecrets(url) + "?", Gate: plan.GateRestore}
	if !use.KnowsRestores() {
		c.Evidence = "unknown: " + orUnread(use.NotRead)
		return c
	}
	for _, r := range use.Restores {
		if fdb.SharesBackupPlace(r.URL, url) {
			c.Evidence = "the restore on tag " + r.Tag + " is " + r.State
			return c
		}
	}
	c.OK, c.Evidence = true, "no restore into this database"
	return c
}

func orUnread(why string) string {
	if why == "" {
		return "the database was not queried"
	}
	return why
}

// ClearBackup deletes all data that the backup of a resource wrote, and keeps the resource.
// Nothing may run, or be about to start, that writes there or reads from there: a resource
// that desires a running backup gets one in its next pass.
var ClearBackup = plan.Stage{
	Name:  plan.StageClearBackup,
	Reads: plan.Backup | plan.BackupStatus | plan.BackupStore | plan.BackupUse,
	Decide: func(s plan.Snapshot) plan.Decision {
		url, err := objects.BackupURL(s.Backup)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		if s.Backup.DeletionTimestamp != nil {
			return held("the resource is being deleted, and spec.deletionPolicy decides about its data")
		}
		if why := s.BackupStatus.Why(); why != "" {
			return plan.Wait(backupDelay, plan.HoldBackupStateUnknown, "cannot determine whether the backup runs: "+why)
		}
		switch {
		case isRunning(s):
			return held("a backup runs on tag " + string(s.Backup.Tag()) + "; stop it first")
		case s.Backup.IsManaged() && shouldRun(s):
			return held("spec.backupState requires a running backup, which the next pass would start; stop it first")
		}
		if why := s.BackupStore.Why(); why != "" {
			return plan.Wait(backupDelay, plan.HoldStoreUnknown, "cannot determine the content of the store: "+why)
		}
		if s.BackupStore.There == nil {
			return plan.Decision{}
		}
		return clearData(s, url)
	},
}

func clearData(s plan.Snapshot, url string) plan.Decision {
	d := plan.Decision{
		Why:    plan.RequestedByUser,
		Checks: []plan.Check{wroteThere(s.Backup, url), checkDestinationUnshared(s.OtherBackups, url), checkNoRestoreFrom(s.BackupUse, url), checkNoBackupTo(s.BackupUse, url)},
	}
	if c, refused := d.Refused(); refused {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Manual: true, Reason: "no data is deleted", Detail: c.Evidence}
		return d
	}
	there := s.BackupStore.There
	action := plan.ClearBackupData{Backup: s.Backup.Name, URL: url, Snapshots: len(there.Snapshots), Bytes: bytesOf(there.Snapshots), UpTo: there.Newest()}
	if there.MinRestorable != nil && there.MaxRestorable != nil {
		action.RestorableFrom, action.RestorableTo = &there.MinRestorable.Version, &there.MaxRestorable.Version
	}
	d.Actions = []plan.Action{action}
	return d
}

// checkNoBackupTo checks whether no backup of the database, on any tag, writes to a destination.
func checkNoBackupTo(use plan.UseFacts, url string) plan.Check {
	c := plan.Check{ID: plan.CheckNoBackupTo, Subject: fdb.WithoutSecrets(url), Question: "does no backup write to " + fdb.WithoutSecrets(url) + "?", Gate: plan.GateBackup}
	if !use.Read {
		c.Evidence = "unknown: " + orUnread(use.NotRead)
		return c
	}
	for _, b := range use.Backups {
		if fdb.SharesBackupPlace(b.URL, url) {
			c.Evidence = "the backup on tag " + b.Tag + " does"
			return c
		}
	}
	c.OK, c.Evidence = true, "no running backup of this database does"
	return c
}
