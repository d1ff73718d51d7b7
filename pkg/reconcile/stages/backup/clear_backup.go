package backup

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

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
