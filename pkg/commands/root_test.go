package commands_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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
