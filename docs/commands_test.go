package docs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// generatedPages returns a directory with the reference pages that the program generates.
func generatedPages(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	env := session.NewEnv()
	var out, failure strings.Builder
	env.Out, env.ErrOut = &out, &failure
	if code := commands.Run(t.Context(), env, []string{"docs", "--dir", dir, "--format", "markdown", "--pages", ".."}); code != 0 {
		t.Fatalf("docs ends with code %d: %s", code, failure.String())
	}
	return dir
}

// textsIn returns the files of a directory by name.
func textsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts[entry.Name()] = string(text)
	}
	return texts
}

func TestTheReferencePagesMatchTheHelp(t *testing.T) {
	// Defaults of flags must not depend on the machine.
	t.Setenv("HOME", "/home/generator")
	t.Setenv("KUBECACHEDIR", "/var/generator")
	committed, generated := textsIn(t, "commands"), textsIn(t, generatedPages(t))
	for _, name := range slices.Sorted(maps.Keys(generated)) {
		if diff := cmp.Diff(committed[name], generated[name]); diff != "" {
			t.Errorf("docs/commands/%s differs from the help: run make generate\n%s", name, diff)
		}
		if strings.Contains(generated[name], "generator") {
			t.Errorf("docs/commands/%s has a path of the machine that generates it", name)
		}
	}
	for name := range committed {
		if generated[name] == "" {
			t.Errorf("docs/commands/%s is of no command: run make generate", name)
		}
	}
}

func TestOnlyTheRootPageHasTheGlobalFlags(t *testing.T) {
	for name, text := range textsIn(t, "commands") {
		if has := strings.Contains(text, "      --kubeconfig string"); has != (name == "kubectl_fdb.md") {
			t.Errorf("docs/commands/%s: global flags listed: %t", name, has)
		}
	}
}

// The generated overview links the page of every command.
func TestTheOverviewListsEveryCommand(t *testing.T) {
	overview := textsIn(t, "commands")["kubectl_fdb.md"]
	for _, s := range summaries(t) {
		page := strings.ReplaceAll(s.command, " ", "_") + ".md"
		if s.command != "kubectl fdb" && !strings.Contains(overview, "]("+page+")") {
			t.Errorf("the overview does not link %s", page)
		}
	}
}
