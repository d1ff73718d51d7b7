package stages

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ClearBackup deletes all that the backup of a record wrote, and leaves the record. Nothing
// may run that writes there or reads from there, and nothing may be about to: a record that
// asks for a backup gets one at its next pass.
var ClearBackup = plan.Stage{
	Name:  plan.StageClearBackup,
	Reads: plan.Backup | plan.BackupStatus | plan.BackupStore | plan.BackupUse,
	Decide: func(s plan.Snapshot) plan.Decision {
		url, err := objects.BackupURL(s.Backup)
		if err != nil {
			return contradiction(err)
		}
		if s.Backup.DeletionTimestamp != nil {
			return held("the record is being deleted, and spec.deletionPolicy says what becomes of its data")
		}
		if why := s.BackupStatus.Why(); why != "" {
			return plan.Wait(backupDelay, plan.HoldBackupStateUnknown, "nobody can tell whether the backup runs: "+why)
		}
		switch {
		case isRunning(s):
			return held("a backup runs on tag " + string(s.Backup.Tag()) + ": it has to be stopped first")
		case s.Backup.IsManaged() && shouldRun(s):
			return held("the record asks for a backup that runs, and the next pass would start one: it has to be stopped first")
		}
		if why := s.BackupStore.Why(); why != "" {
			return plan.Wait(backupDelay, plan.HoldStoreUnknown, "nobody can tell what is in the store: "+why)
		}
		if s.BackupStore.There == nil {
			return plan.Decision{}
		}
		return clearData(s, url)
	},
}

func clearData(s plan.Snapshot, url string) plan.Decision {
	d := plan.Decision{
		Why:    "a person asks for it",
		Checks: []plan.Check{wroteThere(s.Backup, url), nobodyElseThere(s.OtherBackups, url), nobodyRestores(s.BackupUse, url), nobodyWrites(s.BackupUse, url)},
	}
	if c, refused := d.Refused(); refused {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Human: true, Reason: "nothing is deleted", Detail: c.Words()}
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

// nobodyWrites asks whether a backup of the database, of any tag, goes to a place.
func nobodyWrites(use plan.UseFacts, url string) plan.Check {
	c := plan.Check{ID: plan.CheckNoBackupTo, Subject: fdb.WithoutSecrets(url), Question: "does no backup go to " + fdb.WithoutSecrets(url) + "?", Gate: plan.GateBackup}
	if !use.Read {
		c.Evidence = "nobody can tell: " + orUnread(use.NotRead)
		return c
	}
	for _, b := range use.Backups {
		if fdb.SharesBackupPlace(b.URL, url) {
			c.Evidence = "the backup on tag " + b.Tag + " does"
			return c
		}
	}
	c.OK, c.Evidence = true, "none of this database that runs"
	return c
}
