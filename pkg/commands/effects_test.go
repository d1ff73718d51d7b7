package commands

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// eachPath calls visit for every command but the root, with its path.
func eachPath(t *testing.T, visit func(path string, cmd *cobra.Command)) {
	t.Helper()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			visit(strings.TrimPrefix(child.CommandPath(), "kubectl fdb "), child)
			walk(child)
		}
	}
	walk(newRoot(newGiven(t).environment()))
}

// A command without a declaration is no step and reads no dump: there is no default.
func TestEveryCommandDeclaresItsEffect(t *testing.T) {
	eachPath(t, func(path string, cmd *cobra.Command) {
		effect, declared := session.Declared(cmd)
		if !declared {
			t.Errorf("%s declares no effect: set Annotations beside Use", path)
		}
		if changes := cmd.Flags().Lookup("dry-run") != nil; changes && effect != session.EffectChanges {
			t.Errorf("%s has a dry run and declares that it %s", path, effect)
		}
		if cmd.Flags().Lookup("yes") != nil && effect != session.EffectChanges && effect != session.EffectPrograms {
			t.Errorf("%s can be approved and declares that it %s", path, effect)
		}
	})
}

// What a command may do at the API server is declared a second time, by its permissions.
func TestCommandsThatDeclareToReadRequireNoPermissionToChange(t *testing.T) {
	required, err := cmdutil.RequirementsOf(nil)
	if err != nil {
		t.Fatal(err)
	}
	effects := map[string]session.Effect{}
	eachPath(t, func(path string, cmd *cobra.Command) { effects[path], _ = session.Declared(cmd) })
	for _, command := range required {
		path, _, _ := strings.Cut(command.Command, " --")
		effect, known := effects[path]
		if !known || effect != session.EffectReads && effect != session.EffectSaves {
			continue
		}
		for _, p := range command.Requirements {
			reads := slices.Contains([]string{"get", "list", "watch"}, p.Verb) || p.Verb == "create" && slices.Contains([]string{"exec", "portforward"}, p.Subresource)
			if !reads && path != "can replace" { // it creates by a dry run alone, which a Role cannot express
				t.Errorf("%s declares that it %s, and requires %s", command.Command, effect, p.Permission)
			}
		}
	}
}

func TestOnlyCommandsThatDeclareToReadReadADump(t *testing.T) {
	eachPath(t, func(path string, cmd *cobra.Command) {
		if effect, _ := session.Declared(cmd); slices.Contains(commandsOfDumps, path) && effect != session.EffectReads {
			t.Errorf("%s reads dumps and declares that it %s", path, effect)
		}
	})
}

// Flags that name files, directories or listeners, or that force something, are not for steps. A plan is an
// input that a step before has saved.
func TestFlagsThatReachBeyondARunbookAreMarked(t *testing.T) {
	noSteps := []string{"run", "watch", "eviction-webhook", "metrics", "completion", "completion install", "docs"}
	inputs := []string{"plan"}
	eachPath(t, func(path string, cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			beyond := f.Name == "force" || f.Name == "stdin"
			for _, word := range []string{"file", "directory", "HOST:PORT"} {
				beyond = beyond || f.Value.Type() == "string" && strings.Contains(strings.ReplaceAll(f.Usage, "trace files", ""), word)
			}
			if beyond && session.FitsSteps(cmd, f) && !slices.Contains(noSteps, path) && !slices.Contains(inputs, f.Name) {
				t.Errorf("%s --%s can be in a step: %s", path, f.Name, f.Usage)
			}
		})
	})
}

// All but a few global flags select where a command acts, and with which identity.
func TestAStepHasNoFlagOfTheConnection(t *testing.T) {
	root := newRoot(newGiven(t).environment())
	var fit []string
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if session.FitsSteps(root, f) {
			fit = append(fit, cmp.Or(f.Shorthand, f.Name))
		}
	})
	if want := []string{"color", "n", "q", "v"}; !slices.Equal(fit, want) {
		t.Errorf("%q, want %q", fit, want)
	}
}
