package docs

import (
	"os"
	"strings"
	"testing"
)

// Every difference from the manual is demonstrated: each row has an ID, and so a test (TestEveryRuleHasATestThatExists).
func TestEveryDifferenceFromTheManualHasAnID(t *testing.T) {
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
	for _, row := range anyRow.FindAllString(body, -1) {
		if strings.HasPrefix(row, "| id |") {
			continue
		}
		rows++
		if cells := strings.Split(strings.Trim(row, "| "), " | "); len(cells) != 4 || !ruleRow.MatchString(row) {
			t.Errorf("%d cells, want 4 with an ID first: %s", len(cells), row)
		}
	}
	if rows == 0 {
		t.Error("the tables have no rows")
	}
}
