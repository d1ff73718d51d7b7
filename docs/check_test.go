package docs

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/check"
)

// The page about check has every rule, in the words of the command.
func TestTheCheckPageListsEveryRule(t *testing.T) {
	text, err := os.ReadFile("check.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| **") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	for _, r := range check.Rules() {
		want = append(want, fmt.Sprintf("| **%s** | %s | %s | %s |", r.Code, r.Severity, r.Title, r.Why))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
