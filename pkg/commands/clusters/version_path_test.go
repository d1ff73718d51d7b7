package clusters_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// The PATH of each row has the directories in this order. Krew and Homebrew install symbolic links.
func TestVersionWarnsOfAnotherPluginOnThePath(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	place := func(dir string, create func(file string) error) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := create(filepath.Join(root, dir, "kubectl-fdb")); err != nil {
			t.Fatal(err)
		}
	}
	place("linked", func(file string) error { return os.Symlink(self, file) })
	place("other", func(file string) error { return os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755) })
	place("text", func(file string) error { return os.WriteFile(file, []byte("notes\n"), 0o644) })
	place("directory", func(file string) error { return os.Mkdir(file, 0o755) })
	tests := map[string]struct {
		path  []string
		warns bool
	}{
		"no other one":                         {path: []string{"missing", "linked"}},
		"another one after this program":       {path: []string{"linked", "other"}},
		"another one before this program":      {path: []string{"other", "linked"}, warns: true},
		"files that kubectl does not run":      {path: []string{"text", "directory", "linked"}},
		"another one behind a file of no use":  {path: []string{"text", "other"}, warns: true},
		"this program is not on the PATH only": {path: []string{"missing"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			var path []string
			for _, dir := range tc.path {
				path = append(path, filepath.Join(root, dir))
			}
			g.Env["PATH"] = strings.Join(path, string(filepath.ListSeparator))
			if code := g.Run("version", "--client-only"); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s", code, &g.Err)
			}
			if warns := strings.Contains(g.Err.String(), "kubectl runs another plugin: "+filepath.Join(root, "other")); warns != tc.warns {
				t.Errorf("warning %t, want %t: %s", warns, tc.warns, &g.Err)
			}
		})
	}
}
