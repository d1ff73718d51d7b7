package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// few is tested for its limit and not for its names. Without its second return it does not
// compile.
const few = `package fdb

func Few(n int) bool {
	return n < 3
}

func Name(n int) string {
	if n < 0 {
		return "negative"
	}
	return "some"
}
`

const fewTest = `package fdb

import "testing"

func TestFew(t *testing.T) {
	if !Few(2) || Few(3) || Name(-1) != "negative" {
		t.Error("wrong")
	}
}
`

func module(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "pkg/fdb/few.go": few, "pkg/fdb/few_test.go": fewTest} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAMutantIsKilledOrSurvives(t *testing.T) {
	root := module(t)
	l, err := newRunner(root, true)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	line := func(n int, from, to string) mutation {
		start := strings.Index(few, from)
		return mutation{pkg: "pkg/fdb", file: "pkg/fdb/few.go", line: n, start: start, end: start + len(from), from: from, to: to}
	}
	for want, m := range map[verdict]mutation{
		killed: line(4, "n < 3", "n <= 3"), survived: line(8, "n < 0", "n <= 0"), notCompiled: line(11, `return "some"`, ""),
	} {
		got, err := l.try(t.Context(), m)
		if err != nil || got.verdict != want {
			t.Errorf("%s: %s, %v; want %s", m, got.verdict, err, want)
		}
	}
	if source, err := os.ReadFile(filepath.Join(root, "pkg/fdb/few.go")); err != nil || string(source) != few {
		t.Errorf("the source was changed: %v\n%s", err, source)
	}
}

func TestMutationTestingStopsIfTestsAlreadyFail(t *testing.T) {
	root := module(t)
	path := filepath.Join(root, "pkg/fdb/few_test.go")
	if err := os.WriteFile(path, []byte(strings.Replace(fewTest, "Few(3)", "Few(1)", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := newRunner(root, true)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if r, err := l.tryAll(t.Context(), []mutation{{pkg: "pkg/fdb", file: "pkg/fdb/few.go"}}, options{n: 1, workers: 1}, &bytes.Buffer{}); err == nil {
		t.Errorf("got %+v", r)
	}
}

func TestMutantSelectionIsDeterminedByTheSeed(t *testing.T) {
	root := module(t)
	choice := func(seed uint64) []string {
		found, err := chosen(root, options{seed: seed, packages: []string{"pkg/fdb"}})
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, m := range found {
			words = append(words, m.String())
		}
		return words
	}
	if diff := cmp.Diff(choice(1), choice(1)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(choice(1), choice(2)) {
		t.Error("another seed makes the same choice")
	}
}

func TestMutationRunnerFlags(t *testing.T) {
	o, err := parse([]string{"-n", "7", "-seed", "5", "-pkg", "pkg/fdb,pkg/reconcile/plan", "-own"})
	if err != nil || o.n != 7 || o.seed != 5 || !o.own || !cmp.Equal(o.packages, []string{"pkg/fdb", "pkg/reconcile/plan"}) {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := parse(nil); err != nil || !slices.Contains(o.packages, "pkg/reconcile/safety") || !slices.Contains(o.packages, "pkg/recovery/execute") || slices.Contains(o.packages, "pkg/ui") {
		t.Errorf("by default %v, %v", o.packages, err)
	}
	for _, wrong := range [][]string{{"-n", "0"}, {"-pkg", "pkg/commands"}, {"more"}, {"-workers", "0"}} {
		if _, err := parse(wrong); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}
