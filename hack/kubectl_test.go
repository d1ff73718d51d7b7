package hack

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAKubectlOfThePathIsUsedWithinOneMinorVersion(t *testing.T) {
	for reported, used := range map[string]bool{
		"v1.36.3": true, "v1.35.0": true, "v1.37.1-gke.5": true, "v1.34.9": false, "v1.38.0": false, "v2.36.3": false, "unknown": false,
	} {
		dir := t.TempDir()
		kubectl := filepath.Join(dir, "kubectl")
		script := "#!/bin/sh\nprintf '{\\n  \"clientVersion\": {\\n    \"gitVersion\": \"" + reported + "\"\\n  }\\n}\\n'\n"
		if err := os.WriteFile(kubectl, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		want := ""
		if used {
			want = kubectl
		}
		if got := kubectlFor(t, dir); got != want {
			t.Errorf("%s: got %q, want %q", reported, got, want)
		}
	}
	if got := kubectlFor(t, t.TempDir()); got != "" {
		t.Errorf("without a kubectl: got %q", got)
	}
}

// kubectlFor runs the script with a kubectl in a directory, if any, and no other one.
func kubectlFor(t *testing.T, dir string) string {
	t.Helper()
	for _, program := range []string{"bash", "sed", "head"} {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, program)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "./kubectl-for.sh", "v1.36.3")
	cmd.Env = []string{"PATH=" + dir}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl-for.sh: %v", err)
	}
	return strings.TrimSpace(string(out))
}
