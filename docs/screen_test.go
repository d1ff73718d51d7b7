package docs

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

// The page about the dashboard lists all keys.
func TestTheDashboardPageListsAllKeys(t *testing.T) {
	text, err := os.ReadFile("dashboard.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "\n## Keys\n")
	if !found {
		t.Fatal("the page has no section Keys")
	}
	section, _, _ := strings.Cut(after, "\n## ")
	var got []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| ") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{"| | key | does |"}
	last := ""
	for _, k := range tui.Keys() {
		heading := k.Section
		if heading == last {
			heading = ""
		}
		last = k.Section
		want = append(want, strings.ReplaceAll(fmt.Sprintf("| %s | `%s` | %s |", heading, k.Press, k.Does), "|  |", "| |"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
