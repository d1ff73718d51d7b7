package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A module that is not listed is never updated.
func TestUpdatesAreProposedForEveryModuleAndTheActions(t *testing.T) {
	var config struct {
		Version int `json:"version"`
		Updates []struct {
			Ecosystem   string         `json:"package-ecosystem"`
			Directory   string         `json:"directory"`
			Directories []string       `json:"directories"`
			Schedule    map[string]any `json:"schedule"`
			Groups      map[string]any `json:"groups"`
		} `json:"updates"`
	}
	readYAML(t, ".github/dependabot.yml", &config)
	proposed := map[string][]string{}
	for _, u := range config.Updates {
		proposed[u.Ecosystem] = append(u.Directories, u.Directory)
	}
	var modules []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if err == nil && d.Name() == "go.mod" {
			dir, failed := filepath.Rel(root, filepath.Dir(path))
			modules = append(modules, filepath.ToSlash(filepath.Join("/", dir)))
			return failed
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	listed := slices.DeleteFunc(proposed["gomod"], func(dir string) bool { return dir == "" })
	slices.Sort(listed)
	slices.Sort(modules)
	if diff := cmp.Diff(modules, listed); diff != "" {
		t.Errorf("modules (-exist +listed):\n%s", diff)
	}
	if !slices.Contains(proposed["github-actions"], "/") {
		t.Error("no updates of the actions are proposed")
	}
}

var (
	usedAction = regexp.MustCompile(`uses: ["']?([\w.-]+/[^\s@"']+@[^\s"']+)["']?(.*)`)
	byCommit   = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`)
)

// ownAction is ours: pages name a release of it, and its commit is unknown before.
const ownAction = "kubectl-fdb/kubectl-fdb/"

// usesIn returns how many actions a text uses, and those that no commit names.
func usesIn(text string) (uses int, unnamed []string) {
	for _, match := range usedAction.FindAllStringSubmatch(text, -1) {
		uses++
		if !byCommit.MatchString(match[1] + match[2]) {
			unnamed = append(unnamed, match[1])
		}
	}
	return uses, unnamed
}

// A tag can be moved to other code, which then runs with the rights of a release; a commit cannot. The
// comment names its release to readers, and to what proposes updates.
func TestActionsAreNamedByCommit(t *testing.T) {
	uses := 0
	for _, pattern := range []string{".github/workflows/*.yaml", "docs/ci/*.yaml", "docs/*.md", "manifests/pipelines/*/action.yml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n, unnamed := usesIn(string(content))
			uses += n
			for _, action := range unnamed {
				if filepath.Ext(file) != ".md" || !strings.HasPrefix(action, ownAction) {
					t.Errorf("%s uses %s", file, action)
				}
			}
		}
	}
	if uses < 10 {
		t.Errorf("%d uses of actions were found", uses)
	}
}

func TestActionsOfEveryOwnerAreNamedByCommit(t *testing.T) {
	commit := strings.Repeat("a1", 20)
	for text, want := range map[string][]string{
		"- uses: actions/checkout@" + commit + " # v4.2.2":                   nil,
		"- uses: github/codeql-action/upload-sarif@" + commit + " # v3.28.0": nil,
		"- uses: ./.github/actions/own":                                      nil,
		"- uses: actions/checkout@v4":                                        {"actions/checkout@v4"},
		"- uses: docker/login-action@v3.4.0 # v3.4.0":                        {"docker/login-action@v3.4.0"},
		"- uses: 'docker/login-action@main'":                                 {"docker/login-action@main"},
		"- uses: sigstore/cosign-installer@" + commit[:12] + " # v3.8.1":     {"sigstore/cosign-installer@" + commit[:12]},
		"- uses: golang/govulncheck-action@" + commit:                        {"golang/govulncheck-action@" + commit},
	} {
		if _, got := usesIn(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
