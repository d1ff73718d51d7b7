package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/direct"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// cliTimeout is the default timeout of fdbcli. It takes up to 19 s to report a database that is
// down, and 18 s to change coordinators.
const cliTimeout = 40 * time.Second

// cliOptions are the options of `kubectl fdb cli`.
type cliOptions struct {
	session.ClusterFlag
	yes     bool
	timeout time.Duration
}

// NewCLI returns the command `cli`.
func NewCLI(env *session.Env) *cobra.Command {
	var o cliOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Programs, Group: declare.Support, Pages: []string{"support.md#fdbcli-and-programs-in-pods"}, Prints: "what fdbcli prints",
		Lacks: declare.Lacking("it runs commands of the user in fdbcli, which has no dry run"),
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(session.ToolPermissions()...), cmdutil.Finding())
		},
	}, &cobra.Command{
		Use:                   "cli [CLUSTER] [flags] -- COMMAND...",
		DisableFlagsInUseLine: true,
		Short:                 "Run fdbcli commands in a pod of a cluster",
		Long: `Run fdbcli commands in a pod of a cluster. Semicolons separate commands. The output and the
exit code of fdbcli are passed through.

No command is refused and no gate is checked: a command that may change the database is
shown and requires confirmation.`,
		Example: `  # Show the details of the database status
  kubectl fdb cli sample-cluster -- status details

  # Run commands in a script, without a prompt
  kubectl fdb cli sample-cluster --yes -- "option on ACCESS_SYSTEM_KEYS; get \xff/conf/redundancy_mode"`,
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			cluster, words, err := cmdutil.AfterDash(cmd, args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), env, cluster, strings.Join(words, " "))
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "If true, run the commands without a prompt")
	cmd.Flags().DurationVar(&o.timeout, "timeout", cliTimeout, "maximum run time of fdbcli")
	flags.AtLeast(cmd, "timeout", time.Second)
	return cmd
}

func (o cliOptions) run(ctx context.Context, env *session.Env, args []string, script string) error {
	if env.Global.Transport == string(direct.Native) || env.Global.ClusterFile != "" {
		return exit.Usagef("cli runs fdbcli in a pod: --transport native and --cluster-file conflict with it")
	}
	changes := changesOf(script)
	asks := len(changes) > 0 && !o.yes
	if asks && !env.IsTerminal(env.In) {
		return &exit.Error{
			Code: exit.ExitUnconfirmed, Err: fmt.Errorf("stdin is not a terminal: use --yes to confirm commands that may change the database: %s (nothing was changed)", strings.Join(changes, "; ")),
			Hints: []string{"use --yes to confirm"},
		}
	}
	intent := session.Reads
	if len(changes) > 0 {
		intent = session.Writes
	}
	cluster, err := env.Cluster(ctx, args, o.Name, intent)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	s, err := cmdutil.Pods(ctx, env, cluster)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	cli, err := o.open(env, s)
	if err != nil {
		return err
	}
	if len(changes) > 0 {
		env.Logf("warning: commands that may change the database of %s, without safety gates: %s", cluster.Name, strings.Join(changes, "; "))
		warnOfExcludeFailed(env, s.Cluster, changes)
	}
	if asks {
		if err := env.Prompt().Confirm(ctx, "Run them?"); err != nil {
			return err
		}
	}
	return o.pass(ctx, env, cli, script)
}

// warnOfExcludeFailed warns where a command excludes processes as failed, and the running version
// is known to corrupt data then, or is unknown.
func warnOfExcludeFailed(env *session.Env, c *v1beta2.FoundationDBCluster, changes []string) {
	if !slices.ContainsFunc(changes, func(command string) bool {
		words := strings.Fields(command)
		return len(words) > 0 && words[0] == "exclude" && slices.Contains(words[1:], "failed")
	}) {
		return
	}
	running, err := fdb.ParseVersion(c.RunningVersion())
	if err != nil {
		env.Logf("warning: the running version of %s is unknown, and exclude failed corrupts data in some", c.Name)
		return
	}
	if fact, applies := versionfacts.About(versionfacts.ExcludeFailedCorrupts, running); applies {
		env.Logf("warning: FoundationDB %s: %s; %s (%s)", running, fact.Summary, fact.Advice, strings.Join(fact.Sources, ", "))
	}
}

// open finds the best pods, and in them the fdbcli of the versions that processes may run.
func (o cliOptions) open(env *session.Env, s plan.Snapshot) (*admin.FDBCLI, error) {
	if _, err := cmdutil.Best(s); err != nil {
		return nil, err
	}
	var places []admin.Transport
	for _, pod := range live.ToolPods(s.Cluster, s.Pods) {
		place, err := env.Tool(pod, v1beta2.ContainerMain)
		if err != nil {
			return nil, err
		}
		places = append(places, place)
	}
	running, _ := fdb.ParseVersion(s.Cluster.RunningVersion()) // no binary matches an unknown version
	desired, _ := fdb.ParseVersion(s.Cluster.Spec.Version)
	options := admin.FDBCLIOptions{Binaries: admin.BinariesFor(running, desired), Clock: env.Clock}
	return admin.NewFDBCLI(admin.NewFailover(places...), options), nil
}

func (o cliOptions) pass(ctx context.Context, env *session.Env, cli *admin.FDBCLI, script string) error {
	r, err := cli.Pass(ctx, script, o.timeout)
	switch {
	case admin.KindOf(err) == admin.KindBadInput:
		return exit.Usage(err)
	case err != nil:
		return exit.CauseOf(ctx, err)
	}
	if _, err := layout.Asked(env.Out).Write(r.Stdout); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	if _, err := layout.Asked(env.ErrOut).Write(r.Stderr); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return ended(r.ExitCode)
}

// readOnlyCommands are the fdbcli commands that change nothing, with any arguments.
var readOnlyCommands = []string{
	"status", "help", "get", "getrange", "getrangekeys", "getversion", "getlocation", "getestimatedsize",
	"gettenant", "listtenants", "option", "hotrange", "get_audit_status", "exit", "quit", "",
}

// readOnlyWithoutArguments are the commands that only list when they have no arguments.
var readOnlyWithoutArguments = []string{"coordinators", "exclude", "maintenance", "kill", "suspend", "expensive_data_check", "setclass", "versionepoch"}

// EffectOfScript returns the effect of a script of fdbcli commands.
func EffectOfScript(script string) declare.Effect {
	if len(changesOf(script)) > 0 {
		return declare.Changes
	}
	return declare.Reads
}

// changesOf returns the commands of a script that may change the database: all except
// the read-only ones. A semicolon inside quotes also splits a command, which can only add to them.
func changesOf(script string) []string {
	var changes []string
	for part := range strings.FieldsFuncSeq(script, func(r rune) bool { return r == ';' || r == '\n' }) {
		words := strings.Fields(part)
		name := ""
		if len(words) > 0 {
			name = words[0]
		}
		if slices.Contains(readOnlyCommands, name) || (len(words) == 1 && slices.Contains(readOnlyWithoutArguments, name)) {
			continue
		}
		changes = append(changes, strings.Join(words, " "))
	}
	return changes
}
