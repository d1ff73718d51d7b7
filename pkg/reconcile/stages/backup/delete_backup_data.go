package backup

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// deleteData deletes what the backup of a resource wrote, if it is proven to be that backup's
// alone, and no backup or restore of the database uses it. A destination that was mistyped, or
// edited after the last run, may hold another backup, and deletion is final.
func deleteData(s plan.Snapshot) plan.Decision {
	url, err := objects.BackupURL(s.Backup)
	if err != nil {
		return readings.InvalidSpec(err)
	}
	checks := []plan.Check{wroteThere(s.Backup, url), checkDestinationUnshared(s.OtherBackups, url)}
	d := plan.Decision{Checks: checks}
	if c, refused := d.Refused(); refused {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Manual: true, Reason: "no data is deleted: " + c.Evidence +
			"; set spec.deletionPolicy to stop to delete the resource without its data, and delete the data manually if it is not needed"}
		return d
	}
	d.Checks = append(d.Checks, checkNoRestoreFrom(s.BackupUse, url), checkNoBackupTo(s.BackupUse, url))
	if c, refused := d.Refused(); refused {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, RetryAfter: backupDelay, Manual: s.BackupUse.Lasting, Reason: "no data is deleted yet", Detail: c.Evidence}
		return d
	}
	d.Why = "the resource is being deleted, and spec.deletionPolicy is cleanup"
	d.Actions = []plan.Action{plan.DeleteBackupData{Backup: s.Backup.Name, URL: url}}
	return d
}

// wroteThere checks whether the resource's own backup was observed at the destination.
func wroteThere(b *v1beta2.FoundationDBBackup, url string) plan.Check {
	c := plan.Check{ID: plan.CheckWroteThere, Subject: fdb.WithoutSecrets(url), Question: "did this resource's backup write to " + url + "?", Gate: plan.GateBackup}
	seen := b.Status.BackupDetails
	if seen == nil || seen.URL == "" {
		c.Evidence = "no backup of this resource was ever observed"
		return c
	}
	c.OK, c.Evidence = fdb.SameBackupURL(seen.URL, url), "its last observed destination is "+fdb.WithoutSecrets(seen.URL)
	return c
}

// checkDestinationUnshared checks whether no other resource of the namespace names the
// destination or wrote there. Those of other namespaces and clusters are unknown.
func checkDestinationUnshared(others plan.OtherBackupFacts, url string) plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherBackupTo, Subject: fdb.WithoutSecrets(url), Question: "does no other FoundationDBBackup of the namespace use " + url + "?", Gate: plan.GateBackup}
	if !others.Read {
		c.Evidence = "unknown: " + orNotRead(others.NotRead)
		return c
	}
	for i := range others.All {
		if mayUse(&others.All[i], url) {
			c.Evidence = usedBy(&others.All[i])
			return c
		}
	}
	c.OK, c.Evidence = true, "no other resource names it"
	return c
}

func orNotRead(why string) string {
	if why == "" {
		return "the other resources were not read"
	}
	return why
}

// mayUse reports whether a resource names a destination, or was observed to use it. An
// invalid destination may mean any.
func mayUse(b *v1beta2.FoundationDBBackup, url string) bool {
	if seen := b.Status.BackupDetails; seen != nil && seen.URL != "" && fdb.SharesBackupPlace(seen.URL, url) {
		return true
	}
	if b.Spec.BlobStoreConfiguration == nil {
		return false // it names no destination
	}
	named, err := objects.BackupURL(b)
	return err != nil || fdb.SharesBackupPlace(named, url)
}
