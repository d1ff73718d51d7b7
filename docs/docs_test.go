// Package docs has no code: its tests keep the documentation true.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = ".."

var (
	testName = regexp.MustCompile("`(Test[A-Z]\\w*)(?:/([^`]+))?`")
	link     = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	codePath = regexp.MustCompile("`((?:api|cmd|hack|internal|pkg|sandbox|test)/[\\w/.-]+\\.(?:go|sh))`")
	gate     = regexp.MustCompile(`"(G-[A-Z-]+)"`)
)

func TestTestsNamedInTheDocsExist(t *testing.T) {
	sources := testSources(t)
	named := 0
	for file, text := range pages(t) {
		for _, m := range testName.FindAllStringSubmatch(text, -1) {
			named++
			if !sources.define(m[1], strings.ReplaceAll(m[2], "_", " ")) {
				t.Errorf("%s names %s, which no test file has", file, m[0])
			}
		}
	}
	if named == 0 {
		t.Error("no page names a test")
	}
}

// A rule is found by the file that its row names, also after the file moved.
func TestSourceFilesNamedInTheDocsExist(t *testing.T) {
	named := 0
	for file, text := range pages(t) {
		for _, m := range codePath.FindAllStringSubmatch(text, -1) {
			named++
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s: %v", file, m[1], err)
			}
		}
	}
	if named == 0 {
		t.Error("no page names a file of code")
	}
}

func TestLinksInTheDocsResolve(t *testing.T) {
	all := pages(t)
	for file, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := filepath.Join(filepath.Dir(file), m[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			page := all[strings.TrimPrefix(filepath.ToSlash(target), "../docs/")]
			if anchor := strings.TrimPrefix(m[2], "#"); anchor != "" && !slices.Contains(anchorsOf(page), anchor) {
				t.Errorf("%s links %s, which has no heading %s", file, m[1], m[2])
			}
		}
	}
}

var (
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unlinked = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchorsOf returns the anchors that GitHub gives the headings of a page.
func anchorsOf(text string) []string {
	var anchors []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		anchors = append(anchors, strings.ReplaceAll(unlinked.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return anchors
}

// Users look up a gate that the code can refuse with.
func TestEveryEvaluatedGateIsExplainedInTheDocs(t *testing.T) {
	safety, err := os.ReadFile("safety.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, constant := range gates(t) {
		if evaluated(t, constant) && !strings.Contains(string(safety), "**"+name+"**") {
			t.Errorf("safety.md does not explain %s", name)
		}
	}
}

// pages are all Markdown files by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", filepath.Join("commands", "*.md"), filepath.Join(root, "*.md")} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(text)
		}
	}
	return texts
}

// testFiles are the texts of the test files, by the tests and benchmarks that they define.
type testFiles map[string][]string

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`)

func testSources(t *testing.T) testFiles {
	t.Helper()
	files := testFiles{}
	for _, text := range goSources(t, func(path string) bool { return strings.HasSuffix(path, "_test.go") }) {
		for _, m := range testFunction.FindAllStringSubmatch(text, -1) {
			files[m[1]] = append(files[m[1]], text)
		}
	}
	return files
}

// define reports whether some test file has the test and, where one is named, its row.
func (f testFiles) define(name, row string) bool {
	return slices.ContainsFunc(f[name], func(text string) bool {
		return row == "" || strings.Contains(text, `"`+row+`"`)
	})
}

func goSources(t *testing.T, match func(path string) bool) []string {
	t.Helper()
	var sources []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if !match(path) {
			return nil
		}
		text, err := os.ReadFile(path)
		sources = append(sources, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

var gateConstant = regexp.MustCompile(`(Gate\w+)\s+Gate = "(G-[A-Z-]+)"`)

// gates are the names of the gates and of their constants.
func gates(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "pkg/reconcile/plan/plan.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range gateConstant.FindAllStringSubmatch(string(text), -1) {
		found[m[2]] = m[1]
	}
	if len(found) == 0 || len(found) != len(gate.FindAllString(string(text), -1)) {
		t.Fatalf("%d gates understood of those in plan.go", len(found))
	}
	return found
}

// evaluated reports whether any code creates a check with the gate.
func evaluated(t *testing.T, constant string) bool {
	t.Helper()
	sources := goSources(t, func(path string) bool {
		return strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
	})
	uses := regexp.MustCompile(`Gate: plan\.` + constant + `\b`)
	return slices.ContainsFunc(sources, uses.MatchString)
}
