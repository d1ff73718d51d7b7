package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

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
	if !readsDumps(cmd) {
		return exit.Usage(fmt.Errorf("--from conflicts with %s: %s", declare.PathOf(cmd), dumps.ReadOnlyMessage), "commands that read a dump: "+strings.Join(commandsOfDumps(cmd.Root()), ", "))
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

// readsDumps reports whether a command can read a dump. Whatever changes something must not seem to have
// changed it, so only commands that declare to read can.
func readsDumps(cmd *cobra.Command) bool {
	d, _ := declare.Of(cmd)
	return d.Dumps && d.Effect == declare.Reads
}

// commandsOfDumps returns the commands below a command that can read a dump.
func commandsOfDumps(parent *cobra.Command) []string {
	var names []string
	for _, cmd := range parent.Commands() {
		if readsDumps(cmd) {
			names = append(names, declare.PathOf(cmd))
		}
		names = append(names, commandsOfDumps(cmd)...)
	}
	return names
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
