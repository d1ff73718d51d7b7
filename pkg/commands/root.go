package commands

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the ways to log in that kubeconfigs name
	"k8s.io/klog/v2"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/backups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/clusters"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/coordinators"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/dashboard"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/diagnose"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/dump"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/exporter"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/failover"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/gc"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/install"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/locks"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/logs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/nodes"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/run"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/tools"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/webhook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/direct"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Run runs the command that args name and returns the exit code. The cause of a context that a
// signal ended is an InterruptedError.
func Run(ctx context.Context, env *session.Env, args []string) int {
	defer env.Connection().CloseDirect()
	session.FitTerminal(env)
	defer context.AfterFunc(ctx, env.Footer.KeepEcho)()
	root := NewRoot(env) //nolint:contextcheck // a completion uses the context of the completed command line
	words, err := inOurNames(root, args)
	if err != nil {
		printError(env, err, args)
		return exit.Code(err)
	}
	args = words
	prepare(root, args)
	about, err := root.ExecuteContextC(complete.ReadingFrom(ctx, func(cmd *cobra.Command) error { return readFromDump(env, cmd) }))
	if err != nil && !env.Run.Started {
		err = asUsage(err, about, args)
	}
	err = env.Connection().Located(pointToRights(env, err, about))
	printError(env, err, args)
	return exit.Code(err)
}

// prepare makes a tree carry out one command line. Only one that is to be completed has completions.
func prepare(root *cobra.Command, args []string) {
	root.SetArgs(args)
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		complete.Offer(root)
	}
}

// pointToRights adds a hint to list all required permissions after one was denied: the API
// server only names the first.
func pointToRights(e *session.Env, err error, about *cobra.Command) error {
	if _, verdict := errors.AsType[exit.AnswerError](err); verdict || err == nil || exit.Code(err) != exit.ExitForbidden {
		return err
	}
	f, known := errors.AsType[*exit.Error](err)
	if known && len(f.Hints) > 0 {
		return err
	}
	name := declare.PathOf(about)
	if _, known := declare.FindNeeds(about.Root(), name); !known {
		return err
	}
	led := &exit.Error{Code: exit.ExitForbidden, Err: err, Hints: []string{e.Command(append([]string{"auth", "can-i"}, strings.Fields(name)...)...)}}
	if known {
		led.Printed, led.Differences = f.Printed, f.Differences
	}
	return led
}

// asUsage marks errors that cobra returned before any of our code ran.
func asUsage(err error, about *cobra.Command, args []string) error {
	if _, known := errors.AsType[*exit.Error](err); known {
		return err
	}
	if !about.HasParent() && about.ParseFlags(args) == nil {
		err = fmt.Errorf("%w%s", err, session.OrMeant(about.Flags().Arg(0), commandNames(about)))
	}
	return exit.Usage(err, about.CommandPath()+" --help")
}

func commandNames(parent *cobra.Command) []string {
	var names []string
	for _, c := range parent.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// NewRoot returns the tree of all commands.
func NewRoot(env *session.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-fdb",
		Short: "Reconcile FoundationDB clusters on Kubernetes",
		Long: `Reconcile FoundationDB clusters on Kubernetes.

kubectl fdb reconciles FoundationDBCluster, FoundationDBBackup and FoundationDBRestore
resources on demand. No operator has to run.`,
		Annotations:  map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl fdb"},
		SilenceUsage: true,
		// Suggestions are those of session.OrMeant, as everywhere.
		DisableSuggestions: true,
		SilenceErrors:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			flags.NoteTyped(&env.Global, cmd.Root().PersistentFlags(), cmd.Flags())
			if err := flags.CheckDurations(cmd.Flags()); err != nil {
				return err
			}
			if err := readFromDump(env, cmd); err != nil {
				return err
			}
			return begin(env)
		},
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.ErrOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return exit.Usage(err, cmd.CommandPath()+" --help") })
	env.Kube.AddFlags(root.PersistentFlags())
	requests := root.PersistentFlags().Lookup("request-timeout")
	requests.Usage = fmt.Sprintf("Timeout of a single request to the API server (1s, 2m). 0 means %s; requests always have a timeout", exit.RequestTimeout)
	add(&env.Global, root)
	complete.FlagWith(root, "namespace", complete.From(env).NamespaceNames)
	complete.FlagWith(root, "context", complete.From(env).ContextNames)
	root.AddGroup(declare.Groups()...)
	root.AddCommand(
		clusters.NewStatus(env), newGet(env), clusters.NewDescribe(env), diagnose.NewWhy(env), clusters.NewTop(env), diagnose.NewCheck(env), diagnose.NewCan(env), clusters.NewEvents(env), logs.New(env), operations.NewHistory(env), dashboard.NewWatch(env), groups.NewExclusion(env), coordinators.NewConnectionString(env),
		install.NewCreate(env), reconcile.NewPlan(env), reconcile.NewReconcile(env, dump.Writer(Run)), groups.NewDetectFailures(env), groups.NewReplace(env), groups.NewRestart(env), nodes.NewCordon(env), nodes.NewUncordon(env), nodes.NewDrain(env), groups.NewExclude(env), groups.NewInclude(env), coordinators.NewCoordinators(env), failover.New(env), recovery.New(env), gc.New(env), operations.NewOperations(env), locks.NewLocks(env), locks.NewMaintenance(env), locks.NewPause(env), locks.NewResume(env), backups.NewBackup(env), backups.NewRestore(env),
		newRun(env), diagnose.NewWait(env), tools.NewSchema(env), exporter.New(env), webhook.New(env),
		tools.NewCLI(env), tools.NewExec(env), dump.New(env, Run), diagnose.NewAuth(env), install.NewInstall(env), clusters.NewVersion(env), tools.NewCompletion(env), tools.NewDocs(env), newOptions(env),
	)
	for _, cmd := range root.Commands() {
		d, _ := declare.Of(cmd)
		cmd.GroupID = string(d.Group)
	}
	explainArgumentErrors(root)
	root.SetHelpCommandGroupID(string(declare.Support))
	root.SetUsageTemplate(briefUsage(root.UsageTemplate()))
	fitHelp(root)
	return root
}

// newRun returns the command `run`, whose steps are command lines of this program.
func newRun(env *session.Env) *cobra.Command {
	return run.New(env, Run, run.Tree{
		Root:   func() *cobra.Command { return NewRoot(session.Inside(env, genericiooptions.NewTestIOStreamsDiscard())) },
		Script: map[string]func(string) declare.Effect{"cli": tools.EffectOfScript},
	})
}

// explainArgumentErrors makes every command with wrong arguments print its usage; cobra only
// reports their number.
func explainArgumentErrors(parent *cobra.Command) {
	for _, c := range parent.Commands() {
		if fit := c.Args; fit != nil {
			c.Args = func(cmd *cobra.Command, args []string) error { return wrongArguments(cmd, args, fit(cmd, args)) }
		}
		explainArgumentErrors(c)
	}
}

func wrongArguments(cmd *cobra.Command, args []string, err error) error {
	if _, known := errors.AsType[*exit.Error](err); known || err == nil {
		return err
	}
	given := "got none"
	if len(args) > 0 {
		given = "got " + strings.Join(args, " ")
	}
	return exit.Usage(fmt.Errorf("invalid arguments: usage %s; %s", strings.TrimSuffix(cmd.UseLine(), " [flags]"), given), cmd.CommandPath()+" --help")
}

// briefUsage leaves the flags of all commands to the command options, as kubectl does.
func briefUsage(template string) string {
	template = strings.Replace(template, "{{if .HasAvailableLocalFlags}}", "{{if and .HasParent .HasAvailableLocalFlags}}", 1)
	start, rest, found := strings.Cut(template, "{{if .HasAvailableInheritedFlags}}")
	_, end, ended := strings.Cut(rest, "{{end}}")
	if !found || !ended {
		return template
	}
	return start + `

Use "kubectl fdb options" for the flags of all commands.` + end
}

func add(g *session.GlobalFlags, root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&g.Color, "color", session.ColorAuto, "use of colors: auto, always or never; auto respects NO_COLOR and CLICOLOR_FORCE")
	flags.BoolVarP(&g.Quiet, "quiet", "q", false, "If true, print only results and errors")
	flags.IntVarP(&g.Verbose, "v", "v", 0, "log verbosity: 1 adds no-op stages and passed checks, 6 every API request")
	flags.StringVar(&g.Transport, "transport", string(direct.Auto), "access to databases: exec runs fdbcli in pods, native uses FoundationDB's client library in this process, auto prefers native where a build has it and a database can be reached directly")
	flags.StringVar(&g.ClusterFile, "cluster-file", "", "cluster file for the native transport, which keeps it current, instead of the connection string of the cluster's status")
	flags.StringVar(&g.From, "from", "", "dump to read instead of the API server and the database, for commands that change nothing (see kubectl fdb dump)")
	restrict(&g.Templates, root)
	complete.Flag(root, "transport", func() []string { return []string{string(direct.Auto), string(direct.Exec), string(direct.Native)} })
	complete.Flag(root, "color", func() []string { return []string{session.ColorAuto, session.ColorAlways, session.ColorNever} })
}

// restrict adds the flags that restrict the pod templates of resources, as operators since release 2.31 have them.
func restrict(r *objects.TemplateRestrictions, root *cobra.Command) {
	flags := root.PersistentFlags()
	for _, f := range []struct {
		forbid      *bool
		name, field string
	}{
		{&r.ForbidToken, objects.FlagAllowToken, "automountServiceAccountToken"},
		{&r.ForbidHostNetwork, objects.FlagAllowHostNetwork, "hostNetwork"},
		{&r.ForbidHostPID, objects.FlagAllowHostPID, "hostPID"},
		{&r.ForbidHostIPC, objects.FlagAllowHostIPC, "hostIPC"},
	} {
		flags.Var((*allowance)(f.forbid), f.name, "If true, pod templates may have "+f.field+"; else no pass runs over a resource with one that has")
		flags.Lookup(f.name).NoOptDefVal = "true"
		complete.Flag(root, f.name, func() []string { return []string{"true", "false"} })
	}
	flags.StringArrayVar(&r.Accounts, objects.FlagAllowedAccounts, nil, "name of a ServiceAccount that pod templates may have; repeat the flag for several. No pass runs over a resource with another one; empty allows all")
	flags.StringArrayVar(&r.VolumeSources, objects.FlagAllowedVolumeSources, nil, "kind of volume that pod templates may add, such as configMap; as above")
	flags.StringArrayVar(&r.VolumeMounts, objects.FlagAllowedVolumeMounts, nil, "name of a volume that containers of pod templates may mount; as above")
	complete.Flag(root, objects.FlagAllowedVolumeSources, objects.VolumeSources)
}

// allowance is a flag that is true unless something is forbidden.
type allowance bool

// Set implements pflag.Value.
func (a *allowance) Set(text string) error {
	allowed, err := strconv.ParseBool(text)
	*a = allowance(!allowed)
	return err
}

// String implements pflag.Value.
func (a *allowance) String() string { return strconv.FormatBool(a == nil || !bool(*a)) }

// Type implements pflag.Value.
func (*allowance) Type() string { return "bool" }

// begin runs once the command line is validated.
func begin(e *session.Env) error {
	if !slices.Contains([]string{session.ColorAuto, session.ColorAlways, session.ColorNever}, e.Global.Color) {
		return exit.Usagef("--color must be auto, always or never, not %q", e.Global.Color)
	}
	if _, err := direct.New(e.Connection().DirectOptions()); err != nil {
		return exit.Usage(err)
	}
	if file := e.Global.ClusterFile; file != "" {
		if err := direct.CheckClusterFile(file); err != nil {
			return exit.Usage(err)
		}
	}
	if !e.Run.Started { // a command that another one runs logs where that one does
		logClientGo(e)
	}
	e.Run.Started = true
	return nil
}

// logClientGo sends client-go's log to stderr with high verbosity, else nowhere.
func logClientGo(e *session.Env) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	_ = flags.Set("logtostderr", "false")
	_ = flags.Set("alsologtostderr", "false")
	_ = flags.Set("stderrthreshold", "4")
	if e.Global.Verbose < 1 {
		klog.SetOutput(io.Discard)
		return
	}
	_ = flags.Set("v", strconv.Itoa(e.Global.Verbose))
	klog.SetOutput(e.ErrOut)
}

// JSONRequested reports whether the arguments request JSON. It reads the words themselves, since
// the command line may be invalid.
func JSONRequested(args []string) bool {
	for i, arg := range args {
		switch arg {
		case "--":
			return false
		case "-o", "--output":
			return i+1 < len(args) && args[i+1] == "json"
		case "-ojson", "-o=json", "--output=json":
			return true
		}
	}
	return false
}

// printError prints on stderr why the command that args name failed.
func printError(e *session.Env, err error, args []string) {
	var verdict exit.AnswerError
	if err == nil || errors.As(err, &verdict) {
		return
	}
	f := &exit.Error{Code: exit.Code(err), Err: err}
	if known := new(*exit.Error); errors.As(err, known) {
		f.Hints, f.Printed, f.Differences = (*known).Hints, (*known).Printed, (*known).Differences
	}
	if JSONRequested(args) {
		printErrorJSON(e, f)
		return
	}
	if !f.Printed {
		for _, one := range exit.Each(f.Err) {
			layout.Entry(e.ErrOut, "error: ", exit.Explain(one))
		}
	}
	for _, d := range f.Differences {
		layout.Entry(e.ErrOut, "  ", d.Message)
	}
	if e.Global.Quiet {
		return
	}
	for _, hint := range f.Hints {
		layout.Entry(e.ErrOut, "hint: ", hint)
	}
}

func printErrorJSON(e *session.Env, f *exit.Error) {
	document := ui.NewError(e.Metadata(e.Run.About), f.Code, exit.Explain(f.Err), f.Hints)
	document.Differences = f.Differences
	_ = ui.WriteJSON(e.ErrOut, document)
}

// slop is by how much pflag exceeds the width that it is given.
const slop = 5

// fitHelp makes help fit the terminal: its prose, and the descriptions of flags.
func fitHelp(root *cobra.Command) {
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		width := layout.Width(out)
		if width == 0 {
			usual(cmd, args)
			return
		}
		cmd.Long = layout.Reflow(cmd.Long, width)
		cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", width-slop)))
		var text bytes.Buffer // templates print word by word, and a page wraps whole lines
		cmd.SetOut(&text)
		usual(cmd, args)
		cmd.SetOut(out)
		_, _ = text.WriteTo(out) // help has no error to return
	})
}

// newOptions returns the command `options`, which kubectl has for the same.
func newOptions(env *session.Env) *cobra.Command {
	return declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Support, Pages: []string{"commands.md"}, Local: true}, &cobra.Command{
		Use:   "options",
		Short: "List the flags of all commands",
		Long: `List the flags that all commands have: those that select an API server and a user, and those
of output, transport and restrictions. No API server is contacted.`,
		Example: `  # List the flags of all commands
  kubectl fdb options`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(env.Out, flagsOfAll(cmd.Root(), layout.Width(env.Out)))
			return err
		},
	})
}

// flagsOfAll returns the flags of all commands with their descriptions; a width of 0 is no limit.
func flagsOfAll(root *cobra.Command, width int) string {
	if width == 0 {
		return root.PersistentFlags().FlagUsages()
	}
	return root.PersistentFlags().FlagUsagesWrapped(width - slop)
}

// newGet is the parent of the get commands. It does nothing by itself.
func newGet(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"inspect.md"}}, &cobra.Command{
		Use:   "get KIND",
		Short: "List the parts of a cluster",
	})
	cmd.AddCommand(clusters.NewGetClusters(env), groups.NewGetProcessGroups(env), clusters.NewGetProcesses(env), coordinators.NewGet(env),
		groups.NewGetExclusions(env), locks.NewGet(env), clusters.NewGetConfiguration(env), nodes.NewGetNodes(env), clusters.NewGetClients(env))
	cmdutil.AsParent(cmd, "resource type")
	return cmd
}
