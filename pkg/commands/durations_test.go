package commands_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// durationFlags returns the command lines of all flags that are durations, with the type that pflag has for
// them, or as texts, which have one as their default.
func durationFlags(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	found := map[string]*cobra.Command{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.InheritedFlags()
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			_, err := time.ParseDuration(f.DefValue)
			if f.Value.Type() == "duration" || f.Value.Type() == "string" && err == nil {
				found[cmd.CommandPath()+" --"+f.Name] = cmd
			}
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(commands.NewRoot(commandstest.Up(t).Environment()))
	return found
}

func TestNoFlagAcceptsANegativeDuration(t *testing.T) {
	found := durationFlags(t)
	if len(found) < 100 {
		t.Fatalf("only %d flags found", len(found))
	}
	for line, cmd := range found {
		flag := line[strings.LastIndex(line, "--"):]
		if err := flags.CheckDurations(cmd.Flags()); err != nil {
			t.Fatalf("%s without flags: %v", line, err)
		}
		refusedDuration(t, cmd, flag, "-1s")
		if flag == "--interval" {
			refusedDuration(t, cmd, flag, "0s")
			refusedDuration(t, cmd, flag, "100ms")
		}
	}
}

func refusedDuration(t *testing.T, cmd *cobra.Command, flag, value string) {
	t.Helper()
	f := cmd.Flags().Lookup(strings.TrimPrefix(flag, "--"))
	if err := cmd.Flags().Set(f.Name, value); err != nil {
		t.Fatal(err)
	}
	err := flags.CheckDurations(cmd.Flags())
	if exit.Code(err) != exit.ExitUsage || !strings.Contains(err.Error(), flag+" must ") || !strings.Contains(err.Error(), value) {
		t.Errorf("%s %s %s: %v", cmd.CommandPath(), flag, value, err)
	}
	if err := cmd.Flags().Set(f.Name, f.DefValue); err != nil {
		t.Fatal(err)
	}
	f.Changed = false
}

// A command with such a function of its own would leave the one of the root out, and its checks.
func TestNoCommandReplacesTheChecksOfTheRoot(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.HasParent() && (cmd.PersistentPreRunE != nil || cmd.PersistentPreRun != nil) {
			t.Errorf("%s has a PersistentPreRun", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(commands.NewRoot(commandstest.Up(t).Environment()))
}

func TestDurationsAreRefusedBeforeAnythingIsRead(t *testing.T) {
	for line, want := range map[string]string{
		"status sample --request-timeout -1s":         "--request-timeout must not be negative: -1s; use 0 or a duration such as 2m",
		"status sample --request-timeout soon":        `--request-timeout must be a duration such as 30s or 2m, not "soon"`,
		"reconcile sample --wait --yes --interval 0s": "--interval must be at least 1s, not 0s",
		"wait sample --for healthy --timeout -5m":     "--timeout must not be negative: -5m0s",
		"backup status nightly --max-lag 0":           "--max-lag must be positive, such as 2m: 0s",
		"cli sample --timeout 10ms -- status":         "--timeout must be at least 1s, not 10ms",
	} {
		g := commandstest.Up(t)
		if code := g.Run(strings.Fields(line)...); code != exit.ExitUsage || !strings.Contains(g.Err.String(), want) {
			t.Errorf("%s: exit code %d: %s", line, code, &g.Err)
		}
		if slices.Contains(strings.Fields(line), "status") && g.Out.Len() > 0 {
			t.Errorf("%s: printed %s", line, &g.Out)
		}
	}
}
