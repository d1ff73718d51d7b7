package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// backupRecords are the rules about what records of backups and restores ask for. They are
// about the whole namespace where a record of another cluster can do harm to this one.
func backupRecords() []Rule {
	return []Rule{
		{
			Code: "BACKUP-010", Severity: Error, Title: "No two records back the cluster up on one tag",
			Why:  "A database has one backup per tag: the records undo what the other does. Give one of them a tag of its own, which means to make it anew.",
			find: records(sharedTags),
		},
		{
			Code: "BACKUP-011", Severity: Error, Title: "No two backups write to one place",
			Why:  "Neither can be restored with certainty, and deleting the data of one deletes the other's.",
			find: records(sharedPlaces),
		},
		{
			Code: "BACKUP-012", Severity: Error, Title: "No secret of a store stands in a record",
			Why:  "Whoever may see the record knows it, and it would become an argument of commands: passes refuse to go on. Name the key alone, and put the secret into a file that FDB_BLOB_CREDENTIALS names in the agents' pod template.",
			find: records(secretsInRecords),
		},
		{
			Code: "BACKUP-013", Severity: Warning, Title: "Every backup and every restore names a cluster that is there",
			Why:  "It does nothing. The cluster was deleted or has another name, or the record is in the wrong namespace.",
			find: records(withoutCluster),
		},
		{
			Code: "BACKUP-014", Severity: Error, Title: "Every record of a backup and of a restore makes sense",
			Why:  "No pass begins with a record that does not; the message names the field.",
			find: records(invalidRecords),
		},
	}
}

// records asks a question that needs the records alone.
func records(find func(Facts) ([]Finding, string)) func(Facts) ([]Finding, string) {
	return func(f Facts) ([]Finding, string) {
		if f.Backups.Unread != "" {
			return nil, "backups could not be read: " + f.Backups.Unread
		}
		return find(f)
	}
}

// wantsToRun reports whether a pass over the record has a backup run.
func wantsToRun(b v1beta2.FoundationDBBackup) bool {
	return b.IsManaged() && b.DeletionTimestamp == nil && b.Spec.BackupState != v1beta2.BackupStateStopped
}

func sharedTags(f Facts) ([]Finding, string) {
	byTag := map[v1beta2.BackupTag][]string{}
	var tags []v1beta2.BackupTag
	for _, b := range f.Backups.Backups {
		tag := b.Record.Tag()
		if !b.Record.IsManaged() || b.Record.DeletionTimestamp != nil {
			continue
		}
		if byTag[tag] == nil {
			tags = append(tags, tag)
		}
		byTag[tag] = append(byTag[tag], backup(b.Record.Name))
	}
	var found []Finding
	for _, tag := range tags {
		if subjects := byTag[tag]; len(subjects) > 1 {
			found = append(found, Finding{Subjects: subjects, Message: fmt.Sprintf("all are on tag %s of one database", tag), Fix: f.listBackups()})
		}
	}
	return found, ""
}

func (f Facts) listBackups() []string { return []string{"get", "foundationdbbackups", "-o", "wide"} }

// sharedPlaces compares the backups of this cluster with all of the namespace.
func sharedPlaces(f Facts) ([]Finding, string) {
	var found []Finding
	for i, a := range f.Backups.All {
		for _, b := range f.Backups.All[i+1:] {
			if a.Spec.ClusterName != f.Cluster.Name && b.Spec.ClusterName != f.Cluster.Name || !wantsToRun(a) || !wantsToRun(b) {
				continue
			}
			left, errLeft := objects.BackupURL(&a)
			right, errRight := objects.BackupURL(&b)
			if errLeft != nil || errRight != nil || !fdb.SharesBackupPlace(left, right) {
				continue // what is no place at all shares none
			}
			found = append(found, Finding{
				Subjects: []string{backup(a.Name), backup(b.Name)}, Fix: f.listBackups(),
				Message: "they write to " + strings.Join(slices.Compact([]string{left, right}), " and "),
			})
		}
	}
	return found, ""
}

// secretsInRecords never repeats what it found.
func secretsInRecords(f Facts) ([]Finding, string) {
	var found []Finding
	look := func(kind, name string, err error) {
		if errors.Is(err, fdb.ErrSecretInAccount) {
			found = append(found, one(kind+"/"+name, "spec.blobStoreConfiguration holds more than the name of a key", "edit", kind, name)...)
		}
	}
	for _, b := range f.Backups.Backups {
		_, err := objects.BackupURL(b.Record)
		look("foundationdbbackup", b.Record.Name, err)
	}
	for _, r := range f.Backups.Restores {
		_, err := objects.RestoreURL(r.Record)
		look("foundationdbrestore", r.Record.Name, err)
	}
	return found, ""
}

// invalidRecords leaves records out that are being deleted: that is carried out all the same.
func invalidRecords(f Facts) ([]Finding, string) {
	var found []Finding
	for _, b := range f.Backups.Backups {
		if err := b.Record.Validate(); err != nil && b.Record.DeletionTimestamp == nil {
			found = append(found, one(backup(b.Record.Name), err.Error(), "edit", "foundationdbbackup", b.Record.Name)...)
		}
	}
	for _, r := range f.Backups.Restores {
		if err := r.Record.Validate(); err != nil && r.Record.DeletionTimestamp == nil {
			found = append(found, one(restore(r.Record.Name), err.Error(), "edit", "foundationdbrestore", r.Record.Name)...)
		}
	}
	return found, ""
}

// withoutCluster leaves restores out that are over: their cluster may be gone since.
func withoutCluster(f Facts) ([]Finding, string) {
	if f.Backups.ClustersUnread != "" {
		return nil, "clusters could not be listed: " + f.Backups.ClustersUnread
	}
	var found []Finding
	look := func(kind, name, cluster string) {
		if cluster != f.Cluster.Name && !slices.Contains(f.Backups.Clusters, cluster) {
			found = append(found, one(kind+"/"+name, fmt.Sprintf("there is no FoundationDBCluster %s in its namespace", cluster), "describe", kind, name)...)
		}
	}
	for _, b := range f.Backups.All {
		look("foundationdbbackup", b.Name, b.Spec.ClusterName)
	}
	for _, r := range f.Backups.AllRestores {
		if r.Status.State != v1beta2.RestoreStateCompleted && r.Status.State != v1beta2.RestoreStateAborted {
			look("foundationdbrestore", r.Name, r.Spec.DestinationClusterName)
		}
	}
	return found, ""
}
