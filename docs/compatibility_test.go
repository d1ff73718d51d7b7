package docs

import (
	"os"
	"strings"
	"testing"
)

// Every difference from the manual is demonstrated: the last cell of each row names a test.
func TestEveryDifferenceFromTheManualHasATest(t *testing.T) {
	text, err := os.ReadFile("compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## Differences from the manual\n")
	if !found {
		t.Fatal("compatibility.md has no table of differences from the manual")
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	rows := 0
	for line := range strings.SplitSeq(body, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if !strings.HasPrefix(line, "| ") || cells[len(cells)-1] == "test" {
			continue
		}
		rows++
		if len(cells) != 4 {
			t.Errorf("%d cells, want 4: %s", len(cells), line)
		}
		if !testName.MatchString(cells[len(cells)-1]) {
			t.Errorf("no test in %s", line)
		}
	}
	if rows == 0 {
		t.Error("the tables have no rows")
	}
}
