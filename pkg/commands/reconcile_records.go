package commands

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
)

// recordKind is a kind of resource, other than a cluster, that a pass can reconcile.
type recordKind struct {
	// short is what the resource is called in commands.
	short       string
	plural      string
	kind        string
	list        func() client.ObjectList
	stages      func() []plan.Stage
	permissions func() []permission
	connect     func(e *Env, key types.NamespacedName) (Session, error)
	// cluster returns the name of the cluster that a resource belongs to.
	cluster func(client.Object) string
}

var (
	backupKind = &recordKind{
		short: "fdbbackup", plural: "foundationdbbackups", kind: "FoundationDBBackup", stages: backup.Backup, permissions: backupPermissions,
		list:    func() client.ObjectList { return &v1beta2.FoundationDBBackupList{} },
		connect: func(e *Env, key types.NamespacedName) (Session, error) { return e.ConnectBackup(key) },
		cluster: func(o client.Object) string {
			if b, ok := o.(*v1beta2.FoundationDBBackup); ok {
				return b.Spec.ClusterName
			}
			return ""
		},
	}
	restoreKind = &recordKind{
		short: "fdbrestore", plural: "foundationdbrestores", kind: "FoundationDBRestore", stages: backup.Restore, permissions: restorePermissions,
		list:    func() client.ObjectList { return &v1beta2.FoundationDBRestoreList{} },
		connect: func(e *Env, key types.NamespacedName) (Session, error) { return e.ConnectRestore(key) },
		cluster: func(o client.Object) string {
			if r, ok := o.(*v1beta2.FoundationDBRestore); ok {
				return r.Spec.DestinationClusterName
			}
			return ""
		},
	}
)

// recordKindOf returns the kind in the argument and the rest of it; nil for all else.
func recordKindOf(args []string) (*recordKind, string) {
	if len(args) != 1 {
		return nil, ""
	}
	prefix, name, found := strings.Cut(args[0], "/")
	for _, kind := range []*recordKind{backupKind, restoreKind} {
		known := []string{kind.short, strings.TrimSuffix(kind.plural, "s"), kind.plural, kind.plural + "." + v1beta2.GroupVersion.Group}
		if found && slices.Contains(known, strings.ToLower(prefix)) {
			return kind, name
		}
	}
	return nil, ""
}

// named returns a key in the notation of documents: fdbbackup/NAME, and a cluster by its name
// alone.
func (k *recordKind) named(key types.NamespacedName) types.NamespacedName {
	if k != nil {
		key.Name = k.short + "/" + key.Name
	}
	return key
}

// leaseOf returns the name of the Lease of the observed resource.
func leaseOf(s plan.Snapshot) string {
	switch {
	case s.Backup != nil:
		return live.BackupLeaseName(s.Backup.Name)
	case s.Restore != nil:
		return live.LeaseName(s.Restore.Spec.DestinationClusterName)
	case s.Cluster != nil:
		return live.LeaseName(s.Cluster.Name)
	}
	return ""
}

// runOn runs a pass over a backup or a restore.
func (o reconcileOptions) runOn(ctx context.Context, env *Env, kind *recordKind, name string) error {
	selected, err := o.checkOn(env, kind, name)
	if err != nil {
		return err
	}
	namespace, err := env.namespace()
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	return env.carryOut(ctx, key, change{
		changeFlags: o.changeFlags, words: o.words(kind.named(key).Name), stages: selected, permissions: kind.permissions(),
		partial: len(o.only)+len(o.skip) > 0, record: kind,
	})
}

// checkOn validates the flags before anything is read.
func (o reconcileOptions) checkOn(env *Env, kind *recordKind, name string) ([]plan.Stage, error) {
	switch {
	case o.withBackups:
		return nil, usagef("--with-backups requires a cluster: it includes %s/%s", kind.short, name)
	case o.watch || o.metricsAddr != "":
		return nil, usagef("--watch requires a cluster: use --wait for %s/%s", kind.short, name)
	}
	if err := o.checkConfirm(kind, name); err != nil {
		return nil, err
	}
	if err := o.changeFlags.check(env); err != nil {
		return nil, err
	}
	return o.stagesOn(kind, name, o.name)
}

// stagesOn returns the stages to run over a backup or a restore; cluster is the value of -c.
func (f stageFlags) stagesOn(kind *recordKind, name, cluster string) ([]plan.Stage, error) {
	switch {
	case name == "" || strings.Contains(name, "/"):
		return nil, usagef("name is required: %s/NAME", kind.short)
	case cluster != "":
		return nil, usagef("%s/%s conflicts with cluster %s", kind.short, name, cluster)
	case f.options != readings.Options{}:
		return nil, usagef("--adopt and --replace-on-security-context-change require a cluster")
	}
	return f.chosen(kind.stages())
}

// backupPermissions are required to run passes over backups.
func backupPermissions() []permission {
	crd := v1beta2.GroupVersion.Group
	return append(recordPermissions(),
		permission{"get", crd, "foundationdbbackups", ""},
		permission{"list", crd, "foundationdbbackups", ""},  // agents pause for all, and data may belong to another
		permission{"patch", crd, "foundationdbbackups", ""}, // finalizers, annotations of moves, and spec.backupState
		permission{"update", crd, "foundationdbbackups", "status"},
		permission{"get", "apps", "deployments", ""},
		permission{"create", "apps", "deployments", ""},
		permission{"update", "apps", "deployments", ""},
		permission{"delete", "apps", "deployments", ""},
		permission{"delete", "", "pods", ""},
	)
}

// restorePermissions are required to run passes over restores.
func restorePermissions() []permission {
	crd := v1beta2.GroupVersion.Group
	return append(recordPermissions(),
		permission{"get", crd, "foundationdbclusters", ""},
		permission{"list", crd, "foundationdbbackups", ""}, // to find their agents
		permission{"get", crd, "foundationdbrestores", ""},
		permission{"update", crd, "foundationdbrestores", "status"},
	)
}

// abortPermissions are required to end a restore, once it is known to belong to no other
// resource.
func abortPermissions() []permission {
	return append(restorePermissions(), permission{"list", v1beta2.GroupVersion.Group, "foundationdbrestores", ""})
}

// recordPermissions are required by both: tools in pods of agents, and a Lease.
func recordPermissions() []permission {
	return []permission{
		{"list", "", "pods", ""},
		{"create", "", "pods", "exec"},
		{"get", "coordination.k8s.io", "leases", ""},
		{"create", "coordination.k8s.io", "leases", ""},
		{"update", "coordination.k8s.io", "leases", ""},
	}
}

// noun returns the noun of the resource in prompts.
func (p *passes) noun() string { return p.run.record.noun() }

func (k *recordKind) noun() string {
	if k == nil {
		return "cluster"
	}
	return strings.TrimPrefix(k.short, "fdb")
}

// subject returns the resource of the passes, as the command named it.
func (p *passes) subject() string { return p.run.record.named(p.key).Name }
