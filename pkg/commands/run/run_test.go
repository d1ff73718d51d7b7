package run_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// stateOf reads a state file.
func stateOf(t *testing.T, path string) *runbook.Progress {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := runbook.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// statuses are the statuses of all steps and compensations.
func statuses(p *runbook.Progress) string {
	var all []string
	for _, s := range append(append([]runbook.Result{}, p.Steps...), p.Compensations...) {
		all = append(all, s.Name+"="+string(s.Status))
	}
	return strings.Join(all, " ")
}

// approved is a runbook that grows the cluster by an approved plan.
const approvedSteps = `- name: plan
  run: reconcile ${cluster} --wait --dry-run -o json
  save: plan
  on: {no: continue}
- name: approval
  approve: {who: the team lead, plan: plan}
- name: apply
  run: reconcile ${cluster} --plan ${plan} --yes --wait
  unknown: repeat
- name: healthy
  wait: {run: 'wait ${cluster} --for=available', every: 5s}
  timeout: 10m
`

func TestARunbookAppliesOnlyAfterApprovalOfThePlanDigest(t *testing.T) {
	g := commandstest.Up(t)
	g.Cluster.Resource.Spec.ProcessCounts.Storage = 4
	g.Cluster.Resource.Generation++
	file, state := commandstest.Book(t, approvedSteps), filepath.Join(t.TempDir(), "state.json")
	if code := g.Run("run", file, "--state", state); code != exit.ExitUnconfirmed {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if got, want := statuses(stateOf(t, state)), "plan=done approval=failed apply=pending healthy=pending"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	hint := regexp.MustCompile(`--approve (approval=sha256:[0-9a-f]{64})`).FindStringSubmatch(g.Err.String())
	if hint == nil {
		t.Fatalf("the digest is not in the hint: %s", &g.Err)
	}
	if n := len(g.Cluster.Resource.Status.ProcessGroups); n != 9 {
		t.Fatalf("%d process groups before the approval", n)
	}
	if code := g.Run("run", file, "--state", state, "--approve", "approval=sha256:00"); code != exit.ExitConflict {
		t.Fatalf("exit code %d with another digest: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("run", file, "--state", state, "--approve", hint[1]); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	p := stateOf(t, state)
	if got, want := statuses(p), "plan=done approval=done apply=done healthy=done"; got != want || p.Outcome != runbook.Succeeded {
		t.Errorf("%s, want %s; outcome %s", got, want, p.Outcome)
	}
	if a := p.Steps[1].Approval; a == nil || a.Who != "the team lead" || a.By != "me@here pid 1" || a.How != "digest" || "approval="+a.Digest != hint[1] {
		t.Errorf("approval %+v", a)
	}
	if n := len(g.Cluster.Resource.Status.ProcessGroups); n != 10 {
		t.Errorf("%d process groups", n)
	}
	if code := g.Run("run", file, "--state", state); code != exit.ExitUsage {
		t.Errorf("exit code %d for a run that has ended: %s", code, &g.Err)
	}
}

// A pipeline plans on one machine and applies on another one.
func TestARunbookStateDirectoryCanBeMoved(t *testing.T) {
	g := commandstest.Up(t)
	file, from, to := commandstest.Book(t, approvedSteps), t.TempDir(), filepath.Join(t.TempDir(), "moved")
	if code := g.Run("run", file, "--state", filepath.Join(from, "state.json")); code != exit.ExitUnconfirmed {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(to, "state.json")
	if code := g.Run("run", file, "--state", state, "--approve", "approval="+stateOf(t, state).Steps[1].Digest); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestARunbookApprovalIsPromptedForOnATerminal(t *testing.T) {
	for answer, want := range map[string]int{"y\n": exit.ExitDone, "n\n": exit.ExitUnconfirmed, "": exit.ExitUnconfirmed} {
		g := commandstest.Up(t)
		g.Input = new(answer)
		if code := g.Run("run", commandstest.Book(t, "- {name: approval, approve: {who: me}}\n- {name: resume, run: 'resume ${cluster} --yes'}\n")); code != want {
			t.Errorf("answer %q: exit code %d, want %d: %s%s", answer, code, want, &g.Out, &g.Err)
		}
	}
}

func TestAModifiedPlanIsNotApplied(t *testing.T) {
	g := commandstest.Up(t)
	file, state := commandstest.Book(t, approvedSteps), filepath.Join(t.TempDir(), "state.json")
	if code := g.Run("run", file, "--state", state); code != exit.ExitUnconfirmed {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	digest := regexp.MustCompile(`--approve (\S+)`).FindStringSubmatch(g.Err.String())[1]
	plan := stateOf(t, state).Steps[0].Saved.Path
	if err := os.WriteFile(plan, []byte(`{"digest":"`+strings.TrimPrefix(digest, "approval=")+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := g.Run("run", file, "--state", state, "--approve", digest); code != exit.ExitConflict {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if got, want := statuses(stateOf(t, state)), "plan=done approval=failed apply=pending healthy=pending"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestARunbookWithChangesRequiresApproval(t *testing.T) {
	const changing = "- {name: status, check: 'status ${cluster}'}\n- {name: pause, run: 'pause ${cluster} --yes', compensate: 'resume ${cluster} --yes'}\n"
	g := commandstest.Up(t)
	state := filepath.Join(t.TempDir(), "state.json")
	if code := g.Run("run", commandstest.Book(t, changing), "--state", state); code != exit.ExitUnconfirmed {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if _, err := os.Stat(state); !os.IsNotExist(err) {
		t.Errorf("something ran: %v", err)
	}
	for name, row := range map[string]struct {
		input string
		args  []string
		want  int
	}{
		"an answer approves":   {"y\n", nil, exit.ExitDone},
		"no answer refuses":    {"n\n", nil, exit.ExitUnconfirmed},
		"a flag approves":      {"", []string{"--yes"}, exit.ExitDone},
		"a dry run needs none": {"", []string{"--dry-run"}, exit.ExitDone},
	} {
		g := commandstest.Up(t)
		if row.input != "" {
			g.Input = &row.input
		}
		if code := g.Run(append([]string{"run", commandstest.Book(t, changing)}, row.args...)...); code != row.want {
			t.Errorf("%s: exit code %d, want %d: %s%s", name, code, row.want, &g.Out, &g.Err)
		}
	}
}

// Every mistake is reported with its line, and nothing runs.
func TestAnInvalidRunbookIsRefusedBeforeItsFirstStep(t *testing.T) {
	const first = "- {name: first, run: 'pause ${cluster} --yes'}\n"
	for name, row := range map[string]struct {
		steps string
		args  []string
		want  string
	}{
		"an unknown command":            {"- {name: a, run: 'frobnicate'}\n", nil, "book.yaml:8: "},
		"an unknown subcommand":         {"- {name: a, run: 'get frob'}\n", nil, "book.yaml:8: "},
		"a group of commands":           {"- {name: a, run: 'locks'}\n", nil, "book.yaml:8: "},
		"an unknown flag":               {"- {name: a, run: 'status --frob'}\n", nil, "book.yaml:8: "},
		"an invalid value of a flag":    {"- {name: a, run: 'wait ${cluster} --for=available --timeout soon'}\n", nil, "book.yaml:8: "},
		"too many arguments":            {"- {name: a, run: 'status a b c'}\n", nil, "book.yaml:8: "},
		"an unknown step":               {"- {name: a, frob: 'status'}\n", nil, "book.yaml:8: "},
		"an unknown variable":           {"- {name: a, run: 'status ${frob}'}\n", nil, "book.yaml:8: "},
		"a command that does not end":   {"- {name: a, run: 'watch ${cluster}'}\n", nil, "book.yaml:8: "},
		"a flag without an end":         {"- {name: a, run: 'status ${cluster} -w'}\n", nil, "book.yaml:8: "},
		"a runbook in a runbook":        {"- {name: a, run: 'run other.yaml'}\n", nil, "book.yaml:8: "},
		"a check that changes":          {"- {name: a, check: 'pause ${cluster} --yes'}\n", nil, "book.yaml:8: "},
		"a check that may change":       {"- {name: a, check: 'pause ${cluster}'}\n", nil, "book.yaml:8: "},
		"help":                          {"- {name: a, run: 'status --help'}\n", nil, "book.yaml:8: "},
		"a compensation with a mistake": {"- {name: a, run: status, compensate: 'status --frob'}\n", nil, "book.yaml:8: "},
		"an unknown --var":              {"", []string{"--var", "frob=1"}, "unknown variable \"frob\""},
		"a --var without a value":       {"", []string{"--var", "frob"}, "NAME=VALUE"},
		"an unknown approval":           {"", []string{"--approve", "first=x"}, "no approval of this name"},
		"an unknown report":             {"", []string{"--report", "pdf=x"}, "--report"},
		"an unknown decision":           {"", []string{"--unknown", "maybe"}, "--unknown"},
		"a format that is none":         {"", []string{"-o", "pdf"}, "-o must be"},
		"a dry run with a state":        {"", []string{"--dry-run"}, "--dry-run conflicts with --state"},
		"a list that is printed":        {"", []string{"--list", "--print"}, "--list conflicts with --print"},
	} {
		g := commandstest.Up(t)
		state := filepath.Join(t.TempDir(), "state.json")
		file := commandstest.Book(t, first+row.steps)
		code := g.Run(append([]string{"run", file, "--yes", "--state", state}, row.args...)...)
		if code != exit.ExitUsage || !strings.Contains(g.Err.String(), row.want) {
			t.Errorf("%s: exit code %d, want %d and %q: %s%s", name, code, exit.ExitUsage, row.want, &g.Out, &g.Err)
		}
		if _, err := os.Stat(state); !os.IsNotExist(err) {
			t.Errorf("%s: something ran: %v", name, err)
		}
	}
}

func TestAChangedRunbookIsRefusedOnceAStepRan(t *testing.T) {
	g := commandstest.Up(t)
	file, state := commandstest.Book(t, "- {name: a, check: 'status ${cluster}'}\n- {name: b, approve: {who: me}}\n"), filepath.Join(t.TempDir(), "state.json")
	if code := g.Run("run", file, "--state", state); code != exit.ExitUnconfirmed {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("run", commandstest.Book(t, "- {name: a, check: 'status ${cluster}'}\n"), "--state", state); code != exit.ExitConflict {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("run", file, "--state", state, "--var", "cluster=other"); code != exit.ExitUsage {
		t.Errorf("exit code %d with another variable: %s%s", code, &g.Out, &g.Err)
	}
}

// killed is a state in which a step was started, and did not end.
func killed(t *testing.T, g *commandstest.Given, file string) (state string) {
	t.Helper()
	state = filepath.Join(t.TempDir(), "state.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := runbook.Parse(text)
	p := runbook.Begin(runbook.Checked{Runbook: b, Values: map[string]string{"cluster": "sample"}}, runbook.Digest(text), g.Cluster.Now())
	b.Next(p).Start([]string{"pause", "sample", "--yes"}, g.Cluster.Now())
	p.Approved = true
	out, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(state, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return state
}

func TestARunbookStepWithAnUnknownOutcomeRequiresADecision(t *testing.T) {
	file := commandstest.Book(t, "- {name: a, run: 'pause ${cluster} --yes'}\n- {name: b, check: 'status ${cluster}'}\n")
	for name, row := range map[string]struct {
		args     []string
		want     int
		attempts int
	}{
		"none is an error":     {nil, exit.ExitUnreachable, 1},
		"repeat runs it again": {[]string{"--unknown", "repeat"}, exit.ExitDone, 1},
		"done continues":       {[]string{"--unknown", "done"}, exit.ExitDone, 1},
	} {
		g := commandstest.Up(t)
		state := killed(t, g, file)
		if code := g.Run(append([]string{"run", file, "--state", state}, row.args...)...); code != row.want {
			t.Errorf("%s: exit code %d, want %d: %s%s", name, code, row.want, &g.Out, &g.Err)
		}
		ran := strings.Contains(g.Err.String(), "[1/2] a: pause")
		if ran != (name == "repeat runs it again") {
			t.Errorf("%s: the step ran: %v", name, ran)
		}
	}
}

func TestARepeatableStepWithAnUnknownOutcomeRunsAgain(t *testing.T) {
	file := commandstest.Book(t, "- {name: a, run: 'pause ${cluster} --yes', unknown: repeat}\n")
	g := commandstest.Up(t)
	if code := g.Run("run", file, "--state", killed(t, g, file)); code != exit.ExitDone {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

// The state is written before and after every step, so at any of them it has all that ran.
func TestAnInterruptedRunbookResumesFromItsStateFile(t *testing.T) {
	g := commandstest.Up(t)
	file, state := commandstest.Book(t, "- {name: a, check: 'status ${cluster}'}\n- {name: b, wait: {for: 1h}}\n- {name: c, check: 'status ${cluster}'}\n"), filepath.Join(t.TempDir(), "state.json")
	ctx, cancel := context.WithCancelCause(t.Context())
	g.Clock.OnTimer = func(time.Duration) bool {
		cancel(&exit.InterruptedError{Signal: os.Interrupt})
		return true
	}
	if code := g.RunIn(ctx, "run", file, "--state", state); code != exit.ExitInterrupted {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if got, want := statuses(stateOf(t, state)), "a=done b=interrupted c=pending"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := "hint: kubectl fdb run " + file + " --state " + state + " -n fdb --context test\n"
	if !strings.Contains(g.Err.String(), want) {
		t.Errorf("%s, want %s", &g.Err, want)
	}
	g.Clock.OnTimer = nil
	if code := g.Run("run", file, "--state", state); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if got, want := statuses(stateOf(t, state)), "a=done b=done c=done"; got != want || strings.Contains(g.Err.String(), "[1/3]") {
		t.Errorf("%s, want %s: %s", got, want, &g.Err)
	}
}

func TestRunbookWaitsAndRunsTimeOut(t *testing.T) {
	const wait = "- {name: a, wait: {run: 'plan ${cluster}', every: 5s}, timeout: 10m}\n"
	for name, row := range map[string]struct {
		text string
		ran  string
	}{
		"a wait":        {commandstest.Book(t, wait), "a=failed"},
		"the whole run": {commandstest.BookFile(t, "apiVersion: runbook.kubectl-fdb/v1\nkind: Runbook\nmetadata: {name: book}\ntimeout: 5m\nvars:\n- {name: cluster, default: sample}\nsteps:\n"+wait), "a=interrupted"},
	} {
		g := commandstest.Up(t)
		g.Cluster.Resource.Spec.ProcessCounts.Storage = 4
		g.Cluster.Resource.Generation++
		state := filepath.Join(t.TempDir(), "state.json")
		code := g.Run("run", row.text, "--state", state)
		if got := statuses(stateOf(t, state)); code != exit.ExitWaiting || got != row.ran {
			t.Errorf("%s: exit code %d, want %d; %s, want %s: %s%s", name, code, exit.ExitWaiting, got, row.ran, &g.Out, &g.Err)
		}
	}
}

func TestARunbookStopsIfAnotherRunWroteItsStateFile(t *testing.T) {
	g := commandstest.Up(t)
	state := filepath.Join(t.TempDir(), "state.json")
	g.Clock.OnTimer = func(time.Duration) bool {
		if err := os.WriteFile(state, []byte("{}"), 0o600); err != nil {
			t.Error(err)
		}
		return false
	}
	if code := g.Run("run", commandstest.Book(t, "- {name: a, wait: {for: 5s}}\n- {name: b, check: 'status ${cluster}'}\n"), "--state", state); code != exit.ExitConflict || strings.Contains(g.Err.String(), "[2/2]") {
		t.Errorf("exit code %d, want %d: %s%s", code, exit.ExitConflict, &g.Out, &g.Err)
	}
	if code := g.Run("run", commandstest.Book(t, "- {name: a, wait: {for: 5s}}\n"), "--state", filepath.Join(commandstest.Book(t, ""), "state.json")); code != exit.ExitUsage {
		t.Errorf("exit code %d for a state that cannot be written: %s%s", code, &g.Out, &g.Err)
	}
}

func TestTheExitCodeOfARunbookRunFollowsItsSteps(t *testing.T) {
	for name, row := range map[string]struct {
		steps string
		want  int
		ran   string
	}{
		"a code that continues":   {"- {name: a, check: 'can reconcile missing', on: {usage: continue}}\n- {name: b, check: 'status ${cluster}'}\n", exit.ExitDone, "a=done b=done"},
		"a code that stops":       {"- {name: a, check: 'status missing'}\n- {name: b, check: 'status ${cluster}'}\n", exit.ExitUsage, "a=failed b=pending"},
		"a code that ends":        {"- {name: a, check: 'status missing', on: {2: end}}\n- {name: b, check: 'status ${cluster}'}\n", exit.ExitDone, "a=done b=skipped"},
		"a code that retries":     {"- {name: a, check: 'status missing', on: {2: retry}, retry: {every: 5s, limit: 2}}\n", exit.ExitUsage, "a=failed"},
		"a code that compensates": {"- {name: a, run: 'pause ${cluster} --yes', compensate: 'resume ${cluster} --yes'}\n- {name: b, check: 'status missing', on: {usage: compensate}}\n- {name: c, check: status}\n", exit.ExitUsage, "a=done b=failed c=skipped a=done"},
		"a compensation fails":    {"- {name: a, run: 'pause ${cluster} --yes', compensate: 'resume missing --yes'}\n- {name: b, check: 'status missing', on: {usage: compensate}}\n", exit.ExitPartly, "a=done b=failed a=failed"},
		"a wait that cannot end":  {"- {name: a, wait: {run: 'status missing', every: 5s}, timeout: 10m}\n", exit.ExitUsage, "a=failed"},
	} {
		g := commandstest.Up(t)
		state := filepath.Join(t.TempDir(), "state.json")
		code := g.Run("run", commandstest.Book(t, row.steps), "--yes", "--state", state)
		if got := statuses(stateOf(t, state)); code != row.want || got != row.ran {
			t.Errorf("%s: exit code %d, want %d; %s, want %s: %s%s", name, code, row.want, got, row.ran, &g.Out, &g.Err)
		}
	}
}

func TestARunbookStepCapturesValuesForLaterSteps(t *testing.T) {
	g := commandstest.Up(t)
	state := filepath.Join(t.TempDir(), "state.json")
	steps := `- name: groups
  check: get pg ${cluster} -o json
  capture: {group: '{.items[0].id}'}
- name: describe
  check: describe process-group ${cluster} ${group}
- name: missing
  check: get pg ${cluster} -o json
  capture: {frob: .frob}
`
	if code := g.Run("run", commandstest.Book(t, steps), "--state", state); code != exit.ExitUnreachable {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	p := stateOf(t, state)
	if got, want := statuses(p), "groups=done describe=done missing=failed"; got != want {
		t.Fatalf("%s, want %s: %s", got, want, &g.Err)
	}
	if diff := cmp.Diff([]string{"describe", "process-group", "sample", p.Values["group"]}, p.Steps[1].Arguments); diff != "" {
		t.Error(diff)
	}
}

// Before a value is known, a step was validated as one that changes nothing.
func TestACapturedValueCannotTurnAReadOnlyStepIntoAChange(t *testing.T) {
	g := commandstest.Up(t)
	state := filepath.Join(t.TempDir(), "state.json")
	const steps = "- {name: a, check: 'status ${cluster} -o json', capture: {t: '{.database.locked}'}}\n- {name: b, run: 'gc ${cluster} --dry-run --dry-run=${t}'}\n"
	if code := g.Run("run", commandstest.Book(t, steps), "--state", state); code != exit.ExitUsage {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if got, want := statuses(stateOf(t, state)), "a=done b=failed"; got != want {
		t.Errorf("%s, want %s: %s", got, want, &g.Err)
	}
}

func TestARunbookDryRunForecastsEveryStep(t *testing.T) {
	g := commandstest.Up(t)
	g.Cluster.Resource.Spec.ProcessCounts.Storage = 4
	g.Cluster.Resource.Generation++
	if code := g.Run("run", commandstest.Book(t, approvedSteps), "--dry-run", "-o", "json"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	var f struct {
		Steps []struct {
			Name, Why, Output string
			ExitCode          *int
			Digest            *string
			Forecast          []string
		}
	}
	if err := json.Unmarshal(g.Out.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Steps) != 4 || f.Steps[0].ExitCode == nil || f.Steps[1].Digest == nil || f.Steps[2].ExitCode == nil || f.Steps[3].Why != "waits" {
		t.Fatalf("%+v", f.Steps)
	}
	if diff := cmp.Diff([]string{"reconcile", "sample", "--wait", "--dry-run"}, f.Steps[2].Forecast); diff != "" {
		t.Error(diff)
	}
	if n := len(g.Cluster.Resource.Status.ProcessGroups); n != 9 {
		t.Errorf("%d process groups after a dry run", n)
	}
}

func TestRunbookReportsContainEveryStep(t *testing.T) {
	g := commandstest.Up(t)
	dir := t.TempDir()
	junit, document := filepath.Join(dir, "junit.xml"), filepath.Join(dir, "report.json")
	if code := g.Run("run", commandstest.Book(t, "- {name: a, check: 'status ${cluster}'}\n- {name: b, check: 'status missing'}\n- {name: c, check: 'status ${cluster}'}\n"), "--report", "junit="+junit, "--report", "json="+document); code != exit.ExitUsage {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	commandstest.Valid(t, "run --report json", text)
	var suites struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Failure string `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if text, err = os.ReadFile(junit); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(text, &suites); err != nil {
		t.Fatal(err)
	}
	if s := suites.Suites[0]; s.Tests != 3 || s.Failures != 1 || s.Skipped != 1 || !strings.Contains(s.Cases[1].Failure, "missing") {
		t.Errorf("%+v\n%s", s, text)
	}
}

// fitsSchema validates a runbook with the schema that editors use.
func fitsSchema(t *testing.T, name string, text []byte) {
	t.Helper()
	var document any
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	if err := commandstest.Validators()["Runbook"].Validate(document); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

func TestShippedRunbooksAreListedAndPrinted(t *testing.T) {
	g := commandstest.NewGiven(t)
	if code := g.Run("run", "--list", "-o", "name"); code != exit.ExitDone || g.Out.Len() == 0 {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	for name := range strings.Lines(g.Out.String()) {
		name = strings.TrimSpace(name)
		if code := commandstest.NewGiven(t).Run("run", name, "--print"); code != exit.ExitDone {
			t.Errorf("%s: exit code %d", name, code)
		}
		text, err := os.ReadFile(filepath.Join("../../../docs/runbooks", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if _, runs := shippedRunbooks[name]; !runs {
			t.Errorf("%s is not run by TestShippedRunbooksRun", name)
		}
		fitsSchema(t, name, text)
		if parsed, problems := runbook.Parse(text); len(problems) > 0 || parsed.Metadata.Name != name {
			t.Errorf("%s: %v, named %s", name, problems, parsed.Metadata.Name)
		}
	}
	if code := g.Run("run", "frobnicate"); code != exit.ExitUsage {
		t.Errorf("exit code %d", code)
	}
	if code := g.Run("run"); code != exit.ExitUsage {
		t.Errorf("exit code %d", code)
	}
}

// shippedRunbooks are those that the program comes with: the variables of a run over the model, and how it
// ends. In the model no coordinator is lost, and no agent of a backup is ready: these two end early.
var shippedRunbooks = map[string]struct {
	prepare func(*testing.T) *commandstest.Given
	vars    []string
	code    int
	ran     string
}{
	"continue-upgrade": {
		func(t *testing.T) *commandstest.Given {
			t.Helper()
			g := commandstest.Up(t)
			g.Cluster.Resource.Spec.Version = "7.3.80"
			g.Cluster.Resource.Generation++
			return g
		},
		[]string{"version=7.3.80"},
		exit.ExitDone,
		"blocking-clients=done can-upgrade=done plan=done approval=done upgrade=done upgraded=done",
	},
	"deny-lost-owner": {
		commandstest.Together,
		[]string{"owner=dc2"},
		exit.ExitDone,
		"locks=done plan=done approval=done deny=done reconcile=done locks-after=done",
	},
	"end-exclusions": {
		func(t *testing.T) *commandstest.Given {
			t.Helper()
			g := commandstest.Up(t)
			g.Run("exclude", "sample", string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID), "--yes", "--wait")
			return g
		}, nil, exit.ExitDone,
		"exclusions=done causes=done processes=done capacity=done plan=done approval=done include=done",
	},
	"recover-coordinators": {
		func(t *testing.T) *commandstest.Given {
			t.Helper()
			v := commandstest.NewVault(t)
			v.Answers(admin.Result{}, nil)
			return v.Given
		},
		[]string{"incident=4711"},
		exit.ExitDone,
		"facts=done pause-operators=skipped connection-strings=skipped plan=skipped approval=skipped recover=skipped verified=skipped resume-operators=skipped",
	},
	"repair-coordinators": {
		commandstest.Up, nil, exit.ExitDone,
		"coordinators=done connection-strings=done plan=done approval=done repair=done available=done",
	},
	"replace-failed-disk": {
		commandstest.Up,
		[]string{"group=GROUP"},
		exit.ExitDone,
		"symptoms=done findings=done safe=done plan=done approval=done replace=done healthy=done",
	},
	"restore-lost-cluster": {
		func(t *testing.T) *commandstest.Given {
			t.Helper()
			return commandstest.NewVault(t).Given
		},
		[]string{"restore=again", "limit=5m"},
		exit.ExitWaiting,
		"approval=done new-cluster=done available=done preview=done restore=failed restored=pending",
	},
	"roll-out-change": {
		func(t *testing.T) *commandstest.Given {
			t.Helper()
			g := commandstest.Up(t)
			g.Cluster.Resource.Spec.ProcessCounts.Storage = 4
			g.Cluster.Resource.Generation++
			return g
		}, nil, exit.ExitDone,
		"healthy-before=done plan=done approval=done apply=done reconciled=done",
	},
}

func TestShippedRunbooksRun(t *testing.T) {
	for name, row := range shippedRunbooks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := row.prepare(t)
			args := []string{"run", name, "--var", "cluster=sample"}
			for _, v := range row.vars {
				args = append(args, "--var", strings.ReplaceAll(v, "GROUP", string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID)))
			}
			if code := g.Run(append(args, "--dry-run")...); code != exit.ExitDone {
				t.Fatalf("dry run: exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			state := filepath.Join(t.TempDir(), "state.json")
			g.Input = new(strings.Repeat("y\n", 3))
			code := g.Run(append(args, "--state", state)...)
			if got := statuses(stateOf(t, state)); code != row.code || got != row.ran {
				t.Errorf("exit code %d, want %d; %s, want %s: %s%s", code, row.code, got, row.ran, &g.Out, &g.Err)
			}
		})
	}
}
