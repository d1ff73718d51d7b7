package reconcile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	limits "github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// edits calls visit with a document in which one value differs, for every value of it.
func edits(document any, path string, visit func(path string)) {
	switch value := document.(type) {
	case map[string]any:
		for name, one := range value {
			value[name] = edited(one)
			visit(path + "." + name)
			value[name] = one
			edits(one, path+"."+name, visit)
		}
	case []any:
		for i, one := range value {
			value[i] = edited(one)
			visit(fmt.Sprintf("%s[%d]", path, i))
			value[i] = one
			edits(one, fmt.Sprintf("%s[%d]", path, i), visit)
		}
	}
}

// edited returns another value of the same type.
func edited(value any) any {
	switch value := value.(type) {
	case string:
		return value + "x"
	case float64:
		return value + 1
	case bool:
		return !value
	case []any:
		return append(slices.Clone(value), "x")
	case map[string]any:
		return map[string]any{}
	default:
		return "x"
	}
}

func documentIn(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// resealed returns the text of an edited document with new digests of its fields.
func resealed(t *testing.T, text string) string {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	digests, err := inspect.Seal(document)
	if err != nil {
		t.Fatal(err)
	}
	document["digests"] = digests
	sealed, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(sealed)
}

func writeDocument(t *testing.T, path string, document any) {
	t.Helper()
	text, err := json.Marshal(document)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A reviewer approves what the file shows: all of it, not only what decides.
func TestAPlanFileIsRefusedIfAnyValueThatItShowsWasEdited(t *testing.T) {
	g := commandstest.Spacious(t)
	grow(g)
	path := g.Planned("reconcile", "sample", "--wait")
	if _, err := apply.ReadPlan(path); err != nil {
		t.Fatal(err)
	}
	document, seen := documentIn(t, path), 0
	for _, name := range []string{"items", "holds", "changes", "forecast", "gates", "metadata"} {
		if document[name] == nil {
			t.Fatalf("the plan has no %s", name)
		}
	}
	other := filepath.Join(t.TempDir(), "edited.json")
	edits(document, "", func(at string) {
		seen++
		writeDocument(t, other, document)
		_, err := apply.ReadPlan(other)
		name, _, _ := strings.Cut(strings.TrimPrefix(at, "."), ".")
		name, _, _ = strings.Cut(name, "[")
		if err == nil || name != "digests" && name != "kind" && name != "apiVersion" && !strings.Contains(err.Error(), "it was modified: "+name) {
			t.Errorf("%s was edited: %v", at, err)
		}
	})
	if seen < 200 {
		t.Errorf("only %d values", seen)
	}
}

// Whoever edits a plan can compute its digests again, but not what its actions do.
func TestAPlanFileWhoseItemsShowSomethingElseThanTheyDoIsRefused(t *testing.T) {
	for _, field := range []string{"subject", "summary", "impact"} {
		g := commandstest.Spacious(t)
		grow(g)
		path := g.Planned("reconcile", "sample")
		document := documentIn(t, path)
		items, _ := document["items"].([]any)
		for _, item := range items {
			if one, _ := item.(map[string]any); one["kind"] == "CreatePod" {
				one[field] = "harmless"
			}
		}
		text, err := json.Marshal(document)
		if err == nil {
			err = os.WriteFile(path, []byte(resealed(t, string(text))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if code := g.Run("reconcile", "sample", "--plan", path, "--yes"); code != exit.ExitConflict || !strings.Contains(g.Err.String(), "shows") || len(g.Changes()) > 0 {
			t.Errorf("%s: exit code %d, did %v: %s", field, code, g.Changes(), &g.Err)
		}
	}
}

func TestALargePlanFileIsRefusedBeforeItIsParsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(path, []byte(strings.Repeat("[", limits.Plan+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	g := commandstest.Up(t)
	for _, args := range [][]string{{"reconcile", "sample", "--plan", path, "--yes"}, {"recover", "apply", "sample", "--plan", path, "--yes"}} {
		if code := g.Run(args...); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "more than 8.0MiB, which is the limit") {
			t.Errorf("%v: exit code %d: %s", args, code, &g.Err)
		}
	}
}
