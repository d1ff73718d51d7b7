package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// backupResources returns the rules about the specs of backups and restores. They cover the
// whole namespace where a resource of another cluster can harm this one.
func backupResources() []Rule {
	return []Rule{
		{
			Code: "BACKUP-010", OfSpec: true, Severity: Error, Title: "No two backups of the cluster share a tag",
			Why:  "A database has one backup per tag: the resources revert each other's changes. Give one of them its own tag, which requires recreating it.",
			Find: resources(sharedTags),
		},
		{
			Code: "BACKUP-011", OfSpec: true, Severity: Error, Title: "No two backups share a destination",
			Why:  "Neither can be restored with certainty, and deleting the data of one deletes the other's.",
			Find: resources(sharedDestinations),
		},
		{
			Code: "BACKUP-012", OfSpec: true, Severity: Error, Title: "No backup credentials in custom resources",
			Why:  "Every user who may read the resource can read them, and they would become an argument of commands: passes refuse to continue. Name only the key, and put the secret into a file that FDB_BLOB_CREDENTIALS names in the agents' pod template.",
			Find: resources(secretsInResources),
		},
		{
			Code: "BACKUP-013", OfSpec: true, Severity: Warning, Title: "Every backup and restore names an existing cluster",
			Why:  "It does nothing. The cluster was deleted or has another name, or the resource is in the wrong namespace.",
			Find: resources(withoutCluster),
		},
		{
			Code: "BACKUP-014", OfSpec: true, Severity: Error, Title: "Every backup and restore resource is valid",
			Why:  "No pass starts with an invalid resource; the message names the field.",
			Find: resources(invalidResources),
		},
		{
			Code: "BACKUP-015", OfSpec: true, Severity: Warning, Title: "Agents request no more than their own pods",
			Why:  "The pod template of the agents uses namespaces, files or rights of the node, or the account of another program, as in the family SEC; or the restrictions of the run forbid it, and no pass runs over the backup.",
			Find: resources(privilegedAgents),
		},
	}
}

// resources returns a function that evaluates find if the resources could be read.
func resources(find func(Facts) ([]Finding, string)) func(Facts) ([]Finding, string) {
	return func(f Facts) ([]Finding, string) {
		if f.Backups.Unread != "" {
			return nil, "backups could not be read: " + f.Backups.Unread
		}
		return find(f)
	}
}

// shouldRun reports whether a pass over the resource starts or keeps a backup.
func shouldRun(b v1beta2.FoundationDBBackup) bool {
	return b.IsManaged() && b.DeletionTimestamp == nil && b.Spec.BackupState != v1beta2.BackupStateStopped
}

func sharedTags(f Facts) ([]Finding, string) {
	byTag := map[v1beta2.BackupTag][]string{}
	var tags []v1beta2.BackupTag
	for _, b := range f.Backups.Backups {
		tag := b.Resource.Tag()
		if !b.Resource.IsManaged() || b.Resource.DeletionTimestamp != nil {
			continue
		}
		if byTag[tag] == nil {
			tags = append(tags, tag)
		}
		byTag[tag] = append(byTag[tag], backup(b.Resource.Name))
	}
	var found []Finding
	for _, tag := range tags {
		if subjects := byTag[tag]; len(subjects) > 1 {
			found = append(found, Finding{Subjects: subjects, Message: fmt.Sprintf("they share tag %s of one database", tag), Fix: f.listBackups()})
		}
	}
	return found, ""
}

func (f Facts) listBackups() []string { return []string{"get", "foundationdbbackups", "-o", "wide"} }

// sharedDestinations compares the backups of this cluster with all of the namespace.
func sharedDestinations(f Facts) ([]Finding, string) {
	var found []Finding
	for i, a := range f.Backups.All {
		for _, b := range f.Backups.All[i+1:] {
			if a.Spec.ClusterName != f.Cluster.Name && b.Spec.ClusterName != f.Cluster.Name || !shouldRun(a) || !shouldRun(b) {
				continue
			}
			left, errLeft := objects.BackupURL(&a)
			right, errRight := objects.BackupURL(&b)
			if errLeft != nil || errRight != nil || !fdb.SharesBackupPlace(left, right) {
				continue // an invalid destination is shared with none
			}
			found = append(found, Finding{
				Subjects: []string{backup(a.Name), backup(b.Name)}, Fix: f.listBackups(),
				Message: "they write to " + strings.Join(slices.Compact([]string{left, right}), " and "),
			})
		}
	}
	return found, ""
}

// secretsInResources never prints the secrets.
func secretsInResources(f Facts) ([]Finding, string) {
	var found []Finding
	check := func(kind, name string, err error) {
		if errors.Is(err, fdb.ErrSecretInAccount) {
			found = append(found, edit(kind, name, kind+"/"+name, "spec.blobStoreConfiguration", "spec.blobStoreConfiguration holds more than the name of a key"))
		}
	}
	for _, b := range f.Backups.Backups {
		_, err := objects.BackupURL(b.Resource)
		check("foundationdbbackup", b.Resource.Name, err)
	}
	for _, r := range f.Backups.Restores {
		_, err := objects.RestoreURL(r.Resource)
		check("foundationdbrestore", r.Resource.Name, err)
	}
	return found, ""
}

// invalidResources skips resources that are being deleted: an invalid spec does not prevent that.
func invalidResources(f Facts) ([]Finding, string) {
	found := f.Manifests.refused(isOfBackups)
	check := func(kind, name, subject string, err error) {
		for _, field := range plan.InvalidFields(err) {
			found = append(found, edit(kind, name, subject, field.Field, field.Message))
		}
	}
	for _, b := range f.Backups.Backups {
		if b.Resource.DeletionTimestamp == nil {
			check("foundationdbbackup", b.Resource.Name, backup(b.Resource.Name), b.Resource.Validate())
		}
	}
	for _, r := range f.Backups.Restores {
		if r.Resource.DeletionTimestamp == nil {
			check("foundationdbrestore", r.Resource.Name, restore(r.Resource.Name), r.Resource.Validate())
		}
	}
	return found, ""
}

// withoutCluster skips finished restores: their cluster may have been deleted since.
func withoutCluster(f Facts) ([]Finding, string) {
	if f.Backups.ClustersUnread != "" {
		return nil, "clusters could not be listed: " + f.Backups.ClustersUnread
	}
	var found []Finding
	check := func(kind, name, cluster string) {
		isThis := cluster == f.Cluster.Name
		if f.Manifests != nil && !isThis {
			return // it has a report of its own
		}
		if isThis && f.Manifests.haveCluster() {
			return
		}
		if !slices.Contains(f.Backups.Clusters, cluster) {
			found = append(found, one(kind+"/"+name, fmt.Sprintf("FoundationDBCluster %s not found in its namespace", cluster), "describe", kind, name)...)
		}
	}
	for _, b := range f.Backups.All {
		check("foundationdbbackup", b.Name, b.Spec.ClusterName)
	}
	for _, r := range f.Backups.AllRestores {
		if r.Status.State != v1beta2.RestoreStateCompleted && r.Status.State != v1beta2.RestoreStateAborted {
			check("foundationdbrestore", r.Name, r.Spec.DestinationClusterName)
		}
	}
	return found, ""
}

// Manifests is what is wrong with the manifests of a cluster, its backups and its restores, of which nothing may be stored yet.
// A report about them has the rules that a resource alone answers.
type Manifests struct {
	// OfCluster is true if the cluster has a manifest; otherwise only its backups and restores have.
	OfCluster bool
	// Undecoded is why the rules about the cluster cannot be evaluated; empty if they can.
	Undecoded string
	// Lost are the fields that the API server would drop, and Refused those that it would reject.
	Lost, Refused []FieldProblem
	// Namespace are the quotas and ranges of the manifests and of the namespace; nil where neither is known.
	Namespace *plan.NamespaceFacts
}

// FieldProblem is a field of a manifest that would not be stored as its author wrote it.
type FieldProblem struct {
	// Subject is the resource, and OfCluster is true if that is the cluster.
	Subject   string
	OfCluster bool
	// Field is its path, and Message names it and what is wrong.
	Field, Message string
}

// Add adds fields that would be dropped, and rejected.
func (m *Manifests) Add(lost, refused []FieldProblem) {
	m.Lost, m.Refused = append(m.Lost, lost...), append(m.Refused, refused...)
}

func isOfCluster(p FieldProblem) bool { return p.OfCluster }

func isOfBackups(p FieldProblem) bool { return !p.OfCluster }

func (m *Manifests) lost() (found []Finding) {
	for _, p := range m.Lost {
		found = append(found, Finding{Subjects: []string{p.Subject}, Field: p.Field, Message: p.Message})
	}
	return found
}

// refused returns the rejected fields of the selected resources.
func (m *Manifests) refused(selected func(FieldProblem) bool) (found []Finding) {
	if m == nil {
		return nil
	}
	for _, p := range m.Refused {
		if selected(p) {
			found = append(found, Finding{Subjects: []string{p.Subject}, Field: p.Field, Message: p.Message})
		}
	}
	return found
}

// haveCluster reports whether the cluster of the report exists, or has a manifest.
func (m *Manifests) haveCluster() bool { return m == nil || m.OfCluster }

// ofManifests are the rules whose findings are about manifests that cannot be decoded, too.
var ofManifests = []string{"CFG-001", "CFG-011"}

// selects reports whether a rule is one of the report.
func (m *Manifests) selects(r Rule) bool {
	switch {
	case m == nil:
		return r.Code != codeRoom
	case m.OfCluster:
		return r.OfSpec && (r.Code != codeRoom || m.Namespace != nil)
	default:
		return r.OfSpec && (r.Family() == "BACKUP" || named(r, ofManifests))
	}
}

// lacks returns why a rule cannot be evaluated; empty if it can.
func (m *Manifests) lacks(r Rule) string {
	if m == nil || r.Family() == "BACKUP" || named(r, ofManifests) {
		return ""
	}
	return m.Undecoded
}

// Place is where a manifest has a field.
type Place struct {
	// File is its file, "stdin", or the directory of a kustomization.
	File string
	// Line is 0 where it is unknown.
	Line int
	// Edit is a command that opens the file there; empty where none can.
	Edit string
	// Correction is what the line must be; nil where its author has to decide.
	Correction *Correction
}

// Correction is another text of the line of a finding.
type Correction struct {
	Before string `json:"before"`
	After  string `json:"after"`
}
