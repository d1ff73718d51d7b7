package diagnose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// canOptions are the options of all `kubectl fdb can` commands.
type canOptions struct {
	session.ClusterFlag
	format.Flags
}

// NewCan is the parent of the can commands. It does nothing by itself.
func NewCan(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"why.md#check-before-you-act"}}, &cobra.Command{
		Use:   "can VERB",
		Short: "Check whether an operation is safe to run now",
		Long: `Check whether an operation is safe to run now, and show every gate that refuses or is
unknown, with its evidence and its requirement; -o wide and -v show those that passed too.
Nothing is changed. The checks are those of a pass before the same operation; the answer is
valid only now.

Exit code 0: yes. 1: no. 8: unknown, which counts as no.`,
	})
	cmd.AddCommand(newCanDelete(env), newCanDrain(env), newCanReconcile(env), newCanReplace(env), newCanRestart(env), newCanUpgrade(env))
	cmdutil.AsParent(cmd, "operation")
	return cmd
}

func (o *canOptions) add(cmd *cobra.Command, env *session.Env) {
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
}

// question is one can command: its arguments and how it is answered.
type question struct {
	verb string
	// ids are the process groups in question, by ID, pod or address.
	ids []string
	// chosen selects process groups by flags.
	chosen cmdutil.Selection
	// needsIDs is true if at least one process group is required.
	needsIDs bool
	// answer fills in the checks.
	answer func(ctx context.Context, env *session.Env, l session.Observation, groups []*v1beta2.ProcessGroupStatus, in *lists.CanInput) error
}

// ask observes the cluster that args name, and answers.
func (o canOptions) ask(ctx context.Context, env *session.Env, cluster []string, q question) error {
	if err := o.Check(); err != nil {
		return err
	}
	words, err := cmdutil.ExpandArgs(q.ids, env.In)
	if err != nil {
		return err
	}
	q.chosen.IDs = words
	if q.needsIDs && !q.chosen.Chooses() {
		return exit.Usage(fmt.Errorf("can %s requires process groups: by ID, pod or address, or by flags", q.verb), "kubectl fdb can "+q.verb+" --help")
	}
	resource, err := env.Cluster(ctx, cluster, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: resource.Namespace, Name: resource.Name}
	env.Run.About = key
	v, err := can(ctx, env, key, q)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	err = o.Print(env.Out, format.Printable{Document: v, Names: v.Subjects, Table: func(w io.Writer) error {
		options := ui.CanOptions{ListOptions: o.List(env, w)}
		options.Wide = options.Wide || env.Global.Verbose > 0
		return ui.WriteCan(w, v, options)
	}})
	if err != nil {
		return err
	}
	return canEnd(v.Answer)
}

func can(ctx context.Context, e *session.Env, key types.NamespacedName, q question) (lists.CanReport, error) {
	l, err := session.ClusterReader{Env: e, Key: key}.Read(ctx)
	if err != nil {
		return lists.CanReport{}, err
	}
	var groups []*v1beta2.ProcessGroupStatus
	if q.chosen.Chooses() {
		if groups, err = q.chosen.Match(l.Facts); err != nil {
			return lists.CanReport{}, err
		}
		if len(groups) == 0 {
			return lists.CanReport{}, exit.Usagef("no process group of %s matches", key.Name)
		}
	}
	in := lists.CanInput{Facts: l.Facts, Verb: q.verb, NeedsDatabase: true, Commands: e.Commands()}
	for _, g := range groups {
		in.Subjects = append(in.Subjects, session.GroupPrefix+string(g.ProcessGroupID))
	}
	if invalid := validSpec(l.Facts); !invalid.OK { // every answer is about what a pass would do
		in.NeedsDatabase = false
		in.Checks, in.Instead = lists.About("", []plan.Check{invalid}), []string{e.KubectlIn(key.Namespace, "edit", "foundationdbcluster", key.Name)}
	} else if err := q.answer(ctx, e, l, groups, &in); err != nil {
		return lists.CanReport{}, err
	}
	return lists.NewCanReport(e.Metadata(key), in), nil
}

// validSpec is the check whether the next pass would accept the spec.
func validSpec(f inspect.Facts) plan.Check {
	err := errors.Join(plan.InvalidSpecError(f.InvalidSpec), objects.ValidateForPass(f.Cluster))
	c := plan.Check{ID: plan.CheckSpecValid, Question: "is the spec valid?", OK: err == nil, Evidence: "no pass refuses it"}
	if err != nil {
		c.Evidence = "invalid: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return c
}

func canEnd(a lists.Answer) error {
	switch a {
	case lists.AnswerYes:
		return nil
	case lists.AnswerUnknown:
		return exit.AnswerError{Code: exit.ExitUnreachable}
	case lists.AnswerNo:
		return exit.AnswerError{Code: exit.ExitNo}
	}
	return exit.AnswerError{Code: exit.ExitInternal}
}

// askAbout answers for the process groups selected by arguments or flags.
func (o canOptions) askAbout(ctx context.Context, env *session.Env, args []string, chosen cmdutil.Selection, q question) error {
	cluster, ids := session.IDsOnly(args, o.Name)
	if chosen.Chooses() { // a single word is then the cluster
		cluster, ids = session.GroupArgs(ctx, env, args, o.Name)
	}
	if _, err := chosen.Filter(); err != nil {
		return err
	}
	q.ids, q.chosen = append(ids, chosen.IDs...), chosen
	return o.ask(ctx, env, cluster, q)
}

// inText joins names for a sentence.
func inText(groups []*v1beta2.ProcessGroupStatus, name func(*v1beta2.ProcessGroupStatus) string) string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = name(g)
	}
	return strings.Join(names, ", ")
}

func newCanReconcile(env *session.Env) *cobra.Command {
	var o canOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement { return slices.Concat(cmdutil.Viewing(), cmdutil.Operators()) },
	}, &cobra.Command{
		Use:   "reconcile [CLUSTER]",
		Short: "Check whether a reconcile pass could act now",
		Long: `Check whether a reconcile pass could act on a cluster now: its permissions, whether an
operator manages the cluster, and whether another run or another control-plane instance
acts on it. Use plan for the actions of the pass.

Exit code 0: yes. 1: no.`,
		Example: `  # Check whether a pass could act
  kubectl fdb can reconcile sample-cluster`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.ask(cmd.Context(), env, args, question{verb: "reconcile", answer: canReconcile})
		},
	})
	o.add(cmd, env)
	return cmd
}

// canReconcile requires no answer from the database: passes also start a database that is down.
func canReconcile(ctx context.Context, e *session.Env, l session.Observation, _ []*v1beta2.ProcessGroupStatus, in *lists.CanInput) error {
	in.NeedsDatabase = false
	rights, err := rights(ctx, e, l.Cluster.Namespace)
	if err != nil {
		return err
	}
	gates, err := l.Session.Gates(ctx, live.GateOptions{})
	if err != nil {
		return fmt.Errorf("evaluate the gates: %w", err)
	}
	checks := append(append([]plan.Check{rights}, gates...), l.LeaseFree())
	lock, _ := safety.LockFree(l.Snapshot)
	if l.Database.Available() {
		checks = append(checks, lock)
	} else {
		in.Notes = append(in.Notes, "lock state unknown: the database is unavailable; stages that need the lock wait")
	}
	in.Checks = lists.About("", checks)
	in.Subjects = []string{"foundationdbcluster/" + l.Cluster.Name}
	in.What = "a reconcile pass may change " + l.Cluster.Name
	in.Do = []string{e.Command("reconcile", l.Cluster.Name)}
	return nil
}

// rights checks all permissions that a pass requires.
func rights(ctx context.Context, e *session.Env, namespace string) (plan.Check, error) {
	c := plan.Check{ID: plan.CheckPermissions, Question: "are all permissions of a pass granted?"}
	api, err := e.Client()
	if err != nil {
		return c, err
	}
	missing, err := session.MissingPermissions(ctx, api, namespace, session.ReconcilePermissions())
	if err != nil {
		return c, fmt.Errorf("check permissions: %w", err)
	}
	c.OK, c.Evidence = len(missing) == 0, "all granted"
	if !c.OK {
		c.Evidence = fmt.Sprintf("not granted in namespace %s: %s", namespace, strings.Join(missing, ", "))
	}
	return c, nil
}

func newCanUpgrade(env *session.Env) *cobra.Command {
	var o canOptions
	var version string
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Viewing(), cmdutil.Operators(), cmdutil.Optional("facts about backups are unknown, which refuses some upgrades", cmdutil.TheBackups()...))
		},
	}, &cobra.Command{
		Use:   "upgrade [CLUSTER] --to VERSION",
		Short: "Check whether the database can be upgraded now",
		Long: `Check whether the database can be upgraded to another version now, and whether its clients
support that version. The checks are those of a pass before it creates anything of the new
version, and whether its spec would be accepted, as plan --set version=VERSION plans it. In
addition it names known facts about the change, each with its source, and refuses those by
which encrypted backups could not be restored.

Exit code 0: yes. 1: no. 8: unknown.`,
		Example: `  # Check whether clients would lose the connection after an upgrade
  kubectl fdb can upgrade sample-cluster --to 7.4.6`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := fdb.ParseExactVersion(version); err != nil {
				return exit.Usage(fmt.Errorf("invalid --to: %w", err), "kubectl fdb can upgrade --help")
			}
			return o.ask(cmd.Context(), env, args, question{verb: "upgrade", answer: func(ctx context.Context, env *session.Env, l session.Observation, _ []*v1beta2.ProcessGroupStatus, in *lists.CanInput) error {
				return canUpgrade(ctx, env, l.Facts, version, in)
			}})
		},
	})
	o.add(cmd, env)
	cmd.Flags().StringVar(&version, "to", "", "version to upgrade to")
	return cmd
}

func canUpgrade(ctx context.Context, e *session.Env, f inspect.Facts, version string, in *lists.CanInput) error {
	cluster := f.Cluster
	in.Checks = lists.AboutFacts(clusterstages.UpgradeChecks(f.Snapshot, version))
	in.Subjects = []string{"foundationdbcluster/" + cluster.Name}
	in.What = fmt.Sprintf("%s may be upgraded from %s to %s", cluster.Name, cluster.RunningVersion(), version)
	if err := upgradeFacts(ctx, e, f, version, in); err != nil {
		return err
	}
	if version == cluster.Spec.Version && version == cluster.RunningVersion() {
		in.Notes = append(in.Notes, "the cluster already runs "+version+", the version in its spec")
		return nil
	}
	stored, err := specStored(ctx, e, types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}, "version="+version)
	if err != nil {
		return err
	}
	in.Checks = append(in.Checks, lists.About("", []plan.Check{stored})...)
	in.Do = []string{e.Command("plan", cluster.Name, "--set", "version="+version), e.Command("reconcile", cluster.Name, "--set", "version="+version, "--wait")}
	return nil
}

// specStored is the check whether the API server and a pass would accept a spec after a change, as plan --set asks it.
func specStored(ctx context.Context, e *session.Env, key types.NamespacedName, set string) (plan.Check, error) {
	c := plan.Check{ID: plan.CheckSpecValid, Question: "is the spec valid with " + set + "?", OK: true, Evidence: "no pass refuses it"}
	edits, err := proposal.Edits([]string{set}, nil)
	if err != nil {
		return c, err
	}
	api, err := e.Client()
	if err != nil {
		return c, err
	}
	p := proposal.Proposer{Client: api, Offline: session.IsDumped(e), FieldManager: live.FieldManager}
	change, err := p.Edits(ctx, "FoundationDBCluster", key, edits, "--set "+set)
	if err == nil {
		_, err = apply.ReconcileOptions{}.For(e, change)
	}
	if refused, is := errors.AsType[*exit.Error](err); is && refused.Code == exit.ExitUsage {
		c.OK, c.Evidence, err = false, "invalid: "+strings.ReplaceAll(exit.Explain(refused), "\n", "; "), nil
	}
	return c, err
}

// upgradeFacts adds the facts about a change of the version, and a refusal for each by which a
// backup is lost. Backups are read only where they decide a fact.
func upgradeFacts(ctx context.Context, e *session.Env, f inspect.Facts, version string, in *lists.CanInput) error {
	running, err := fdb.ParseVersion(f.Cluster.RunningVersion())
	if err != nil {
		in.Notes = append(in.Notes, "known facts about the change are not evaluated: the running version is unknown")
		return nil //nolint:nilerr // the checks refuse an unknown version
	}
	target, err := fdb.ParseExactVersion(version)
	if err != nil {
		return exit.Usage(fmt.Errorf("invalid --to: %w", err), "kubectl fdb can upgrade --help")
	}
	use := f.VersionUse(nil)
	changes := versionfacts.OfChange(running, target, use)
	if versionfacts.NeedBackups(changes) {
		key := types.NamespacedName{Namespace: f.Cluster.Namespace, Name: f.Cluster.Name}
		records, err := session.BackupsReader{Env: e, Key: key}.Resources(ctx)
		if err != nil {
			return err
		}
		if records.Unread != "" {
			in.Notes = append(in.Notes, "backups could not be read: "+records.Unread)
		}
		use = f.VersionUse(records)
		changes = versionfacts.OfChange(running, target, use)
	}
	in.Checks = append(in.Checks, lists.AboutFacts(safety.FactChecks(changes, versionfacts.Consequence.LosesBackup))...)
	in.VersionFacts = slices.Concat(changes, versionfacts.Without(versionfacts.Running(target, use), versionfacts.Running(running, use)))
	return nil
}
