package docs_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// unguarded are the goroutines of the dashboard that recover no panic themselves, by the file and what they run, and why none of
// these leaves the terminal as it is.
var unguarded = map[string]string{
	"pkg/ui/tui/run.go o.all.Wait()":                     "it only waits",
	"pkg/commands/dashboard/reads.go readers.Wait()":     "it only waits",
	"pkg/commands/dashboard/actions.go a.running.Wait()": "it only waits",
	"pkg/commands/dashboard/reconcile.go r.run(":         "run recovers, and reports it to the dashboard",
	"pkg/commands/dashboard/replay.go feed.Follow(":      "without a dashboard: the terminal is as it was",
	"pkg/monitor/fleet.go f.took(ctx, f.read(ctx, key)":  "read recovers, and the row of the cluster has the reason",
}

// A panic in a goroutine ends the program at once: a terminal would stay raw, on the alternate screen and without a cursor.
func TestGoroutinesOfTheDashboardRecoverPanics(t *testing.T) {
	found := map[string]bool{}
	for _, dir := range []string{"pkg/ui/tui", "pkg/ui/tui/*", "pkg/commands/dashboard", "pkg/monitor"} {
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, text := range goroutinesOf(t, file) {
				allowed := ""
				for key := range unguarded {
					if in, runs, _ := strings.Cut(key, " "); strings.HasSuffix(filepath.ToSlash(file), in) && strings.Contains(text, runs) {
						allowed, found[key] = key, true
					}
				}
				if allowed == "" && !strings.Contains(text, "reconcile.Guarded(") {
					t.Errorf("%s begins a goroutine without reconcile.Guarded:\n%s", file, text)
				}
			}
		}
	}
	for key := range unguarded {
		if !found[key] {
			t.Errorf("no goroutine is %s: remove it from the list", key)
		}
	}
}

// goroutinesOf returns the statements of a file that begin goroutines: go, and Go of a WaitGroup.
func goroutinesOf(t *testing.T, file string) []string {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		_, isGo := n.(*ast.GoStmt)
		if isCall {
			selector, is := call.Fun.(*ast.SelectorExpr)
			isGo = is && selector.Sel.Name == "Go"
		}
		if isGo {
			var text bytes.Buffer
			if err := printer.Fprint(&text, set, n); err != nil {
				t.Fatal(err)
			}
			all = append(all, text.String())
		}
		return true
	})
	return all
}
