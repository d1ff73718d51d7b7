package ui_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// undeclared are the files that draw tables without declared columns: answers and reports of one
// command, which no view of the dashboard shows as a list, and four views whose rows are of several
// documents. None is added.
var undeclared = map[string]bool{
	"session/format/columns.go": true, // columns that the user wrote

	"ui/answers_text.go": true, "ui/can_text.go": true,
	"ui/forecast_text.go": true, "ui/kinds.go": true,
	"ui/lock_text.go": true, "ui/plan_changes.go": true, "ui/recovery_text.go": true,
	"ui/why_text.go":        true,
	"ui/changes/changes.go": true, "ui/check/text.go": true, "ui/orphans/orphans.go": true, "ui/runbooks/list.go": true,
	"ui/runbooks/report.go": true, "ui/workload/table.go": true,

	"ui/tui/columns.go":   true, // the column of marks
	"ui/tui/view_load.go": true, "ui/tui/view_pass.go": true, "ui/tui/view_plan.go": true,
}

// drawsTable reports whether a file has a literal of a column, or of a slice of them, of package layout.
func drawsTable(file *ast.File) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		if l, is := n.(*ast.CompositeLit); is {
			t := l.Type
			if a, is := t.(*ast.ArrayType); is {
				t = a.Elt
			}
			if s, is := t.(*ast.SelectorExpr); is && s.Sel.Name == "Column" {
				x, named := s.X.(*ast.Ident)
				found = found || named && x.Name == "layout"
			}
		}
		return !found
	})
	return found
}

func TestNoTableIsDrawnWithoutADeclaration(t *testing.T) {
	drawn := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil && drawsTable(file) {
			drawn[strings.TrimPrefix(filepath.ToSlash(path), "../")] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for file := range drawn {
		if !undeclared[file] {
			t.Errorf("%s draws a table: declare its columns as a list.Column beside its document", file)
		}
	}
	for file := range undeclared {
		if !drawn[file] {
			t.Errorf("%s draws no table any more: remove it from the list", file)
		}
	}
}

func TestEveryDeclaredColumnHasATitleOfItsOwnAndAMeaning(t *testing.T) {
	for _, k := range ui.Kinds() {
		listed, is := k.Document.(list.Document)
		if !is {
			continue
		}
		titles := map[string]bool{}
		for _, c := range listed.List().Columns {
			if c.Title == "" || titles[c.Title] || c.Title != strings.ToUpper(c.Title) {
				t.Errorf("%s: the title %q is not one of its own, in capitals", k.Name, c.Title)
			}
			if c.Meaning == "" || strings.HasSuffix(c.Meaning, ".") || c.Cell == nil {
				t.Errorf("%s: column %s has no meaning in one sentence without a full stop, or no cell", k.Name, c.Title)
			}
			if c.Place.IsRoomy() && c.Drop == 0 {
				t.Errorf("%s: column %s is left out for lack of room, in no order", k.Name, c.Title)
			}
			titles[c.Title] = true
		}
	}
}
