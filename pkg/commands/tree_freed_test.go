package commands_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// A runbook makes a tree for each of its steps, and so do all tests.
func TestATreeOfCommandsIsFreedAfterItsUse(t *testing.T) {
	flag := func() weak.Pointer[pflag.Flag] {
		env := session.NewEnv()
		env.IOStreams = genericiooptions.NewTestIOStreamsDiscard()
		root := commands.NewRoot(env)
		root.SetArgs([]string{"schema", "--help"})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		return weak.Make(root.PersistentFlags().Lookup("namespace"))
	}()
	for deadline := time.Now().Add(10 * time.Second); flag.Value() != nil; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatal("its flags are still in use")
		}
	}
}
