package apply

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

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

// LeaseUID returns the UID of the resource that the Lease of the last preview is of; empty if that was not read.
func (r *Run) LeaseUID() types.UID {
	switch s := r.observed.snapshot; {
	case s.Backup != nil:
		return s.Backup.UID
	case s.Cluster != nil: // of a restore the destination
		return s.Cluster.UID
	}
	return ""
}

// RunOn runs a pass over a backup or a restore.
func (o ReconcileOptions) RunOn(ctx context.Context, env *session.Env, kind *session.ResourceKind, name string) error {
	selected, err := o.checkOn(env, kind, name)
	if err != nil {
		return err
	}
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if err := kind.MustExist(ctx, env, key); err != nil {
		return err
	}
	return CarryOut(ctx, env, key, Change{
		ChangeFlags: o.ChangeFlags, Args: o.Args(kind.Named(key).Name), Stages: selected, Permissions: kind.Permissions(),
		Partial: len(o.Only)+len(o.Skip) > 0, ResourceKind: kind,
	})
}

// checkOn validates the flags before anything is read.
func (o ReconcileOptions) checkOn(env *session.Env, kind *session.ResourceKind, name string) ([]plan.Stage, error) {
	switch {
	case o.WithBackups:
		return nil, exit.Usagef("--with-backups requires a cluster: it includes %s/%s", kind.Short, name)
	case o.Watch || o.MetricsAddr != "" || o.Dumps.changed():
		return nil, exit.Usagef("--watch requires a cluster: use --wait for %s/%s", kind.Short, name)
	}
	if o.RespectPDB {
		return nil, exit.Usagef("--respect-pdb requires a cluster: passes over %s/%s delete only pods that have terminated", kind.Short, name)
	}
	if err := o.CheckConfirm(kind, name); err != nil {
		return nil, err
	}
	if err := o.Check(env); err != nil {
		return nil, err
	}
	return o.StagesOn(kind, name, o.Name)
}

// StagesOn returns the stages to run over a backup or a restore; cluster is the value of -c.
func (f StageFlags) StagesOn(kind *session.ResourceKind, name, cluster string) ([]plan.Stage, error) {
	switch {
	case name == "" || strings.Contains(name, "/"):
		return nil, exit.Usagef("name is required: %s/NAME", kind.Short)
	case cluster != "":
		return nil, exit.Usagef("%s/%s conflicts with cluster %s", kind.Short, name, cluster)
	case f.Options != plan.Options{}:
		return nil, exit.Usagef("--adopt and --replace-on-security-context-change require a cluster")
	}
	return f.chosen(kind.Stages())
}

// AbortPermissions are required to end a restore, once it is known to belong to no other
// resource.
func AbortPermissions() []session.Permission {
	return append(session.RestorePermissions(), session.Permission{Verb: "list", Group: v1beta2.GroupVersion.Group, Resource: "foundationdbrestores"})
}

// noun returns the noun of the resource in prompts.
func (j *job) noun() string { return Noun(j.Run.ResourceKind) }

// Noun returns the noun of a kind of resource in prompts; nil is a cluster.
func Noun(k *session.ResourceKind) string {
	if k == nil {
		return "cluster"
	}
	return strings.TrimPrefix(k.Short, "fdb")
}

// subject returns the resource of the passes, as the command named it.
func (j *job) subject() string { return j.Run.ResourceKind.Named(j.Key).Name }
