package release

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// fence returns the lines of the fence after a marker of a page.
func fence(t *testing.T, page, marker string) []string {
	t.Helper()
	_, rest, _ := strings.Cut(string(read(t, filepath.Join(root, "docs", page))), "<!-- "+marker+" -->\n```\n")
	lines, _, found := strings.Cut(rest, "\n```")
	if !found {
		t.Fatalf("%s has no commands for %s", page, marker)
	}
	return strings.Split(lines, "\n")
}

// stranger has kubectl and Krew, an empty home and an empty directory. The files of a release are on a
// server on loopback.
type stranger struct {
	home, dir   string
	environment []string
	page        *strings.Replacer // from the placeholders of the page
}

func newStranger(t *testing.T) stranger {
	t.Helper()
	home, programs := t.TempDir(), t.TempDir()
	run(t, ".", []string{"CGO_ENABLED=0"}, "go", "build", "-modfile="+krewModule, "-o", filepath.Join(programs, "kubectl-krew"), "sigs.k8s.io/krew/cmd/krew")
	run(t, root, nil, "make", "BIN="+programs, "build-kubectl")
	dist, dir := snapshot(t), filepath.Join(home, "release")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(archiveOf(t, dist, "linux_amd64")), "kubectl-fdb_"), "_linux_amd64.tar.gz")
	path := strings.Join([]string{filepath.Join(home, ".krew", "bin"), filepath.Join(home, ".local", "bin"), programs, "/usr/bin", "/bin"}, ":")
	return stranger{
		home:        home,
		dir:         dir,
		environment: []string{"HOME=" + home, "KREW_ROOT=" + filepath.Join(home, ".krew"), "KREW_NO_UPGRADE_CHECK=1", "PATH=" + path, "KUBECONFIG=" + filepath.Join(home, "none")},
		page:        strings.NewReplacer("https://github.com", serve(t, dist, version), "VERSION", version, "linux_amd64", "linux_"+runtime.GOARCH),
	}
}

// serve serves the files of a build as GitHub does those of a release: in one directory, with the
// manifest for Krew.
func serve(t *testing.T, dist, version string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /kubectl-fdb/kubectl-fdb/releases/download/v"+version+"/{name}", func(w http.ResponseWriter, r *http.Request) {
		switch name := r.PathValue("name"); {
		case name == "fdb.yaml":
			http.ServeFile(w, r, filepath.Join(dist, "krew", name))
		case name == "checksums.txt" || slices.Contains(files(t, dist), name):
			http.ServeFile(w, r, filepath.Join(dist, name))
		default:
			http.NotFound(w, r)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// enter runs a line of the page.
func (s stranger) enter(t *testing.T, line string) string {
	t.Helper()
	line = s.page.Replace(line)
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", line)
	cmd.Dir, cmd.Env = s.dir, s.environment
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, output)
	}
	t.Logf("$ %s\n%s", line, output)
	return string(output)
}

// follow runs the commands after a marker, and returns what they print.
func (s stranger) follow(t *testing.T, marker string) string {
	t.Helper()
	all := ""
	for _, line := range fence(t, "install.md", marker) {
		all += s.enter(t, line)
	}
	return all
}

// verified returns the files that a program for checksums verified.
func verified(t *testing.T, output string) []string {
	t.Helper()
	var names []string
	for line := range strings.Lines(output) {
		name, is := strings.CutSuffix(line, ": OK\n")
		if !is {
			t.Errorf("verified: %s", line)
		}
		names = append(names, name)
	}
	return slices.Sorted(slices.Values(names))
}

// All that a user enters who has kubectl and Krew, from the download on.
func TestTheInstallationPageInstallsARelease(t *testing.T) {
	s := newStranger(t)
	s.follow(t, "download")
	archive := s.page.Replace("kubectl-fdb_VERSION_linux_amd64.tar.gz")
	for _, marker := range []string{"verify on Linux", "verify on macOS"} {
		if got := verified(t, s.follow(t, marker)); !slices.Equal(got, []string{archive}) {
			t.Errorf("%s: verified %v, want %s", marker, got, archive)
		}
	}
	t.Run("a local build", s.installsLocalBuild)
	if all := s.installs(t, "krew"); !strings.HasSuffix(all, filepath.Join(s.home, ".krew", "bin", "kubectl_complete-fdb")+"\n") {
		t.Errorf("kubectl finds no completion beside Krew's link: %s", all)
	}
	s.installs(t, "archive")
	if _, err := os.Stat(filepath.Join(s.dir, "fdb", "manifests", "observe", "prometheus-rule.yaml")); err != nil {
		t.Error(err)
	}
	if output := s.enter(t, "kubectl __complete fdb plan --with 2>/dev/null | head -1"); !strings.HasPrefix(output, "--with-backups") {
		t.Errorf("completion: %s", output)
	}
}

// installs follows one way to install the plugin, and returns what its commands print. The next one has no other
// plugin in PATH.
func (s stranger) installs(t *testing.T, marker string) string {
	t.Helper()
	all := s.follow(t, marker)
	if !strings.Contains(all, "Client: ") || strings.Contains(all, "warning") {
		t.Errorf("%s: %s", marker, all)
	}
	if err := os.RemoveAll(filepath.Join(s.home, ".krew")); err != nil {
		t.Fatal(err)
	}
	return all
}

// installsLocalBuild follows the page in the directory of a build, which has all files, and the manifest
// for Krew below.
func (s stranger) installsLocalBuild(t *testing.T) {
	t.Helper()
	dist, err := filepath.Abs(snapshot(t))
	if err != nil {
		t.Fatal(err)
	}
	s.dir = dist
	for _, marker := range []string{"verify on Linux", "verify on macOS"} {
		if got := verified(t, s.follow(t, marker)); !slices.Equal(got, files(t, dist)) {
			t.Errorf("%s: verified %v, want %v", marker, got, files(t, dist))
		}
	}
	s.installs(t, "krew of a local build")
}

// A file that was changed after the release is refused.
func TestTheCommandsOfTheInstallationPageRefuseAChangedFile(t *testing.T) {
	for _, marker := range []string{"verify on Linux", "verify on macOS"} {
		dir := t.TempDir()
		for name, content := range map[string]string{"checksums.txt": strings.Repeat("0", 64) + "  kubectl-fdb.deb\n", "kubectl-fdb.deb": "another"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-euc", strings.Join(fence(t, "install.md", marker), "\n"))
		cmd.Dir = dir
		if output, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(output), "kubectl-fdb.deb: FAILED\n") {
			t.Errorf("%s: %v\n%s", marker, err, output)
		}
	}
}

// show prints lines in the log of a test, as a user sees them with -v.
func show(t *testing.T, lines []string) {
	t.Helper()
	for _, line := range lines {
		fmt.Fprintln(t.Output(), line)
	}
}

// shown requires that the page has an excerpt of the lines that a test prints, in their order.
func shown(t *testing.T, marker string, lines []string) {
	t.Helper()
	for _, line := range fence(t, "install.md", marker) {
		at := slices.Index(lines, strings.TrimSpace(line))
		if at < 0 {
			t.Fatalf("the page shows %q; printed are\n%s", line, strings.Join(lines, "\n"))
		}
		lines = lines[at+1:]
	}
}

var testOfPage = regexp.MustCompile(`-run (Test\w+)$`)

func TestTheInstallPageNamesExistingTests(t *testing.T) {
	list := ""
	files, err := filepath.Glob("*_test.go")
	for _, file := range files {
		content, failed := os.ReadFile(file)
		list, err = list+string(content), errors.Join(err, failed)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range fence(t, "install.md", "checkout") {
		name := testOfPage.FindStringSubmatch(line)
		if name == nil || !strings.HasPrefix(line, "go test -C test/release -v -run ") || !strings.Contains(list, "\nfunc "+name[1]+"(t *testing.T)") {
			t.Errorf("%s runs no test", line)
		}
	}
}
