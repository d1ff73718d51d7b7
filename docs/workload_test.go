package docs

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
)

// The page about the load has every rule, in the words of the command.
func TestTheWorkloadPageListsEveryThreshold(t *testing.T) {
	text, err := os.ReadFile("workload.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| `") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	for _, r := range workload.Rules() {
		slow, source := "-", r.Source
		if r.Slow > 0 {
			slow = r.Unit.Text(r.Slow)
		}
		if r.NearSource != "" {
			source += "; near: " + r.NearSource
		}
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s | %s |", r.Code, r.Title, r.Unit.Text(r.Near), slow, source))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
