package backup

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
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

// carryOutDeletion keeps the finalizer that a deletion policy needs, and carries out the
// policy while the resource is being deleted: the backup is aborted, then with cleanup its
// data is deleted, then the finalizer is removed. While the database does not answer the
// resource stays: a backup may still run.
var carryOutDeletion = plan.Stage{
	Name:    plan.StageCarryOutDeletion,
	Reads:   plan.Backup | plan.BackupStatus,
	More:    plan.BackupUse,
	Matters: usesMatter,
	Decide: func(s plan.Snapshot) plan.Decision {
		b := s.Backup
		kept := slices.Contains(b.Finalizers, v1beta2.FinalizerBackup)
		needed := b.IsManaged() && b.DeletionPolicy() != v1beta2.BackupDeletionPolicyNoop
		switch {
		case kept && !needed:
			return setFinalizer(plan.SetBackupFinalizer{Backup: b.Name}, "spec.deletionPolicy keeps the backup")
		case !kept && needed && b.DeletionTimestamp == nil:
			return setFinalizer(plan.SetBackupFinalizer{Backup: b.Name, Present: true}, "spec.deletionPolicy is "+string(b.DeletionPolicy()))
		case kept && b.DeletionTimestamp != nil:
			return finishDeletion(s)
		}
		return plan.Decision{}
	},
}

// usesMatter reports whether the users of stores have to be read: only before a backup's
// agents or data are deleted, since that takes a request for every tag.
func usesMatter(s plan.Snapshot) bool {
	kept := slices.Contains(s.Backup.Finalizers, v1beta2.FinalizerBackup)
	return kept && s.Backup.DeletionTimestamp != nil && s.BackupStatus.Why() == "" && !isRunning(s)
}

func setFinalizer(a plan.SetBackupFinalizer, why string) plan.Decision {
	return plan.Decision{Why: why, Actions: []plan.Action{a}}
}

func finishDeletion(s plan.Snapshot) plan.Decision {
	b := s.Backup
	if old := formerTag(b); old != "" { // the database was queried about the other tag
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldBackupDeletionBlocked, Manual: true, Reason: fmt.Sprintf(
			"spec.tag is %s, and this backup was last observed on tag %s, where it may still run; set spec.tag to %s to stop it and delete the resource", b.Tag(), old, old)}}
	}
	why := s.BackupStatus.Why()
	if why != "" && b.AgentCount() == 0 {
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldBackupDeletionBlocked, Manual: true, Reason: "the resource stays: cannot determine whether its backup runs, " +
			"since spec.agentCount is 0; set it to 1"}}
	}
	if why != "" {
		return plan.Wait(backupDelay, plan.HoldBackupStateUnknown, "the resource stays: cannot determine whether its backup runs: "+why)
	}
	if isRunning(s) {
		own := OwnBackup(s)
		if !own.OK {
			return foreignBackup(own)
		}
		return plan.Decision{
			Why: "the resource is being deleted, and spec.deletionPolicy is " + string(b.DeletionPolicy()), Checks: []plan.Check{own},
			Actions: []plan.Action{plan.StopBackup{Tag: string(b.Tag()), Abort: true}},
			Hold:    &plan.Hold{Code: plan.HoldBackupEnding, Reason: "the resource stays until its backup has ended", RetryAfter: backupDelay / 10},
		}
	}
	if c := checkRestoresKeepAgents(s); !c.OK {
		d := plan.Wait(backupDelay, plan.HoldCheckRefused, "the resource and its agents stay: "+c.Evidence)
		d.Checks = []plan.Check{c}
		return d
	}
	if b.DeletionPolicy() == v1beta2.BackupDeletionPolicyStop {
		return setFinalizer(plan.SetBackupFinalizer{Backup: b.Name}, "no backup runs on its tag")
	}
	return deleteData(s)
}

// checkRestoresKeepAgents checks whether every running restore still has agents without
// those of the resource: a restore without agents stops, with its database locked.
func checkRestoresKeepAgents(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckRestoresKeepAgents, Question: "does every running restore keep agents?", Gate: plan.GateRestore}
	if other, some := otherAgents(s); some {
		c.OK, c.Evidence = true, "FoundationDBBackup "+other+" of the same cluster has agents"
		return c
	}
	use := s.BackupUse
	switch {
	case !use.KnowsRestores():
		c.Evidence = "cannot determine whether a restore runs: " + orUnread(use.NotRead)
	case len(use.Restores) > 0:
		c.Evidence = fmt.Sprintf("the restore on tag %s is %s, and no other FoundationDBBackup of the cluster in this namespace is known to have agents; those of other namespaces are unknown", use.Restores[0].Tag, use.Restores[0].State)
	default:
		c.OK, c.Evidence = true, "no restore runs"
	}
	return c
}

// otherAgents returns the name of another resource of the namespace with agents for the same
// cluster, and whether there is one. Agents elsewhere are unknown, and so never count.
func otherAgents(s plan.Snapshot) (name string, some bool) {
	for i := range s.OtherBackups.All {
		b := &s.OtherBackups.All[i]
		if b.Spec.ClusterName == s.Backup.Spec.ClusterName && b.DeletionTimestamp == nil && b.Status.AgentCount > 0 && b.AgentCount() > 0 {
			return b.Name, true
		}
	}
	return "", false
}

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
