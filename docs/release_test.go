package docs

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// release is what a release contains, of .goreleaser.yaml.
type release struct {
	Version int `json:"version"`
	Builds  []struct {
		ID   string   `json:"id"`
		Main string   `json:"main"`
		Env  []string `json:"env"`
	} `json:"builds"`
	Archives []struct {
		IDs   []string       `json:"ids"`
		Files []archivedFile `json:"files"`
	} `json:"archives"`
	Release struct {
		Draft   bool `json:"draft"`
		Replace bool `json:"replace_existing_draft"`
	} `json:"release"`
	Casks    []announcement `json:"homebrew_casks"`
	Krews    []announcement `json:"krews"`
	Packages []struct {
		Contents []packagedFile `json:"contents"`
	} `json:"nfpms"`
}

// announcement is what a release is announced with in another repository.
type announcement struct {
	Skip bool `json:"skip_upload"`
}

// archivedFile are files of an archive.
type archivedFile struct {
	Source      string `json:"src"`
	Destination string `json:"dst"`
	StripParent bool   `json:"strip_parent"`
	Info        struct {
		Time string `json:"mtime"`
	} `json:"info"`
}

// packagedFile is a file or a directory of a package.
type packagedFile struct {
	Source      string `json:"src"`
	Destination string `json:"dst"`
	Format      string `json:"packager"`
}

func readRelease(t *testing.T) release {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var r release
	if err := yaml.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

var manifestPath = regexp.MustCompile(`manifests/[a-z][\w./-]*\w`)

// What a page installs from is in the archive that the page comes with or leads to.
func TestReleaseArchivesContainTheManifestsNamedInDocs(t *testing.T) {
	r := readRelease(t)
	named := map[string]string{}
	for file, text := range pages(t) {
		for _, name := range manifestPath.FindAllString(text, -1) {
			named[strings.TrimSuffix(name, "/")] = file
		}
	}
	for _, want := range []string{"manifests/crd", "manifests/rbac/reconcile.yaml", "manifests/in-cluster/cronjob.yaml"} {
		if named[want] == "" {
			t.Errorf("no page installs from %s any more", want)
		}
	}
	for _, archive := range r.Archives {
		var files []string
		for _, f := range archive.Files {
			from := copied(f.Source)
			found, err := filepath.Glob(filepath.Join(root, from))
			if generated := strings.HasPrefix(from, ".release/"); err != nil || len(found) == 0 && !generated {
				t.Errorf("no file is called %s (%v)", f.Source, err)
			}
			files = append(files, found...)
			if from != f.Source && (!f.StripParent || f.Destination != filepath.Dir(from)) {
				t.Errorf("%s becomes %s, not a file of %s", f.Source, f.Destination, filepath.Dir(from))
			}
			if f.Info.Time != "{{ .CommitDate }}" {
				t.Errorf("%s has the time of the build, so that no archive is built twice with the same bytes", f.Source)
			}
		}
		for name, page := range named {
			for _, file := range filesOf(t, filepath.Join(root, name)) {
				if !slices.Contains(files, file) {
					t.Errorf("%s installs from %s, and the archive has no %s", page, name, file)
				}
			}
		}
	}
}

// A build publishes nothing: the workflow does once the image and the provenance exist.
func TestABuildOfAReleasePublishesNothing(t *testing.T) {
	r := readRelease(t)
	if !r.Release.Draft || !r.Release.Replace {
		t.Errorf("a build creates a draft: %t, and replaces the one of a run that failed: %t", r.Release.Draft, r.Release.Replace)
	}
	if len(r.Casks) != 1 || len(r.Krews) != 1 || !r.Casks[0].Skip || !r.Krews[0].Skip {
		t.Errorf("a build announces the release: casks %v, manifests for Krew %v", r.Casks, r.Krews)
	}
}

// copied is where hack/release-files.sh copies the manifests of a pattern from; other patterns are returned as they are.
func copied(pattern string) string {
	if rest, has := strings.CutPrefix(pattern, ".release/manifests/"); has {
		return "manifests/" + rest
	}
	return pattern
}

// A manifest that a build leaves out is found only by users who look for it.
func TestReleasesContainAllManifests(t *testing.T) {
	r := readRelease(t)
	for _, file := range filesOf(t, filepath.Join(root, "manifests")) {
		if filepath.Ext(file) == ".go" {
			continue
		}
		for i, archive := range r.Archives {
			matches := func(pattern string) bool {
				is, err := filepath.Match(filepath.Join(root, copied(pattern)), file)
				return is && err == nil
			}
			if !slices.ContainsFunc(archive.Files, func(f archivedFile) bool { return matches(f.Source) }) {
				t.Errorf("archive %d does not contain %s", i, file)
			}
		}
		for i, p := range r.Packages {
			if !slices.ContainsFunc(p.Contents, func(c packagedFile) bool {
				source := filepath.Join(root, copied(c.Source))
				return file == source || strings.HasPrefix(file, source+string(filepath.Separator))
			}) {
				t.Errorf("package %d does not contain %s", i, file)
			}
		}
	}
}

// Zsh has one directory for completions of packages on Debian, and another one on Red Hat.
func TestPackagesInstallZshCompletionWhereTheDistributionReadsIt(t *testing.T) {
	for _, p := range readRelease(t).Packages {
		found := map[string]string{}
		for _, c := range p.Contents {
			if strings.HasPrefix(c.Destination, "/usr/share/zsh/") {
				found[c.Format] = c.Destination
			}
		}
		want := map[string]string{"deb": "/usr/share/zsh/vendor-completions/_kubectl-fdb", "rpm": "/usr/share/zsh/site-functions/_kubectl-fdb"}
		if !maps.Equal(found, want) {
			t.Errorf("by format, the completion is installed as %v, want %v", found, want)
		}
	}
}

// filesOf is a file, or the files of a directory and those below.
func filesOf(t *testing.T, name string) []string {
	t.Helper()
	var files []string
	err := filepath.Walk(name, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A build without a static binary, or an archive of a build that there is not, is noticed
// only when a release is made.
func TestReleasesAreStaticBuildsInArchives(t *testing.T) {
	r := readRelease(t)
	if r.Version != 2 || len(r.Builds) == 0 || len(r.Archives) == 0 {
		t.Fatalf("version %d, %d builds, %d archives", r.Version, len(r.Builds), len(r.Archives))
	}
	var builds []string
	for _, b := range r.Builds {
		builds = append(builds, b.ID)
		if !slices.Contains(b.Env, "CGO_ENABLED=0") {
			t.Errorf("%s is not static", b.ID)
		}
		if _, err := os.Stat(filepath.Join(root, b.Main, "main.go")); err != nil {
			t.Errorf("%s: %v", b.ID, err)
		}
	}
	for _, a := range r.Archives {
		for _, id := range a.IDs {
			if !slices.Contains(builds, id) {
				t.Errorf("no build is called %s", id)
			}
		}
	}
}
