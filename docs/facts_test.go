package docs

import (
	"os"
	"regexp"
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
			if !testName.MatchString(cells[len(cells)-1]) {
				t.Errorf("%s: no test in %s", title, row[0])
			}
		}
		if len(rows) != want {
			t.Errorf("%s: %d rows, want %d", title, len(rows), want)
		}
	}
}

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
