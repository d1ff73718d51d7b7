package flags_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// A flag that a command gets later is repeated without being named anywhere; what selects is in the arguments, and a secret in no hint.
func TestAllTypedFlagsOfACommandAreResumedSaveWhatSelectsAndConnects(t *testing.T) {
	connection := pflag.NewFlagSet("all", pflag.ContinueOnError)
	for _, name := range []string{"token", "context", "request-timeout"} {
		connection.String(name, "", "")
	}
	command := pflag.NewFlagSet("one", pflag.ContinueOnError)
	command.AddFlagSet(connection)
	for _, name := range []string{"dump-dir", "reason", "class"} {
		command.String(name, "", "")
	}
	command.StringArray("set", nil, "")
	command.Bool("resync", false, "")
	command.Bool("wait", false, "")
	err := command.Parse([]string{"--token", "secret", "--context", "lab", "--request-timeout", "7s", "--dump-dir", "d", "--class", "log", "--set", "a=1", "--set", "b=2", "--resync", "--wait=false"})
	if err != nil {
		t.Fatal(err)
	}
	env := &session.Env{}
	flags.NoteTyped(&env.Global, connection, command)
	var got []string
	for _, f := range session.ResumedFlags(env) {
		got = append(got, f.Words...)
	}
	want := []string{"--dump-dir", "d", "--request-timeout", "7s", "--resync", "--set", "a=1", "--set", "b=2", "--wait=false"}
	if !slices.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}
