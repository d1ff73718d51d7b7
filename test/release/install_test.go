package release

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// commandsOf returns the lines of the fence after a marker of the page about installation.
func commandsOf(t *testing.T, marker string) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "install.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- "+marker+" -->\n```\n")
	fence, _, found := strings.Cut(rest, "\n```")
	if !found {
		t.Fatalf("the page has no commands for %s", marker)
	}
	return strings.Split(fence, "\n")
}

// stranger has kubectl and Krew, an empty home, and the files of a release.
type stranger struct {
	dir         string
	environment []string
}

func newStranger(t *testing.T) stranger {
	t.Helper()
	home, programs := t.TempDir(), t.TempDir()
	run(t, ".", []string{"CGO_ENABLED=0"}, "go", "build", "-modfile="+krewModule, "-o", filepath.Join(programs, "kubectl-krew"), "sigs.k8s.io/krew/cmd/krew")
	run(t, root, nil, "make", "BIN="+programs, "build-kubectl")
	dir := filepath.Join(home, "release")
	download(t, dir)
	path := strings.Join([]string{filepath.Join(home, ".krew", "bin"), filepath.Join(home, ".local", "bin"), programs, "/usr/bin", "/bin"}, ":")
	return stranger{dir: dir, environment: []string{"HOME=" + home, "KREW_ROOT=" + filepath.Join(home, ".krew"), "KREW_NO_UPGRADE_CHECK=1", "PATH=" + path, "KUBECONFIG=" + filepath.Join(home, "none")}}
}

// download links the files of a build into a new directory.
func download(t *testing.T, dir string) {
	t.Helper()
	dist, err := filepath.Abs(snapshot(t))
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dist)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	for _, file := range files {
		if err == nil {
			err = os.Symlink(filepath.Join(dist, file.Name()), filepath.Join(dir, file.Name()))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// enter runs a line of the page.
func (s stranger) enter(t *testing.T, line string) string {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(s.dir, "kubectl-fdb_*_linux_"+runtime.GOARCH+".tar.gz"))
	if err != nil || len(archives) != 1 {
		t.Fatalf("archives %v: %v", archives, err)
	}
	line = strings.ReplaceAll(line, "kubectl-fdb_VERSION_linux_amd64.tar.gz", filepath.Base(archives[0]))
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", line)
	cmd.Dir, cmd.Env = s.dir, s.environment
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, output)
	}
	t.Logf("$ %s\n%s", line, output)
	return string(output)
}

// All that a user enters who has kubectl, Krew and the files of a release.
func TestTheInstallationPageInstallsARelease(t *testing.T) {
	s := newStranger(t)
	if output := s.enter(t, "sha256sum --check --ignore-missing checksums.txt"); strings.Count(output, ": OK\n") < 10 {
		t.Errorf("verified: %s", output)
	}
	for _, marker := range []string{"krew", "archive"} {
		all := ""
		for _, line := range commandsOf(t, marker) {
			all += s.enter(t, line)
		}
		if err := os.RemoveAll(filepath.Join(s.dir, "..", ".krew")); err != nil { // the next way has no other plugin in PATH
			t.Fatal(err)
		}
		if !strings.Contains(all, "Client: ") || strings.Contains(all, "warning") {
			t.Errorf("%s: %s", marker, all)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "fdb", "manifests", "observe", "prometheus-rule.yaml")); err != nil {
		t.Error(err)
	}
	if output := s.enter(t, "kubectl __complete fdb plan --with 2>/dev/null | head -1"); !strings.HasPrefix(output, "--with-backups") {
		t.Errorf("completion: %s", output)
	}
}

var testOfPage = regexp.MustCompile(`-run (Test\w+)$`)

func TestTheInstallPageNamesExistingTests(t *testing.T) {
	lines := commandsOf(t, "checkout")
	list := ""
	files, err := filepath.Glob("*_test.go")
	for _, file := range files {
		content, failed := os.ReadFile(file)
		list, err = list+string(content), errors.Join(err, failed)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		name := testOfPage.FindStringSubmatch(line)
		if name == nil || !strings.HasPrefix(line, "go test -C test/release -v -run ") || !strings.Contains(list, "\nfunc "+name[1]+"(t *testing.T)") {
			t.Errorf("%s runs no test", line)
		}
	}
	if len(lines) != 3 {
		t.Errorf("%d commands, want 3", len(lines))
	}
}
