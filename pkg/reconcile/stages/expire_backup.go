package stages

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Expiry is what of a backup is to be deleted.
type Expiry struct {
	// Before is the first version that stays; nil for what OlderThan says.
	Before *int64
	// OlderThan keeps all that it takes to restore any version of this last time.
	OlderThan time.Duration
	// Force deletes though nothing could be restored afterwards.
	Force bool
}

// ExpireBackup deletes what is old of a backup, where it is proven to be that backup's and
// nobody else's. What is left can be restored, unless a person forces it.
func ExpireBackup(e Expiry) plan.Stage {
	return plan.Stage{
		Name:  plan.StageExpireBackup,
		Reads: plan.Backup | plan.BackupStore | plan.BackupUse,
		Decide: func(s plan.Snapshot) plan.Decision {
			url, err := objects.BackupURL(s.Backup)
			if err != nil {
				return contradiction(err)
			}
			if why := s.BackupStore.Why(); why != "" {
				return plan.Wait(backupDelay, plan.HoldStoreUnknown, "nobody can tell what is in the store: "+why)
			}
			there := s.BackupStore.There
			if there == nil || there.MaxLogEnd == nil {
				return held("there is no backup at " + fdb.WithoutSecrets(url) + " yet")
			}
			before, some := e.before(there)
			if !some || there.ExpiredEnd != nil && there.ExpiredEnd.Version >= before {
				return plan.Decision{}
			}
			return e.decide(s, url, before)
		},
	}
}

// before is the first version that stays; false where nothing is to go. By time it is the
// begin of the newest snapshot that all of that time can be restored from.
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

// hasOlder reports whether there is anything from before a version.
func hasOlder(there *fdb.BackupDescription, version int64) bool {
	return len(there.Before(version)) > 0 || there.MinLogBegin != nil && there.MinLogBegin.Version < version
}

func (e Expiry) decide(s plan.Snapshot, url string, before int64) plan.Decision {
	there := s.BackupStore.There
	from, restorable := there.KeepsRestorable(before)
	checks := []plan.Check{wroteThere(s.Backup, url), nobodyElseThere(s.OtherBackups, url), nobodyRestores(s.BackupUse, url), isWritten(there, before)}
	if !e.Force {
		checks = append(checks, staysRestorable(before, from, restorable))
	}
	d := plan.Decision{Checks: checks, Why: "a person asks for it"}
	if c, refused := d.Refused(); refused {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Human: true, Reason: "nothing is deleted", Detail: c.Words()}
		return d
	}
	gone := there.Before(before)
	action := plan.ExpireBackup{Backup: s.Backup.Name, URL: url, Before: before, Snapshots: len(gone), Bytes: bytesOf(gone), Force: e.Force}
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

// isWritten asks whether a version is one that the backup has reached.
func isWritten(there *fdb.BackupDescription, before int64) plan.Check {
	return plan.Check{
		ID:       plan.CheckBackupReached,
		Question: fmt.Sprintf("has the backup got to version %d?", before), Gate: plan.GateBackup,
		OK: before <= there.MaxLogEnd.Version, Evidence: fmt.Sprintf("its log goes up to version %d", there.MaxLogEnd.Version),
	}
}

func staysRestorable(before, from int64, restorable bool) plan.Check {
	c := plan.Check{ID: plan.CheckStaysRestorable, Question: fmt.Sprintf("can the backup be restored without what is older than version %d?", before), Gate: plan.GateBackup, OK: restorable}
	c.Evidence = "no complete snapshot begins at or after that version, and each restore needs one"
	if restorable {
		c.Evidence = fmt.Sprintf("yes, from version %d on", from)
	}
	return c
}

// nobodyRestores asks whether the database is being restored from a place.
func nobodyRestores(use plan.UseFacts, url string) plan.Check {
	c := plan.Check{ID: plan.CheckNotRestoredFrom, Subject: fdb.WithoutSecrets(url), Question: "is nothing being restored from " + fdb.WithoutSecrets(url) + "?", Gate: plan.GateRestore}
	if !use.KnowsRestores() {
		c.Evidence = "nobody can tell: " + orUnread(use.NotRead)
		return c
	}
	for _, r := range use.Restores {
		if fdb.SharesBackupPlace(r.URL, url) {
			c.Evidence = "the restore of tag " + r.Tag + " is " + r.State
			return c
		}
	}
	c.OK, c.Evidence = true, "not into this database"
	return c
}

func orUnread(why string) string {
	if why == "" {
		return "the database was not asked"
	}
	return why
}
