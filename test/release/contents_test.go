package release

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/match"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/sassoftware/go-rpmutils"
	"sigs.k8s.io/yaml"
)

// platforms are those of a release. Packages exist for Linux.
var platforms = []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64", "windows_arm64"}

// packed is a file in an archive or a package.
type packed struct {
	mode fs.FileMode
	sum  string // SHA-256
}

// pack reads a file of an archive or a package.
func pack(t *testing.T, mode fs.FileMode, content io.Reader) packed {
	t.Helper()
	sum := sha256.New()
	if _, err := io.Copy(sum, content); err != nil {
		t.Fatal(err)
	}
	return packed{mode: mode.Perm(), sum: hex.EncodeToString(sum.Sum(nil))}
}

// untar reads the files of a tar archive.
func untar(t *testing.T, archive io.Reader) map[string]packed {
	t.Helper()
	found := map[string]packed{}
	for files := tar.NewReader(archive); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			found[path.Clean(header.Name)] = pack(t, header.FileInfo().Mode(), files)
		}
	}
}

// unpack reads the files of an archive of a release.
func unpack(t *testing.T, archive string) map[string]packed {
	t.Helper()
	if filepath.Ext(archive) == ".zip" {
		return unzip(t, archive)
	}
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	compressed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	return untar(t, compressed)
}

func unzip(t *testing.T, archive string) map[string]packed {
	t.Helper()
	files, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	found := map[string]packed{}
	for _, f := range files.File {
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		found[f.Name] = pack(t, f.Mode(), content)
		_ = content.Close()
	}
	return found
}

// fileOf returns the one file of a release for a platform with one of the extensions.
func fileOf(t *testing.T, dist, platform string, extensions ...string) string {
	t.Helper()
	var found []string
	for _, extension := range extensions {
		files, err := filepath.Glob(filepath.Join(dist, "kubectl-fdb_*_"+platform+extension))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, files...)
	}
	if len(found) != 1 {
		t.Fatalf("for %s the release has %v, want 1 of %v", platform, found, extensions)
	}
	return found[0]
}

func archiveOf(t *testing.T, dist, platform string) string {
	t.Helper()
	if strings.HasPrefix(platform, "windows") {
		return fileOf(t, dist, platform, ".zip")
	}
	return fileOf(t, dist, platform, ".tar.gz")
}

// programOf is the name of the program in the archive of a platform.
func programOf(platform string) string {
	if strings.HasPrefix(platform, "windows") {
		return "kubectl-fdb.exe"
	}
	return "kubectl-fdb"
}

// below returns the files below a directory, by their path in it.
func below(files map[string]packed, dir string) map[string]packed {
	found := map[string]packed{}
	for name, file := range files {
		if rest, in := strings.CutPrefix(name, dir+"/"); in {
			found[rest] = file
		}
	}
	return found
}

// names returns the sorted names of files.
func names(files map[string]packed) []string { return slices.Sorted(maps.Keys(files)) }

// Each archive has the program of its platform, and the same other files as all archives.
func TestArchivesHaveManifestsCompletionsAndManPages(t *testing.T) {
	dist := snapshot(t)
	var first map[string]packed
	for _, platform := range platforms {
		files := unpack(t, archiveOf(t, dist, platform))
		for _, want := range []string{
			"LICENSE", "README.md", "CHANGELOG.md", "man/kubectl-fdb.1", "man/kubectl-fdb-reconcile.1", "manifests/crd/apps.foundationdb.org_foundationdbclusters.yaml",
			"manifests/rbac/reconcile.yaml", "manifests/pipelines/github/install.sh",
			"completions/kubectl-fdb.bash", "completions/kubectl-fdb.zsh", "completions/kubectl-fdb.fish", "completions/kubectl-fdb.ps1", "completions/kubectl_complete-fdb",
		} {
			if _, has := files[want]; !has {
				t.Errorf("the archive for %s has no %s", platform, want)
			}
		}
		program, has := files[programOf(platform)]
		if !has || program.mode != 0o755 {
			t.Errorf("the archive for %s has the program %t, with the mode %s", platform, has, program.mode)
		}
		if sum := pack(t, 0, bytes.NewReader(read(t, builtProgram(t, dist, platform)))).sum; sum != program.sum {
			t.Errorf("the archive for %s has a program with %s, and %s was built", platform, program.sum, sum)
		}
		delete(files, programOf(platform))
		if first == nil {
			first = files
		}
		if !slices.Equal(names(files), names(first)) {
			t.Errorf("the archive for %s has %v, that for %s %v", platform, names(files), platforms[0], names(first))
		}
	}
}

// builtProgram returns the program for a platform where the compiler wrote it.
func builtProgram(t *testing.T, dist, platform string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dist, "kubectl-fdb_"+platform+"_*", programOf(platform)))
	if err != nil || len(files) != 1 {
		t.Fatalf("programs for %s: %v (%v)", platform, files, err)
	}
	return files[0]
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// installed are the files that a package must install, with their modes.
var installed = map[string]fs.FileMode{
	"usr/bin/kubectl-fdb":                                                 0o755,
	"usr/bin/kubectl_complete-fdb":                                        0o755,
	"usr/share/man/man1/kubectl-fdb.1":                                    0o644,
	"usr/share/bash-completion/completions/kubectl-fdb":                   0o644,
	"usr/share/fish/vendor_completions.d/kubectl-fdb.fish":                0o644,
	"usr/share/doc/kubectl-fdb/copyright":                                 0o644,
	"usr/share/kubectl-fdb/manifests/rbac/reconcile.yaml":                 0o644,
	"usr/share/kubectl-fdb/manifests/pipelines/pipeline.sh":               0o755,
	"usr/share/kubectl-fdb/manifests/overlays/watch/Kustomization":        0o644,
	"usr/share/kubectl-fdb/manifests/observe/prometheus-rule.yaml":        0o644,
	"usr/share/kubectl-fdb/manifests/helm/kubectl-fdb/Chart.yaml":         0o644,
	"usr/share/kubectl-fdb/manifests/pipelines/github/install.sh":         0o755,
	"usr/share/kubectl-fdb/manifests/pipelines/tekton/task.yaml":          0o644,
	"usr/share/kubectl-fdb/manifests/in-cluster/cronjob.yaml":             0o644,
	"usr/share/kubectl-fdb/manifests/eviction-webhook/webhook.yaml":       0o644,
	"usr/share/kubectl-fdb/manifests/gitops/flux-kustomization.yaml":      0o644,
	"usr/share/kubectl-fdb/manifests/examples/minimal.yaml":               0o644,
	"usr/share/kubectl-fdb/manifests/k9s/plugins.yaml":                    0o644,
	"usr/share/kubectl-fdb/manifests/helm/kubectl-fdb/files/cronjob.yaml": 0o644,
}

// The directories in which zsh finds completions, by distribution.
const (
	zshOfDebian = "usr/share/zsh/vendor-completions/"
	zshOfRedHat = "usr/share/zsh/site-functions/"
)

// checkPackage compares the files of a package with the archive of its platform. The completion of zsh is in one
// directory only.
func checkPackage(t *testing.T, dist, platform string, files map[string]packed, zsh string) {
	t.Helper()
	for _, dir := range []string{zshOfDebian, zshOfRedHat} {
		if file, has := files[dir+"_kubectl-fdb"]; has != (dir == zsh) || has && file.mode != 0o644 {
			t.Errorf("%s has the completion of zsh: %t, mode %s, want it in %s", dir, has, file.mode, zsh)
		}
	}
	for name, mode := range installed {
		if file, has := files[name]; !has || file.mode != mode {
			t.Errorf("%s: there %t, mode %s, want %s", name, has, file.mode, mode)
		}
	}
	archive := unpack(t, archiveOf(t, dist, platform))
	if files["usr/bin/kubectl-fdb"].sum != archive["kubectl-fdb"].sum {
		t.Errorf("the program has %s, that of the archive %s", files["usr/bin/kubectl-fdb"].sum, archive["kubectl-fdb"].sum)
	}
	for in, at := range map[string]string{"manifests": "usr/share/kubectl-fdb/manifests", "man": "usr/share/man/man1"} {
		want, got := below(archive, in), below(files, at)
		if !slices.Equal(names(got), names(want)) {
			t.Errorf("%s has %v, %s of the archive %v", at, names(got), in, names(want))
		}
		for name, file := range want {
			if got[name].sum != file.sum {
				t.Errorf("%s/%s differs from the archive", at, name)
			}
		}
	}
}

// The package manager of Debian unpacks a package, and what it unpacks runs.
func TestDebianPackagesInstallToStandardPaths(t *testing.T) {
	dist := snapshot(t)
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			file := fileOf(t, dist, "linux_"+arch, ".deb")
			content, err := exec.CommandContext(t.Context(), "dpkg-deb", "--fsys-tarfile", file).Output()
			if err != nil {
				t.Fatal(err)
			}
			checkPackage(t, dist, "linux_"+arch, untar(t, bytes.NewReader(content)), zshOfDebian)
			if listed := run(t, ".", nil, "dpkg-deb", "--contents", file); strings.Count(listed, " root/root ") != strings.Count(listed, "\n") {
				t.Errorf("not all files belong to root:\n%s", listed)
			}
			for field, want := range map[string]string{"Package": "kubectl-fdb", "Architecture": arch, "License": ""} {
				if got := strings.TrimSpace(run(t, ".", nil, "dpkg-deb", "--field", file, field)); got != want {
					t.Errorf("its %s is %q, want %q", field, got, want)
				}
			}
			if arch != runtime.GOARCH {
				return
			}
			root := t.TempDir()
			run(t, root, nil, "dpkg-deb", "--extract", file, root)
			bin := filepath.Join(root, "usr", "bin")
			if output := run(t, root, []string{"PATH=" + bin}, filepath.Join(bin, "kubectl-fdb"), "version", "--client-only"); !strings.Contains(output, "Client: ") || strings.Contains(output, "warning") {
				t.Errorf("the program prints %s", output)
			}
			if output := run(t, root, []string{"PATH=" + bin + ":" + os.Getenv("PATH")}, filepath.Join(bin, "kubectl_complete-fdb"), "reconc"); !strings.HasPrefix(output, "reconcile") {
				t.Errorf("the completion prints %s", output)
			}
		})
	}
}

func TestRPMPackagesInstallToStandardPaths(t *testing.T) {
	dist := snapshot(t)
	for arch, want := range map[string]string{"amd64": "x86_64", "arm64": "aarch64"} {
		t.Run(arch, func(t *testing.T) {
			file, err := os.Open(fileOf(t, dist, "linux_"+arch, ".rpm"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			content, err := rpmutils.ReadRpm(file)
			if err != nil {
				t.Fatal(err)
			}
			about, err := content.Header.GetNEVRA()
			if err != nil || about.Name != "kubectl-fdb" || about.Arch != want {
				t.Errorf("it is %+v (%v), want kubectl-fdb for %s", about, err, want)
			}
			checkPackage(t, dist, "linux_"+arch, rpmFiles(t, content), zshOfRedHat)
		})
	}
}

// rpmFiles reads the files of a package for Red Hat. All belong to root.
func rpmFiles(t *testing.T, content *rpmutils.Rpm) map[string]packed {
	t.Helper()
	payload, err := content.PayloadReaderExtended()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]packed{}
	for {
		file, err := payload.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if file.UserName() != "root" || file.GroupName() != "root" {
			t.Errorf("%s belongs to %s:%s", file.Name(), file.UserName(), file.GroupName())
		}
		if mode := fs.FileMode(file.Mode() & 0o777); file.Mode()&0o170000 == 0o100000 {
			found[strings.TrimPrefix(file.Name(), "/")] = pack(t, mode, payload)
		}
	}
}

// bill is what a bill of materials has.
type bill struct {
	Format   string `json:"bomFormat"`
	Metadata struct {
		Properties []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"properties"`
	} `json:"metadata"`
	Components []struct {
		Name string `json:"name"`
	} `json:"components"`
}

// Each archive has a bill of materials, which lists the modules of the program in it, and no other.
func TestBillsOfMaterialsListTheModules(t *testing.T) {
	dist := snapshot(t)
	if bills, err := filepath.Glob(filepath.Join(dist, "*.cdx.json")); err != nil || len(bills) != len(platforms) {
		t.Errorf("bills %v (%v), want one for each of %d archives", bills, err, len(platforms))
	}
	for _, platform := range platforms {
		archive := archiveOf(t, dist, platform)
		var content bill
		if err := json.Unmarshal(read(t, archive+".cdx.json"), &content); err != nil || content.Format != "CycloneDX" {
			t.Fatalf("%s has the format %q: %v", platform, content.Format, err)
		}
		sum := ""
		for _, p := range content.Metadata.Properties {
			if p.Name == "cdx:gomod:binary:hash:SHA-256" {
				sum = p.Value
			}
		}
		if want := unpack(t, archive)[programOf(platform)].sum; sum != want {
			t.Errorf("the bill for %s is that of a program with %q, the archive has %s", platform, sum, want)
		}
		var listed []string
		for _, c := range content.Components {
			listed = append(listed, c.Name)
		}
		if want := modules(t, builtProgram(t, dist, platform)); !slices.Equal(slices.Sorted(slices.Values(listed)), want) {
			t.Errorf("the bill for %s lists %v, the program has %v", platform, listed, want)
		}
	}
}

// modules are those that a program is built of, and the standard library.
func modules(t *testing.T, program string) []string {
	t.Helper()
	about, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	found := []string{"std"}
	for _, m := range about.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		found = append(found, m.Path)
	}
	slices.Sort(found)
	if !slices.Contains(found, "k8s.io/client-go") {
		t.Fatalf("%s is built of %v", program, found)
	}
	return found
}

// releaseImage reads the image of a build: all of its layout, and the list of the images by platform in it.
func releaseImage(t *testing.T, dist string) (top, list v1.ImageIndex) {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, nil, "tar", "-xf", filepath.Join(dist, "image.tar"))
	top, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	content, err := top.IndexManifest()
	if err != nil || len(content.Manifests) != 1 {
		t.Fatalf("%+v: %v", content, err)
	}
	if list, err = top.ImageIndex(content.Manifests[0].Digest); err != nil {
		t.Fatal(err)
	}
	return top, list
}

// The image is what registries accept, for both platforms.
func TestTheReleaseImageIsValidForBothPlatforms(t *testing.T) {
	top, list := releaseImage(t, snapshot(t))
	if err := validate.Index(top); err != nil {
		t.Error(err)
	}
	images, err := list.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, image := range images.Manifests {
		found = append(found, image.Platform.String())
	}
	if !slices.Equal(found, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("platforms %v", found)
	}
}

// The commands of the page about releases push the image to a registry, here on loopback.
func TestTheReleaseImageIsPushedByTheCommandsOfThePage(t *testing.T) {
	dist, dir := snapshot(t), t.TempDir()
	run(t, ".", []string{"CGO_ENABLED=0"}, "go", "build", "-o", filepath.Join(dir, "crane"), "github.com/google/go-containerregistry/cmd/crane")
	if err := os.Mkdir(filepath.Join(dir, "dist"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dist", "image.tar"), read(t, filepath.Join(dist, "image.tar")), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	to := strings.TrimPrefix(server.URL, "http://")
	script := strings.NewReplacer("REGISTRY", to, "vVERSION", tag).Replace(strings.Join(fence(t, "releases.md", "image"), "\n"))
	run(t, dir, []string{"PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH")}, "bash", "-euc", script)
	at, err := name.ParseReference(to + "/kubectl-fdb:" + tag)
	if err != nil {
		t.Fatal(err)
	}
	pushed, err := remote.Index(at)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(pushed); err != nil {
		t.Error(err)
	}
	images, err := pushed.IndexManifest()
	if err != nil || len(images.Manifests) != 2 {
		t.Errorf("images %+v (%v), want one for each platform", images, err)
	}
}

// The program of the image is all that it needs: it runs with the image's files as its root, as the image's user, in the
// way that the manifests start it.
func TestTheProgramOfTheReleaseImageRuns(t *testing.T) {
	dist, files := snapshot(t), t.TempDir()
	_, list := releaseImage(t, dist)
	images, err := partial.FindImages(list, match.Platforms(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}))
	if err != nil || len(images) != 1 {
		t.Fatalf("%d images for %s: %v", len(images), runtime.GOARCH, err)
	}
	layers := mutate.Extract(images[0])
	defer func() { _ = layers.Close() }()
	unpack := exec.CommandContext(t.Context(), "tar", "-x", "-C", files)
	unpack.Stdin = layers
	if output, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if err := os.Chmod(files, 0o755); err != nil { //nolint:gosec // the user of the image reads it
		t.Fatal(err)
	}
	config, err := images[0].ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	var user syscall.Credential
	if _, err := fmt.Sscanf(config.Config.User, "%d:%d", &user.Uid, &user.Gid); err != nil || user.Uid == 0 {
		t.Fatalf("the user %q: %v", config.Config.User, err)
	}
	start := append(slices.Clone(config.Config.Entrypoint), "version", "--client-only", "-o", "json")
	program := exec.CommandContext(t.Context(), start[0], start[1:]...)
	program.Dir, program.Env = "/", []string{}
	user.NoSetGroups = true
	program.SysProcAttr = &syscall.SysProcAttr{
		Chroot: files, Credential: &user,
		// In a namespace of its own any user may change the root directory and be the image's user.
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: int(user.Uid), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: int(user.Gid), HostID: os.Getgid(), Size: 1}},
	}
	output, err := program.Output()
	if err != nil || !strings.Contains(string(output), tagOf(t, dist)) {
		t.Errorf("%v prints %s: %v", start, output, err)
	}
}

// tagOf is the tag that a build is of, as GoReleaser writes it beside its files.
func tagOf(t *testing.T, dist string) string {
	t.Helper()
	var about struct {
		Tag string `json:"tag"`
	}
	if err := json.Unmarshal(read(t, filepath.Join(dist, "metadata.json")), &about); err != nil || about.Tag == "" {
		t.Fatalf("the tag %q: %v", about.Tag, err)
	}
	return about.Tag
}

// The manifests of a release start its image. In the repository the image is a placeholder.
func TestTheManifestsOfAReleaseHaveItsImage(t *testing.T) {
	dist := snapshot(t)
	files, version := unpack(t, archiveOf(t, dist, "linux_amd64")), tagOf(t, dist)
	changed := map[string]bool{}
	for name, file := range below(files, "manifests") {
		before := string(read(t, filepath.Join(root, "manifests", name)))
		want := before
		if !strings.HasPrefix(name, "helm/") {
			want = strings.NewReplacer(
				"registry.example.com/kubectl-fdb:placeholder", "ghcr.io/kubectl-fdb/kubectl-fdb:"+version,
				"registry.example.com/kubectl-fdb", "ghcr.io/kubectl-fdb/kubectl-fdb",
				"newTag: placeholder", "newTag: "+version,
			).Replace(before)
		}
		if file.sum != pack(t, 0, strings.NewReader(want)).sum {
			t.Errorf("%s is not that of the repository with the image of the release", name)
		}
		changed[name] = want != before
	}
	for _, name := range []string{"in-cluster/deployment.yaml", "in-cluster/cronjob.yaml", "overlays/watch/Kustomization", "overlays/scheduled/Kustomization", "observe/exporter.yaml", "eviction-webhook/webhook.yaml"} {
		if !changed[name] {
			t.Errorf("%s has no image", name)
		}
	}
}

// checksums returns what checksums.txt has: the SHA-256 of each file.
func checksums(t *testing.T, content []byte) map[string]string {
	t.Helper()
	found := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		if len(sum) != sha256.Size*2 || name == "" || found[name] != "" {
			t.Errorf("checksums.txt has the line %q", lines.Text())
		}
		found[name] = sum
	}
	return found
}

// files are what users download of a build: the archives, their bills of materials and the packages.
func files(t *testing.T, dist string) []string {
	t.Helper()
	var found []string
	for _, platform := range platforms {
		archive := filepath.Base(archiveOf(t, dist, platform))
		found = append(found, archive, archive+".cdx.json")
		if strings.HasPrefix(platform, "linux") {
			found = append(found, filepath.Base(fileOf(t, dist, platform, ".deb")), filepath.Base(fileOf(t, dist, platform, ".rpm")))
		}
	}
	return slices.Sorted(slices.Values(found))
}

func TestChecksumsListEveryFile(t *testing.T) {
	dist := snapshot(t)
	got := checksums(t, read(t, filepath.Join(dist, "checksums.txt")))
	if want := files(t, dist); !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
		t.Errorf("checksums.txt lists %v, want %v", slices.Sorted(maps.Keys(got)), want)
	}
	for name, sum := range got {
		if is := pack(t, 0, bytes.NewReader(read(t, filepath.Join(dist, name)))).sum; is != sum {
			t.Errorf("%s has %s, checksums.txt %s", name, is, sum)
		}
	}
}

// krewManifest is what Krew reads of a plugin.
type krewManifest struct {
	Spec struct {
		Version   string `json:"version"`
		Caveats   string `json:"caveats"`
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

func readKrew(t *testing.T, content []byte) krewManifest {
	t.Helper()
	var plugin krewManifest
	if err := yaml.Unmarshal(content, &plugin); err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	return plugin
}

// The manifest has the archive of each platform, its checksum, and the program in it.
func TestTheKrewManifestMatchesTheArchives(t *testing.T) {
	dist := snapshot(t)
	sums := checksums(t, read(t, filepath.Join(dist, "checksums.txt")))
	spec := readKrew(t, read(t, filepath.Join(dist, "krew", "fdb.yaml"))).Spec
	for _, command := range []string{"kubectl fdb install crds", "kubectl fdb completion install"} {
		if !strings.Contains(spec.Caveats, command) {
			t.Errorf("the caveats %q do not name %s", spec.Caveats, command)
		}
	}
	var found []string
	for _, p := range spec.Platforms {
		platform := p.Selector.MatchLabels["os"] + "_" + p.Selector.MatchLabels["arch"]
		found = append(found, platform)
		archive := archiveOf(t, dist, platform)
		if path.Base(p.URI) != filepath.Base(archive) || p.SHA256 != sums[filepath.Base(archive)] {
			t.Errorf("%s: %s with %s, want %s with %s", platform, p.URI, p.SHA256, filepath.Base(archive), sums[filepath.Base(archive)])
		}
		if _, has := unpack(t, archive)[p.Bin]; !has || p.Bin != programOf(platform) {
			t.Errorf("%s: the program is %q, which is in the archive: %t", platform, p.Bin, has)
		}
	}
	if slices.Sort(found); !slices.Equal(found, platforms) {
		t.Errorf("platforms %v, want %v", found, platforms)
	}
}

// Krew installs the plugin from a local archive and runs it by kubectl's name.
func TestKrewInstallsThePlugin(t *testing.T) {
	dist, home := snapshot(t), t.TempDir()
	environment := []string{"KREW_ROOT=" + home, "KREW_NO_UPGRADE_CHECK=1", "PATH=" + filepath.Join(home, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH")}
	run(t, ".", environment, "go", "tool", "-modfile="+krewModule, "krew", "install",
		"--manifest="+filepath.Join(dist, "krew", "fdb.yaml"), "--archive="+archiveOf(t, dist, "linux_"+runtime.GOARCH))
	output := run(t, home, append(environment, "PATH="+filepath.Join(home, "bin")), filepath.Join(home, "bin", "kubectl-fdb"), "version", "--client-only")
	if !strings.Contains(output, "Client: ") || strings.Contains(output, "warning") {
		t.Errorf("version prints %s", output)
	}
	if _, err := os.Stat(filepath.Join(home, "receipts", "fdb.yaml")); err != nil {
		t.Errorf("krew has no receipt: %v", err)
	}
}

// cask is what Homebrew reads of a cask.
type cask struct {
	version   string
	archives  map[string]download // by platform
	artifacts map[string][]string // files of the archive, by what Homebrew does with them
	text      string
}

// download is an archive of a cask.
type download struct{ url, sum string }

var caskLine = regexp.MustCompile(`^\s*(version|sha256|url|binary|manpage|bash_completion|zsh_completion|fish_completion) "([^"]+)"$`)

// caskBlocks are the blocks of a cask that select a platform.
var caskBlocks = map[string]string{"on_macos do": "darwin", "on_linux do": "linux", "on_intel do": "amd64", "on_arm do": "arm64"}

// readCask reads the lines of a cask as GoReleaser writes them.
func readCask(t *testing.T, content []byte) cask {
	t.Helper()
	c := cask{archives: map[string]download{}, artifacts: map[string][]string{}, text: string(content)}
	system, platform, sum := "", "", ""
	for line := range strings.Lines(c.text) {
		switch block := caskBlocks[strings.TrimSpace(line)]; block {
		case "darwin", "linux":
			system = block
		case "amd64", "arm64":
			platform = system + "_" + block
		}
		m := caskLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		switch m[1] {
		case "version":
			c.version = m[2]
		case "sha256":
			sum = m[2]
		case "url":
			c.archives[platform] = download{url: strings.ReplaceAll(m[2], "#{version}", c.version), sum: sum}
		default:
			c.artifacts[m[1]] = append(c.artifacts[m[1]], m[2])
		}
	}
	return c
}

// quarantine is what macOS requires of a program without a signature of Apple.
var quarantine = regexp.MustCompile(`postflight do\s+if OS\.mac\?\s+system_command "/usr/bin/xattr", args: \["-dr", "com\.apple\.quarantine", "#\{staged_path\}/kubectl-fdb", "#\{staged_path\}/completions/kubectl_complete-fdb"\]\s+end\s+end`)

// No Homebrew runs here: the test reads the archives, checksums and files that the cask names.
func TestTheHomebrewCaskMatchesTheArchives(t *testing.T) {
	dist := snapshot(t)
	sums, c := checksums(t, read(t, filepath.Join(dist, "checksums.txt"))), readCask(t, read(t, filepath.Join(dist, "homebrew", "Casks", "kubectl-fdb.rb")))
	urls := map[string]string{}
	for _, p := range readKrew(t, read(t, filepath.Join(dist, "krew", "fdb.yaml"))).Spec.Platforms {
		urls[p.Selector.MatchLabels["os"]+"_"+p.Selector.MatchLabels["arch"]] = p.URI
	}
	want := []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64"}
	if got := slices.Sorted(maps.Keys(c.archives)); !slices.Equal(got, want) {
		t.Fatalf("the cask has %v, want %v\n%s", got, want, c.text)
	}
	for platform, d := range c.archives {
		archive := archiveOf(t, dist, platform)
		if d.url != urls[platform] || path.Base(d.url) != filepath.Base(archive) || d.sum != sums[filepath.Base(archive)] {
			t.Errorf("%s: %+v, want %s with %s", platform, d, urls[platform], sums[filepath.Base(archive)])
		}
		checkCask(t, c, unpack(t, archive))
	}
	if !quarantine.MatchString(c.text) {
		t.Errorf("macOS refuses to run a program without a signature that it downloaded:\n%s", c.text)
	}
}

// checkCask compares what a cask links with an archive.
func checkCask(t *testing.T, c cask, archive map[string]packed) {
	t.Helper()
	var pages []string
	for name := range below(archive, "man") {
		pages = append(pages, "man/"+name)
	}
	slices.Sort(pages)
	want := map[string][]string{
		"binary": {"kubectl-fdb", "completions/kubectl_complete-fdb"}, "manpage": pages,
		"bash_completion": {"completions/kubectl-fdb.bash"}, "zsh_completion": {"completions/kubectl-fdb.zsh"}, "fish_completion": {"completions/kubectl-fdb.fish"},
	}
	for kind, files := range want {
		if !slices.Equal(c.artifacts[kind], files) {
			t.Errorf("the cask has the %s %v, want %v", kind, c.artifacts[kind], files)
		}
		for _, file := range files {
			if packed, has := archive[file]; !has || kind == "binary" && packed.mode != 0o755 {
				t.Errorf("%s is in the archive: %t, with the mode %s", file, has, packed.mode)
			}
		}
	}
}
