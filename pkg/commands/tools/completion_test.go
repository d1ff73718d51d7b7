package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
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
			g, dir := commandstest.NewGiven(t), t.TempDir()
			g.Env["PATH"] = "/nowhere" + string(filepath.ListSeparator) + dir
			file := filepath.Join(dir, tools.CompletionProgram)
			if tc.there != "" {
				if err := os.WriteFile(file, []byte(tc.there), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			code := g.Run(append([]string{"completion", "install", "--dir", dir}, tc.args...)...)
			left, _ := os.ReadFile(file)
			if code != tc.want || string(left) != tc.left || !strings.Contains(g.Err.String(), tc.says) {
				t.Errorf("exit code %d, want %d; left %q; %s", code, tc.want, left, &g.Err)
			}
			if info, err := os.Stat(file); tc.left == tools.CompletionScript && (err != nil || info.Mode().Perm()&0o111 == 0) {
				t.Errorf("it is not executable: %v", err)
			}
			if strings.Contains(g.Err.String(), "not on the PATH") {
				t.Errorf("it is on the PATH: %s", &g.Err)
			}
		})
	}
}

// Krew and Homebrew link to the program from a directory on the PATH: kubectl finds no file beside the program.
func TestCompletionIsInstalledWhereKubectlFindsThePlugin(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	another := filepath.Join(t.TempDir(), "kubectl-fdb")
	if err := os.WriteFile(another, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	tests := map[string]struct {
		links []string // kubectl-fdb in the directories of the PATH; empty for none
		full  int      // the directory in which no file can be created, from 1
		want  int      // the directory that has the completion, from 1; 0 for that of the program
	}{
		"a directory has a link to it":              {links: []string{"", self}, want: 2},
		"the first of two links":                    {links: []string{self, self}, want: 1},
		"the first one links to another program":    {links: []string{another, self}, want: 2},
		"the first one cannot be written":           {links: []string{self, self}, full: 1, want: 2},
		"no directory has a link":                   {links: []string{"", another}},
		"the only one cannot be written":            {links: []string{self}, full: 1},
		"a link without a target is not the plugin": {links: []string{missing, self}, want: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			dirs := []string{filepath.Dir(self)}
			for i, target := range tc.links {
				dir := t.TempDir()
				if tc.full == i+1 {
					dir = cramped(t)
				}
				dirs = append(dirs, dir)
				if target != "" {
					if err := os.Symlink(target, filepath.Join(dir, "kubectl-fdb")); err != nil {
						t.Fatal(err)
					}
				}
			}
			g.Env["PATH"] = strings.Join(dirs[1:], string(filepath.ListSeparator))
			file := filepath.Join(dirs[tc.want], tools.CompletionProgram)
			t.Cleanup(func() { _ = os.Remove(file) })
			if code := g.Run("completion", "install"); code != exit.ExitDone || g.Out.String() != file+"\n" {
				t.Errorf("exit code %d: %swant %s\n%s", code, &g.Out, file, &g.Err)
			}
			if warned := strings.Contains(g.Err.String(), "is not on the PATH"); warned != (tc.want == 0) {
				t.Errorf("it warns: %t: %s", warned, &g.Err)
			}
			for i, dir := range dirs[1:] {
				files, err := filepath.Glob(filepath.Join(dir, ".*"))
				if err != nil || len(files) > 0 {
					t.Errorf("directory %d has %v (%v)", i+1, files, err)
				}
			}
		})
	}
}

// cramped returns a directory that can have the plugin but not its completion: its path is almost as long as the
// system permits. Unlike a mode, this also prevents a superuser from writing.
func cramped(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for os.WriteFile(filepath.Join(dir, tools.CompletionProgram), nil, 0o600) == nil {
		dir = filepath.Join(dir, "deeper")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCompletionInstalledOutsideThePATHIsReported(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Run("completion", "install", "--dir", t.TempDir())
	if !strings.Contains(g.Err.String(), "is not on the PATH") {
		t.Errorf("stderr: %s", &g.Err)
	}
}

func TestCompletionInstallRequiresAnExistingDirectory(t *testing.T) {
	g := commandstest.NewGiven(t)
	if code := g.Run("completion", "install", "--dir", filepath.Join(t.TempDir(), "no")); code != exit.ExitUsage {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}
