package run

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
)

// Tree validates commands of steps against the command tree of the program.
type Tree struct {
	// Root returns a new command tree, which has parsed nothing yet.
	Root func() *cobra.Command
}

// noSteps are the commands that cannot be a step, and why.
var noSteps = map[string]string{
	"run":                "a runbook cannot run another one",
	"watch":              "the dashboard does not end",
	"eviction-webhook":   "the webhook does not end",
	"metrics":            "it is for Prometheus",
	"completion":         "it is for shells",
	"completion install": "it is for shells",
	"docs":               "it writes files of its own",
	"help":               "it only prints help",
}

// waiting are the commands that only wait.
var waiting = []string{"wait", "exclusion wait", "restore wait", "operations follow"}

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
	path := strings.TrimPrefix(cmd.CommandPath(), "kubectl fdb ")
	switch why := noSteps[path]; {
	case cmd == root:
		return runbook.Traits{}, fmt.Errorf("unknown command %q: must be a command of kubectl fdb", words[0])
	case why != "":
		return runbook.Traits{}, fmt.Errorf("%q is not supported in a step: %s", path, why)
	case cmd.HasSubCommands() && !cmd.HasExample():
		return runbook.Traits{}, fmt.Errorf("%q requires a subcommand: must be one of %s", path, strings.Join(namesOf(cmd.Commands()), ", "))
	}
	if err := fits(cmd, rest); err != nil {
		return runbook.Traits{}, fmt.Errorf("%s: %w", path, err)
	}
	return traitsOf(cmd, path), nil
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
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err
	}
	return errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups())
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

// traitsOf returns what the parsed flags mean for the run.
func traitsOf(cmd *cobra.Command, path string) runbook.Traits {
	flags := cmd.Flags()
	set := func(name string) bool {
		f := flags.Lookup(name)
		return f != nil && f.Value.String() != f.DefValue
	}
	has := func(name string) bool { return flags.Lookup(name) != nil }
	dry := set("dry-run")
	t := runbook.Traits{
		Command: path, Changes: set("yes") && !dry, Forecasts: has("dry-run") && !dry,
		ReadOnly: dry || !has("dry-run") && !has("yes"), Waits: slices.Contains(waiting, path),
	}
	if output := flags.Lookup("output"); output != nil {
		t.JSON = output.Value.String() == "json"
	}
	return t
}
