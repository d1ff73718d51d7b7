package docs

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	update = flag.Bool("update", false, "write generated pages, and lower the counts of allow lists to what the files have")
	moved  = flag.Bool("moved", false, "with -update, also let files that are new to the list take over what other files lost")
)

const allowList = "testdata/forbidden_words.txt"

// use is how often a file has a forbidden word.
type use struct{ file, word string }

// The allow list only shrinks: a file with more of a word than listed uses a word that is
// forbidden, and one with less has to be listed with less.
func TestTextAvoidsForbiddenWords(t *testing.T) {
	allowed := readAllowList(t, allowList)
	found, places := forbiddenUses(t)
	if *update {
		allowed = lowered(allowed, found, *moved)
		writeAllowList(t, allowList, allowed)
	}
	for _, u := range sortedUses(allowed, found) {
		switch {
		case found[u] > allowed[u]:
			t.Errorf("%s has %q %d times, %d allowed; use: %s\n%s", u.file, u.word, found[u], allowed[u], replacement(u.word), strings.Join(places[u], "\n"))
		case found[u] < allowed[u]:
			t.Errorf("%s has %q %d times, fewer than the %d listed: run go test ./docs -run TestTextAvoidsForbiddenWords -update", u.file, u.word, found[u], allowed[u])
		}
	}
}

// forbiddenUses counts the forbidden words of all files and returns where they stand.
func forbiddenUses(t *testing.T) (counts map[use]int, places map[use][]string) {
	t.Helper()
	files, err := proseFiles()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("text in %d files only", len(files))
	}
	counts, places = map[use]int{}, map[use][]string{}
	for file, passages := range files {
		for _, p := range passages {
			for _, w := range forbiddenWords {
				for _, match := range w.matches(p.text) {
					u := use{file, w.name}
					counts[u]++
					places[u] = append(places[u], fmt.Sprintf("\t%s:%d: …%s…", file, p.line, match))
				}
			}
		}
	}
	return counts, places
}

// lowered returns the allow list after an update. No count rises and no file is added, other than
// by a move: a file that is new to the list then takes over what other files lost.
func lowered(allowed, found map[use]int, move bool) map[use]int {
	next := map[use]int{}
	lost := map[string]int{}
	listed := map[string]bool{}
	for u, n := range allowed {
		listed[u.file] = true
		if kept := min(n, found[u]); kept > 0 {
			next[u] = kept
		}
		lost[u.word] += n - next[u]
	}
	if !move {
		return next
	}
	for _, u := range sortedUses(found) {
		if n := min(found[u], lost[u.word]); !listed[u.file] && n > 0 {
			next[u] = n
			lost[u.word] -= n
		}
	}
	return next
}

func TestAllowListsOnlyShrink(t *testing.T) {
	a, b, c := use{"a.go", "anew"}, use{"b.go", "anew"}, use{"c.go", "anew"}
	tests := map[string]struct {
		allowed, found map[use]int
		move           bool
		want           map[use]int
	}{
		"fewer":                          {map[use]int{a: 3}, map[use]int{a: 1}, false, map[use]int{a: 1}},
		"none":                           {map[use]int{a: 3}, nil, false, map[use]int{}},
		"more":                           {map[use]int{a: 3}, map[use]int{a: 4}, false, map[use]int{a: 3}},
		"another file":                   {map[use]int{a: 3}, map[use]int{a: 3, b: 1}, false, map[use]int{a: 3}},
		"a moved file":                   {map[use]int{a: 3}, map[use]int{b: 3}, false, map[use]int{}},
		"a moved file, accepted":         {map[use]int{a: 3}, map[use]int{b: 3}, true, map[use]int{b: 3}},
		"a split file":                   {map[use]int{a: 3}, map[use]int{a: 1, b: 1, c: 1}, true, map[use]int{a: 1, b: 1, c: 1}},
		"a moved file with more":         {map[use]int{a: 3}, map[use]int{b: 4}, true, map[use]int{b: 3}},
		"a move into a file of the list": {map[use]int{a: 3, b: 1}, map[use]int{b: 4}, true, map[use]int{b: 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := lowered(tc.allowed, tc.found, tc.move); fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func replacement(name string) string {
	i := slices.IndexFunc(forbiddenWords, func(w forbiddenWord) bool { return w.name == name })
	if i < 0 {
		return "no such word: remove the line"
	}
	return forbiddenWords[i].use
}

func sortedUses(lists ...map[use]int) []use {
	var all []use
	for _, list := range lists {
		for u := range list {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b use) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.word, b.word)) })
	return slices.Compact(all)
}

// An allow list has a line "file, word, count" for each use.
func readAllowList(t *testing.T, path string) map[use]int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list := map[use]int{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), ", ")
		if len(cells) != 3 {
			t.Fatalf("%s: %q is not file, word, count", path, line)
		}
		n, err := strconv.Atoi(cells[2])
		if err != nil || n < 1 {
			t.Fatalf("%s: %q has no count", path, line)
		}
		list[use{cells[0], cells[1]}] = n
	}
	return list
}

func writeAllowList(t *testing.T, path string, list map[use]int) {
	t.Helper()
	var text strings.Builder
	for _, u := range sortedUses(list) {
		fmt.Fprintf(&text, "%s, %s, %d\n", u.file, u.word, list[u])
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
