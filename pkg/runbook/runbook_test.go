package runbook_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
)

// commands knows the command "status" and "reconcile".
type commands struct{ seen [][]string }

func (c *commands) Command(words []string) (runbook.Traits, error) {
	c.seen = append(c.seen, words)
	yes := slices.Contains(words, "--yes")
	switch words[0] {
	case "status":
		return runbook.Traits{Command: "status", ReadOnly: true, JSON: slices.Contains(words, "json")}, nil
	case "reconcile":
		return runbook.Traits{Command: "reconcile", Changes: yes, ReadOnly: !yes, Forecasts: true}, nil
	}
	return runbook.Traits{}, errors.New("unknown command")
}

func (*commands) Path(expression string) error {
	if strings.Contains(expression, "[") {
		return errors.New("unterminated array")
	}
	return nil
}

// checked is a runbook with these steps and no problem.
func checked(t *testing.T, steps string, given map[string]string) runbook.Checked {
	t.Helper()
	book, problems := runbook.Parse([]byte(head + steps))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c, problems := book.Check(given, &commands{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return c
}

const head = `apiVersion: runbook.kubectl-fdb/v1
kind: Runbook
metadata: {name: book}
vars:
- {name: cluster, default: sample}
steps:
`

// Each file of testdata is refused; its golden file has every problem with its line.
func TestInvalidRunbooksAreRejectedWithLineNumbers(t *testing.T) {
	files, err := filepath.Glob("testdata/invalid/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			book, problems := runbook.Parse(text)
			if len(problems) == 0 {
				_, problems = book.Check(map[string]string{"other": "x"}, &commands{})
			}
			if len(problems) == 0 {
				t.Fatal("it is valid")
			}
			var lines []string
			for _, p := range problems {
				lines = append(lines, p.In(filepath.Base(file)))
			}
			golden.RequireEqual(t, []byte(strings.Join(lines, "\n")+"\n"))
		})
	}
}

func TestARunbookCommandIsAStringOrAListOfArguments(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		want runbook.Arguments
	}{
		"a line is split at blanks":                 {`run: status  sample -o json`, runbook.Arguments{"status", "sample", "-o", "json"}},
		"quotes keep blanks":                        {`run: status 'a b' "c \" d" e\ f`, runbook.Arguments{"status", "a b", `c " d`, "e f"}},
		"an empty quote is a word":                  {`run: status ''`, runbook.Arguments{"status", ""}},
		"a list is taken as it is":                  {`run: [status, "a b", 'c"d']`, runbook.Arguments{"status", "a b", `c"d`}},
		"nothing of a shell works":                  {`run: status $HOME * | cat > x`, runbook.Arguments{"status", "$HOME", "*", "|", "cat", ">", "x"}},
		"a backslash in single quotes is a literal": {`run: status 'a\b'`, runbook.Arguments{"status", `a\b`}},
	} {
		book, problems := runbook.Parse([]byte(head + "- name: one\n  " + row.text + "\n"))
		if len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
			continue
		}
		if diff := cmp.Diff(row.want, book.Steps[0].Run); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestARunbookValueExpandsWithinOneArgumentAndNeverToAFlag(t *testing.T) {
	values := map[string]string{"v": `a b' --yes "`, "dash": "--yes", "empty": ""}
	got, err := runbook.Arguments{"status", "${v}", "x${v}${v}", "--reason=${dash}", "${empty}"}.Expand(values)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"status", `a b' --yes "`, `xa b' --yes "a b' --yes "`, "--reason=--yes", ""}, got); diff != "" {
		t.Error(diff)
	}
	for _, word := range []string{"${dash}", "${empty}${dash}"} {
		if _, err := (runbook.Arguments{"status", word}).Expand(values); !errors.Is(err, runbook.ErrBecomesFlag) {
			t.Errorf("%s: %v, want %v", word, err, runbook.ErrBecomesFlag)
		}
	}
}

func TestRunbookVariablesHaveDefaultsAndOverrides(t *testing.T) {
	c := checked(t, "- {name: one, run: 'status ${cluster}'}\n", nil)
	if diff := cmp.Diff(map[string]string{"cluster": "sample"}, c.Values); diff != "" {
		t.Error(diff)
	}
	c = checked(t, "- {name: one, run: 'status ${cluster}'}\n", map[string]string{"cluster": "other"})
	if diff := cmp.Diff(map[string]string{"cluster": "other"}, c.Values); diff != "" {
		t.Error(diff)
	}
}

// What a captured value will be is unknown, so the command is validated with the reference.
func TestRunbookCommandsAreValidatedWithKnownVariables(t *testing.T) {
	book, _ := runbook.Parse([]byte(head + `- {name: one, check: 'status ${cluster} -o json', capture: {zone: .zone}}
- {name: two, run: 'reconcile ${cluster} ${zone} --yes', compensate: 'reconcile ${cluster}'}
`))
	known := &commands{}
	if _, problems := book.Check(nil, known); len(problems) > 0 {
		t.Fatal(problems)
	}
	want := [][]string{{"status", "sample", "-o", "json"}, {"reconcile", "sample", "${zone}", "--yes"}, {"reconcile", "sample"}}
	if diff := cmp.Diff(want, known.seen); diff != "" {
		t.Error(diff)
	}
}

// play runs the steps of a runbook whose commands end with these codes, and returns what ran.
func play(c runbook.Checked, p *runbook.Progress, codes ...int) (ran []string, last runbook.Action) {
	now := time.Unix(0, 0)
	for {
		m := c.Next(p)
		if m.Result == nil {
			return ran, last
		}
		code := 0
		if len(codes) > 0 {
			code, codes = codes[0], codes[1:]
		}
		name := m.Result.Name
		if m.Compensates {
			name = "revert " + name
		}
		ran = append(ran, name)
		m.Start(nil, now)
		last = c.End(p, m, code, "", now)
	}
}

func TestRunbookStepsBranchOnExitCodes(t *testing.T) {
	const steps = `- {name: a, run: status, compensate: 'reconcile a'}
- {name: b, run: status, on: {no: continue, 3: retry, conflict: compensate, refused: end}, retry: {every: 5s, limit: 2, then: compensate}, compensate: 'reconcile b'}
- {name: c, run: status}
`
	for name, row := range map[string]struct {
		codes   []int
		ran     []string
		outcome runbook.Outcome
	}{
		"0 continues":                               {nil, []string{"a", "b", "c"}, runbook.Succeeded},
		"a listed code continues":                   {[]int{0, 1}, []string{"a", "b", "c"}, runbook.Succeeded},
		"any other code stops":                      {[]int{0, 8}, []string{"a", "b"}, runbook.Stopped},
		"the last step stops too":                   {[]int{0, 0, 1}, []string{"a", "b", "c"}, runbook.Stopped},
		"a code ends the run":                       {[]int{0, 4}, []string{"a", "b"}, runbook.Succeeded},
		"a code repeats the step":                   {[]int{0, 3, 3, 0}, []string{"a", "b", "b", "b", "c"}, runbook.Succeeded},
		"repetitions have a limit":                  {[]int{0, 3, 3, 3}, []string{"a", "b", "b", "b", "revert b", "revert a"}, runbook.Compensated},
		"a code reverts what ran, last one first":   {[]int{0, 6}, []string{"a", "b", "revert b", "revert a"}, runbook.Compensated},
		"a reversal that fails does not end others": {[]int{0, 6, 4}, []string{"a", "b", "revert b", "revert a"}, runbook.Stopped},
	} {
		c := checked(t, steps, nil)
		p := runbook.Begin(c, "digest", time.Unix(0, 0))
		ran, _ := play(c, p, row.codes...)
		if diff := cmp.Diff(row.ran, ran); diff != "" || p.Outcome != row.outcome {
			t.Errorf("%s: outcome %s, want %s\n%s", name, p.Outcome, row.outcome, diff)
		}
	}
}

func TestARunWithNothingToCompensateEndsAsCompensated(t *testing.T) {
	c := checked(t, "- {name: a, run: status, on: {no: compensate}}\n", nil)
	p := runbook.Begin(c, "digest", time.Unix(0, 0))
	if ran, _ := play(c, p, 1); len(ran) != 1 || p.Outcome != runbook.Compensated {
		t.Errorf("%v, outcome %s", ran, p.Outcome)
	}
}

func TestAResumedRunbookContinuesAtItsUnfinishedStep(t *testing.T) {
	c := checked(t, "- {name: a, run: status}\n- {name: b, run: status}\n- {name: c, run: status}\n", nil)
	p := runbook.Begin(c, "digest", time.Unix(0, 0))
	if ran, _ := play(c, p, 0, 4); len(ran) != 2 {
		t.Fatal(ran)
	}
	text, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := runbook.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, read); diff != "" {
		t.Fatal(diff)
	}
	read.Resume()
	if ran, _ := play(c, read); !slices.Equal(ran, []string{"b", "c"}) || read.Outcome != runbook.Succeeded {
		t.Errorf("%v, outcome %s", ran, read.Outcome)
	}
}

func TestAFailedRunbookCompensationIsRetriedAlone(t *testing.T) {
	c := checked(t, "- {name: a, run: status, compensate: 'reconcile a'}\n- {name: b, run: status, compensate: 'reconcile b', on: {no: compensate}}\n", nil)
	p := runbook.Begin(c, "digest", time.Unix(0, 0))
	if ran, _ := play(c, p, 0, 1, 4, 0); len(ran) != 4 || p.Outcome != runbook.Stopped {
		t.Fatal(ran, p.Outcome)
	}
	p.Resume()
	if ran, _ := play(c, p); !slices.Equal(ran, []string{"revert b"}) || p.Outcome != runbook.Compensated {
		t.Errorf("%v, outcome %s", ran, p.Outcome)
	}
}

func TestAnUnfinishedRunbookStepHasAnUnknownOutcome(t *testing.T) {
	c := checked(t, "- {name: a, run: status}\n", nil)
	p := runbook.Begin(c, "digest", time.Unix(0, 0))
	if len(p.Unknown()) != 0 || p.Ran() {
		t.Fatal("nothing has run")
	}
	c.Next(p).Start([]string{"status"}, time.Unix(0, 0))
	if unknown := p.Unknown(); len(unknown) != 1 || unknown[0].Name != "a" || !p.Ran() {
		t.Error(unknown)
	}
}

func TestRunbookStateOfAnotherKindOrVersionIsRefused(t *testing.T) {
	for _, text := range []string{"", "{}", `{"apiVersion":"runbook.kubectl-fdb/v2","kind":"RunbookState"}`, `{"apiVersion":"runbook.kubectl-fdb/v1","kind":"Runbook"}`} {
		if p, err := runbook.Decode([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, p)
		}
	}
}

func TestTheApprovalDigestCoversTheRunbookAndItsVariables(t *testing.T) {
	one := runbook.ApprovalDigest("d", map[string]string{"a": "1", "b": "2"})
	for name, other := range map[string]string{
		"another runbook":     runbook.ApprovalDigest("e", map[string]string{"a": "1", "b": "2"}),
		"another value":       runbook.ApprovalDigest("d", map[string]string{"a": "1", "b": "3"}),
		"a variable less":     runbook.ApprovalDigest("d", map[string]string{"a": "1"}),
		"values that join up": runbook.ApprovalDigest("d", map[string]string{"a": "1\"\n\"b\"=\"2"}),
	} {
		if one == other {
			t.Errorf("%s has the same digest", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/invalid/*.yaml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text []byte) {
		if book, problems := runbook.Parse(text); len(problems) == 0 {
			_, _ = book.Check(nil, &commands{})
		}
	})
}
