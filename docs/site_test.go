package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// The site is configured so that a warning is an error, and its navigation has every page once. A hook adds
// the generated pages of commands.
func TestTheSiteNavigationListsEveryPageOnce(t *testing.T) {
	text, err := os.ReadFile("../mkdocs.yml")
	if err != nil {
		t.Fatal(err)
	}
	var site struct {
		Strict bool     `json:"strict"`
		Docs   string   `json:"docs_dir"`
		Hooks  []string `json:"hooks"`
		Nav    []any    `json:"nav"`
	}
	if err := yaml.Unmarshal(text, &site); err != nil {
		t.Fatal(err)
	}
	if !site.Strict || site.Docs != "docs" {
		t.Errorf("strict is %t, and the pages are those of %s", site.Strict, site.Docs)
	}
	for _, hook := range site.Hooks {
		if _, err := os.Stat(filepath.Join("..", hook)); err != nil {
			t.Error(err)
		}
	}
	want := []string{"README.md"} // the first page; hack/mkdocs_hooks.py adds it
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "commands") {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ".md") {
			want = append(want, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got := entriesOf(t, site.Nav)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-) and the navigation of mkdocs.yml (+):\n%s", diff)
	}
}

// entriesOf returns the pages of a navigation, whose entries are a page or a list below a title.
func entriesOf(t *testing.T, nav []any) []string {
	t.Helper()
	var pages []string
	for _, entry := range nav {
		titled, is := entry.(map[string]any)
		if !is || len(titled) != 1 {
			t.Fatalf("the entry %v has no title", entry)
		}
		for title, v := range titled {
			switch v := v.(type) {
			case string:
				pages = append(pages, v)
			case []any:
				pages = append(pages, entriesOf(t, v)...)
			default:
				t.Fatalf("%s is neither a page nor a list", title)
			}
		}
	}
	return pages
}
