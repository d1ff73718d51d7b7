package commands_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// An invalid command line gets the usage of the command that it names.
func TestAnInvalidCommandLinePrintsTheExpectedUsage(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"too many arguments": {[]string{"status", "a", "b"}, "error: invalid arguments: usage kubectl fdb status [CLUSTER]; got a b\nhint: kubectl fdb status --help\n"},
		"too few": {[]string{"describe", "process-group"}, "error: invalid arguments: usage kubectl fdb describe process-group [CLUSTER] ID; got none\n" +
			"hint: kubectl fdb describe process-group --help\n"},
		"a flag that there is not":      {[]string{"get", "pg", "--foo"}, "error: unknown flag: --foo\nhint: kubectl fdb get process-groups --help\n"},
		"words of our own stay":         {[]string{"completion", "tcsh"}, "error: unsupported shell \"tcsh\": must be one of bash, zsh, fish, powershell\n"},
		"a transport that there is not": {[]string{"status", "--transport", "ssh"}, "error: unknown transport \"ssh\": must be auto, exec or native\n"},
		"a cluster file for pods": {
			[]string{"status", "--transport", "exec", "--cluster-file", "f"},
			"error: transport exec uses the cluster files of the pods and takes no other\n",
		},
		"a command that there is not": {[]string{"statsu"}, "error: unknown command \"statsu\" for \"kubectl fdb\"; did you mean status?\n" +
			"hint: kubectl fdb --help\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			if code := g.Run(tc.args...); code != exit.ExitUsage {
				t.Errorf("exit code %d, want %d", code, exit.ExitUsage)
			}
			if got := g.Err.String(); got != tc.want {
				t.Errorf("stderr:\n%s\nwant:\n%s", got, tc.want)
			}
			if strings.TrimSpace(g.Out.String()) != "" {
				t.Errorf("stdout: %s", g.Out.String())
			}
		})
	}
}

// The API server names the first right that is missing, and never the others.
func TestForbiddenErrorsHintAtAuthCanI(t *testing.T) {
	g := commandstest.Up(t)
	g.EventsHidden = commandstest.ErrForbidden
	if code := g.Run("events", "sample"); code != exit.ExitForbidden {
		t.Errorf("exit code %d", code)
	}
	if got, want := g.Err.String(), "hint: kubectl fdb auth can-i events -n fdb --context test\n"; !strings.HasSuffix(got, want) {
		t.Errorf("%s, and no %s", got, want)
	}
}

// What else went wrong is not lost on the way to the hint.
func TestThePermissionHintKeepsTheFullError(t *testing.T) {
	g := commandstest.NewGiven(t)
	inner := &exit.Error{Code: exit.ExitForbidden, Err: errors.New("cannot list nodes"), Printed: true}
	env := g.Environment()
	status, _, err := commands.NewRoot(env).Find([]string{"status"})
	if err != nil {
		t.Fatal(err)
	}
	err = commands.PointToRights(env, fmt.Errorf("after 3 of 5 groups: %w", inner), status)
	led, is := errors.AsType[*exit.Error](err)
	if !is || err.Error() != "after 3 of 5 groups: cannot list nodes" || !led.Printed || len(led.Hints) != 1 {
		t.Errorf("%+v", err)
	}
}

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
