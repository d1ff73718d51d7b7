package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// commandsOfDumps are the commands that can read a dump, of those that declare that they change nothing. No
// other may: whatever changes something must not seem to have changed it.
var commandsOfDumps = []string{
	"status", "describe", "describe process-group", "tree", "why", "check", "plan", "events", "history", "logs",
	"get clients", "get clusters", "get configuration", "get coordinators", "get exclusions", "get locks", "get nodes", "get process-groups", "get processes",
	"can delete", "can drain", "can reconcile", "can replace", "can restart", "can upgrade",
	"top", "top processes", "exclusion list", "exclusion status", "coordinators list", "connection-string drift", "locks list", "maintenance status", "operations list",
	"backup describe", "backup list", "backup status", "restore status", "version",
}

// flagsOfDumps are the global flags that --from can be combined with: all others select an API
// server or a database.
var flagsOfDumps = []string{"--from", "--namespace", "--color", "--quiet", "--v"}

// flagsOfTime are flags of commands that need time to pass.
var flagsOfTime = []string{"--watch", "--wait", "--timeout", "--follow"}

// readFromDump has a command read the dump that --from names. It fails before anything is read
// unless the command and its flags allow that.
func readFromDump(e *session.Env, cmd *cobra.Command) error {
	file := e.Global.From
	if flag := cmd.Flags().Lookup("from"); file == "" && (flag == nil || !flag.Changed) {
		return nil
	}
	name := strings.TrimPrefix(cmd.CommandPath(), "kubectl fdb ")
	if effect, _ := session.Declared(cmd); effect != session.EffectReads || !slices.Contains(commandsOfDumps, name) {
		return exit.Usage(fmt.Errorf("--from conflicts with %s: %s", name, dumps.ReadOnlyMessage), "commands that read a dump: "+strings.Join(commandsOfDumps, ", "))
	}
	if file == "" {
		return exit.Usagef("--from must be the path of a dump")
	}
	if err := checkFlagsOfDump(cmd); err != nil {
		return err
	}
	d, err := dumps.Open(file)
	if err != nil {
		return exit.Usage(fmt.Errorf("--from %s: %w", file, err))
	}
	session.ReadFrom(e, session.NewDumped(d))
	return nil
}

func checkFlagsOfDump(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch global := cmd.Root().PersistentFlags().Lookup(f.Name) == f; {
		case global && !slices.Contains(flagsOfDumps, "--"+f.Name):
			err = exit.Usagef("--from conflicts with --%s: a dump has one API server and one database for each cluster", f.Name)
		case !global && slices.Contains(flagsOfTime, "--"+f.Name):
			err = exit.Usagef("--from conflicts with --%s: a dump does not change", f.Name)
		}
	})
	return err
}
