package apply

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
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
		if err != nil {
			return Keyed{}, err
		}
		change.Stages, change.Permissions, change.Of = selected, kind.Permissions(), proposal.ClusterOf(c.Stored)
		return Keyed{key, change}, proposable(c, ofBackups)
	}
	selected, err := o.Stages()
	if err != nil {
		return Keyed{}, err
	}
	change.Stages, change.Permissions = selected, o.Permissions()
	return Keyed{key, change}, proposable(c, ofStages(selected))
}

// proposable refuses a spec that no pass would carry out.
func proposable(c *proposal.Change, validate func(*proposal.Change) error) error {
	err := validate(c)
	if err == nil {
		return nil
	}
	var problems []proposal.Problem
	for _, f := range plan.InvalidFields(err) {
		problems = append(problems, proposal.Problem{Field: f.Field, Message: f.Message})
	}
	return exit.Usage(c.Invalid(problems))
}

// ofStages validates a cluster for the stages of a pass.
func ofStages(selected []plan.Stage) func(*proposal.Change) error {
	return func(c *proposal.Change) error {
		cluster := &v1beta2.FoundationDBCluster{}
		if err := c.Decode(cluster); err != nil {
			return err
		}
		return errors.Join(cluster.Validate(), objects.ValidateForStages(cluster, selected))
	}
}

// ofBackups validates a backup or a restore.
func ofBackups(c *proposal.Change) error {
	if c.Kind() == session.RestoreKind.Kind {
		r := &v1beta2.FoundationDBRestore{}
		return cmp.Or(c.Decode(r), r.Validate())
	}
	b := &v1beta2.FoundationDBBackup{}
	return cmp.Or(c.Decode(b), b.Validate())
}

// LosesData reports whether --yes is not enough for a plan: the command may lose data, or part
// of the plan does.
func (j *job) LosesData(v planned.PlanView) bool { return j.Dangerous || v.LosesData() }

// Confirms returns what the user types to approve a plan; empty without a prompt.
func (j *job) Confirms(v planned.PlanView) string {
	switch {
	case j.LosesData(v):
		return j.Key.Name
	case j.Reversible:
		return ""
	default:
		return "y"
	}
}

// agreedByName reports whether a loss of data was approved with --confirm.
func (f ChangeFlags) agreedByName() bool {
	return f.Yes && f.Confirmed != "" && f.Plan != "" && f.Reason != ""
}

// wantsLoss reports whether a pass ended because of an action that loses data and was
// not approved by name.
func wantsLoss(last reconcile.PassDone) bool {
	var beyond *reconcile.BeyondPlanError
	return errors.As(last.Stopped, &beyond) && beyond.Action != nil && plan.LosesData(beyond.Action)
}

// unnamed returns the failure of a command that would lose data without a terminal, with the
// commands that approve it.
func (o *outcome) unnamed() *exit.Error {
	return &exit.Error{
		Code: exit.ExitUnconfirmed, Hints: o.lossHints(), Printed: o.count > 0,
		Err: errors.New("stdin is not a terminal and data would be permanently lost: --yes is not sufficient (" + o.Env.Prompt().DoneSoFar() + ")"),
	}
}

// lossHints returns the commands that approve a loss of data and apply it.
func (j *job) lossHints() []string {
	c := Change{ChangeFlags: ChangeFlags{Coexist: j.Coexist, OverrideFlags: j.OverrideFlags}, Args: []string{"reconcile", j.subject()}}
	again := func(flags ...string) string { return j.Env.Command(slices.Concat(c.Command(), flags)...) }
	return []string{
		"preview: " + again("--dry-run", "-o", "json") + " > plan.json",
		"apply: " + again("--plan", "plan.json", "--yes", "--confirm", j.Key.Name, "--reason") + " TEXT",
	}
}

// CheckConfirm verifies that --confirm is used where it applies, and matches.
func (o ReconcileOptions) CheckConfirm(kind *session.ResourceKind, name string) error {
	switch {
	case o.Confirmed == "":
		return nil
	case kind != session.BackupKind:
		return exit.Usagef("--confirm requires reconcile %s/NAME", session.BackupKind.Short)
	default:
		f := o.ChangeFlags
		f.Named = Noun(kind)
		return f.ConfirmedAs(name)
	}
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

// title returns the resource of the passes in lines, after its site where there are several.
func (j *job) title() string {
	if j.Env.Site != "" {
		return j.Env.Site + ": " + j.subject()
	}
	return j.subject()
}

// subject returns the resource of the passes, as the command named it.
func (j *job) subject() string { return j.Run.ResourceKind.Named(j.Key).Name }

// stageAliases are the names in newer releases of the operator.
var stageAliases = map[string]plan.StageName{
	"ExcludeProcesses":                  plan.StageExcludeInstances,
	"RemoveProcessGroups":               plan.StageRemovePods,
	"UpdateMetadata":                    plan.StageUpdateLabels,
	"ReplaceFailedProcessGroups":        plan.StageReplaceFailedPods,
	"ReplaceMisconfiguredProcessGroups": plan.StageReplaceMisconfiguredPods,
}

// StageFlags select the stages of a pass, and configure them.
type StageFlags struct {
	Only, Skip []string
	Options    plan.Options
}

// Stages returns the stages to run, in their order.
func (f StageFlags) Stages() ([]plan.Stage, error) { return f.chosen(stages.ClusterWith(f.Options)) }

// chosen returns those of all stages that are to run, in their order. A pass over a cluster always begins with recording what it
// observes: the stages decide by the conditions in the status, and would repeat what a status of before still asks for.
func (f StageFlags) chosen(from []plan.Stage) ([]plan.Stage, error) {
	only, err := canonical(f.Only, from)
	if err != nil {
		return nil, err
	}
	skip, err := canonical(f.Skip, from)
	if err != nil {
		return nil, err
	}
	named := func(s plan.Stage) bool {
		return (len(only) == 0 || slices.Contains(only, s.Name)) && !slices.Contains(skip, s.Name)
	}
	if !slices.ContainsFunc(from, named) {
		return nil, exit.Usagef("--only and --skip leave no stage to run")
	}
	var chosen []plan.Stage
	for i, s := range from {
		if named(s) || i == 0 && s.Name == plan.StageUpdateStatus {
			chosen = append(chosen, s)
		}
	}
	return chosen, nil
}

// StageNames returns the names of all stages that can be selected, in their order.
func StageNames() []plan.StageName { return stageNames(stages.ClusterWith(plan.Options{Adopt: true})) }

// facetsOf returns the facets of the cluster state that stages read, or may read.
func facetsOf(from []plan.Stage) plan.Facet {
	var facets plan.Facet
	for _, s := range from {
		facets |= s.Reads | s.More
	}
	return facets
}

// canonical maps names and aliases to the names of existing stages.
func canonical(names []string, from []plan.Stage) ([]plan.StageName, error) {
	known := stageNames(from)
	out := make([]plan.StageName, len(names))
	for i, name := range names {
		out[i] = plan.StageName(name)
		if alias, ok := stageAliases[name]; ok {
			out[i] = alias
		}
		if !slices.Contains(known, out[i]) {
			return nil, session.Unknown("stage", name, phrase.Strings(known))
		}
	}
	return out, nil
}

// stageNames returns the names of stages, each once, in their order.
func stageNames(from []plan.Stage) []plan.StageName {
	var names []plan.StageName
	for _, s := range from {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}
