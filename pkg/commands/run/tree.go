package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-fdb/kubectl-fdb/docs/runbooks"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Tree validates commands of steps against the command tree of the program.
type Tree struct {
	// Root returns a new command tree, which has parsed nothing yet.
	Root func() *cobra.Command
	// Script returns the effect of a script of the commands that run scripts of a known language, by their path.
	Script map[string]func(script string) declare.Effect
}

// endless are the flags with which a command does not end.
var endless = []string{"watch", "watch-only", "follow"}

// Command validates the words of a step.
func (t Tree) Command(words []string) (runbook.Traits, error) {
	root := t.Root()
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	cmd, rest, err := root.Find(words)
	if err != nil {
		return runbook.Traits{}, err
	}
	path := declare.PathOf(cmd)
	declaration, _ := declare.Of(cmd)
	switch why := whyNoStep(cmd, declaration); {
	case cmd == root:
		return runbook.Traits{}, fmt.Errorf("unknown command %q: must be a command of kubectl fdb%s", words[0], session.OrMeant(words[0], namesOf(root.Commands())))
	case why != "":
		return runbook.Traits{}, fmt.Errorf("%q is not supported in a step: %s", path, why)
	case cmd.HasSubCommands() && !cmd.HasExample():
		return runbook.Traits{}, fmt.Errorf("%q requires a subcommand: must be one of %s", path, strings.Join(namesOf(cmd.Commands()), ", "))
	}
	if err := fits(cmd, rest); err != nil {
		return runbook.Traits{}, fmt.Errorf("%s: %w", path, err)
	}
	effect, declared := declare.EffectOf(cmd)
	if !declared {
		return runbook.Traits{}, fmt.Errorf("%q is not supported in a step: it declares no effect", path)
	}
	if of := t.Script[path]; of != nil {
		effect = effectOfScript(cmd, effect, of)
	}
	return traitsOf(cmd, path, effect, declaration), nil
}

// whyNoStep returns why a command cannot be a step; empty if it can.
func whyNoStep(cmd *cobra.Command, d declare.Declaration) string {
	switch {
	case cmd.Name() == "help": // cobra's own, which declares nothing
		return "it only prints help"
	case d.Endless:
		return "it does not end"
	default:
		return d.NoStep
	}
}

// effectOfScript returns the effect of a command that runs the script after the dash. One with a word
// without a value yet may do anything.
func effectOfScript(cmd *cobra.Command, declared declare.Effect, of func(string) declare.Effect) declare.Effect {
	at := cmd.ArgsLenAtDash()
	if at < 0 {
		return declared
	}
	script := strings.Join(cmd.Flags().Args()[at:], " ")
	if pending(script) {
		return declared
	}
	return of(script)
}

// Path validates a JSONPath.
func (Tree) Path(expression string) error {
	return jsonpath.New("capture").Parse(format.Relaxed(expression))
}

func namesOf(commands []*cobra.Command) []string {
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.Name()
	}
	return names
}

// fits parses flags and arguments as the command will. A word without a value yet fits every flag.
func fits(cmd *cobra.Command, words []string) error {
	if slices.ContainsFunc(words, pending) {
		cmd.Flags().VisitAll(lenient)
		cmd.InheritedFlags().VisitAll(lenient)
	}
	if err := cmd.ParseFlags(words); err != nil {
		return err
	}
	if help, err := cmd.Flags().GetBool("help"); err == nil && help {
		return errors.New("--help is not supported in a step")
	}
	for _, name := range endless {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() != "false" {
			return fmt.Errorf("--%s is not supported in a step: the command would not end", name)
		}
	}
	if err := withinRunbook(cmd); err != nil {
		return err
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err
	}
	return errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups())
}

// withinRunbook fails for a flag that reaches beyond the runbook, whoever wrote it: to another API server or
// identity, to files of the machine that runs it.
func withinRunbook(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && !declare.FitsSteps(cmd, f) {
			err = fmt.Errorf("--%s is not supported in a step: connection, identity, files and --force are not for runbooks", f.Name)
		}
	})
	return err
}

// pending reports whether a word refers to a variable that has no value yet.
func pending(word string) bool { return strings.Contains(word, "${") }

// lenient makes a flag accept words without a value yet.
func lenient(f *pflag.Flag) { f.Value = lenientValue{f.Value} }

type lenientValue struct{ pflag.Value }

// Set accepts a word without a value yet, and validates every other one.
func (v lenientValue) Set(text string) error {
	if pending(text) {
		return nil
	}
	return v.Value.Set(text)
}

// traitsOf returns what the effect of a command and its parsed flags mean for the run.
func traitsOf(cmd *cobra.Command, path string, effect declare.Effect, d declare.Declaration) runbook.Traits {
	dryRun := cmd.Flags().Lookup("dry-run")
	t := runbook.Traits{
		Command: path, ReadOnly: effect == declare.Reads,
		Changes:   effect == declare.Changes || effect == declare.Programs,
		Forecasts: effect == declare.Changes && dryRun != nil,
		Planned:   d.Planned,
		Waits:     d.Waits,
	}
	if output := cmd.Flags().Lookup("output"); output != nil {
		t.JSON = output.Value.String() == "json"
	}
	return t
}

// longestFile bounds a runbook, so that a wrong file is not read whole.
const longestFile = 1 << 20

// source is a runbook before it is read.
type source struct {
	// Name is the argument of the command, and File what problems name.
	Name, File string
	Text       []byte
}

// sourceOf reads a runbook: a file if the argument has a path separator or the ending of a file, "-" for
// stdin, or else one that the program comes with.
func sourceOf(env *session.Env, name string) (source, error) {
	s := source{Name: name, File: name}
	var err error
	switch {
	case name == "-":
		s.File = "stdin"
		s.Text, err = io.ReadAll(io.LimitReader(env.In, longestFile+1))
	case strings.ContainsAny(name, `/\`), slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
		s.Text, err = readFile(name)
	default:
		s.File = name + ".yaml"
		s.Text, err = runbooks.Files.ReadFile(s.File)
		if errors.Is(err, fs.ErrNotExist) {
			return s, exit.Usage(fmt.Errorf("unknown runbook %q: must be a file, or one of %s%s", name, strings.Join(embedded(), ", "), session.OrMeant(name, embedded())), env.Command("run", "--list"))
		}
	}
	switch {
	case err != nil:
		return s, exit.Usage(fmt.Errorf("read runbook: %w", err))
	case len(s.Text) > longestFile:
		return s, exit.Usagef("read runbook %s: must be no larger than 1 MiB", s.File)
	}
	return s, nil
}

func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, longestFile+1))
}

// embedded returns the names of the runbooks that the program comes with.
func embedded() []string {
	entries, err := runbooks.Files.ReadDir(".")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// checked parses and validates a runbook, and fails with all of its problems.
func (s source) checked(env *session.Env, tree Tree, given map[string]string) (runbook.Checked, error) {
	book, problems := runbook.Parse(s.Text)
	var c runbook.Checked
	if len(problems) == 0 {
		c, problems = book.Check(given, tree)
	}
	if len(problems) == 0 {
		return c, nil
	}
	for _, p := range problems {
		layout.Entry(env.ErrOut, "error: ", p.In(s.File))
	}
	return c, &exit.Error{Code: exit.ExitUsage, Err: &invalidError{s.File, problems}, Printed: true, Hints: []string{"kubectl fdb schema Runbook"}}
}

// invalidError has all problems of a runbook.
type invalidError struct {
	file     string
	problems runbook.Problems
}

func (e *invalidError) Error() string {
	return fmt.Sprintf("invalid runbook %s: %s, the first: %s", e.file, phrase.Count(len(e.problems), "problem"), e.problems[0].In(e.file))
}
