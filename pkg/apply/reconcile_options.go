package apply

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
)

// ReconcileOptions are the options of `kubectl fdb reconcile`.
type ReconcileOptions struct {
	session.ClusterFlag
	StageFlags
	ChangeFlags
	WatchFlags
	// WithBackups runs passes over the cluster's backups and restores after each of its own.
	WithBackups bool
	// Proposed is true if the command is for changes that nothing has stored yet.
	Proposed bool
}

// Check validates the flags of the change before anything is read. The plans of what may be several resources are read by
// what carries them out.
func (o ReconcileOptions) Check(env *session.Env) error {
	flags := o.ChangeFlags
	if (o.WithBackups || o.Proposed) && !flags.dry() {
		flags.Plan = ""
	}
	return flags.Check(env)
}

// Args returns the command and its arguments for stages.
func (o ReconcileOptions) Args(cluster string) []string {
	words := []string{"reconcile", cluster}
	if o.Watch {
		words = append(words, "--watch")
	}
	if o.WithBackups {
		words = append(words, "--with-backups")
	}
	if o.Options.Adopt {
		words = append(words, "--adopt")
	}
	if o.Options.ReplaceOnSecurityContextChange {
		words = append(words, "--replace-on-security-context-change")
	}
	if len(o.Only) > 0 {
		words = append(words, "--only", strings.Join(o.Only, ","))
	}
	if len(o.Skip) > 0 {
		words = append(words, "--skip", strings.Join(o.Skip, ","))
	}
	if o.MetricsAddr != "" {
		words = append(words, "--metrics-addr", o.MetricsAddr)
	}
	return words
}

// Permissions returns the required permissions of the command.
func (o ReconcileOptions) Permissions() []session.Permission {
	if o.Watch {
		return append(session.ReconcilePermissions(), session.WatchPermissions()...)
	}
	return session.ReconcilePermissions()
}

// For returns the change of one resource after a change of its spec that nothing has stored yet.
func (o ReconcileOptions) For(env *session.Env, c *proposal.Change) (Keyed, error) {
	kind := session.KindOf(c.Kind())
	key := c.Key()
	change := Change{ChangeFlags: o.ChangeFlags, Args: o.Args(kind.Named(key).Name), Partial: len(o.Only)+len(o.Skip) > 0, ResourceKind: kind, Proposal: c}
	if kind != nil {
		selected, err := o.StagesOn(kind, key.Name, "")
		change.Stages, change.Permissions, change.Of = selected, kind.Permissions(), proposal.ClusterOf(c.Stored)
		return Keyed{key, change}, err
	}
	selected, err := o.Stages()
	if err != nil {
		return Keyed{}, err
	}
	change.Stages, change.Permissions = selected, o.Permissions()
	return Keyed{key, change}, proposable(c, selected)
}

// proposable refuses a spec of a cluster that no pass would carry out.
func proposable(c *proposal.Change, selected []plan.Stage) error {
	cluster := &v1beta2.FoundationDBCluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(c.Stored.Object, cluster); err != nil {
		return exit.Usage(fmt.Errorf("%s: FoundationDBCluster %s: %w", c.Source, c.Key().Name, err))
	}
	if err := errors.Join(cluster.Validate(), objects.ValidateForStages(cluster, selected)); err != nil {
		return exit.Usage(fmt.Errorf("%s: FoundationDBCluster %s would be invalid: %w", c.Source, cluster.Name, err))
	}
	return nil
}
