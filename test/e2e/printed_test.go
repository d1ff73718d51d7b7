package e2e

import (
	"regexp"
	"strings"
	"testing"
)

// at80 runs a line as shell does, with a terminal of 80 columns for its output. Errors are collected apart from it.
func (p *walk) at80(t *testing.T, line string) result {
	t.Helper()
	quoted := "'" + strings.ReplaceAll(line, "'", `'\''`) + "'"
	r := p.shell(t, "LINE="+quoted+` TERM=dumb NO_COLOR=1 script -qec 'stty cols 80 rows 24; exec 2>.stderr </dev/null; eval "$LINE"' /dev/null </dev/null; code=$?; cat .stderr >&2; exit $code`)
	r.stdout = strings.ReplaceAll(r.stdout, "\r", "")
	return r
}

// assignment is a line that keeps what a command prints in a variable, for the lines that follow.
var assignment = regexp.MustCompile(`^([A-Z]+)=\$\((.*)\)$`)

// assign runs an assignment: every command has a shell of its own, and its variables in its environment.
func (p *walk) assign(t *testing.T, command string) bool {
	t.Helper()
	m := assignment.FindStringSubmatch(command)
	if m == nil {
		return false
	}
	value := strings.TrimSpace(p.must(t, m[2]))
	if value == "" {
		t.Fatalf("%s: %s prints nothing", p.name, command)
	}
	p.env = append(p.env, m[1]+"="+value)
	t.Logf("$ %s\n%s", command, value)
	return true
}

// mustPrint fails the test if a line of the page below a command is not printed in its place.
func (p *walk) mustPrint(t *testing.T, command string, r result) {
	t.Helper()
	runs := p.outputs[command]
	if len(runs) == 0 {
		return
	}
	p.outputs[command] = runs[1:]
	for i, line := range runs[0] {
		runs[0][i] = ofNamespace.ReplaceAllString(line, p.ns)
	}
	if line := missingLine(runs[0], r.stdout+" "+r.stderr); line != "" {
		t.Fatalf("%s: %s\ndoes not print, or not in this order: %s\nbut:\n%s%s", p.name, command, line, r.stdout, r.stderr)
	}
}

// ofNamespace is the namespace of the pages.
var ofNamespace = regexp.MustCompile(`\bdefault\b`)

// missingLine returns the first line of a page that was not printed after the lines before it; empty for none. Lines may
// be wrapped elsewhere, since names have other lengths; what differs in every cluster is compared as such.
func missingLine(lines []string, printed string) string {
	rest := generalized(printed)
	for _, line := range lines {
		parts := strings.Split(generalized(line), "…")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(strings.TrimSpace(part))
		}
		at := regexp.MustCompile(strings.Join(parts, ".*?")).FindStringIndex(rest)
		if at == nil {
			return line
		}
		rest = rest[at[1]:]
	}
	return ""
}

// differing are what differs from cluster to cluster and from run to run.
var differing = []struct {
	is   *regexp.Regexp
	word string
}{
	{regexp.MustCompile(`\b(storage|log|stateless)-\d{2,6}\b`), "$1-ID"},
	{regexp.MustCompile(`\bnode-\d+\b`), "node-N"},
	{regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+(:\d+)?`), "ADDRESS"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|s|m|h|d))+\b`), "TIME"},
	{regexp.MustCompile(`\b\d+(\.\d+)?([KMG]i)?B\b`), "SIZE"},
	{regexp.MustCompile(`\s+`), " "},
}

func generalized(text string) string {
	for _, d := range differing {
		text = d.is.ReplaceAllString(text, d.word)
	}
	return strings.TrimSpace(text)
}

// outputsOf are the lines that a page shows below each of its commands, in the order of all runs. Lines of
// nothing but … stand for others.
func outputsOf(text string) map[string][][]string {
	outputs := map[string][][]string{}
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		if m[1] != "console" {
			continue
		}
		command := ""
		for line := range strings.Lines(strings.ReplaceAll(m[2], "\\\n", "")) {
			line = strings.TrimSpace(line)
			if typed, is := strings.CutPrefix(line, "$ "); is {
				command = comment.ReplaceAllString(typed, "")
				outputs[command] = append(outputs[command], nil)
				continue
			}
			if runs := outputs[command]; command != "" && line != "" && line != "…" {
				runs[len(runs)-1] = append(runs[len(runs)-1], line)
			}
		}
	}
	return outputs
}

func TestAPageThatShowsAnotherOutputIsDetected(t *testing.T) {
	page := outputsOf("```console\n$ one\nstorage-12345 runs for 5s\n…\nend …\n$ two\n```\n")
	if len(page["one"]) != 1 || len(page["one"][0]) != 2 || len(page["two"]) != 1 {
		t.Fatalf("%v", page)
	}
	for printed, want := range map[string]bool{
		"storage-9876   runs for\n 1m3s\nmore\nend of it\n": true,
		"end of it\nstorage-9876 runs for 1m3s\n":           false,
		"storage-9876 ended after 1m3s\nend of it\n":        false,
	} {
		if got := missingLine(page["one"][0], printed) == ""; got != want {
			t.Errorf("%q: %t, want %t", printed, got, want)
		}
	}
}
