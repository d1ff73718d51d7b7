package diagnose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
)

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
