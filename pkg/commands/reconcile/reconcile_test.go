package reconcile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func rejected(kind plan.RefusalKind) error {
	return &reconcile.AdmissionError{Refusal: plan.NewRefusal(plan.WrittenPod, "p", kind, "pods", "the API server's text")}
}

// What needs none of the refused objects is still done, so the command does not end like one that a gate refused.
func TestARefusalByAPolicyIsNotWaitedFor(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Cluster.Refuse = commandstest.Refuse("CreatePod", rejected(plan.RefusedByPolicy))
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitRefused || len(g.Cluster.Volumes) == 0 {
		t.Errorf("got %d with %d PVCs: %s", code, len(g.Cluster.Volumes), &g.Err)
	}
	if text := g.Out.String() + g.Err.String(); strings.Contains(text, "can-i") || !strings.Contains(text, "an admission policy or webhook pods refused 9 objects") {
		t.Errorf("got %s", text)
	}
}

// fullFor is a quota without room for pods for a while.
func fullFor(d time.Duration) func(*commandstest.Given) {
	return func(g *commandstest.Given) {
		until := g.Cluster.Now().Add(d)
		g.Cluster.Refuse = func(a plan.Action) error {
			if plan.KindOf(a) == "CreatePod" && g.Cluster.Now().Before(until) {
				return rejected(plan.RefusedByQuota)
			}
			return nil
		}
	}
}

func contradictRegions(g *commandstest.Given) {
	d := &g.Cluster.Resource.Spec.DatabaseConfiguration
	d.UsableRegions = 1
	d.Regions = []v1beta2.Region{{Datacenters: []v1beta2.DataCenter{{ID: "dc1", Priority: 1}}}, {Datacenters: []v1beta2.DataCenter{{ID: "dc2"}}}}
}

func setParameter(parameter v1beta2.FoundationDBCustomParameter) func(*commandstest.Given) {
	return func(g *commandstest.Given) {
		g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{parameter}},
		}
	}
}

var suppressTraceEvents = setParameter("knob_min_trace_severity=20")

// A spec that is not carried out can still be read, and work on process groups goes on.
func TestARejectedSpecBlocksPlanButNotReadsOrReplace(t *testing.T) {
	for name, given := range map[string]func(*commandstest.Given){"regions": contradictRegions, "a knob": suppressTraceEvents, "an argument of a pass": setParameter("class=storage")} {
		for _, args := range [][]string{{"status", "sample"}, {"get", "process-groups", "sample"}, {"why", "sample"}, {"check", "sample"}, {"replace", "sample", "--class", "log", "--dry-run"}} {
			t.Run(name+" and "+args[0], func(t *testing.T) {
				g := commandstest.Up(t)
				given(g)
				if code := g.Run(args...); code == exit.ExitUsage {
					t.Errorf("%v ends with %d: %s", args, code, &g.Err)
				}
			})
		}
		t.Run(name+" and plan", func(t *testing.T) {
			g := commandstest.Up(t)
			given(g)
			if code := g.Run("plan", "sample"); code != exit.ExitUsage {
				t.Errorf("plan ends with %d, want %d: %s", code, exit.ExitUsage, &g.Out)
			}
		})
	}
}

// The audit of a run that is resumed has the reason of the first one, and it ends as late.
func TestAResumeHintRepeatsEveryFlagThatWasTyped(t *testing.T) {
	for name, c := range map[string]struct{ typed, repeated []string }{
		"none but approval and wait":    {},
		"a reason with blanks":          {[]string{"--reason", "CHG-42 slow disk"}, []string{"--reason", "'CHG-42 slow disk'"}},
		"an interval":                   {[]string{"--interval", "2s"}, []string{"--interval", "2s"}},
		"a short flag and those of all": {[]string{"-v", "1", "--color", "never", "--request-timeout", "7s"}, []string{"--color", "never", "--request-timeout", "7s", "--timeout", "10m0s", "--v", "1"}},
		"a change of the spec":          {[]string{"--set", "processCounts.storage=6", "--set", "processCounts.log=5"}, []string{"--set", "processCounts.storage=6", "--set", "processCounts.log=5"}},
		"what the change repeats, once": {[]string{"--skip", "UpdateLabels", "--coexist"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			g.Cluster.Refuse = func(plan.Action) error { cancel(&exit.InterruptedError{Signal: os.Interrupt}); return nil }
			code := g.RunIn(ctx, slices.Concat([]string{"reconcile", "sample", "--yes", "--wait", "--timeout", "10m"}, c.typed)...)
			if code != exit.ExitInterrupted {
				t.Fatalf("exit code %d: %s", code, &g.Err)
			}
			_, hint, _ := strings.Cut(g.Err.String(), "hint: resume: ")
			hint, _, _ = strings.Cut(hint, "\n")
			for _, flag := range slices.Concat([]string{"--timeout"}, c.typed) {
				typed := max(1, strings.Count(strings.Join(c.typed, " "), flag))
				if strings.HasPrefix(flag, "--") && strings.Count(hint, flag) != typed {
					t.Errorf("%s is repeated %d times: %s", flag, strings.Count(hint, flag), &g.Err)
				}
			}
			if want := strings.Join(c.repeated, " "); !strings.Contains(hint, want) {
				t.Errorf("%s does not have %s", hint, want)
			}
		})
	}
}

func TestReconcileExitCodes(t *testing.T) {
	tests := map[string]struct {
		given func(*commandstest.Given)
		args  []string
		want  int
		says  string // on stderr
	}{
		"one pass starts a cluster and time has to pass":  {args: []string{"sample", "--yes"}, want: exit.ExitWaiting, says: "hint: wait until done: kubectl fdb reconcile sample --wait --yes -n fdb --context test"},
		"with --wait it ends when nothing is left":        {args: []string{"sample", "--yes", "--wait"}, want: exit.ExitDone},
		"fdb/NAME names the cluster, too":                 {args: []string{"fdb/sample", "--yes", "--wait"}, want: exit.ExitDone},
		"-c names the cluster, too":                       {args: []string{"-c", "sample", "--yes", "--wait"}, want: exit.ExitDone},
		"--timeout ends a wait":                           {args: []string{"sample", "--yes", "--wait", "--timeout", "3s"}, want: exit.ExitWaiting, says: "hint: resume: kubectl fdb reconcile sample --wait --yes"},
		"without a terminal a user has to have agreed":    {args: []string{"sample"}, want: exit.ExitUnconfirmed, says: "--yes"},
		"without a terminal the cluster name is required": {args: []string{"--yes"}, want: exit.ExitUsage, says: "cluster name is required"},
		"the environment names it":                        {given: func(g *commandstest.Given) { g.Env[session.ClusterVariable] = "sample" }, args: []string{"--yes", "--wait"}, want: exit.ExitDone},
		"an unknown cluster":                              {args: []string{"other", "--yes"}, want: exit.ExitUsage, says: "FoundationDBCluster other not found in namespace fdb, which has sample"},
		"something else than a cluster":                   {args: []string{"pod/other", "--yes"}, want: exit.ExitUsage, says: "fdb/NAME"},
		"two clusters":                                    {args: []string{"sample", "-c", "other", "--yes"}, want: exit.ExitUsage, says: "only one cluster is allowed, not"},
		"a record that contradicts itself":                {given: func(g *commandstest.Given) { g.Cluster.Resource.Spec.Version = "seven" }, args: []string{"sample", "--yes"}, want: exit.ExitUsage, says: "is invalid"},
		"regions that contradict each other":              {given: contradictRegions, args: []string{"sample", "--yes"}, want: exit.ExitUsage, says: "spec.databaseConfiguration.usable_regions: Invalid value: 1: must be 2 while data centers dc1 and dc2"},
		"the same with --wait":                            {given: contradictRegions, args: []string{"sample", "--yes", "--wait"}, want: exit.ExitUsage, says: "give one a negative priority"},
		"an argument that a pass sets":                    {given: setParameter("locality_instance_id=x"), args: []string{"sample", "--yes"}, want: exit.ExitUsage, says: "spec.processes[general].customParameters[0]: Forbidden: locality_instance_id=x: a pass sets locality_instance_id itself: remove the parameter"},
		"a knob that suppresses trace events":             {given: suppressTraceEvents, args: []string{"sample", "--yes"}, want: exit.ExitUsage, says: `spec.processes[general].customParameters[0]: Invalid value: "knob_min_trace_severity=20": must be at most 10`},
		"an unknown output":                               {args: []string{"sample", "--yes", "-o", "xml"}, want: exit.ExitUsage, says: "-o must be one of table"},
		"an unknown step":                                 {args: []string{"sample", "--yes", "--only", "AddPods,Dance"}, want: exit.ExitUsage, says: "UpdateStatus, CheckDeletion, CheckFields, UpdateLockConfiguration, CancelReplacements, CheckDistribution, UpdateConfigMap"},
		"nothing left to run":                             {args: []string{"sample", "--yes", "--only", "AddPods", "--skip", "AddPods"}, want: exit.ExitUsage},
		"an unknown flag":                                 {args: []string{"sample", "--yes", "--nope"}, want: exit.ExitUsage, says: "hint: kubectl fdb reconcile --help"},
		"--interval without --wait":                       {args: []string{"sample", "--yes", "--interval", "1s"}, want: exit.ExitUsage, says: "--wait"},
		"an unknown dry run":                              {args: []string{"sample", "--dry-run=sideways"}, want: exit.ExitUsage, says: "none, client or server"},
		"--dry-run with --wait shows the first pass":      {args: []string{"sample", "--dry-run", "--wait"}, want: exit.ExitNo},
		"--dry-run with --plan":                           {args: []string{"sample", "--dry-run", "--plan", "x"}, want: exit.ExitUsage, says: "--dry-run conflicts with --plan"},
		"--watch with --plan":                             {args: []string{"sample", "--yes", "--watch", "--plan", "x"}, want: exit.ExitUsage, says: "--watch conflicts with --plan"},
		"a negative timeout":                              {args: []string{"sample", "--yes", "--timeout", "-1s"}, want: exit.ExitUsage},
		"a bad color":                                     {args: []string{"sample", "--yes", "--color", "blue"}, want: exit.ExitUsage, says: "auto, always or never"},
		"a live operator":                                 {given: func(g *commandstest.Given) { g.Evaluated = commandstest.OperatorLives }, args: []string{"sample", "--yes"}, want: exit.ExitRefused},
		"--coexist acts beside a live operator":           {given: func(g *commandstest.Given) { g.Evaluated = commandstest.OperatorLives }, args: []string{"sample", "--yes", "--coexist", "--wait"}, want: exit.ExitDone},
		"another run has the Lease":                       {given: func(g *commandstest.Given) { g.Cluster.LeaseHolder = "alice" }, args: []string{"sample", "--yes"}, want: exit.ExitConflict, says: "hint: later: kubectl fdb reconcile sample --yes"},
		"waiting for the Lease ends at the timeout":       {given: func(g *commandstest.Given) { g.Cluster.LeaseHolder = "alice" }, args: []string{"sample", "--yes", "--wait", "--timeout", "1m"}, want: exit.ExitWaiting, says: "still waiting: the lease is held by alice"},
		"missing rights": {given: func(g *commandstest.Given) {
			g.Denied = []string{"create pods/exec", "update foundationdbclusters.apps.foundationdb.org/status"}
		}, args: []string{"sample", "--yes"}, want: exit.ExitForbidden, says: "not permitted in namespace fdb: update foundationdbclusters.apps.foundationdb.org/status, create pods/exec (nothing was changed)"},
		"rights that are missing in the middle of a pass": {given: func(g *commandstest.Given) {
			g.Cluster.Refuse = commandstest.Refuse("CreatePod", commandstest.ErrForbidden)
		}, args: []string{"sample", "--yes"}, want: exit.ExitForbidden},
		"a full quota is waited for": {given: func(g *commandstest.Given) {
			g.Cluster.Refuse = commandstest.Refuse("CreatePod", rejected(plan.RefusedByQuota))
		}, args: []string{"sample", "--yes"}, want: exit.ExitWaiting, says: "hint: wait until done: kubectl fdb reconcile sample --wait --yes"},
		"a full quota is waited for until the timeout": {given: func(g *commandstest.Given) {
			g.Cluster.Refuse = commandstest.Refuse("CreatePod", rejected(plan.RefusedByQuota))
		}, args: []string{"sample", "--yes", "--wait", "--timeout", "2m"}, want: exit.ExitWaiting, says: "ResourceQuota pods refused 9 objects"},
		"a quota with room again is no end": {given: fullFor(time.Minute), args: []string{"sample", "--yes", "--wait"}, want: exit.ExitDone},
		"someone else's write": {given: func(g *commandstest.Given) {
			g.Cluster.Refuse = commandstest.Refuse("CreatePod", commandstest.ErrConflict)
		}, args: []string{"sample", "--yes"}, want: exit.ExitConflict},
		"some of it failed":           {given: func(g *commandstest.Given) { g.Cluster.Refuse = commandstest.Refuse("CreatePod", errors.New("quota")) }, args: []string{"sample", "--yes"}, want: exit.ExitPartly},
		"a failure is not waited out": {given: func(g *commandstest.Given) { g.Cluster.Refuse = commandstest.Refuse("CreatePod", errors.New("quota")) }, args: []string{"sample", "--yes", "--wait"}, want: exit.ExitPartly},
		"all of it failed":            {given: func(g *commandstest.Given) { g.Cluster.Refuse = func(plan.Action) error { return errors.New("no") } }, args: []string{"sample", "--yes"}, want: exit.ExitInternal},
		"no API server in the middle of a pass": {given: func(g *commandstest.Given) {
			g.Cluster.Refuse = commandstest.Refuse("CreatePod", &reconcile.UnreachableError{Err: commandstest.ErrNoAnswer})
		}, args: []string{"sample", "--yes"}, want: exit.ExitUnreachable},
		"no way into the pods": {given: func(g *commandstest.Given) {
			g.Cluster.Refuse = commandstest.Refuse("CreatePod", &admin.Error{Kind: admin.KindTransport, Operation: "x"})
		}, args: []string{"sample", "--yes"}, want: exit.ExitUnreachable},
		"no API server at all": {given: func(g *commandstest.Given) {
			g.Connect = func() (session.Session, error) { return nil, commandstest.ErrNoAnswer }
		}, args: []string{"sample", "--yes"}, want: exit.ExitUnreachable, says: "https://api"},
		"only a step by the operator's newer name": {args: []string{"sample", "--yes", "--only", "UpdateMetadata"}, want: exit.ExitDone},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			if tc.given != nil {
				tc.given(g)
			}
			got := g.Run(append([]string{"reconcile"}, tc.args...)...)
			if got != tc.want || !strings.Contains(g.Err.String(), tc.says) {
				t.Errorf("exit code %d, want %d, and %q on stderr\nstdout: %s\nstderr: %s", got, tc.want, tc.says, &g.Out, &g.Err)
			}
			if g.Cluster.Locked() {
				t.Error("the lock was not released")
			}
			if unstarted := []int{exit.ExitUsage, exit.ExitUnconfirmed, exit.ExitRefused}; slices.Contains(unstarted, tc.want) && len(g.Cluster.Acted) > 0 {
				t.Errorf("refused, and yet it did: %s", g.Cluster.Acted[0].Describe())
			}
		})
	}
}

func TestReconcileTextOutputOfANewCluster(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Run("reconcile", "sample", "--yes", "--wait")
	golden.RequireEqual(t, append(append([]byte("# stdout\n"), g.Out.Bytes()...), append([]byte("# stderr\n"), g.Err.Bytes()...)...))
}

// On a terminal what ends by itself is shown while it lasts, and nothing of it remains.
func TestReconcileOnATerminalShowsATemporaryProgressFooter(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Terminal, g.Columns = true, 100
	if code := g.Run("reconcile", "sample", "--yes", "--wait", "--color", "never"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	const erased = "\x1b[2A\x1b[J" // the two lines of the footer
	text := g.Out.String()
	for _, shown := range []string{"pass 1, ", "AddPods  ████", "waiting: ", "so far", erased} {
		if !strings.Contains(text, shown) {
			t.Errorf("%q was not shown:\n%s", shown, text)
		}
	}
	if last := text[strings.LastIndex(text, erased)+len(erased):]; strings.Contains(last, "so far") {
		t.Errorf("the progress remains: %q", last)
	}
	if strings.Contains(text, "  waiting  ") {
		t.Errorf("an ordinary wait is a line of its own:\n%s", text)
	}
}

// A log in CI stays readable however large the cluster is.
func TestReconcileOutputOfALargeNewClusterIsShort(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Cluster.Resource.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 60, Log: 16, Stateless: 9, ClusterController: -1}
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	const most, pods = 40, 85
	if n := len(g.Cluster.Pods); n != pods {
		t.Errorf("%d pods, want %d", n, pods)
	}
	if lines := strings.Count(g.Out.String(), "\n"); lines > most {
		t.Errorf("%d lines, want at most %d:\n%s", lines, most, &g.Out)
	}
}

func TestASecondReconcileDoesNothing(t *testing.T) {
	g := commandstest.Up(t)
	g.Cluster.Acted = nil
	if code := g.Run("reconcile", "sample", "--yes"); code != exit.ExitDone || len(g.Cluster.Acted) > 0 {
		t.Errorf("exit code %d, acted %v", code, g.Cluster.Acted)
	}
	if diff := cmp.Diff("sample: already reconciled, no changes\n", g.Out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestSelectedStagesNeverReportTheClusterAsReconciled(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"only a step with nothing to do":   {args: []string{"--only", "UpdateLabels"}, want: "sample: the selected stages are done (1 action); the others were not run\n"},
		"without the step that looks last": {args: []string{"--skip", "UpdateStatus"}, want: "); the others were not run\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			g.Cluster.Resource.Spec.ProcessCounts.Storage = 4
			code := g.Run(append([]string{"reconcile", "sample", "--yes"}, tc.args...)...)
			if text := g.Out.String(); code != exit.ExitDone || strings.Contains(text, ": reconciled (") || !strings.HasSuffix(text, tc.want) {
				t.Errorf("exit code %d and %q, want %q at the end", code, text, tc.want)
			}
		})
	}
}

func TestReconcilePrintsJSONLinesAndTheResultLast(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Run("reconcile", "sample", "--yes", "-o", "json")
	var last struct {
		APIVersion, Kind string
		Outcome          string
		Passes, Acted    int
		ExitCode         int
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(g.Out.Bytes()) {
		var e struct{ Event string }
		if err := errors.Join(json.Unmarshal(line, &e), json.Unmarshal(line, &last)); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		seen[e.Event] = true
	}
	for _, event := range []string{"started", "observing", "observed", "gates", "decided", "leased", "acting", "acted", "stage", "pass"} {
		if !seen[event] {
			t.Errorf("no event %q", event)
		}
	}
	if last.Kind != "ReconcileResult" || last.Outcome != "waiting" || last.ExitCode != exit.ExitWaiting || last.Acted != len(g.Cluster.Acted) {
		t.Errorf("the last line is %+v", last)
	}
	var failure struct {
		Kind     string
		ExitCode int
		Message  string
		Hints    []string
	}
	if err := json.Unmarshal(g.Err.Bytes(), &failure); err != nil || failure.Kind != "Error" || failure.ExitCode != exit.ExitWaiting || failure.Message == "" || len(failure.Hints) == 0 {
		t.Errorf("stderr: %s (%v)", &g.Err, err)
	}
}

func TestReconcilePassEventsInJSONForARunningCluster(t *testing.T) {
	g := commandstest.Up(t)
	g.Run("reconcile", "sample", "--yes", "-o", "json")
	golden.RequireEqual(t, g.Out.Bytes())
}

func TestReconcileOnATerminalShowsThePlanAndPrompts(t *testing.T) {
	tests := map[string]struct {
		input string
		want  int
		acted bool
	}{
		"yes":          {input: "y\n", want: exit.ExitWaiting, acted: true},
		"yes, in full": {input: "YES\n", want: exit.ExitWaiting, acted: true},
		"no":           {input: "n\n", want: exit.ExitUnconfirmed},
		"just enter":   {input: "\n", want: exit.ExitUnconfirmed},
		"end of input": {input: "", want: exit.ExitUnconfirmed},
		"another word": {input: "maybe\n", want: exit.ExitUnconfirmed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			g.Input = new(tc.input)
			if got := g.Run("reconcile", "sample"); got != tc.want {
				t.Errorf("exit code %d, want %d: %s", got, tc.want, &g.Err)
			}
			if acted := len(g.Cluster.Acted) > 0; acted != tc.acted {
				t.Errorf("acted %t, want %t", acted, tc.acted)
			}
			if !strings.Contains(g.Err.String(), "AddPods") || !strings.Contains(g.Err.String(), "[y/N]") {
				t.Errorf("no plan and no question on stderr: %s", &g.Err)
			}
		})
	}
}

func TestARefusedPlanShowsNoPrompt(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Evaluated, g.Input = commandstest.OperatorLives, new("y\n")
	if code := g.Run("reconcile", "sample"); code != exit.ExitRefused || strings.Contains(g.Err.String(), "[y/N]") {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}

// One approval is enough for what the forecast shows, and what it does not show needs another one.
func TestOneApprovalCoversTheForecast(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Input = new("y\n")
	if code := g.Run("reconcile", "sample", "--wait"); code != exit.ExitDone {
		t.Errorf("exit code %d\n%s%s", code, &g.Out, &g.Err)
	}
	if questions := strings.Count(g.Err.String(), "[y/N]"); questions != 1 || !strings.Contains(g.Err.String(), "Forecast: complete after about") {
		t.Errorf("%d questions, want 1: %s", questions, &g.Err)
	}
}

func TestActionsBeyondTheForecastArePromptedForAgain(t *testing.T) {
	g := commandstest.Up(t)
	grow(g)
	g.Cluster.Acted = nil
	g.MeddleAfter(1, func(*v1beta2.FoundationDBCluster) {
		g.Cluster.KillPod(g.Cluster.Resource.Status.ProcessGroups[0].PodName(g.Cluster.Resource))
	})
	g.Input = new("y\nn\n")
	code := g.Run("reconcile", "sample", "--wait")
	if code != exit.ExitUnconfirmed || !strings.Contains(g.Err.String(), "which is not in the approved plan") {
		t.Errorf("exit code %d, want %d\n%s%s", code, exit.ExitUnconfirmed, &g.Out, &g.Err)
	}
	if questions := strings.Count(g.Err.String(), "[y/N]"); questions != 2 {
		t.Errorf("%d questions, want 2: %s", questions, &g.Err)
	}
}

func TestAPreviewWithNothingToDoShowsNoPrompt(t *testing.T) {
	g := commandstest.Up(t)
	g.Input = new("")
	if code := g.Run("reconcile", "sample"); code != exit.ExitDone || strings.Contains(g.Err.String(), "[y/N]") {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}

func TestASignalFinishesTheActionAndPrintsHowToResume(t *testing.T) {
	tests := map[string]struct {
		signal os.Signal
		want   int
	}{
		"Ctrl-C":  {signal: os.Interrupt, want: exit.ExitInterrupted},
		"SIGTERM": {signal: syscall.SIGTERM, want: exit.ExitTerminated},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			g.Cluster.Refuse = func(a plan.Action) error {
				if plan.KindOf(a) == "ApplyConfigMap" {
					cancel(&exit.InterruptedError{Signal: tc.signal})
				}
				return nil
			}
			if code := g.RunIn(ctx, "reconcile", "sample", "--yes"); code != tc.want {
				t.Errorf("exit code %d, want %d", code, tc.want)
			}
			if last := g.Cluster.Acted[len(g.Cluster.Acted)-1]; plan.KindOf(last) != "ApplyConfigMap" {
				t.Errorf("the last action is %s", last.Describe())
			}
			if want := "hint: resume: kubectl fdb reconcile sample --yes -n fdb --context test\n"; !strings.Contains(g.Err.String(), want) {
				t.Errorf("stderr: %s", &g.Err)
			}
		})
	}
}

func TestAnInterruptedRunReportsReleasedLocksOnlyIfTheyWereReleased(t *testing.T) {
	const claim, problem = "all locks released", "release the Lease: too many requests"
	for name, endErr := range map[string]error{"given back": nil, "kept": errors.New(problem)} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			g.EndErr = endErr
			ctx, cancel := context.WithCancelCause(t.Context())
			g.Cluster.Refuse = func(plan.Action) error { cancel(&exit.InterruptedError{Signal: os.Interrupt}); return nil }
			code, kept := g.RunIn(ctx, "reconcile", "sample", "--yes"), endErr != nil
			if code != exit.ExitInterrupted || strings.Contains(g.Out.String(), claim) == kept || strings.Contains(g.Out.String(), problem) != kept {
				t.Errorf("exit code %d: %s", code, &g.Out)
			}
		})
	}
}

func TestAnInterruptedReconcileWaitEndsAtOnce(t *testing.T) {
	g := commandstest.NewGiven(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	g.Cluster.LeaseHolder = "alice"
	g.Cluster.OnLock = nil
	time.AfterFunc(50*time.Millisecond, func() { cancel(&exit.InterruptedError{Signal: os.Interrupt}) })
	if code := g.RunIn(ctx, "reconcile", "sample", "--yes", "--wait"); code != exit.ExitInterrupted {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestPlanExitCodeReportsPendingActions(t *testing.T) {
	g := commandstest.NewGiven(t)
	for _, args := range [][]string{{"plan", "sample"}, {"diff", "sample"}, {"reconcile", "sample", "--dry-run"}, {"plan"}} {
		if code := g.Run(args...); code != exit.ExitNo {
			t.Errorf("%q: exit code %d, want 1: %s", args, code, &g.Err)
		}
	}
	if len(g.Cluster.Acted) > 0 {
		t.Errorf("a plan did: %s", g.Cluster.Acted[0].Describe())
	}
	g.Run("reconcile", "sample", "--yes", "--wait")
	if code := g.Run("plan", "sample"); code != exit.ExitDone {
		t.Errorf("exit code %d of a reconciled cluster: %s", code, &g.Out)
	}
	g.Connect = func() (session.Session, error) { return nil, commandstest.ErrNoAnswer }
	if code := g.Run("plan", "sample"); code != exit.ExitUnreachable {
		t.Errorf("exit code %d without an API server", code)
	}
}

// hash is a fingerprint or a digest: a golden file that has them changes with every payload.
var hash = regexp.MustCompile("sha256:[0-9a-f]{64}")

func TestPlanOfANewCluster(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Evaluated = commandstest.OperatorLives
	for _, output := range []string{"table", "wide", "json", "yaml"} {
		t.Run(output, func(t *testing.T) {
			g.Run("plan", "sample", "-o", output)
			golden.RequireEqual(t, hash.ReplaceAll(g.Out.Bytes(), []byte("sha256:x")))
		})
	}
	for output, want := range map[string]string{"jsonpath={.digest}": "sha256:", "name": "WriteStatus/sample\n", "custom-columns=STAGE:.stage": "STAGE\nUpdateStatus\n"} {
		if code := g.Run("plan", "sample", "-o", output); code != exit.ExitNo && code != exit.ExitRefused || !strings.HasPrefix(g.Out.String(), want) {
			t.Errorf("-o %s: exit code %d: %s%s", output, code, &g.Out, &g.Err)
		}
	}
	if code := g.Run("plan", "sample", "-o", "sarif"); code != exit.ExitUsage {
		t.Errorf("exit code %d for a form that is none", code)
	}
}

func TestPlansOfTheSameClusterStateHaveTheSameDigest(t *testing.T) {
	digest := func(w *sim.Cluster) string {
		g := &commandstest.Given{T: t, Cluster: w, Env: map[string]string{}, Clock: &commandstest.ClusterClock{Cluster: w}}
		g.Run("plan", "sample", "-o", "json")
		var v struct{ Digest string }
		if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		return v.Digest
	}
	a, b := commandstest.NewCluster(t), commandstest.NewCluster(t)
	b.Tick(time.Second)
	if digest(a) != digest(b) {
		t.Error("the same plan a second later has another digest")
	}
	b.Resource.Spec.ProcessCounts.Storage = 4
	if digest(a) == digest(b) {
		t.Error("another plan has the same digest")
	}
}
