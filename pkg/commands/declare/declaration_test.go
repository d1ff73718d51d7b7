package declare

import (
	"runtime"
	"testing"
	"weak"

	"github.com/spf13/cobra"
)

func TestACommandWithoutAnEffectDeclaresNothing(t *testing.T) {
	for _, effect := range []Effect{"", "reading"} {
		if _, declared := Of(Command(Declaration{Effect: effect, Dumps: true}, &cobra.Command{})); declared {
			t.Errorf("%q is taken for an effect", effect)
		}
	}
	if d, declared := Of(&cobra.Command{}); declared || d.Dumps {
		t.Error("a command that declares nothing has a declaration")
	}
}

// A program that runs many command lines, as a runbook does, keeps the declarations of none.
func TestDeclarationsEndWithTheirCommands(t *testing.T) {
	key := weak.Make(Command(Declaration{Effect: Reads}, &cobra.Command{Use: "forgotten"}))
	for range 10_000 {
		runtime.GC()
		if _, kept := declarations.Load(key); !kept {
			return
		}
		runtime.Gosched() // the cleanup is a goroutine of its own
	}
	t.Error("the declaration is kept")
}

func TestPermissionsAreFoundByEveryNameAndOrderOfTheWords(t *testing.T) {
	needs := func() []Requirement { return nil }
	root := &cobra.Command{Use: "kubectl-fdb", Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl fdb"}}
	show := Command(
		Declaration{Effect: Changes, Needs: needs, With: map[string]func() []Requirement{"--watch --with-backups": needs}},
		&cobra.Command{Use: "reconcile", Aliases: []string{"sync"}},
	)
	show.Flags().BoolP("watch", "w", false, "")
	show.Flags().Bool("with-backups", false, "")
	root.AddCommand(show, Command(Declaration{Effect: Saves, Local: true}, &cobra.Command{Use: "docs"}))
	for line, want := range map[string]string{
		"reconcile": "reconcile", "sync": "reconcile", "reconcile --with-backups -w": "reconcile --watch --with-backups",
		"reconcile --with-backups": "", "docs": "", "": "", "recoil": "",
	} {
		if got, found := FindNeeds(root, line); got.Command != want || found != (want != "") {
			t.Errorf("%q: found %q (%t), want %q", line, got.Command, found, want)
		}
	}
}
