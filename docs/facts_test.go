package docs

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var factRow = regexp.MustCompile(`(?m)^\| (\d+) \|.*$`)

// Every fact has a test: the rows are complete, without duplicates, and each names one.
func TestEveryFactHasATest(t *testing.T) {
	text, err := os.ReadFile("facts.md")
	if err != nil {
		t.Fatal(err)
	}
	for title, want := range map[string]int{"The order of stages": 27, "Findings": 15, "Traps": 30} {
		rows := factRow.FindAllStringSubmatch(section(t, string(text), title), -1)
		for i, row := range rows {
			if number := strconv.Itoa(i + 1); row[1] != number {
				t.Fatalf("%s: row %s instead of %s", title, row[1], number)
			}
			cells := strings.Split(strings.Trim(row[0], "| "), " | ")
			if !testName.MatchString(cells[len(cells)-2]) { // the last one is the evidence
				t.Errorf("%s: no test in %s", title, row[0])
			}
		}
		if len(rows) != want {
			t.Errorf("%s: %d rows, want %d", title, len(rows), want)
		}
	}
}

// evidenceOf is what the last cell of a row about a fact may have.
var evidenceOf = map[string]bool{"`recorded`": true, "`run`": true, "`read`": true}

// factsOfThePlugin are the sections that have no facts of other programs.
var factsOfThePlugin = []string{"How each fact is known", "Without a database", "Stories", "Faults"}

// TestEveryFactHasOneKindOfEvidence reads the rows of all tables: each ends with one of the words that
// the page explains, and every word is used.
func TestEveryFactHasOneKindOfEvidence(t *testing.T) {
	text, err := os.ReadFile("facts.md")
	if err != nil {
		t.Fatal(err)
	}
	explained := section(t, string(text), "How each fact is known")
	used := map[string]int{}
	for _, part := range strings.Split(string(text), "\n## ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		if slices.Contains(factsOfThePlugin, title) {
			continue
		}
		rows := tableRow.FindAllString(body, -1)
		if len(rows) < 3 || !strings.HasSuffix(rows[0], " | evidence |") {
			t.Fatalf("%s: %d rows without evidence", title, len(rows))
		}
		for _, row := range rows[2:] {
			cells := strings.Split(strings.Trim(row, "| "), " | ")
			last := cells[len(cells)-1]
			if !evidenceOf[last] || len(cells) != strings.Count(rows[0], " | ")+1 {
				t.Errorf("%s: the evidence is %q in %s", title, last, row)
			}
			used[last]++
		}
	}
	for word := range evidenceOf {
		if used[word] == 0 || !strings.Contains(explained, "| "+word+" |") {
			t.Errorf("%s: %d rows, explained: %t", word, used[word], strings.Contains(explained, "| "+word+" |"))
		}
	}
}

var tableRow = regexp.MustCompile(`(?m)^\|.*\|$`)

// section returns the text under a heading, up to the next one.
func section(t *testing.T, text, title string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n## "+title+"\n")
	if !found {
		t.Fatalf("facts.md has no section %q", title)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}
