package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page lists exactly what dumps and plans show, since readers decide by it what they send.
func TestTheDumpsPageListsTheAllowListOfTheRedactor(t *testing.T) {
	type entry struct{ Why, Pattern string }
	var list struct{ Environment, Annotations, Exceptions []entry }
	text, err := os.ReadFile("../pkg/redact/harmless.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	want := "| what | names | why |\n|---|---|---|\n"
	add := func(what string, all []entry) {
		for _, e := range all {
			want += fmt.Sprintf("| %s | `%s` | %s |\n", what, strings.ReplaceAll(e.Pattern, "|", `\|`), e.Why)
		}
	}
	add("environment variable", list.Environment)
	add("annotation", list.Annotations)
	add("annotation that is hidden", list.Exceptions)
	page, err := os.ReadFile("dumps.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- allow list -->\n")
	got, _, _ := strings.Cut(rest, "<!-- end of the allow list -->")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
