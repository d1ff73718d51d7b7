package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Key returns the resource that the argument names, as NAME or KIND/NAME, or the only one in
// the namespace.
func (k *ResourceKind) Key(ctx context.Context, env *Env, args []string, i Intent) (types.NamespacedName, error) {
	key := types.NamespacedName{}
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return key, err
	}
	key.Namespace = namespace
	if len(args) > 0 {
		if key.Name, err = k.bareName(args[0]); err != nil {
			return key, err
		}
		return key, k.MustExist(ctx, env, key)
	}
	if i == Writes && !env.IsTerminal(env.In) {
		return key, exit.Usagef("name of the %s is required because stdin is not a terminal", k.Kind)
	}
	there, err := k.names(ctx, env, namespace)
	switch {
	case err != nil:
		return key, err
	case len(there) == 0:
		return key, exit.Usage(fmt.Errorf("no %s found in namespace %s", k.Kind, namespace), "choose another namespace with -n NAMESPACE")
	case len(there) > 1:
		return key, exit.Usagef("name of the %s is required: namespace %s has %s", k.Kind, namespace, strings.Join(there, ", "))
	}
	env.Logf("using %s %s, the only one in namespace %s", k.Kind, there[0], namespace)
	key.Name = there[0]
	return key, nil
}

// MustExist fails if the resource does not exist, with the names that do. Without permission to list
// resources nothing is known, and the first read of the resource reports what is wrong.
func (k *ResourceKind) MustExist(ctx context.Context, env *Env, key types.NamespacedName) error {
	there, err := k.names(ctx, env, key.Namespace)
	switch {
	case exit.Code(err) == exit.ExitForbidden:
		return nil
	case err != nil:
		return err
	case slices.Contains(there, key.Name):
		return nil
	case len(there) == 0:
		return exit.Usage(fmt.Errorf("%s %s not found in namespace %s, which has none", k.Kind, key.Name, key.Namespace), "choose another namespace with -n NAMESPACE")
	default:
		return exit.Usagef("%s %s not found in namespace %s, which has %s%s", k.Kind, key.Name, key.Namespace, phrase.List(there), OrMeant(key.Name, there))
	}
}

func (k *ResourceKind) bareName(text string) (string, error) {
	if !strings.Contains(text, "/") && text != "" {
		return text, nil
	}
	if kind, name := ResourceKindOf([]string{text}); kind == k && name != "" && !strings.Contains(name, "/") {
		return name, nil
	}
	return "", exit.Usagef("invalid name %q of %s: must be NAME or %s/NAME", text, k.Kind, k.Short)
}

// names returns the names of all resources of a namespace.
func (k *ResourceKind) names(ctx context.Context, env *Env, namespace string) ([]string, error) {
	keys, err := k.Keys(ctx, env, namespace)
	var all []string
	for _, key := range keys {
		all = append(all, key.Name)
	}
	return all, err
}

// Keys returns the keys of all resources of a namespace, or of all namespaces if it is empty.
func (k *ResourceKind) Keys(ctx context.Context, env *Env, namespace string) ([]types.NamespacedName, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	records, err := k.Resources(ctx, c, namespace)
	if exit.IsMissingKind(err) {
		return nil, exit.Usage(fmt.Errorf("this Kubernetes cluster has no %s resources: %w", k.Kind, err), env.KubectlIn("", "get", "crd", k.plural+".apps.foundationdb.org"))
	}
	var all []types.NamespacedName
	for _, r := range records {
		all = append(all, client.ObjectKeyFromObject(r))
	}
	return all, err
}

// Resources returns all resources of a namespace, or of all namespaces if it is empty, by name.
func (k *ResourceKind) Resources(ctx context.Context, c client.Client, namespace string) ([]client.Object, error) {
	var all []client.Object
	for next := ""; ; {
		page := k.list()
		if err := c.List(ctx, page, client.InNamespace(namespace), client.Limit(PageSize), client.Continue(next)); err != nil {
			return nil, fmt.Errorf("list %ss %s: %w", k.Kind, InNamespace(namespace), err)
		}
		objects, err := meta.ExtractList(page)
		if err != nil {
			return nil, fmt.Errorf("list %ss: %w", k.Kind, err)
		}
		for _, o := range objects {
			if cluster, ok := o.(client.Object); ok {
				all = append(all, cluster)
			}
		}
		if next = page.GetContinue(); next == "" {
			stable.Sort(all, func(a, b client.Object) int {
				return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
			})
			return all, nil
		}
	}
}

// ObserveResource observes a resource, and prints progress: the tools wait for a database or
// store that does not answer, up to their timeout.
func (e Lookup) ObserveResource(ctx context.Context, kind *ResourceKind, key types.NamespacedName, facets plan.Facet) (plan.Snapshot, error) {
	conn, err := kind.Connect(e.Env, key)
	if err != nil {
		return plan.Snapshot{}, err
	}
	s := plan.Snapshot{}
	limited, done := LimitedView(ctx)
	defer done()
	requested := beside(func() error { return conn.Observe(limited, &s, facets) })
	err = ClusterReader{Env: e.Env}.Await(requested, func() { e.Logf("waiting for database status…") })
	if err != nil {
		err = exit.CauseOf(limited, err)
	}
	return s, err
}

// VerdictCode returns the exit code of an answer: yes, no, or unknown.
func VerdictCode(good *bool) int {
	switch {
	case good == nil:
		return exit.ExitUnreachable
	case *good:
		return exit.ExitDone
	default:
		return exit.ExitNo
	}
}

// BackupFacts returns the facts that the view of a backup is built from.
func BackupFacts(s plan.Snapshot, maxLag time.Duration) inspect.BackupFacts {
	facts := inspect.BackupFacts{Snapshot: s, MaxLag: maxLag}
	facts.URL, _ = objects.BackupURL(s.Backup) // shown as unknown if empty
	if s.BackupStatus.Status != nil {
		facts.Own, facts.Outstanding = backup.OwnBackup(s), backup.OutstandingOfBackup(s)
	}
	return facts
}

// RestoreFacts returns the facts that the view of a restore is built from.
func RestoreFacts(s plan.Snapshot) inspect.RestoreFacts {
	facts := inspect.RestoreFacts{Snapshot: s, Started: backup.WasStarted(s.Restore), Own: backup.OwnRestore(s)}
	facts.URL, _ = objects.RestoreURL(s.Restore) // shown as unknown if empty
	return facts
}

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
