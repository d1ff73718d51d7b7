package docs

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// The page about versions has every fact of the data file, as the commands know it.
func TestTheVersionsPageListsEveryVersionFact(t *testing.T) {
	text, err := os.ReadFile("versions.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| **") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	for _, changes := range []bool{false, true} {
		for _, f := range versionfacts.All() {
			if changes == (len(f.Changes) > 0) {
				want = append(want, versionFactRow(f))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// knownHeads are the branches of the FoundationDB commits that the documentation cites. A commit of
// the wrong branch proves nothing: a fact about 7.4.7 was once cited from the head of release-7.3.
var knownHeads = map[string]string{
	"997780b0cc": "release-7.4",
	"c0c44752df": "main",
}

var citedHead = regexp.MustCompile(`\b([0-9a-f]{8,40}) \((main|release-[0-9.]+)\b`)

func TestCitedCommitsBelongToTheirBranches(t *testing.T) {
	cited := map[string]bool{}
	for name, text := range pages(t) {
		for _, m := range citedHead.FindAllStringSubmatch(text, -1) {
			cited[m[1]] = true
			if knownHeads[m[1]] != m[2] {
				t.Errorf("%s: %s, which is of branch %q", name, m[0], knownHeads[m[1]])
			}
		}
	}
	for head := range knownHeads {
		if !cited[head] {
			t.Errorf("%s is not cited", head)
		}
	}
}

// The page explains every consequence and every condition.
func TestTheVersionsPageExplainsConsequencesAndConditions(t *testing.T) {
	text, err := os.ReadFile("versions.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range versionfacts.Consequences() {
		if !strings.Contains(string(text), fmt.Sprintf("\n| `%s` |", c)) {
			t.Errorf("no row for the consequence %s", c)
		}
	}
	for _, f := range versionfacts.All() {
		if f.When != "" && !strings.Contains(string(text), fmt.Sprintf("\n| `%s` |", f.When)) {
			t.Errorf("no row for the condition %s", f.When)
		}
	}
}

func versionFactRow(f versionfacts.Fact) string {
	versions := ranges(f.Running)
	for i, c := range f.Changes {
		if i > 0 {
			versions += "; "
		}
		versions += ranges(c.From) + " → " + ranges(c.To)
	}
	sources := make([]string, len(f.Sources))
	for i, url := range f.Sources {
		sources[i] = fmt.Sprintf("[%s](%s)", label(url), url)
	}
	return fmt.Sprintf("| **%s** | %s | %s | %s | %s; %s | %s: %s | %s |", f.ID, versions, phrase.Or(string(f.When), "always"), f.Consequence,
		f.Summary, f.Advice, f.Evidence, f.Verified, strings.Join(sources, ", "))
}

func ranges(list []versionfacts.Range) string {
	words := make([]string, len(list))
	for i, r := range list {
		words[i] = r.String()
	}
	return strings.Join(words, ", ")
}

// label returns OWNER/REPOSITORY#NUMBER for a thread, and the last part of any other URL.
func label(url string) string {
	parts := strings.Split(url, "/")
	last := parts[len(parts)-1]
	switch parts[len(parts)-2] {
	case "pull", "issues":
		return fmt.Sprintf("%s/%s#%s", parts[3], parts[4], last)
	case "commit":
		return "commit " + last
	}
	return parts[6] + " " + last
}
