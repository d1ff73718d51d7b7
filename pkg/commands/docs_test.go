package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestDocsHaveAPagePerCommand(t *testing.T) {
	for layout, named := range map[string]func(path string) string{
		"markdown": func(path string) string { return strings.ReplaceAll(path, " ", "_") + ".md" },
		"man":      func(path string) string { return strings.ReplaceAll(path, " ", "-") + ".1" },
	} {
		t.Run(layout, func(t *testing.T) {
			g, dir := commandstest.NewGiven(t), filepath.Join(t.TempDir(), "new")
			if code := g.Run("docs", "--dir", dir, "--format", layout); code != exit.ExitDone || g.Out.String() != dir+"\n" {
				t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			var visit func(cmd *cobra.Command)
			visit = func(cmd *cobra.Command) {
				for _, child := range cmd.Commands() {
					visit(child)
				}
				page, err := os.ReadFile(filepath.Join(dir, named(cmd.CommandPath())))
				if err != nil || !strings.Contains(string(page), cmd.Short) {
					t.Errorf("%s has no page with %q: %v", cmd.CommandPath(), cmd.Short, err)
				}
			}
			visit(commands.NewRoot(commandstest.NewGiven(t).Environment()))
		})
	}
}

// A release that is built again has the same man pages.
func TestManPagesUseSourceDateEpoch(t *testing.T) {
	g, dir := commandstest.NewGiven(t), t.TempDir()
	g.Env["SOURCE_DATE_EPOCH"] = "1760000000"
	if code := g.Run("docs", "--dir", dir, "--format", "man"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "kubectl-fdb.1"))
	if err != nil || !strings.Contains(string(page), `"Oct 2025"`) {
		t.Errorf("no Oct 2025 in %.100s (%v)", page, err)
	}
}

func TestTheDocsCommandRejectsInvalidFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"no directory":           nil,
		"a format that is none":  {"--dir", t.TempDir(), "--format", "pdf"},
		"a directory that is no": {"--dir", file},
	} {
		if code := commandstest.NewGiven(t).Run(append([]string{"docs"}, args...)...); code != exit.ExitUsage {
			t.Errorf("%s: exit code %d, want %d", name, code, exit.ExitUsage)
		}
	}
}
