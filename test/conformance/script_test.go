package conformance

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// step is one line of a script.
type step struct {
	theme  string
	number int // counts the commands of the theme, from 1
	kind   stepKind
	argv   []string
	stdin  string
	pause  time.Duration
}

// stepKind is what a step does.
type stepKind string

const (
	// runs a command, whose outputs are compared.
	stepRun stepKind = "run"
	// waits on both sides until the database is stable.
	stepSettle stepKind = "settle"
	// lets time pass on both sides.
	stepPause stepKind = "pause"
	// stops a process from answering.
	stepFreeze stepKind = "freeze"
	// lets a stopped process continue.
	stepThaw stepKind = "thaw"
)

// key identifies a command in the list of differences.
func (s step) key() string { return fmt.Sprintf("%s/%d", s.theme, s.number) }

// readScripts parses a file of commands. Its first lines describe the syntax.
func readScripts(t *testing.T, name string) []step {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var steps []step
	theme, number := "", 0
	for n, line := range strings.Split(string(content), "\n") {
		verb, rest, _ := strings.Cut(line, " ")
		if verb == "" || verb == "#" {
			continue
		}
		if verb == "theme" {
			theme, number = rest, 0
			continue
		}
		s, err := parseStep(verb, rest)
		if err != nil || theme == "" {
			t.Fatalf("%s:%d: %q: theme %q, error %v", name, n+1, line, theme, err)
		}
		if s.kind == stepRun {
			number++
		}
		s.theme, s.number = theme, number
		steps = append(steps, s)
	}
	return steps
}

func parseStep(verb, rest string) (step, error) {
	switch verb {
	case "exec": // a line for fdbcli --exec
		return step{kind: stepRun, argv: []string{"fdbcli", "-C", clusterFileWord, "--timeout", "10", "--exec", rest}}, nil
	case "stdin": // a quoted text for fdbcli's standard input
		text, err := strconv.Unquote(rest)
		return step{kind: stepRun, argv: []string{"fdbcli", "-C", clusterFileWord}, stdin: text}, err
	case "run": // an argument vector, separated by blanks
		return step{kind: stepRun, argv: strings.Fields(rest)}, nil
	case "freeze", "thaw":
		return step{kind: stepKind(verb), argv: strings.Fields(rest)}, nil
	case "settle":
		return step{kind: stepSettle}, nil
	case "pause":
		d, err := time.ParseDuration(rest)
		return step{kind: stepPause, pause: d}, err
	}
	return step{}, fmt.Errorf("unknown verb %q", verb)
}

// readDifferences reads the explained differences, "KEY: why" a line.
func readDifferences(t *testing.T, name string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for n, line := range strings.Split(string(content), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, why, ok := strings.Cut(line, ": ")
		if _, twice := known[key]; !ok || why == "" || twice {
			t.Fatalf("%s:%d: %q is not KEY: why, or is listed twice", name, n+1, line)
		}
		known[key] = why
	}
	return known
}

// TestTheConformanceScriptsParse verifies that every line parses and that there are enough.
func TestTheConformanceScriptsParse(t *testing.T) {
	commands := 0
	for _, s := range readScripts(t, commandsFile) {
		if s.kind == stepRun {
			commands++
		}
	}
	if commands < 500 {
		t.Errorf("%d commands, want at least 500", commands)
	}
	for _, version := range recordedVersions(t) {
		readDifferences(t, differencesFile(version))
	}
}
