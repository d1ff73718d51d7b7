package stages

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// nobodyElseRunsThere asks whether another record of the namespace has a backup go to a
// place, or wants one to: two backups in one place cannot be told apart when one of them is
// to be restored. Those that ended do not count. Those of other namespaces and clusters are
// not known.
func nobodyElseRunsThere(others plan.OtherBackupFacts, url string) plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherBackupTo, Subject: fdb.WithoutSecrets(url), Question: "does no other FoundationDBBackup of the namespace have a backup go to " + fdb.WithoutSecrets(url) + "?", Gate: plan.GateBackup}
	if !others.Read {
		c.Evidence = "nobody can tell: " + orNotAsked(others.NotRead)
		return c
	}
	for i := range others.All {
		if b := &others.All[i]; mayRun(b) && mayUse(b, url) {
			c.Evidence = "FoundationDBBackup " + b.Name + " does, or may"
			return c
		}
	}
	c.OK, c.Evidence = true, "no other one that runs, or is to run, names it"
	return c
}

// mayRun reports whether a record wants a backup to run, or was last seen to have one.
func mayRun(b *v1beta2.FoundationDBBackup) bool {
	seen := b.Status.BackupDetails
	return b.DeletionTimestamp == nil && b.ShouldRun() || seen != nil && seen.Running
}

// notFree is the decision about a place that another record uses.
func notFree(c plan.Check) plan.Decision {
	return plan.Decision{Checks: []plan.Check{c}, Hold: &plan.Hold{
		Code:   plan.HoldCheckRefused,
		Reason: c.Words() + "; give one of the two another place in spec.blobStoreConfiguration, or set spec.backupState of the one that is not wanted to Stopped", Human: true,
	}}
}
