package docs

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var factRow = regexp.MustCompile(`(?m)^\| (\d+) \|.*$`)

// Every fact that was ever written down is held by a test: none is left out, none is
// there twice, and none is only talked about.
func TestEveryFactHasATest(t *testing.T) {
	text, err := os.ReadFile("facts.md")
	if err != nil {
		t.Fatal(err)
	}
	for title, want := range map[string]int{"The order of steps": 27, "Findings": 15, "Traps": 30} {
		rows := factRow.FindAllStringSubmatch(section(t, string(text), title), -1)
		for i, row := range rows {
			if number := strconv.Itoa(i + 1); row[1] != number {
				t.Fatalf("%s: row %s stands where %s should", title, row[1], number)
			}
			cells := strings.Split(strings.Trim(row[0], "| "), " | ")
			if !testName.MatchString(cells[len(cells)-1]) {
				t.Errorf("%s: no test holds %s", title, row[0])
			}
		}
		if len(rows) != want {
			t.Errorf("%s: %d rows, want %d", title, len(rows), want)
		}
	}
}

// section is what stands under a heading, up to the next one.
func section(t *testing.T, text, title string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n## "+title+"\n")
	if !found {
		t.Fatalf("facts.md has no section %q", title)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}
