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

// A tag can be moved to other code, which then runs with the rights of a release; a commit cannot. The
// comment names its release to readers, and to what proposes updates.
func TestActionsAreNamedByCommit(t *testing.T) {
	used := regexp.MustCompile(`uses: (actions/\S+)(.*)`)
	byCommit := regexp.MustCompile(`^actions/[a-z-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`)
	uses := 0
	for _, pattern := range []string{".github/workflows/*.yaml", "docs/ci/*.yaml", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range used.FindAllStringSubmatch(string(content), -1) {
				uses++
				if !byCommit.MatchString(match[1] + match[2]) {
					t.Errorf("%s uses %s", file, match[1])
				}
			}
		}
	}
	if uses < 10 {
		t.Errorf("%d uses of actions were found", uses)
	}
}
