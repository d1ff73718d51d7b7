package docs

import (
	"go/version"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// workflow is what the project uses of a workflow file.
type workflow struct {
	Name string `json:"name"`
	On   struct {
		Push        *struct{ Branches, Tags []string } `json:"push"`
		PullRequest *struct{}                          `json:"pull_request"`
	} `json:"on"`
	Permissions map[string]string `json:"permissions"`
	Concurrency map[string]any    `json:"concurrency"`
	Jobs        map[string]struct {
		Needs          string            `json:"needs"`
		Permissions    map[string]string `json:"permissions"`
		RunsOn         string            `json:"runs-on"`
		TimeoutMinutes int               `json:"timeout-minutes"`
		Steps          []struct {
			ID   string            `json:"id"`
			Uses string            `json:"uses"`
			With map[string]any    `json:"with"`
			Run  string            `json:"run"`
			Env  map[string]string `json:"env"`
		} `json:"steps"`
	} `json:"jobs"`
}

// What a contributor runs is what runs for a pull request, with read permissions only: one script, the
// tests of releases, and the build of the site with a pinned program.
func TestTheCIWorkflowRunsTheContributorScript(t *testing.T) {
	var w workflow
	readYAML(t, ".github/workflows/ci.yaml", &w)
	if w.On.Push == nil || !slices.Equal(w.On.Push.Branches, []string{"main"}) {
		t.Errorf("it runs on pushes to %+v, want main", w.On.Push)
	}
	if w.On.PullRequest == nil {
		t.Error("it does not run for pull requests")
	}
	if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
		t.Errorf("its permissions are %v, want to read contents", w.Permissions)
	}
	runs := map[string]int{}
	for name, job := range w.Jobs {
		if job.TimeoutMinutes == 0 || job.RunsOn == "" {
			t.Errorf("job %s has no limit or no machine", name)
		}
		for _, step := range job.Steps {
			if step.Uses != "" && !strings.HasPrefix(step.Uses, "actions/") {
				t.Errorf("job %s uses %s", name, step.Uses)
			}
			runs[pinned.ReplaceAllString(step.Run, "==PINNED")]++
		}
	}
	for _, want := range []string{".ci/run", "make test-release", "pipx install mkdocs==PINNED", "make docs-site"} {
		if runs[want] != 1 {
			t.Errorf("it runs %s %d times, want once: %v", want, runs[want], runs)
		}
	}
	if info, err := os.Stat(filepath.Join(root, ".ci/run")); err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf(".ci/run cannot be run (%v)", err)
	}
}

// pinned is the version of a package of Python.
var pinned = regexp.MustCompile(`==\d+\.\d+\.\d+$`)

// goVersions are those that a go.mod names: the oldest one that can build the module, and the one that
// builds it where an older one is installed.
func goVersions(t *testing.T, file string) (oldest, toolchain string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		switch fields := strings.Fields(line); {
		case len(fields) == 2 && fields[0] == "go":
			oldest = "go" + fields[1]
		case len(fields) == 2 && fields[0] == "toolchain":
			toolchain = fields[1]
		}
	}
	return oldest, toolchain
}

// The Go of a release is the toolchain of go.mod: the workflows install it, it builds every module, the
// README names it, and the pages show its output.
func TestWorkflowsBuildWithThePinnedGo(t *testing.T) {
	_, toolchain := goVersions(t, "go.mod")
	if !regexp.MustCompile(`^go1\.\d+\.[1-9]\d*$`).MatchString(toolchain) {
		t.Fatalf("the toolchain is %q, want a patch release", toolchain)
	}
	modules, err := filepath.Glob(filepath.Join(root, "*", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob(filepath.Join(root, "*", "*", "go.mod"))
	if err != nil || len(modules) < 2 || len(below) < 5 {
		t.Fatalf("modules %v and %v: %v", modules, below, err)
	}
	for _, file := range append(modules, below...) {
		name, want := strings.TrimPrefix(file, root+"/"), ""
		if name == "sandbox/go.mod" { // make demo builds it with the plugin, and shares packages with it
			want = toolchain
		}
		if oldest, other := goVersions(t, name); version.Compare(oldest, toolchain) > 0 || other != want {
			t.Errorf("%s requires %s and the toolchain %q, want %q; %s of go.mod builds it", file, oldest, other, want, toolchain)
		}
	}
	for name, text := range map[string]string{"README.md": "Go " + strings.TrimPrefix(toolchain, "go") + " or newer", "docs/support.md": "(" + toolchain + ", "} {
		if content, err := os.ReadFile(filepath.Join(root, name)); err != nil || !strings.Contains(string(content), text) {
			t.Errorf("%s does not have %q (%v)", name, text, err)
		}
	}
	for _, name := range []string{"ci.yaml", "release.yaml"} {
		var w workflow
		readYAML(t, ".github/workflows/"+name, &w)
		installs := 0
		for _, job := range w.Jobs {
			for _, step := range job.Steps {
				if !strings.HasPrefix(step.Uses, "actions/setup-go@") {
					continue
				}
				installs++
				// Version 5 installs the oldest Go that go.mod permits.
				if step.With["go-version-file"] != "go.mod" || len(step.With) != 1 {
					t.Errorf("%s installs Go by %s with %v", name, step.Uses, step.With)
				}
			}
		}
		if installs == 0 {
			t.Errorf("%s does not install Go", name)
		}
	}
}

// A release is built by what contributors can run and signed, and has a provenance of what the
// checksums list and of the image.
func TestTheReleaseWorkflowBuildsSignsAndAttestsReleases(t *testing.T) {
	var w workflow
	readYAML(t, ".github/workflows/release.yaml", &w)
	if w.On.Push == nil || w.On.PullRequest != nil || !slices.Equal(w.On.Push.Tags, []string{"v*"}) || len(w.On.Push.Branches) > 0 {
		t.Errorf("it runs on %+v, want tags of versions only", w.On)
	}
	if w.Permissions["id-token"] != "write" || w.Permissions["attestations"] != "write" {
		t.Errorf("it cannot sign with the permissions %v", w.Permissions)
	}
	var runs, proven []string
	for _, name := range []string{"release", "announce"} {
		for _, step := range w.Jobs[name].Steps {
			runs = append(runs, step.Run+step.Uses)
			if secret := "${{ secrets.TAP_TOKEN }}"; strings.Contains(step.Run, "hack/announce.sh") != (step.Env["TAP_TOKEN"] == secret) {
				t.Errorf("%q has the variables %v, want %s only for the announcement", step.Run, step.Env, secret)
			}
			if strings.Contains(step.Run, "goreleaser release") && step.Env["GITHUB_TOKEN"] == "" || strings.Contains(step.Run, "gh release") && step.Env["GH_TOKEN"] == "" {
				t.Errorf("%q has the variables %v", step.Run, step.Env)
			}
			if strings.HasPrefix(step.Uses, "actions/attest-build-provenance@") {
				for _, key := range []string{"subject-checksums", "subject-name"} {
					if subject, is := step.With[key].(string); is {
						proven = append(proven, subject)
					}
				}
			}
		}
	}
	if got := w.Jobs["announce"].Needs; got != "release" || len(w.Jobs) != 2 {
		t.Errorf("the announcement of %d jobs needs %q", len(w.Jobs), got)
	}
	checkOrder(t, runs)
	if want := []string{"dist/checksums.txt", "ghcr.io/kubectl-fdb/kubectl-fdb"}; !slices.Equal(proven, want) {
		t.Errorf("provenance of %v, want %v", proven, want)
	}
}

// checkOrder requires the steps of a release in the order in which nothing is public before all of it exists.
func checkOrder(t *testing.T, runs []string) {
	t.Helper()
	at := 0
	for _, want := range []string{
		"actions/checkout@",
		"git merge-base --is-ancestor HEAD FETCH_HEAD",
		`gh run watch "$id" --exit-status`,
		`hack/release-notes.sh "$GITHUB_REF_NAME" >"$RUNNER_TEMP/release-notes.md"`,
		"make release-tools",
		"cosign@v",
		`goreleaser release --clean --release-notes="$RUNNER_TEMP/release-notes.md"`,
		"actions/attest-build-provenance@", // of the files
		"make release-image",
		"crane push",
		"actions/attest-build-provenance@", // of the image
		"actions/upload-artifact@",
		`gh release edit "$GITHUB_REF_NAME" --draft=false`,
		"actions/download-artifact@", // in a job that can run again
		`hack/announce.sh "$GITHUB_REF_NAME"`,
	} {
		next := slices.IndexFunc(runs[at:], func(run string) bool { return strings.Contains(run, want) })
		if next < 0 {
			t.Fatalf("no step runs %s after step %d: %q", want, at, runs)
		}
		at += next + 1
	}
	if at != len(runs) {
		t.Errorf("the steps %q follow the announcement", runs[at:])
	}
}

// identity is the one that the page about releases verifies signatures with.
var identity = regexp.MustCompile(`--certificate-identity-regexp '([^']+)'`)

func TestSignaturesAreVerifiedWithTheIdentityOfTheWorkflow(t *testing.T) {
	page, err := os.ReadFile("releases.md")
	if err != nil {
		t.Fatal(err)
	}
	m := identity.FindSubmatch(page)
	if m == nil {
		t.Fatal("the page verifies no identity")
	}
	const workflows = "https://github.com/kubectl-fdb/kubectl-fdb/.github/workflows/"
	for subject, want := range map[string]bool{
		workflows + "release.yaml@refs/tags/v1.2.3":                                              true,
		workflows + "release.yaml@refs/heads/main":                                               false,
		workflows + "ci.yaml@refs/tags/v1.2.3":                                                   false,
		"https://github.com/kubectl-fdb/another/.github/workflows/release.yaml@refs/tags/v1.2.3": false,
	} {
		if got, err := regexp.MatchString(string(m[1]), subject); err != nil || got != want {
			t.Errorf("%s: accepted %t (%v), want %t", subject, got, err, want)
		}
	}
}

// GitHub ignores an issue form with an unknown field, or with two fields of one ID.
func TestIssueFormsAreValid(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github/ISSUE_TEMPLATE/*.yaml"))
	if err != nil || len(files) < 2 {
		t.Fatalf("found %d forms: %v", len(files), err)
	}
	for _, file := range files {
		var form struct {
			Name        string   `json:"name"`
			Description string   `json:"description"`
			Labels      []string `json:"labels"`
			Body        []struct {
				Type       string `json:"type"`
				ID         string `json:"id"`
				Attributes struct {
					Value       string `json:"value"`
					Label       string `json:"label"`
					Description string `json:"description"`
					Render      string `json:"render"`
				} `json:"attributes"`
				Validations struct {
					Required bool `json:"required"`
				} `json:"validations"`
			} `json:"body"`
		}
		readYAML(t, strings.TrimPrefix(file, root+string(filepath.Separator)), &form)
		if form.Name == "" || form.Description == "" {
			t.Errorf("%s has no name or no description", file)
		}
		var ids []string
		for _, field := range form.Body {
			complete := field.ID != "" && field.Attributes.Label != ""
			if field.Type == "markdown" {
				complete = field.Attributes.Value != ""
			}
			if !complete || slices.Contains(ids, field.ID) {
				t.Errorf("%s: field %q is incomplete, or there twice", file, field.ID)
			}
			ids = append(ids, field.ID)
		}
	}
}

// Users read in the changelog what a release changes.
func TestTheChangelogHasAnUnreleasedEntry(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## Unreleased\n")
	entry, _, _ := strings.Cut(rest, "\n## ")
	if !found || !strings.Contains(entry, "\n- ") {
		t.Error("the changelog has no entry for the next release")
	}
}
