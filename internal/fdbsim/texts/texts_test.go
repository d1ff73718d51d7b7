package texts

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEveryEmbeddedFdbcliAnswerHasOutput(t *testing.T) {
	content, err := files.ReadFile("answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []Answer
	if err := json.Unmarshal(content, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(answers()) || len(all) == 0 {
		t.Errorf("%d lines, %d of them different", len(all), len(answers()))
	}
	for _, a := range all {
		if a.Stdout == "" && a.Stderr == "" {
			t.Errorf("%q prints nothing", a.Line)
		}
	}
}

func TestEveryFdbcliCommandHasHelpAndUsage(t *testing.T) {
	overview, _ := Help(Overview)
	for line := range strings.Lines(overview) {
		name, isCommand := strings.CutSuffix(strings.TrimPrefix(line, " "), ":\n")
		if !isCommand || !strings.HasPrefix(line, " ") || name == "help" {
			continue
		}
		if _, ok := Help(name); !ok {
			t.Errorf("no help for %q", name)
		}
		if usage, ok := CommandUsage(name); !ok || !strings.HasPrefix(usage, name) {
			t.Errorf("no usage for %q", name)
		}
	}
	for _, program := range []string{"fdbcli", "fdbbackup", "fdbrestore"} {
		if !strings.Contains(Usage(program), program) {
			t.Errorf("no usage of %s", program)
		}
	}
}
