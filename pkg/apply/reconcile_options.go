package apply

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// ReconcileOptions are the options of `kubectl fdb reconcile`.
type ReconcileOptions struct {
	session.ClusterFlag
	StageFlags
	ChangeFlags
	WatchFlags
	// WithBackups runs passes over the cluster's backups and restores after each of its own.
	WithBackups bool
}

// Check validates the flags of the change before anything is read. The plans of several resources are read by what
// carries them out.
func (o ReconcileOptions) Check(env *session.Env) error {
	flags := o.ChangeFlags
	if o.WithBackups && !flags.dry() {
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
