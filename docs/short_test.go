package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	shortAllowList = "testdata/short.txt"
	longestShort   = 60
)

// verbs are what the summary of a command begins with.
var verbs = strings.Fields(`Abort Add Allow Annotate Apply Change Check Compare Configure Copy Cordon Create Delete Deny Detect
	Describe Diff Disable Display Drain Enable Evacuate Exclude Execute Expire Explain Export Find Follow Force Generate Hold Include
	Inspect Install List Manage Mark Open Pause Plan Preview Print Query Read Rebuild Reconcile Recreate Release Remove
	Repair Report Replace Restart Restore Resume Run Set Show Start Stop Sync Synchronize Take Test Trigger Uncordon Update Upgrade
	Validate Verify View Wait Watch Write`)

// relative matches the words that begin relative clauses.
var relative = regexp.MustCompile(`\b(who|whose|which|that)\b`)

// faultOf returns what is wrong with the summary of a command, or "".
func faultOf(short string) string {
	first, _, _ := strings.Cut(short, " ")
	switch {
	case len([]rune(short)) > longestShort:
		return fmt.Sprintf("has %d characters, at most %d are allowed", len([]rune(short)), longestShort)
	case strings.HasSuffix(short, "."):
		return "ends with a full stop"
	case relative.MatchString(short):
		return "has a relative clause"
	case !slices.Contains(verbs, strings.TrimRight(first, ",")):
		return fmt.Sprintf("does not begin with an imperative verb: %q", first)
	}
	return ""
}

func TestWhichShortDescriptionsAreValid(t *testing.T) {
	tests := map[string]bool{
		"Replace process groups":          true,
		"Cordon, drain or uncordon nodes": true,
		"Replace process groups.":         false,
		"replace process groups":          false,
		"Replaces process groups":         false,
		"Process groups":                  false,
		"Replace groups that fail":        false,
		"":                                false,
		"Replace process groups and everything else in sixty-one runes": false,
		"Replace process groups and everything else in sixty letters ä": false,
		"Replace process groups and everything else in sixty letters":   true,
	}
	for short, want := range tests {
		if fault := faultOf(short); (fault == "") != want {
			t.Errorf("%q: %q", short, fault)
		}
	}
}

// The allow list names commands whose summary is to be rewritten; it only shrinks.
func TestEveryCommandHasAValidShortDescription(t *testing.T) {
	listed, err := os.ReadFile(shortAllowList)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{}
	for line := range strings.Lines(string(listed)) {
		allowed[strings.TrimSpace(line)] = true
	}
	kept := ""
	for _, s := range summaries(t) {
		fault := faultOf(s.short)
		switch {
		case fault != "" && !allowed[s.command]:
			t.Errorf("%s: Short %q %s", s.command, s.short, fault)
		case fault == "" && allowed[s.command] && !*update:
			t.Errorf("%s: Short %q is correct: run go test ./docs -run TestEveryCommandHasAValidShortDescription -update", s.command, s.short)
		case fault != "":
			kept += s.command + "\n"
		}
		delete(allowed, s.command)
	}
	if *update {
		if err := os.WriteFile(shortAllowList, []byte(kept), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	for command := range allowed {
		t.Errorf("%s lists %q, which is no command", shortAllowList, command)
	}
}

type summary struct{ command, short string }

// summaries returns the commands with their Short, read from the pages that the program writes
// about itself.
func summaries(t *testing.T) []summary {
	t.Helper()
	dir := generatedPages(t)
	var all []summary
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if parts := strings.SplitN(string(text), "\n\n", 3); len(parts) == 3 {
			all = append(all, summary{strings.TrimPrefix(parts[0], "# "), strings.TrimSpace(parts[1])})
		}
		return err
	})
	if err != nil || len(all) < 50 {
		t.Fatalf("%d commands: %v", len(all), err)
	}
	return all
}
