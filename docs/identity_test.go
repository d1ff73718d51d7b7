package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A check or a hold without a code differs from others by its sentence only, and then
// some logic compares sentences: which group's budget refused, whether a reason is a new one.
// Codes are fields, and sentences may change at any time.
func TestEveryCheckAndEveryHoldHasACode(t *testing.T) {
	found := 0
	for _, file := range sourceFiles(t, "../pkg") {
		ast.Inspect(parsedFile(t, file), func(n ast.Node) bool {
			literal, is := n.(*ast.CompositeLit)
			if !is {
				return true
			}
			for name, code := range map[string]string{"Check": "ID", "Hold": "Code"} {
				for _, values := range valuesOf(literal, name) {
					found++
					if text := len(values.Elts) > 1; text && !slices.Contains(keysOf(values), code) {
						t.Errorf("%s: a plan.%s without %s", file, name, code)
					}
				}
			}
			return true
		})
	}
	if found < 200 {
		t.Errorf("%d literals found: the test looks in the wrong place", found)
	}
}

// valuesOf are the literals of a type of package plan that a literal is or lists.
func valuesOf(literal *ast.CompositeLit, name string) []*ast.CompositeLit {
	if isOfPlan(literal.Type, name) {
		return []*ast.CompositeLit{literal}
	}
	list, is := literal.Type.(*ast.ArrayType)
	if !is || !isOfPlan(list.Elt, name) {
		return nil
	}
	var values []*ast.CompositeLit
	for _, e := range literal.Elts {
		if value, is := e.(*ast.CompositeLit); is && value.Type == nil {
			values = append(values, value)
		}
	}
	return values
}

func isOfPlan(e ast.Expr, name string) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		of, is := e.X.(*ast.Ident)
		return is && of.Name == "plan" && e.Sel.Name == name
	default:
		return false
	}
}

func keysOf(literal *ast.CompositeLit) []string {
	var keys []string
	for _, e := range literal.Elts {
		if pair, is := e.(*ast.KeyValueExpr); is {
			if key, is := pair.Key.(*ast.Ident); is {
				keys = append(keys, key.Name)
			}
		}
	}
	return keys
}

// textFields are the fields of decisions, documents and events that hold rendered text.
var textFields = []string{"Question", "Evidence", "Reason", "Detail", "Brief", "Summary", "Why", "What", "Message", "Note"}

// proseDecides names the places that still compare, split or search rendered text, with
// how often they do. The numbers may only fall.
var proseDecides = map[string]int{
	"pkg/commands/cmdutil/groups.go":        1, // a listing of Kubernetes
	"pkg/fdb/admin/admintest/transcript.go": 1, // recorded commands
	"pkg/fdb/admin/backup.go":               1, // the output of a tool of FoundationDB
	"pkg/reconcile/safety/recovery_age.go":  1, // a reason that FoundationDB defines
	"pkg/inspect/pod_problem.go":            2, // reasons that Kubernetes defines
	"pkg/reconcile/readings/pod_files.go":   1, // the end of the scheduler's message, which is only shown
	"pkg/inspect/check/budget.go":           1, // a reason that Kubernetes defines
	"pkg/ui/tui/model.go":                   1, // nil or not
}

// Logic that reads sentences breaks when a sentence is improved, and nothing warns of it.
// Text may be asked whether it is empty, and nothing else.
func TestNoLogicReadsRenderedText(t *testing.T) {
	found := map[string]int{}
	for _, file := range sourceFiles(t, "../pkg") {
		ast.Inspect(parsedFile(t, file), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if (n.Op == token.EQL || n.Op == token.NEQ) && (isText(n.X) && !isEmptyString(n.Y) || isText(n.Y) && !isEmptyString(n.X)) {
					found[file]++
				}
			case *ast.CallExpr:
				if searches(n) && slices.ContainsFunc(n.Args, isText) {
					found[file]++
				}
			}
			return true
		})
	}
	for file, n := range found {
		if want := proseDecides[strings.TrimPrefix(file, "../")]; n != want {
			t.Errorf("%s compares or searches rendered text %d times, listed are %d", file, n, want)
		}
	}
	for file := range proseDecides {
		if found["../"+file] == 0 {
			t.Errorf("%s is listed and does so no more", file)
		}
	}
}

// searches reports whether a call takes a text apart, or asks what is in it.
func searches(call *ast.CallExpr) bool {
	of, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	from, is := of.X.(*ast.Ident)
	if !is || from.Name != "strings" {
		return false
	}
	return slices.Contains([]string{
		"Contains", "ContainsAny", "HasPrefix", "HasSuffix", "Cut", "CutPrefix", "CutSuffix", "Split", "SplitN", "Fields", "Index", "LastIndex", "EqualFold", "Replace", "ReplaceAll", "TrimPrefix", "TrimSuffix",
	}, of.Sel.Name)
}

// isText reports whether an expression is a field with rendered text, or the words of a check.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return slices.Contains(textFields, e.Sel.Name)
	case *ast.CallExpr:
		of, is := e.Fun.(*ast.SelectorExpr)
		return is && len(e.Args) == 0 && slices.Contains([]string{"Words", "Text", "Describe"}, of.Sel.Name)
	default:
		return false
	}
}

func isEmptyString(e ast.Expr) bool {
	literal, is := e.(*ast.BasicLit)
	return is && literal.Value == `""`
}

func parsedFile(t *testing.T, file string) *ast.File {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// sourceFiles are the Go files of a tree without tests.
func sourceFiles(t *testing.T, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".go") && !forTestsAlone(path) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
