package stages

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// deleteData deletes what the backup of a record wrote, where it is proven to be that
// backup's and nobody else's, and where nothing of the database writes or reads. A place that
// was mistyped, or edited after the last run, may hold the backup of others, and nothing
// brings it back.
func deleteData(s plan.Snapshot) plan.Decision {
	url, err := objects.BackupURL(s.Backup)
	if err != nil {
		return contradiction(err)
	}
	checks := []plan.Check{wroteThere(s.Backup, url), nobodyElseThere(s.OtherBackups, url)}
	d := plan.Decision{Checks: checks}
	if c, refused := d.Refused(); refused {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Human: true, Reason: "no data is deleted: " + c.Words() +
			"; set spec.deletionPolicy to stop to let the record go without its data, and delete the data by hand if nobody needs it"}
		return d
	}
	d.Checks = append(d.Checks, nobodyRestores(s.BackupUse, url), nobodyWrites(s.BackupUse, url))
	if c, refused := d.Refused(); refused {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, RetryAfter: backupDelay, Human: s.BackupUse.Lasting, Reason: "no data is deleted yet", Detail: c.Words()}
		return d
	}
	d.Why = "the record is being deleted, and spec.deletionPolicy is cleanup"
	d.Actions = []plan.Action{plan.DeleteBackupData{Backup: s.Backup.Name, URL: url}}
	return d
}

// wroteThere asks whether the record's own backup was seen to go to the place.
func wroteThere(b *v1beta2.FoundationDBBackup, url string) plan.Check {
	c := plan.Check{ID: plan.CheckWroteThere, Subject: fdb.WithoutSecrets(url), Question: "did this record's backup write to " + url + "?", Gate: plan.GateBackup}
	seen := b.Status.BackupDetails
	if seen == nil || seen.URL == "" {
		c.Evidence = "no backup of this record was ever seen"
		return c
	}
	c.OK, c.Evidence = fdb.SameBackupURL(seen.URL, url), "it was last seen to go to "+fdb.WithoutSecrets(seen.URL)
	return c
}

// nobodyElseThere asks whether another record of the namespace names the place, or wrote
// there. Those of other namespaces and clusters are not known.
func nobodyElseThere(others plan.OtherBackupFacts, url string) plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherBackupTo, Subject: fdb.WithoutSecrets(url), Question: "does no other FoundationDBBackup of the namespace use " + url + "?", Gate: plan.GateBackup}
	if !others.Read {
		c.Evidence = "nobody can tell: " + orNotAsked(others.NotRead)
		return c
	}
	for i := range others.All {
		if mayUse(&others.All[i], url) {
			c.Evidence = "FoundationDBBackup " + others.All[i].Name + " does, or may"
			return c
		}
	}
	c.OK, c.Evidence = true, "no other one names it"
	return c
}

func orNotAsked(why string) string {
	if why == "" {
		return "the other records were not read"
	}
	return why
}

// mayUse reports whether a record names a place, or was seen to use it. One whose place
// makes no sense may mean any.
func mayUse(b *v1beta2.FoundationDBBackup, url string) bool {
	if seen := b.Status.BackupDetails; seen != nil && seen.URL != "" && fdb.SharesBackupPlace(seen.URL, url) {
		return true
	}
	if b.Spec.BlobStoreConfiguration == nil {
		return false // it names no place at all
	}
	named, err := objects.BackupURL(b)
	return err != nil || fdb.SharesBackupPlace(named, url)
}
