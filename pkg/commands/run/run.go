// Package run holds run: the runner of runbooks. A step is a command line of this program, which
// runs in the same process.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/runbooks"
)

// Program runs one command line of the program in an environment, and returns its exit code.
type Program func(ctx context.Context, env *session.Env, args []string) int

// options are the options of `kubectl fdb run`.
type options struct {
	format.Flags
	vars      []string
	state     string
	approvals []string
	reports   []string
	unknown   string
	yes       bool
	dryRun    bool
	list      bool
	print     bool
}

// The values of --unknown.
const (
	unknownRepeat = "repeat"
	unknownDone   = "done"
)

// New returns the command `run`. Steps are run by program and validated against the command tree.
func New(env *session.Env, program Program, tree Tree) *cobra.Command {
	var o options
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Automation, Pages: []string{"runbook-files.md"}, NoStep: "a runbook cannot run another one",
		Lacks: declare.Lacking("its steps are commands, each with its own guarantees; its dry run has theirs"),
		With: map[string]func() []declare.Requirement{
			"--state": func() []declare.Requirement { return cmdutil.Required(session.RunStatePermissions()...) },
		},
	}, &cobra.Command{
		Use:   "run [RUNBOOK]",
		Short: "Run a runbook",
		Long: `Run a runbook: a file with the steps of a procedure, or the name of a runbook that the
program comes with. Steps are commands of kubectl fdb, checks, waits and approvals; they
run in this process and never through a shell.

The whole runbook is validated before its first step. The state is written to a file, or
with --state configmap/NAME to a ConfigMap, before and after each step: the same command
with --state continues a run that was interrupted or stopped. A runbook that changed in
between is refused, and so is a second run with the same state.

An approval requires an answer on the terminal, or --approve with the digest of the plan to
approve. Steps that change something or run a program, and that no approval precedes,
require --yes of this command, or an answer on the terminal. No step can select another
API server or identity, name a file to write, or have --force.

The command ends with the exit code of the step that ended the run, and with 0 after the
last one. 7: an approval is missing; the state has the steps before it.`,
		Example: `  # List the runbooks that the program comes with
  kubectl fdb run --list

  # Print one, to adapt it
  kubectl fdb run replace-failed-disk --print

  # Preview all steps, with their own dry runs
  kubectl fdb run roll-out-change --var cluster=sample-cluster --dry-run

  # Run it, and write a report for a CI system
  kubectl fdb run roll-out-change --var cluster=sample-cluster --report junit=report.xml

  # Keep the state in a ConfigMap, so that another machine can continue the run
  kubectl fdb run roll-out-change --var cluster=sample-cluster --state configmap/change-4711`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return embedded(), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r := &runner{Env: env, options: o, program: program, tree: tree, typed: typedFlags(cmd)}
			return r.command(cmd.Context(), args)
		},
	})
	flags.Output(cmd, &o.Flags)
	flags := cmd.Flags()
	flags.StringArrayVar(&o.vars, "var", nil, "value of a variable of the runbook (NAME=VALUE); can be repeated")
	flags.StringVar(&o.state, "state", "", "state file, or configmap/NAME, which continues the run that it has; without it a new file beside the audit file")
	flags.StringArrayVar(&o.approvals, "approve", nil, "approval of a step by the digest of its plan (STEP=DIGEST); can be repeated")
	flags.StringArrayVar(&o.reports, "report", nil, "report to write at the end (junit=FILE or json=FILE); can be repeated")
	flags.StringVar(&o.unknown, "unknown", "", "what a step with an unknown outcome was: repeat runs it again, done continues after it")
	flags.BoolVarP(&o.yes, "yes", "y", false, "If true, approve steps that make changes and that no approval of the runbook precedes")
	flags.BoolVar(&o.dryRun, "dry-run", false, "If true, print every step with its forecast, and change nothing")
	flags.BoolVar(&o.list, "list", false, "If true, list the runbooks that the program comes with")
	flags.BoolVar(&o.print, "print", false, "If true, print the runbook")
	complete.Flag(cmd, "unknown", func() []string { return []string{unknownRepeat, unknownDone} })
	return cmd
}

// typedFlags returns the global flags that the user typed, which every step gets as well.
func typedFlags(cmd *cobra.Command) []string {
	var all []string
	flags := cmd.Root().PersistentFlags()
	for _, name := range flagNames(flags) {
		all = append(all, valuesOf(flags.Lookup(name))...)
	}
	return all
}

// runner is one invocation.
type runner struct {
	*session.Env
	options
	program Program
	tree    Tree
	typed   []string

	source    source
	book      runbook.Checked
	digest    string
	progress  *runbook.Progress
	store     *store
	approved  map[string]string // digests of --approve, by step
	vars      map[string]string // values of --var
	variables map[string]string // values of the runbook's variables
	another   error             // a step named another cluster than the run began with; nil for none
}

// conflicts returns an error for flags that exclude each other.
func (o options) conflicts() error {
	switch {
	case o.list && o.print:
		return exit.Usagef("--list conflicts with --print")
	case o.list && o.dryRun:
		return exit.Usagef("--list conflicts with --dry-run")
	case o.print && o.dryRun:
		return exit.Usagef("--print conflicts with --dry-run")
	case o.dryRun && o.state != "":
		return exit.Usagef("--dry-run conflicts with --state: a dry run has no state to keep or to continue")
	}
	return nil
}

func (r *runner) command(ctx context.Context, args []string) error {
	if err := errors.Join(r.Check(), r.conflicts()); err != nil {
		return err
	}
	if r.list {
		return r.printList()
	}
	if len(args) == 0 {
		return exit.Usage(errors.New("a runbook is required: a file, or one of "+strings.Join(embedded(), ", ")), r.Command("run", "--list"))
	}
	var err error
	if r.source, err = sourceOf(r.Env, args[0]); err != nil {
		return err
	}
	if r.print {
		_, err := layout.Raw(r.Out).Write(r.source.Text)
		return err
	}
	if err := r.checkFlags(); err != nil {
		return err
	}
	err = r.open(ctx)
	if r.store != nil {
		defer r.store.close()
	}
	if err != nil {
		return err
	}
	if r.dryRun {
		return r.forecast(ctx)
	}
	return r.run(ctx)
}

// checkFlags parses the flags that have a form of their own.
func (r *runner) checkFlags() error {
	var err error
	if r.vars, err = pairs("var", "NAME=VALUE", r.options.vars); err != nil {
		return err
	}
	if r.approved, err = pairs("approve", "STEP=DIGEST", r.approvals); err != nil {
		return err
	}
	if !slices.Contains([]string{"", unknownRepeat, unknownDone}, r.unknown) {
		return exit.Usagef("--unknown must be %s or %s, not %q", unknownRepeat, unknownDone, r.unknown)
	}
	for _, report := range r.reports {
		kind, file, _ := strings.Cut(report, "=")
		if file == "" || !slices.Contains([]string{"junit", "json"}, kind) {
			return exit.Usagef("--report must be junit=FILE or json=FILE, not %q", report)
		}
	}
	return nil
}

// pairs parses the values of a flag with names and values.
func pairs(flag, form string, values []string) (map[string]string, error) {
	all := map[string]string{}
	for _, one := range values {
		name, value, found := strings.Cut(one, "=")
		_, twice := all[name]
		switch {
		case !found || name == "":
			return nil, exit.Usagef("--%s must be %s, not %q", flag, form, one)
		case twice:
			return nil, exit.Usagef("--%s %s is set twice", flag, name)
		}
		all[name] = value
	}
	return all, nil
}

// open reads the state, and validates the runbook with its variables.
func (r *runner) open(ctx context.Context) error {
	var err error
	if r.store, err = storeOf(r.Env, r.options); err != nil {
		return err
	}
	if r.progress, err = r.store.read(ctx); err != nil {
		return err
	}
	r.digest = runbook.Digest(r.source.Text)
	if err := r.resumable(); err != nil {
		return err
	}
	if r.book, err = r.source.checked(r.Env, r.tree, r.vars); err != nil {
		return err
	}
	r.variables = r.book.Values
	for name := range r.approved {
		if i := slices.IndexFunc(r.book.Steps, func(s runbook.Step) bool { return s.Name == name && s.Approve != nil }); i < 0 {
			return exit.Usagef("--approve %s: the runbook has no approval of this name", name)
		}
	}
	if r.progress == nil {
		r.progress = runbook.Begin(r.book, r.digest, r.Clock.Now())
		return nil
	}
	if err := r.sameClusters(ctx); err != nil {
		return err
	}
	return r.resume()
}

// resumable fails if the state is not one of this runbook, and takes the variables of the state.
func (r *runner) resumable() error {
	p := r.progress
	switch {
	case p == nil:
		return nil
	case p.Digest != r.digest && !p.Ran():
		r.progress = nil
		return nil
	case p.Digest != r.digest:
		return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("the runbook differs from the one that %s is the state of (%s): it changed after its first step", r.store.name(), p.Runbook), Hints: []string{"run the same version of the runbook, or begin again without --state"}}
	case p.Outcome == runbook.Succeeded || p.Outcome == runbook.Compensated:
		return exit.Usage(fmt.Errorf("the run of %s has ended (%s): use another --state for a new run", r.store.name(), p.Outcome))
	}
	book, problems := runbook.Parse(r.source.Text)
	if len(problems) > 0 {
		return nil // reported when the runbook is checked
	}
	for _, v := range book.Vars {
		value, given := r.vars[v.Name]
		before, known := p.Values[v.Name]
		if given && known && value != before {
			return exit.Usagef("--var %s=%s conflicts with the state: the run began with %q", v.Name, value, before)
		}
		if known {
			r.vars[v.Name] = before
		}
	}
	return nil
}

// resume continues a run. A step whose outcome is unknown needs a decision.
func (r *runner) resume() error {
	for _, result := range r.progress.Unknown() {
		step := r.book.Steps[slices.IndexFunc(r.book.Steps, func(s runbook.Step) bool { return s.Name == result.Name })]
		switch {
		case r.unknown == unknownDone:
			result.Status, result.Message = runbook.Done, "its outcome was unknown; the user continued after it"
		case r.unknown == unknownRepeat, step.Unknown == runbook.UnknownRepeat, r.book.Traits[step.Name].ReadOnly, step.Kind() == runbook.KindApprove, step.Wait != nil:
			result.Status = runbook.Interrupted
		default:
			return &exit.Error{Code: exit.ExitUnreachable, Err: fmt.Errorf("the outcome of step %s is unknown: it was started, and the run ended before the step did", result.Name), Hints: []string{
				"check what it did, then repeat it: " + r.decided(unknownRepeat), "or continue after it: " + r.decided(unknownDone),
			}}
		}
	}
	r.progress.Resume()
	r.move()
	return nil
}

// decided returns the command that continues the run with a decision about what is unknown.
func (r *runner) decided(how string) string {
	return r.Command("run", r.source.Name, "--state", r.store.name(), "--unknown", how)
}

// move makes saved files those beside the state: a pipeline may have moved both to another machine.
func (r *runner) move() {
	for i := range r.progress.Steps {
		if saved := r.progress.Steps[i].Saved; saved != nil {
			saved.Path = r.store.pathOf(r.book.Steps[i].Save)
			r.progress.Values[r.book.Steps[i].Save] = saved.Path
		}
	}
}

// printList prints the runbooks that the program comes with.
func (r *runner) printList() error {
	list := runbooks.NewList(r.Metadata(r.Run.About))
	for _, name := range embedded() {
		s, err := sourceOf(r.Env, name)
		if err != nil {
			return err
		}
		book, problems := runbook.Parse(s.Text)
		if len(problems) > 0 {
			return exit.Usagef("%s", problems[0].In(s.File))
		}
		list.Items = append(list.Items, runbooks.NewItem(book))
	}
	return r.Print(r.Out, format.Printable{
		Document: list, Names: embedded(),
		Table: func(w io.Writer) error { return runbooks.WriteList(w, list, ui.Table{NoHeaders: r.NoHeaders}) },
	})
}

// flagNames returns the names of the flags that were typed.
func flagNames(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			names = append(names, f.Name)
		}
	})
	slices.Sort(names)
	return names
}

// valuesOf returns the words that set a flag to its value.
func valuesOf(f *pflag.Flag) []string {
	values := []string{f.Value.String()}
	if list, is := f.Value.(pflag.SliceValue); is {
		values = list.GetSlice()
	}
	var words []string
	for _, value := range values {
		words = append(words, "--"+f.Name+"="+value)
	}
	return words
}
