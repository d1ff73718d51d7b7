package commands_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
)

// eachPath calls visit for every command but the root, with its path.
func eachPath(t *testing.T, visit func(path string, cmd *cobra.Command)) {
	t.Helper()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			visit(declare.PathOf(child), child)
			walk(child)
		}
	}
	walk(commands.NewRoot(commandstest.NewGiven(t).Environment()))
}

// A command without a declaration is no step and reads no dump: there is no default.
func TestEveryCommandDeclaresItsEffect(t *testing.T) {
	eachPath(t, func(path string, cmd *cobra.Command) {
		d, declared := declare.Of(cmd)
		if !declared {
			t.Errorf("%s declares no effect: it needs declare.Command", path)
		}
		if changes := cmd.Flags().Lookup("dry-run") != nil; changes && d.Effect != declare.Changes {
			t.Errorf("%s has a dry run and declares that it %s", path, d.Effect)
		}
		if cmd.Flags().Lookup("yes") != nil && d.Effect != declare.Changes && d.Effect != declare.Programs {
			t.Errorf("%s can be approved and declares that it %s", path, d.Effect)
		}
		if d.Dumps && d.Effect != declare.Reads {
			t.Errorf("%s reads dumps and declares that it %s", path, d.Effect)
		}
	})
}

// A command without a group is not in the help, and one without a page is in no overview.
func TestEveryCommandOfTheFirstLevelDeclaresItsGroupAndPages(t *testing.T) {
	groups := declare.Groups()
	eachPath(t, func(path string, cmd *cobra.Command) {
		d, _ := declare.Of(cmd)
		if first := !strings.Contains(path, " "); first != (d.Group != "") || first != (len(d.Pages) > 0) {
			t.Errorf("%s declares the group %q and the pages %q", path, d.Group, d.Pages)
		}
		if d.Group != "" && !slices.ContainsFunc(groups, func(g *cobra.Group) bool { return g.ID == string(d.Group) }) {
			t.Errorf("%s: no group %q", path, d.Group)
		}
	})
}

// A command without permissions is missing from `auth role` and `auth can-i`, unless it declares that it has none.
func TestEveryCommandDeclaresItsPermissions(t *testing.T) {
	eachPath(t, func(path string, cmd *cobra.Command) {
		d, _ := declare.Of(cmd)
		acts := cmd.HasExample()
		if uses := d.Needs != nil || len(d.With) > 0; acts && uses == d.Local || !acts && (uses || d.Local) {
			t.Errorf("%s declares permissions: %t, and that it is local: %t", path, uses, d.Local)
		}
	})
}

// needsOf returns all permissions that a command declares, with whatever words.
func needsOf(d declare.Declaration) (all []declare.Requirement) {
	for _, needs := range append(slices.Collect(maps.Values(d.With)), d.Needs) {
		if needs != nil {
			all = append(all, needs()...)
		}
	}
	return all
}

// What a command may do at the API server is declared a second time, by its permissions.
func TestCommandsThatDeclareToReadRequireNoPermissionToChange(t *testing.T) {
	eachPath(t, func(path string, cmd *cobra.Command) {
		d, _ := declare.Of(cmd)
		if d.Effect != declare.Reads && d.Effect != declare.Saves {
			return
		}
		for _, p := range needsOf(d) {
			reads := slices.Contains([]string{"get", "list", "watch"}, p.Verb) || p.Verb == "create" && slices.Contains([]string{"exec", "portforward"}, p.Subresource)
			if !reads && path != "can replace" { // it creates by a dry run alone, which a Role cannot express
				t.Errorf("%s declares that it %s, and requires %s", path, d.Effect, p.Permission)
			}
		}
	})
}

// Flags that name files, directories or listeners, or that force something, are not for steps. A plan is an
// input that a step before has saved, and of --output only some values name files, as
// TestAStepWithAFlagBeyondItsRunbookIsRefusedWithItsLine has it.
func TestFlagsThatReachBeyondARunbookAreMarked(t *testing.T) {
	inputs := []string{"plan", "output"}
	eachPath(t, func(path string, cmd *cobra.Command) {
		d, _ := declare.Of(cmd)
		if d.Endless || d.NoStep != "" {
			return
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			beyond := f.Name == "force" || f.Name == "stdin"
			for _, word := range []string{"file", "directory", "HOST:PORT"} {
				beyond = beyond || f.Value.Type() == "string" && strings.Contains(strings.ReplaceAll(f.Usage, "trace files", ""), word)
			}
			if beyond && declare.FitsSteps(cmd, f) && !slices.Contains(inputs, f.Name) {
				t.Errorf("%s --%s can be in a step: %s", path, f.Name, f.Usage)
			}
		})
	})
}

// All but a few global flags select where a command acts, and with which identity.
func TestAStepHasNoFlagOfTheConnection(t *testing.T) {
	root := commands.NewRoot(commandstest.NewGiven(t).Environment())
	var fit []string
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if declare.FitsSteps(root, f) {
			fit = append(fit, cmp.Or(f.Shorthand, f.Name))
		}
	})
	if want := []string{"color", "n", "q", "v"}; !slices.Equal(fit, want) {
		t.Errorf("%q, want %q", fit, want)
	}
}
