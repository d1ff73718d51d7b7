// Package release tests what a release contains with the programs and libraries that read it, which
// the plugin's own module does not need.
package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const root = "../.."

// krewModule pins Krew. Its dependencies are older than those of this module.
const krewModule = "../../tools/krew/go.mod"

// run runs a program in a directory and returns its output; the test ends if it fails.
func run(t *testing.T, dir string, environment []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
	return string(output)
}

// built is the result of a build.
type built struct {
	dir, dist string
	err       error
	log       []byte
}

// first is built once for all tests, in a directory that ends with the program.
var first = sync.OnceValue(func() built {
	dir, err := os.MkdirTemp("", "kubectl-fdb-release-")
	if err != nil {
		return built{err: err}
	}
	return build(context.Background(), filepath.Join(dir, "repository"), nil)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("KEEP_RELEASE") == "" && used {
		_ = os.RemoveAll(filepath.Dir(first().dir))
	}
	os.Exit(code)
}

var used bool

// commit is the last one when the tests started: one that is added meanwhile is in no build.
var commit = sync.OnceValues(func() (string, error) {
	output, err := exec.Command("git", "-C", root, "rev-parse", "HEAD").Output()
	return strings.TrimSpace(string(output)), err
})

// clone copies the commit into dir.
func clone(ctx context.Context, dir string) ([]byte, error) {
	source, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	of, err := commit()
	if err != nil {
		return nil, err
	}
	if log, err := exec.CommandContext(ctx, "git", "clone", "--quiet", "--no-hardlinks", "--no-checkout", source, dir).CombinedOutput(); err != nil {
		return log, err
	}
	return exec.CommandContext(ctx, "git", "-C", dir, "checkout", "--quiet", "--detach", of).CombinedOutput()
}

// build clones the commit into dir and builds a release there, as make release-snapshot does. GoReleaser is in the PATH.
func build(ctx context.Context, dir string, environment []string) built {
	if log, err := clone(ctx, dir); err != nil {
		return built{dir: dir, err: err, log: log}
	}
	release := exec.CommandContext(ctx, "make", "release-build")
	release.Dir, release.Env = dir, append(os.Environ(), environment...)
	log, err := release.CombinedOutput()
	return built{dir: dir, dist: filepath.Join(dir, "dist"), err: err, log: log}
}

// snapshot returns the directory dist of a build of the last commit, or the one that RELEASE_DIST
// names, such as that of make release-snapshot.
func snapshot(t *testing.T) string {
	t.Helper()
	if dist := os.Getenv("RELEASE_DIST"); dist != "" {
		return dist
	}
	used = true
	b := first()
	if b.err != nil {
		t.Fatalf("build in %s: %v\n%s", b.dir, b.err, b.log)
	}
	return b.dist
}

// sums are the SHA-256 sums of what users download.
func sums(t *testing.T, dist string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.tar.gz", "*.zip", "*.deb", "*.rpm", "*.cdx.json", "checksums.txt", "image.tar", "krew/*.yaml", "homebrew/Casks/*.rb", "kubectl-fdb_*/kubectl-fdb*"} {
		files, err := filepath.Glob(filepath.Join(dist, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("the release has no %s (%v)", pattern, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(content)
			found[strings.TrimPrefix(file, dist+string(filepath.Separator))] = hex.EncodeToString(sum[:])
		}
	}
	return found
}

// The second build is in a directory of another name and length, in another time zone.
func TestReleaseBuildsAreReproducible(t *testing.T) {
	want := sums(t, snapshot(t))
	second := build(t.Context(), filepath.Join(t.TempDir(), "another", "place"), []string{"TZ=Pacific/Auckland"})
	if second.err != nil {
		t.Fatalf("%v\n%s", second.err, second.log)
	}
	got := sums(t, second.dist)
	for name, sum := range want {
		if got[name] != sum {
			t.Errorf("%s differs: %s and %s", name, sum, got[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, and %d in the second build", len(want), len(got))
	}
}

// A build cache would hide that a path gets into a binary.
func TestABuildWithoutTheCacheProducesTheSameBinary(t *testing.T) {
	dist := snapshot(t)
	var about struct {
		Tag string `json:"tag"`
	}
	text, err := os.ReadFile(filepath.Join(dist, "metadata.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &about); err != nil || about.Tag == "" {
		t.Fatalf("%s: %v", text, err)
	}
	dir := filepath.Join(t.TempDir(), "without-cache")
	if log, err := clone(t.Context(), dir); err != nil {
		t.Fatalf("%v: %s", err, log)
	}
	run(t, dir, []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOCACHE=" + filepath.Join(t.TempDir(), "cache")}, "go", "build", "-trimpath",
		"-ldflags", "-s -w -X github.com/kubectl-fdb/kubectl-fdb/pkg/session.Version="+about.Tag, "-o", "kubectl-fdb", "./cmd/kubectl-fdb")
	content, err := os.ReadFile(filepath.Join(dir, "kubectl-fdb"))
	if err != nil {
		t.Fatal(err)
	}
	sum, compared := sha256.Sum256(content), 0
	for name, want := range sums(t, dist) {
		if !strings.HasPrefix(name, "kubectl-fdb_linux_amd64") || filepath.Base(name) != "kubectl-fdb" {
			continue
		}
		if compared++; hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has %s, and %x without the cache", name, want, sum)
		}
	}
	if compared != 1 {
		t.Errorf("compared with %d programs for linux/amd64, want 1", compared)
	}
}
