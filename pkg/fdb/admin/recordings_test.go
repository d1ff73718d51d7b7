package admin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// recordedRun is one run of a tool in a recording.
type recordedRun struct {
	N          int             `json:"n"`
	Argv       json.RawMessage `json:"argv"`
	Stdout     string          `json:"stdout"`
	StdoutFile string          `json:"stdout_file"`
	Stderr     string          `json:"stderr"`
	Exit       *int            `json:"exit"`
}

// notQueried are answers that are not understood, with the reason why that is
// acceptable.
var notQueried = map[string]string{
	"02c-exec-lexer-and-errors.json step 64": "two --exec, of which the last counts",
	"02c-exec-lexer-and-errors.json step 74": "an integer option as 7.1 wants it fails without a word",
	"11-extras.json step 20":                 "setclass is not used",
}

// script is the --exec text of a run of fdbcli; empty for anything else.
func (r recordedRun) script() string {
	var argv []string
	if json.Unmarshal(r.Argv, &argv) != nil || len(argv) == 0 || filepath.Base(argv[0]) != "fdbcli" {
		return ""
	}
	if i := slices.Index(argv, "--exec"); i >= 0 && i+1 < len(argv) {
		return argv[i+1]
	}
	return ""
}

func (r recordedRun) result(t *testing.T, folder string) (Result, bool) {
	t.Helper()
	if r.Exit == nil {
		return Result{}, false // ended by the recorder
	}
	stdout := []byte(r.Stdout)
	if r.StdoutFile != "" {
		content, err := os.ReadFile(filepath.Join(folder, r.StdoutFile))
		if err != nil {
			t.Fatal(err)
		}
		stdout = content
	}
	exitCode := *r.Exit
	if exitCode < 0 {
		exitCode = exitCrashed - exitCode
	}
	return Result{Stdout: stdout, Stderr: []byte(r.Stderr), ExitCode: exitCode}, true
}

// TestEveryRecordedFdbcliAnswerIsParsed goes through everything that FoundationDB was
// recorded to answer, from FDB_RECORDINGS or from ../shared/recordings beside the
// repository. Excerpts are in the other tests.
func TestEveryRecordedFdbcliAnswerIsParsed(t *testing.T) {
	root := os.Getenv("FDB_RECORDINGS")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "recordings")
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("NOT RUN: no recordings under %s; set FDB_RECORDINGS", root)
	}
	understood := 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var recording struct{ Steps []recordedRun }
		if err := json.Unmarshal(content, &recording); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for i, run := range recording.Steps {
			script := run.script()
			r, ended := run.result(t, filepath.Dir(file))
			if script == "" || !ended {
				continue
			}
			understood++
			step := fmt.Sprintf("%s step %d", filepath.Base(file), max(run.N, i+1))
			if complaint := misunderstood(script, r); complaint != "" && notQueried[step] == "" {
				t.Errorf("%s, %q: %s", step, script, complaint)
			}
		}
	}
	const atLeast = 800
	if understood < atLeast {
		t.Errorf("only %d runs of fdbcli in the recordings, want %d", understood, atLeast)
	}
}

// misunderstood is what is wrong with how an answer is read; empty when nothing is.
func misunderstood(script string, r Result) string {
	crashed := r.ExitCode >= exitCrashed
	if e := failureOf("replaying", r); e != nil {
		if e.Kind == KindUnparsed && !crashed {
			return "failure not understood: " + e.Error()
		}
		if strings.Contains(e.Detail, "FORCE") {
			return "relays a hint to force: " + e.Error()
		}
		return ""
	}
	lines := answerLines(r.Stdout)
	words := strings.Fields(script)
	switch {
	case strings.Contains(script, ";") || len(words) == 0:
		return ""
	case script == "status json":
		if _, err := fdb.ParseStatus(r.Stdout); err != nil {
			return err.Error()
		}
	case script == "maintenance":
		if _, ok := parseMaintenance(lines); !ok {
			return "maintenance not understood"
		}
	case script == "kill":
		if _, ok := parseKillable(lines); !ok {
			return "list of processes not understood"
		}
	case words[0] == "configure" && len(words) > 1:
		if !slices.ContainsFunc(lines, func(l string) bool { return slices.Contains(append(changedTexts, createdTexts...), l) }) {
			return "neither success nor failure"
		}
	case words[0] == "coordinators" && len(words) > 1:
		if !slices.ContainsFunc(lines, func(l string) bool { return slices.Contains(coordinatorTexts, l) }) {
			return "neither success nor failure"
		}
	case words[0] == "include", words[0] == "maintenance":
		if len(lines) > 0 {
			return "expected silence, got " + strconv.Quote(lines[0])
		}
	case words[0] == "get" && len(words) == 2:
		return misreadValue(words[1], lines)
	case words[0] == "getrange" && len(words) == 4:
		return misreadRange(words[3], lines)
	}
	return ""
}

func misreadValue(token string, lines []string) string {
	key, err := unprintable(token)
	if err != nil || len(lines) != 1 {
		return "not one line"
	}
	if _, _, err := parseValue(key, lines[0]); err != nil {
		return err.Error()
	}
	return ""
}

func misreadRange(limit string, lines []string) string {
	n, err := strconv.Atoi(limit)
	if err != nil {
		return err.Error()
	}
	rows, rest, err := parseRange(n, lines)
	full := len(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !isRow(l) })) >= n
	switch {
	case full && err == nil:
		return "a range that may have more rows is taken for all of it"
	case full:
		return ""
	case err != nil:
		return err.Error()
	case len(rest) > 0:
		return "left over: " + strconv.Quote(rest[0])
	case len(rows) != len(lines)-1:
		return "rows are missing"
	}
	return ""
}
