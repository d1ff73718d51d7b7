package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The limits of the types that all commands share: what one of them can do is read at once. What
// they embed has limits of its own.
var maxMethods = map[string]int{
	"pkg/session.Env":                  20,
	"pkg/apply.Passes":                 20,
	"pkg/apply.outcome":                20,
	"pkg/apply.approving":              20,
	"pkg/apply.pacing":                 20,
	"pkg/reconcile/live.Cluster":       40,
	"pkg/reconcile/live.BackupCluster": 40,
}

// The limits of all source together: a bool parameter does not say at the call what it means, and
// a nolint comment is a rule that is not kept.
const (
	maxBoolParameters = 20
	maxNolint         = 60
)

func TestSharedTypesStayWithinTheirLimits(t *testing.T) {
	methods := map[string]int{}
	for name, p := range sourcePackages(t) {
		eachFunction(t, filepath.Join("..", name), p.GoFiles, func(f *ast.FuncDecl) {
			if f.Recv != nil {
				methods[name+"."+receiverOf(f)]++
			}
		})
	}
	for name, most := range maxMethods {
		switch n := methods[name]; {
		case n == 0:
			t.Errorf("%s has no methods; the limit names a type that does not exist", name)
		case n > most:
			t.Errorf("%s has %d methods, limit %d", name, n, most)
		}
	}
}

func TestBoolParametersStayWithinTheLimit(t *testing.T) {
	var found []string
	for dir, files := range allSource(t) {
		eachFunction(t, dir, files, func(f *ast.FuncDecl) {
			for _, parameter := range f.Type.Params.List {
				if kind, is := parameter.Type.(*ast.Ident); is && kind.Name == "bool" {
					found = append(found, dir+" "+f.Name.Name)
					return
				}
			}
		})
	}
	if len(found) > maxBoolParameters {
		t.Errorf("%d functions have bool parameters, limit %d:\n%s", len(found), maxBoolParameters, strings.Join(found, "\n"))
	}
}

func TestNolintCommentsStayWithinTheLimit(t *testing.T) {
	n := 0
	for dir, files := range allSource(t) {
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			n += strings.Count(string(text), "//nolint:")
		}
	}
	if n > maxNolint {
		t.Errorf("%d nolint comments outside tests, limit %d", n, maxNolint)
	}
}

// allSource are the source files by directory, with those of the sandbox and of the tools.
func allSource(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for name, p := range sourcePackages(t) {
		all[filepath.Join("..", name)] = p.GoFiles
	}
	for _, root := range []string{"../sandbox", "../hack"} {
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				all[filepath.Dir(path)] = append(all[filepath.Dir(path)], filepath.Base(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func eachFunction(t *testing.T, dir string, files []string, call func(*ast.FuncDecl)) {
	t.Helper()
	for _, name := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			if f, is := declaration.(*ast.FuncDecl); is {
				call(f)
			}
		}
	}
}

func receiverOf(f *ast.FuncDecl) string {
	of := f.Recv.List[0].Type
	if pointer, is := of.(*ast.StarExpr); is {
		of = pointer.X
	}
	if name, is := of.(*ast.Ident); is {
		return name.Name
	}
	return ""
}
