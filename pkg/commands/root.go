package commands

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the ways to log in that kubeconfigs name
	"k8s.io/klog/v2"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// globalFlags are common to all commands.
type globalFlags struct {
	color   string
	quiet   bool
	verbose int
}

// Values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// Run runs the command that args name and returns the exit code. The cause of a context that a
// signal ended is an InterruptedError.
func Run(ctx context.Context, env *Env, args []string) int {
	root := newRoot(env) //nolint:contextcheck // a completion uses the context of the completed command line
	root.SetArgs(args)
	about, err := root.ExecuteContextC(ctx)
	if err != nil && !env.started {
		err = asUsage(err, about)
	}
	err = env.pointToRights(err, about)
	env.printError(err, jsonAsked(args))
	return ExitCode(err)
}

// pointToRights adds a hint to list all required permissions after one was denied: the API
// server only names the first.
func (e *Env) pointToRights(err error, about *cobra.Command) error {
	if _, verdict := errors.AsType[answer](err); verdict || err == nil || ExitCode(err) != ExitForbidden || apierrors.IsUnauthorized(err) {
		return err
	}
	f, known := errors.AsType[*failure](err)
	if known && len(f.hints) > 0 {
		return err
	}
	name := strings.TrimPrefix(about.CommandPath(), "kubectl fdb ")
	if _, unknown := requirementsOf([]string{name}); unknown != nil {
		return err
	}
	led := &failure{code: ExitForbidden, err: err, hints: []string{e.command(append([]string{"auth", "can-i"}, strings.Fields(name)...)...)}}
	if known {
		led.printed, led.differences = f.printed, f.differences
	}
	return led
}

// asUsage marks errors that cobra returned before any of our code ran.
func asUsage(err error, about *cobra.Command) error {
	if _, known := errors.AsType[*failure](err); known {
		return err
	}
	return usage(err, about.CommandPath()+" --help")
}

func newRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-fdb",
		Short: "Reconcile FoundationDB clusters on Kubernetes",
		Long: `Reconcile FoundationDB clusters on Kubernetes.

kubectl fdb reconciles FoundationDBCluster, FoundationDBBackup and FoundationDBRestore
resources on demand. No operator has to run.`,
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl fdb"},
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return env.begin() },
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.ErrOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(err, cmd.CommandPath()+" --help") })
	env.Kube.AddFlags(root.PersistentFlags())
	requests := root.PersistentFlags().Lookup("request-timeout")
	requests.Usage = fmt.Sprintf("Timeout of a single request to the API server (1s, 2m). 0 means %s; requests always have a timeout", requestTimeout)
	env.global.add(root)
	completeWith(root, "namespace", env.namespaceNames)
	completeWith(root, "context", env.contextNames)
	for _, s := range []section{
		{"see", "Inspection Commands:", []*cobra.Command{
			newStatus(env), newGet(env), newDescribe(env), newWhy(env), newCheck(env), newCan(env), newEvents(env), newWatch(env), newExclusion(env), newConnectionString(env),
		}},
		{"change", "Management Commands:", []*cobra.Command{
			newPlan(env), newReconcile(env), newDetectFailures(env), newReplace(env), newRestart(env), newCordon(env), newUncordon(env), newDrain(env), newExclude(env), newInclude(env), newCoordinators(env), newLocks(env), newMaintenance(env), newPause(env), newResume(env), newBackup(env), newRestore(env),
		}},
		{"automate", "Automation Commands:", []*cobra.Command{
			newWait(env), newSchema(env),
		}},
		{"support", "Support Commands:", []*cobra.Command{
			newCLI(env), newExec(env), newAuth(env), newVersion(env), newCompletion(env), newDocs(env),
		}},
	} {
		s.add(root)
	}
	explainArgumentErrors(root)
	root.SetHelpCommandGroupID("support")
	root.SetUsageTemplate(briefUsage(root.UsageTemplate()))
	return root
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
	if _, known := errors.AsType[*failure](err); known || err == nil {
		return err
	}
	given := "got none"
	if len(args) > 0 {
		given = "got " + strings.Join(args, " ")
	}
	return usage(fmt.Errorf("invalid arguments: usage %s; %s", strings.TrimSuffix(cmd.UseLine(), " [flags]"), given), cmd.CommandPath()+" --help")
}

// section is a group of commands in the help.
type section struct {
	id, title string
	commands  []*cobra.Command
}

func (s section) add(root *cobra.Command) {
	root.AddGroup(&cobra.Group{ID: s.id, Title: s.title})
	for _, c := range s.commands {
		c.GroupID = s.id
		root.AddCommand(c)
	}
}

// briefUsage leaves the global flags to the help of the root command.
func briefUsage(template string) string {
	start, rest, found := strings.Cut(template, "{{if .HasAvailableInheritedFlags}}")
	_, end, ended := strings.Cut(rest, "{{end}}")
	if !found || !ended {
		return template
	}
	return start + `{{if .HasAvailableInheritedFlags}}

Use "kubectl fdb --help" for the flags of all commands.{{end}}` + end
}

func (g *globalFlags) add(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&g.color, "color", colorAuto, "use of colors: auto, always or never; auto respects NO_COLOR and CLICOLOR_FORCE")
	flags.BoolVarP(&g.quiet, "quiet", "q", false, "If true, print only results and errors")
	flags.IntVarP(&g.verbose, "v", "v", 0, "log verbosity: 1 adds no-op stages and passed checks, 6 every API request")
	complete(root, "color", func() []string { return []string{colorAuto, colorAlways, colorNever} })
}

// begin runs once the command line is validated.
func (e *Env) begin() error {
	if !slices.Contains([]string{colorAuto, colorAlways, colorNever}, e.global.color) {
		return usagef("--color must be auto, always or never, not %q", e.global.color)
	}
	e.started = true
	e.logs()
	return nil
}

// logs sends client-go's log to stderr with high verbosity, else nowhere.
func (e *Env) logs() {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	_ = flags.Set("logtostderr", "false")
	_ = flags.Set("alsologtostderr", "false")
	_ = flags.Set("stderrthreshold", "4")
	if e.global.verbose < 1 {
		klog.SetOutput(io.Discard)
		return
	}
	_ = flags.Set("v", strconv.Itoa(e.global.verbose))
	klog.SetOutput(e.ErrOut)
}

// paint returns whether a stream gets colors.
func (e *Env) paint(stream any) ui.Paint {
	switch {
	case e.global.color == colorAlways:
		return ui.Paint{Color: true}
	case e.global.color == colorNever, e.Getenv("NO_COLOR") != "":
		return ui.Paint{}
	case e.Getenv("CLICOLOR_FORCE") != "" && e.Getenv("CLICOLOR_FORCE") != "0":
		return ui.Paint{Color: true}
	default:
		return ui.Paint{Color: e.IsTerminal(stream) && e.Getenv("TERM") != "dumb"}
	}
}

// jsonAsked reports whether the arguments request JSON. It reads the words themselves, since
// the command line may be invalid.
func jsonAsked(args []string) bool {
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

// printError prints on stderr why a command failed.
func (e *Env) printError(err error, asJSON bool) {
	var verdict answer
	if err == nil || errors.As(err, &verdict) {
		return
	}
	f := &failure{code: ExitCode(err), err: err}
	if known := new(*failure); errors.As(err, known) {
		f.hints, f.printed, f.differences = (*known).hints, (*known).printed, (*known).differences
	}
	hints := make([]string, len(f.hints))
	for i, hint := range f.hints {
		hints[i] = e.inContext(hint)
	}
	f.hints = hints
	if asJSON {
		e.printErrorJSON(f)
		return
	}
	if !f.printed {
		fmt.Fprintf(e.ErrOut, "error: %s\n", explain(f.err))
	}
	for _, d := range f.differences {
		fmt.Fprintf(e.ErrOut, "  %s\n", d.Message)
	}
	if e.global.quiet {
		return
	}
	for _, hint := range f.hints {
		fmt.Fprintf(e.ErrOut, "hint: %s\n", hint)
	}
}

func (e *Env) printErrorJSON(f *failure) {
	document := ui.NewError(e.metadata(e.about), f.code, explain(f.err), f.hints)
	document.Differences = f.differences
	_ = ui.WriteJSON(e.ErrOut, document)
}

// command returns a complete command line of ours to copy, for this context and namespace.
func (e *Env) command(words ...string) string {
	return e.kubectl(append([]string{"fdb"}, words...)...)
}

// kubectl returns a complete command line of kubectl for this context and namespace. They come
// before a "--", which ends the arguments of kubectl.
func (e *Env) kubectl(words ...string) string {
	namespace, err := e.namespace()
	if err != nil {
		namespace = ""
	}
	return e.kubectlIn(namespace, words...)
}

// kubectlIn returns a complete command line of kubectl for another namespace.
func (e *Env) kubectlIn(namespace string, words ...string) string {
	line := append([]string{"kubectl"}, words...)
	var program []string
	if i := slices.Index(line, "--"); i >= 0 {
		line, program = slices.Clone(line[:i]), line[i:]
	}
	return shellLine(line, namespace, e.contextName(), program)
}

// shellLine returns a complete command line for a namespace and a context, if known; the
// arguments of a program in a pod follow them.
func shellLine(line []string, namespace, context string, program []string) string {
	if namespace != "" {
		line = append(line, "-n", namespace)
	}
	if context != "" {
		line = append(line, "--context", context)
	}
	line = append(line, program...)
	for i, word := range line {
		line[i] = quoted(word)
	}
	return strings.Join(line, " ")
}

// quoted quotes a word for a shell.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func special(r rune) bool {
	letter := (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9')
	return !letter && !strings.ContainsRune("-_./:=,@%+", r)
}
