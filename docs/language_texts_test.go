package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// passage is a piece of text that a user or a contributor reads.
type passage struct {
	line int
	text string
}

// proseFiles returns the passages of every file that the language rules hold for, by path
// from the root: pages, manifests, scripts, and the comments and string literals of Go code.
var proseFiles = sync.OnceValues(func() (map[string][]passage, error) {
	texts := map[string][]passage{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipDirectory(path, d.Name())
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		found, err := passagesOf(name, path)
		if len(found) > 0 {
			texts[name] = found
		}
		return err
	})
	return texts, err
})

func skipDirectory(path, name string) error {
	if path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "crd") {
		return filepath.SkipDir
	}
	return nil
}

func passagesOf(name, path string) ([]passage, error) {
	var split func(text string) []passage
	switch {
	case strings.HasPrefix(name, "docs/language_"), // names what is forbidden
		strings.HasPrefix(name, "docs/commands/"): // generated from texts of pkg/commands
		return nil, nil
	case strings.HasSuffix(name, ".go"):
		return goPassages(path)
	case strings.HasSuffix(name, ".md"):
		split = paragraphs
	case strings.HasPrefix(name, "manifests/"), strings.HasPrefix(name, "hack/"), name == "Makefile":
		split = hashComments
	default:
		return nil, nil
	}
	text, err := os.ReadFile(path)
	return split(string(text)), err
}

// goPassages returns the comments, string literals and names of tests of a file: docs/safety.md and other
// pages name tests. Directives, import paths and generated files are no text.
func goPassages(path string) ([]passage, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	var found []passage
	add := func(at token.Pos, text string) {
		found = append(found, passage{files.Position(at).Line, plain(text)})
	}
	for _, group := range file.Comments {
		add(group.Pos(), group.Text())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.FuncDecl:
			if strings.HasSuffix(path, "_test.go") && isTest.MatchString(n.Name.Name) {
				add(n.Pos(), strings.ReplaceAll(capital.ReplaceAllString(n.Name.Name, " $0"), "Control Plane", "control-plane"))
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				add(n.Pos(), text)
			}
		}
		return true
	})
	return found, nil
}

var (
	isTest  = regexp.MustCompile(`^(Test|Benchmark|Fuzz)[A-Z]`)
	capital = regexp.MustCompile(`[A-Z][a-z0-9]*`)
)

// paragraphs returns the blocks of a page that empty lines separate, so that a phrase is found
// across a line break.
func paragraphs(text string) []passage {
	var found []passage
	line := 1
	for block := range strings.SplitSeq(text, "\n\n") {
		found = append(found, passage{line, plain(block)})
		line += strings.Count(block, "\n") + 2
	}
	return found
}

// hashComments returns the blocks of consecutive comment lines in YAML, Make and shell files.
func hashComments(text string) []passage {
	var found []passage
	open := false
	number := 0
	for line := range strings.Lines(text) {
		number++
		_, comment, commented := strings.Cut(line, "#")
		switch {
		case commented && open:
			found[len(found)-1].text += " " + plain(comment)
		case commented:
			found = append(found, passage{number, plain(comment)})
		}
		open = commented
	}
	return found
}

// plain returns text in lower case on one line.
func plain(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(text), " "))
}

func TestForbiddenWordsAreFoundAcrossLines(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a_test.go")
	err := os.WriteFile(source, []byte("package a\n\nimport _ \"nobody/anew\"\n\n// F is made by\n// hand.\n//nolint:nobody // no text\nvar f = `json:\"wish\"`\n\nfunc TestNobodyIsTold() {}\n\nfunc testedByHand() {}\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	goText, err := goPassages(source)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		found []passage
		want  map[string]int
	}{
		"Go":       {goText, map[string]int{"by hand": 1, "wish": 1, "nobody": 1, "told": 1}},
		"a page":   {paragraphs("One line.\n\nChosen\nanew by\nNobody.\n"), map[string]int{"anew": 1, "nobody": 1}},
		"comments": {hashComments("a: 1 # made\nb: nobody\n# by\n# hand\n"), map[string]int{"by hand": 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, w := range forbiddenWords {
				n := 0
				for _, p := range tc.found {
					n += len(w.matches(p.text))
				}
				if n != tc.want[w.name] {
					t.Errorf("%q is found %d times, want %d", w.name, n, tc.want[w.name])
				}
			}
		})
	}
}
