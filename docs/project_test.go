package docs

import (
	"os"
	"path/filepath"
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
		RunsOn         string `json:"runs-on"`
		TimeoutMinutes int    `json:"timeout-minutes"`
		Steps          []struct {
			ID   string            `json:"id"`
			Uses string            `json:"uses"`
			With map[string]any    `json:"with"`
			Run  string            `json:"run"`
			Env  map[string]string `json:"env"`
		} `json:"steps"`
	} `json:"jobs"`
}

// What a contributor runs is what runs for a pull request: one script, with read permissions only.
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
	var runs []string
	for name, job := range w.Jobs {
		if job.TimeoutMinutes == 0 || job.RunsOn == "" {
			t.Errorf("job %s has no limit or no machine", name)
		}
		for _, step := range job.Steps {
			if step.Uses != "" && !strings.HasPrefix(step.Uses, "actions/") {
				t.Errorf("job %s uses %s", name, step.Uses)
			}
			if strings.HasPrefix(step.Run, ".") {
				runs = append(runs, step.Run)
			}
		}
	}
	if !slices.Equal(runs, []string{".ci/run"}) {
		t.Errorf("it runs %v, want .ci/run", runs)
	}
	if info, err := os.Stat(filepath.Join(root, ".ci/run")); err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf(".ci/run cannot be run (%v)", err)
	}
}

// A release is built by what contributors can run, signed, and has a provenance of every file.
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
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			runs = append(runs, step.Run)
			if strings.HasPrefix(step.Uses, "actions/attest-build-provenance@") {
				for _, key := range []string{"subject-checksums", "subject-name"} {
					if subject, is := step.With[key].(string); is {
						proven = append(proven, subject)
					}
				}
			}
		}
	}
	for _, want := range []string{"make release-tools", "goreleaser release --clean", "make release-image", "cosign@v"} {
		if !strings.Contains(strings.Join(runs, "\n"), want) {
			t.Errorf("it does not run %s", want)
		}
	}
	if want := []string{"dist/checksums.txt", "ghcr.io/kubectl-fdb/kubectl-fdb"}; !slices.Equal(proven, want) {
		t.Errorf("provenance of %v, want %v", proven, want)
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
