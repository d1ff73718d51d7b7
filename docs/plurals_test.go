package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

func TestACountOfOneIsSingular(t *testing.T) {
	wrong := regexp.MustCompile(`(?:^|[^\w/.=\[])1(?: |\n *)(?:` + anyOf(kindsOfThings) + ` )?(?:` + anyOf(plurals(t)) + `)\b`)
	colors := regexp.MustCompile(`[␛\x1b]\[[0-9;]*m`)
	for file, text := range writtenTexts(t) {
		if matches := wrong.FindAllString(colors.ReplaceAllString(text, ""), -1); len(matches) > 0 {
			t.Errorf("%s: %q", file, matches)
		}
	}
}

// What a sentence is made of can be empty, or one thing only.
func TestSentencesAgreeWithWhatIsPutIntoThem(t *testing.T) {
	wrong := map[string]*regexp.Regexp{
		"empty parentheses":               regexp.MustCompile(`[a-z] \(\)`),
		"one subject with a plural verb":  regexp.MustCompile(`(?m)(?:^|  |: )[a-z][a-z0-9-]*-[0-9]{3,} (?:are|have|were|do) [a-z]+`),
		"two prepositions without a noun": regexp.MustCompile(`\b(?:after|before|for|since) in [0-9]`),
	}
	for file, text := range writtenTexts(t) {
		for what, pattern := range wrong {
			if matches := pattern.FindAllString(text, -1); len(matches) > 0 {
				t.Errorf("%s: %s: %q", file, what, matches)
			}
		}
	}
}

// A plural without its number is no count: phrase.Count has both.
func TestNoFormatCountsAPlural(t *testing.T) {
	for path, file := range sources(t) {
		for node := range ast.Preorder(file) {
			call, is := node.(*ast.CallExpr)
			if !is || len(call.Args) < 3 {
				continue
			}
			format, is := call.Args[0].(*ast.BasicLit)
			if is && strings.HasPrefix(strings.Trim(format.Value, "`\""), "%d %s") && isPlural(call.Args[2]) {
				t.Errorf("%s: %s", path, format.Value)
			}
		}
	}
}

func isPlural(e ast.Expr) bool {
	call, is := e.(*ast.CallExpr)
	if !is {
		return false
	}
	function, is := call.Fun.(*ast.SelectorExpr)
	return is && function.Sel.Name == "Plural"
}

// A share such as "0/1 zones" is the label of a gauge.
func TestPluralsAreRenderedByThePhrasePackage(t *testing.T) {
	byHand := regexp.MustCompile(`(?:^|[^/])%[dv] (?:of %[dv] )?(?:(?:%s|` + anyOf(kindsOfThings) + `) )?(?:` + anyOf(plurals(t)) + `)\b|[a-z]\(e?s\)`)
	for path, file := range sources(t) {
		for node := range ast.Preorder(file) {
			if literal, is := node.(*ast.BasicLit); is && literal.Kind == token.STRING && byHand.MatchString(literal.Value) {
				t.Errorf("%s: %s", path, literal.Value)
			}
		}
	}
}

// kindsOfThings are words between a number and its noun.
var kindsOfThings = []string{"more", "other", "desired", "new", "storage", "log", "stateless", "transaction", "coordinator"}

// plurals are those of all nouns that phrase is given somewhere, the longest first.
func plurals(t *testing.T) []string {
	t.Helper()
	all := map[string]bool{}
	for _, file := range sources(t) {
		for node := range ast.Preorder(file) {
			if call, is := node.(*ast.CallExpr); is && counts(call) {
				if noun := lastText(call.Args[len(call.Args)-1]); noun != "" {
					all[phrase.Plural(noun)] = true
				}
			}
		}
	}
	delete(all, "groups") // "1 groups" is a tab of the dashboard
	if len(all) < 10 || !all["process groups"] {
		t.Fatalf("nouns that are counted: %v", all)
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int { return len(b) - len(a) })
}

// counts reports whether a call is one of phrase.Count or phrase.CountOf.
func counts(call *ast.CallExpr) bool {
	function, is := call.Fun.(*ast.SelectorExpr)
	if !is || function.Sel.Name != "Count" && function.Sel.Name != "CountOf" {
		return false
	}
	of, is := function.X.(*ast.Ident)
	return is && of.Name == "phrase"
}

// lastText is a literal, or the one at the end of a sum of texts; else none.
func lastText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return strings.TrimSpace(text)
	case *ast.BinaryExpr:
		return lastText(e.Y)
	}
	return ""
}

func anyOf(words []string) string { return "(?:" + strings.Join(words, "|") + ")" }

// sources are the plugin's own source files, without tests, by path.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	for _, dir := range []string{"api", "cmd", "pkg"} {
		walk(t, dir, func(path, name string) {
			if !strings.HasSuffix(path, ".go") || forTestsAlone(path) {
				return
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = file
		})
	}
	return files
}

// writtenTexts are the pages, and what tests record of the plugin's output. Recordings of
// other programs are in internal.
func writtenTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, dir := range []string{"README.md", "CONTRIBUTING.md", "docs", "api", "cmd", "pkg"} {
		walk(t, dir, func(path, name string) {
			switch filepath.Ext(path) {
			case ".golden", ".txtar", ".ndjson", ".md", ".svg":
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				texts[name] = string(text)
			}
		})
	}
	return texts
}

// walk calls f with the path of every file below a directory, and its name in the repository.
func walk(t *testing.T, dir string, f func(path, name string)) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			f(path, strings.TrimPrefix(filepath.ToSlash(path), root+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
