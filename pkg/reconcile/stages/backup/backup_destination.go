package backup

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// checkNoOtherBackupTo checks whether no other resource of the namespace writes a backup to
// a destination, or is desired to: two backups in one destination cannot be distinguished
// when one of them is restored. Ended backups do not count. Resources of other namespaces and
// Kubernetes clusters are unknown.
func checkNoOtherBackupTo(others plan.OtherBackupFacts, url string) plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherBackupTo, Subject: fdb.WithoutSecrets(url), Question: "does no other FoundationDBBackup of the namespace write to " + fdb.WithoutSecrets(url) + "?", Gate: plan.GateBackup}
	if !others.Read {
		c.Evidence = "unknown: " + orNotRead(others.NotRead)
		return c
	}
	for i := range others.All {
		if b := &others.All[i]; mayRun(b) && mayUse(b, url) {
			c.Evidence = usedBy(b)
			return c
		}
	}
	c.OK, c.Evidence = true, "no other resource with a running or desired backup names it"
	return c
}

// mayRun reports whether a resource's backup is desired to run and can, or was last observed running.
func mayRun(b *v1beta2.FoundationDBBackup) bool {
	seen := b.Status.BackupDetails
	return b.DeletionTimestamp == nil && b.ShouldRun() && !cannotStart(b) || seen != nil && seen.Running
}

// cannotStart reports whether a resource never had a backup and is invalid: passes refuse it, so that it
// has none before it is edited.
func cannotStart(b *v1beta2.FoundationDBBackup) bool {
	return b.Status.BackupDetails == nil && b.Validate() != nil
}

// usedBy returns that a resource uses a destination or may, and that it is invalid where it is.
func usedBy(b *v1beta2.FoundationDBBackup) string {
	words := "FoundationDBBackup " + b.Name + " does, or may"
	if b.Validate() != nil {
		words += " (its spec is invalid)"
	}
	return words
}

// destinationInUse returns the decision about a destination that another resource uses.
func destinationInUse(c plan.Check) plan.Decision {
	return plan.Decision{Checks: []plan.Check{c}, Hold: &plan.Hold{
		Code:   plan.HoldCheckRefused,
		Reason: c.Evidence + "; set another destination in spec.blobStoreConfiguration of one of the two, or set spec.backupState of the one that is not desired to Stopped", Manual: true,
	}}
}
