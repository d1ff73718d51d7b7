package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// unlimited are functions that read to an end that others choose, and where else they are used than in
// pkg/limit, with the reason.
var unlimited = map[string]map[string]string{
	"io.ReadAll": {
		"pkg/evictionhook/review.go":            "of an http.MaxBytesReader",
		"pkg/reconcile/live/sidecar.go":         "of an io.LimitReader",
		"pkg/commands/run/tree.go":              "of an io.LimitReader",
		"pkg/commands/run/configmap.go":         "of an io.LimitReader",
		"pkg/fdb/admin/admintest/transcript.go": "for tests",
	},
	"os.ReadFile": {"pkg/reconcile/live/holder/holder.go": "files of the kernel"},
}

// What others wrote is read up to a size, so that it cannot fill the memory.
func TestInputIsReadUpToALimit(t *testing.T) {
	for name, p := range sourcePackages(t) {
		if name == "pkg/limit" || !strings.HasPrefix(name, "pkg/") {
			continue
		}
		for _, file := range p.GoFiles {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", name, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				called, is := n.(*ast.SelectorExpr)
				if !is {
					return true
				}
				of, is := called.X.(*ast.Ident)
				if !is {
					return true
				}
				use := of.Name + "." + called.Sel.Name
				if where, watched := unlimited[use]; watched && where[name+"/"+file] == "" {
					t.Errorf("%s/%s: %s has no limit: use pkg/limit", name, file, use)
				}
				return true
			})
		}
	}
}
