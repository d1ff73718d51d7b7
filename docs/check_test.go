package docs

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
)

var passedAndFailed = regexp.MustCompile(`(?m)^found: .*; (\d+) rules passed, (\d+) failed$`)

// The first sample of the page is of this version: its summary counts all rules, and its rows are those that failed.
func TestTheCheckPageSampleCountsEveryRule(t *testing.T) {
	text, err := os.ReadFile("check.md")
	if err != nil {
		t.Fatal(err)
	}
	m := passedAndFailed.FindSubmatchIndex(text)
	if m == nil {
		t.Fatal("the page has no sample with a summary")
	}
	passed, err := strconv.Atoi(string(text[m[2]:m[3]]))
	if err != nil {
		t.Fatal(err)
	}
	failed := map[string]bool{}
	for _, r := range check.Rules() {
		if strings.Contains(string(text[:m[0]]), "\n"+r.Code+" ") {
			failed[r.Code] = true
		}
	}
	if got := string(text[m[4]:m[5]]); passed+len(failed) != len(check.Rules()) || got != strconv.Itoa(len(failed)) {
		t.Errorf("%d rules passed, %s failed; there are %d rules, and rows of %d", passed, got, len(check.Rules()), len(failed))
	}
}

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
