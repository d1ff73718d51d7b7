package session

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
)

// ResourceKind is a kind of resource, other than a cluster, that a pass can reconcile.
type ResourceKind struct {
	// Short is what the resource is called in commands.
	Short  string
	plural string
	// Kind is its kind in manifests.
	Kind        string
	list        func() client.ObjectList
	Stages      func() []plan.Stage
	Permissions func() []Permission
	Connect     func(e *Env, key types.NamespacedName) (Session, error)
	// Restricted returns stages that begin with a check of pod templates; nil where a resource has none.
	Restricted func(objects.TemplateRestrictions, []plan.Stage) []plan.Stage
	// Cluster returns the name of the cluster that a resource belongs to.
	Cluster func(client.Object) string
}

var (
	// BackupKind is the kind of backups.
	BackupKind = &ResourceKind{
		Short: "fdbbackup", plural: "foundationdbbackups", Kind: "FoundationDBBackup", Stages: backup.Backup, Permissions: BackupPermissions, Restricted: backup.Restricted,
		list:    func() client.ObjectList { return &v1beta2.FoundationDBBackupList{} },
		Connect: func(e *Env, key types.NamespacedName) (Session, error) { return e.ConnectBackup(key) },
		Cluster: func(o client.Object) string {
			if b, ok := o.(*v1beta2.FoundationDBBackup); ok {
				return b.Spec.ClusterName
			}
			return ""
		},
	}
	// RestoreKind is the kind of restores.
	RestoreKind = &ResourceKind{
		Short: "fdbrestore", plural: "foundationdbrestores", Kind: "FoundationDBRestore", Stages: backup.Restore, Permissions: RestorePermissions,
		list:    func() client.ObjectList { return &v1beta2.FoundationDBRestoreList{} },
		Connect: func(e *Env, key types.NamespacedName) (Session, error) { return e.ConnectRestore(key) },
		Cluster: func(o client.Object) string {
			if r, ok := o.(*v1beta2.FoundationDBRestore); ok {
				return r.Spec.DestinationClusterName
			}
			return ""
		},
	}
)

// ResourceKindOf returns the kind in the argument and the rest of it; nil for all else.
func ResourceKindOf(args []string) (*ResourceKind, string) {
	if len(args) != 1 {
		return nil, ""
	}
	prefix, name, found := strings.Cut(args[0], "/")
	for _, kind := range []*ResourceKind{BackupKind, RestoreKind} {
		known := []string{kind.Short, strings.TrimSuffix(kind.plural, "s"), kind.plural, kind.plural + "." + v1beta2.GroupVersion.Group}
		if found && slices.Contains(known, strings.ToLower(prefix)) {
			return kind, name
		}
	}
	return nil, ""
}

// KindOf returns what is known of a kind in manifests; nil for a cluster.
func KindOf(kind string) *ResourceKind {
	for _, k := range []*ResourceKind{BackupKind, RestoreKind} {
		if k.Kind == kind {
			return k
		}
	}
	return nil
}

// Named returns a key in the notation of documents: fdbbackup/NAME, and a cluster by its name
// alone.
func (k *ResourceKind) Named(key types.NamespacedName) types.NamespacedName {
	if k != nil {
		key.Name = k.Short + "/" + key.Name
	}
	return key
}

// BackupPermissions are required to run passes over backups.
func BackupPermissions() []Permission {
	crd := v1beta2.GroupVersion.Group
	return append(resourcePermissions(),
		Permission{"get", crd, "foundationdbbackups", ""},
		Permission{"list", crd, "foundationdbbackups", ""},  // agents pause for all, and data may belong to another
		Permission{"patch", crd, "foundationdbbackups", ""}, // finalizers, annotations of moves, and spec.backupState
		Permission{"update", crd, "foundationdbbackups", "status"},
		Permission{"get", "apps", "deployments", ""},
		Permission{"create", "apps", "deployments", ""},
		Permission{"update", "apps", "deployments", ""},
		Permission{"delete", "apps", "deployments", ""},
		Permission{"delete", "", "pods", ""},
	)
}

// RestorePermissions are required to run passes over restores.
func RestorePermissions() []Permission {
	crd := v1beta2.GroupVersion.Group
	return append(resourcePermissions(),
		Permission{"get", crd, "foundationdbclusters", ""},
		Permission{"list", crd, "foundationdbbackups", ""}, // to find their agents
		Permission{"get", crd, "foundationdbrestores", ""},
		Permission{"update", crd, "foundationdbrestores", "status"},
	)
}

// RestoreAtPermissions are required in addition to restore a time.
func RestoreAtPermissions() []Permission {
	return []Permission{{"patch", v1beta2.GroupVersion.Group, "foundationdbrestores", ""}} // spec.backupVersion, and the record of its time
}

// resourcePermissions are required by both: tools in pods of agents, and a Lease.
func resourcePermissions() []Permission {
	return []Permission{
		{"list", "", "pods", ""},
		{"create", "", "pods", "exec"},
		{"get", "coordination.k8s.io", "leases", ""},
		{"create", "coordination.k8s.io", "leases", ""},
		{"update", "coordination.k8s.io", "leases", ""},
	}
}
