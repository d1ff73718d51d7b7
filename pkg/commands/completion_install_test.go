package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/tools"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestCompletionInstall(t *testing.T) {
	tests := map[string]struct {
		there string // before
		args  []string
		want  int
		says  string
		left  string // after
	}{
		"a new one":               {want: exit.ExitDone, left: tools.CompletionScript},
		"the same once more":      {there: tools.CompletionScript, want: exit.ExitDone, says: "already exists", left: tools.CompletionScript},
		"a foreign one stays":     {there: "theirs", want: exit.ExitUsage, says: "is not from kubectl fdb (nothing was changed)", left: "theirs"},
		"unless --force is given": {there: "theirs", args: []string{"--force"}, want: exit.ExitDone, left: tools.CompletionScript},
		"a word that is no use":   {args: []string{"bash"}, want: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, dir := newGiven(t), t.TempDir()
			g.env["PATH"] = "/nowhere" + string(filepath.ListSeparator) + dir
			file := filepath.Join(dir, tools.CompletionProgram)
			if tc.there != "" {
				if err := os.WriteFile(file, []byte(tc.there), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			code := g.run(append([]string{"completion", "install", "--dir", dir}, tc.args...)...)
			left, _ := os.ReadFile(file)
			if code != tc.want || string(left) != tc.left || !strings.Contains(g.err.String(), tc.says) {
				t.Errorf("exit code %d, want %d; left %q; %s", code, tc.want, left, &g.err)
			}
			if info, err := os.Stat(file); tc.left == tools.CompletionScript && (err != nil || info.Mode().Perm()&0o111 == 0) {
				t.Errorf("it is not executable: %v", err)
			}
			if strings.Contains(g.err.String(), "not on the PATH") {
				t.Errorf("it is on the PATH: %s", &g.err)
			}
		})
	}
}

func TestCompletionInstalledOutsideThePATHIsReported(t *testing.T) {
	g := newGiven(t)
	g.run("completion", "install", "--dir", t.TempDir())
	if !strings.Contains(g.err.String(), "is not on the PATH") {
		t.Errorf("stderr: %s", &g.err)
	}
}

func TestCompletionInstallRequiresAnExistingDirectory(t *testing.T) {
	g := newGiven(t)
	if code := g.run("completion", "install", "--dir", filepath.Join(t.TempDir(), "no")); code != exit.ExitUsage {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
}
