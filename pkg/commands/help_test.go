package commands_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
)

// longestHelpLine keeps help readable on narrow terminals.
const longestHelpLine = 92

// Descriptions of flags are noun phrases, or begin with "If true, " for a boolean.
func TestFlagsAreDescribedAsNounPhrases(t *testing.T) {
	eachCommand(commands.NewRoot(commandstest.NewGiven(t).Environment()), func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if fault := faultOfUsage(f); fault != "" && ours(cmd, f) {
				t.Errorf("%s --%s: %q %s", cmd.CommandPath(), f.Name, f.Usage, fault)
			}
		})
	})
}

// ours reports whether a flag is described in this package, and not by cobra or kubectl.
func ours(cmd *cobra.Command, f *pflag.Flag) bool {
	connection := pflag.NewFlagSet("", pflag.ContinueOnError)
	genericclioptions.NewConfigFlags(true).AddFlags(connection)
	return f.Name != "help" && (cmd.HasParent() || connection.Lookup(f.Name) == nil)
}

func faultOfUsage(f *pflag.Flag) string {
	switch first := []rune(f.Usage + " ")[0]; {
	case f.Value.Type() == "bool" && !strings.HasPrefix(f.Usage, "If true, "):
		return "does not begin with \"If true, \""
	case f.Value.Type() != "bool" && unicode.IsUpper(first):
		return "is no noun phrase in lower case"
	case strings.HasSuffix(f.Usage, "."):
		return "ends with a full stop"
	case strings.Contains(f.Usage, "default"):
		return "repeats the default, which cobra prints"
	}
	return ""
}

func TestHelpHasNoQuestionsAndNoOverlongLines(t *testing.T) {
	eachCommand(commands.NewRoot(commandstest.NewGiven(t).Environment()), func(cmd *cobra.Command) {
		if strings.Contains(cmd.Long, "?\n") || strings.Contains(cmd.Long, "? ") && !strings.Contains(cmd.Long, "? means") {
			t.Errorf("%s: Long has a question", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Long) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > longestHelpLine {
				t.Errorf("%s: a line of Long has %d characters, at most %d are allowed: %s", cmd.CommandPath(), n, longestHelpLine, line)
			}
		}
		for line := range strings.Lines(cmd.Example) {
			if strings.HasPrefix(line, "  # ") && strings.HasSuffix(strings.TrimSpace(line), "?") {
				t.Errorf("%s: comment of an example is a question: %s", cmd.CommandPath(), line)
			}
		}
	})
}

func eachCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, child := range cmd.Commands() {
		eachCommand(child, visit)
	}
}

func TestOnlyTheCommandOptionsListsTheFlagsOfAllCommands(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want bool
	}{
		"the help of the program": {args: []string{"--help"}},
		"the help of a command":   {args: []string{"status", "--help"}},
		"options":                 {args: []string{"options"}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			g.Run(tc.args...)
			for _, flag := range []string{"--kubeconfig string", "--transport string", "--allowed-additional-volume-mounts"} {
				if strings.Contains(g.Out.String(), flag) != tc.want {
					t.Errorf("%s is listed: %t: %s", flag, !tc.want, &g.Out)
				}
			}
			if !tc.want && !strings.Contains(g.Out.String(), `Use "kubectl fdb options" for the flags of all commands.`) {
				t.Errorf("no pointer to options: %s", &g.Out)
			}
		})
	}
}

func TestShellCompletionOffersTheFlagsOfAllCommands(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Run("__complete", "status", "--kubec")
	if !strings.HasPrefix(g.Out.String(), "--kubeconfig") {
		t.Errorf("got %s", &g.Out)
	}
}
