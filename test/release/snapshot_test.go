// Package release tests what a release contains with the programs and libraries that read it, which
// the plugin's own module does not need.
package release

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"sigs.k8s.io/yaml"
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
	sum := sha256.Sum256(content)
	for name, want := range sums(t, dist) {
		if strings.HasPrefix(name, "kubectl-fdb_linux_amd64") && !strings.HasSuffix(name, ".gz") && filepath.Base(name) == "kubectl-fdb" && hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has %s, and %x without the cache", name, want, sum)
		}
	}
}

// filesOf are the names in an archive.
func filesOf(t *testing.T, archive string) []string {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for files := tar.NewReader(unpacked); ; {
		header, err := files.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
}

func TestArchivesHaveManifestsCompletionsAndManPages(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join(snapshot(t), "*.tar.gz"))
	if err != nil || len(archives) != 4 {
		t.Fatalf("%d archives for Linux and macOS: %v", len(archives), err)
	}
	for _, archive := range archives {
		names := filesOf(t, archive)
		for _, want := range []string{
			"kubectl-fdb", "LICENSE", "CHANGELOG.md", "man/kubectl-fdb.1", "man/kubectl-fdb-reconcile.1", "manifests/rbac/reconcile.yaml",
			"completions/kubectl-fdb.bash", "completions/kubectl-fdb.zsh", "completions/kubectl-fdb.fish", "completions/kubectl_complete-fdb",
		} {
			if !slices.Contains(names, want) {
				t.Errorf("%s has no %s", filepath.Base(archive), want)
			}
		}
	}
}

// What the package manager of Debian reads in a package.
func TestDebianPackagesInstallToStandardPaths(t *testing.T) {
	packages, err := filepath.Glob(filepath.Join(snapshot(t), "*.deb"))
	if err != nil || len(packages) != 2 {
		t.Fatalf("%d packages: %v", len(packages), err)
	}
	for _, file := range packages {
		content := run(t, ".", nil, "dpkg-deb", "--contents", file)
		for _, want := range []string{
			"-rwxr-xr-x root/root", "./usr/bin/kubectl-fdb\n", "./usr/bin/kubectl_complete-fdb\n", "./usr/share/man/man1/kubectl-fdb.1\n",
			"./usr/share/bash-completion/completions/kubectl-fdb\n", "./usr/share/zsh/vendor-completions/_kubectl-fdb\n", "./usr/share/fish/vendor_completions.d/kubectl-fdb.fish\n",
		} {
			if !strings.Contains(content, want) {
				t.Errorf("%s has no %s", filepath.Base(file), strings.TrimSpace(want))
			}
		}
		if name := run(t, ".", nil, "dpkg-deb", "--field", file, "Package"); strings.TrimSpace(name) != "kubectl-fdb" {
			t.Errorf("the package is called %s", name)
		}
	}
}

// Each binary has a bill of materials that lists the modules it is built of.
func TestBillsOfMaterialsListTheModules(t *testing.T) {
	bills, err := filepath.Glob(filepath.Join(snapshot(t), "*.cdx.json"))
	if err != nil || len(bills) != 6 {
		t.Fatalf("%d bills of materials: %v", len(bills), err)
	}
	for _, bill := range bills {
		var content struct {
			Format     string `json:"bomFormat"`
			Components []struct {
				Name string `json:"name"`
			} `json:"components"`
		}
		text, err := os.ReadFile(bill)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &content); err != nil || content.Format != "CycloneDX" {
			t.Fatalf("%s has the format %q: %v", bill, content.Format, err)
		}
		var names []string
		for _, c := range content.Components {
			names = append(names, c.Name)
		}
		for _, want := range []string{"k8s.io/client-go", "github.com/spf13/cobra", "std"} {
			if !slices.Contains(names, want) {
				t.Errorf("%s does not list %s", filepath.Base(bill), want)
			}
		}
	}
}

// The image is what registries accept, for both platforms.
func TestTheReleaseImageIsValidForBothPlatforms(t *testing.T) {
	dist, dir := snapshot(t), t.TempDir()
	run(t, dir, nil, "tar", "-xf", filepath.Join(dist, "image.tar"))
	top, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(top); err != nil {
		t.Error(err)
	}
	content, err := top.IndexManifest()
	if err != nil || len(content.Manifests) != 1 {
		t.Fatalf("%+v: %v", content, err)
	}
	list, err := top.ImageIndex(content.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	images, err := list.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, image := range images.Manifests {
		platforms = append(platforms, image.Platform.String())
	}
	if !slices.Equal(platforms, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("platforms %v", platforms)
	}
}

// checksum returns the sum that checksums.txt has for a file.
func checksum(t *testing.T, dist, name string) string {
	t.Helper()
	file, err := os.Open(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if sum, of, _ := strings.Cut(lines.Text(), "  "); of == name {
			return sum
		}
	}
	t.Fatalf("checksums.txt has no %s", name)
	return ""
}

// Krew installs the plugin from a local archive and runs it by kubectl's name.
func TestKrewInstallsThePlugin(t *testing.T) {
	dist, home := snapshot(t), t.TempDir()
	manifest := filepath.Join(dist, "krew", "fdb.yaml")
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var plugin struct {
		Spec struct {
			Version   string `json:"version"`
			Platforms []struct {
				URI      string `json:"uri"`
				SHA256   string `json:"sha256"`
				Bin      string `json:"bin"`
				Selector struct {
					MatchLabels map[string]string `json:"matchLabels"`
				} `json:"selector"`
			} `json:"platforms"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &plugin); err != nil || len(plugin.Spec.Platforms) != 6 {
		t.Fatalf("%d platforms: %v\n%s", len(plugin.Spec.Platforms), err, text)
	}
	archive := ""
	for _, p := range plugin.Spec.Platforms {
		name := filepath.Base(p.URI)
		if sum := checksum(t, dist, name); sum != p.SHA256 {
			t.Errorf("%s has the checksum %s, the manifest %s", name, sum, p.SHA256)
		}
		if p.Selector.MatchLabels["os"] == "linux" && p.Selector.MatchLabels["arch"] == runtime.GOARCH {
			archive = filepath.Join(dist, name)
		}
	}
	environment := []string{"KREW_ROOT=" + home, "KREW_NO_UPGRADE_CHECK=1", "PATH=" + filepath.Join(home, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH")}
	run(t, ".", environment, "go", "tool", "-modfile="+krewModule, "krew", "install", "--manifest="+manifest, "--archive="+archive)
	output := run(t, home, append(environment, "PATH="+filepath.Join(home, "bin")), filepath.Join(home, "bin", "kubectl-fdb"), "version", "--client-only")
	if !strings.Contains(output, "Client: ") || strings.Contains(output, "warning") {
		t.Errorf("version prints %s", output)
	}
	if _, err := os.Stat(filepath.Join(home, "receipts", "fdb.yaml")); err != nil {
		t.Errorf("krew has no receipt: %v", err)
	}
}
