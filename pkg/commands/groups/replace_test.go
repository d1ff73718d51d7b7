package groups_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestReplaceWaitsUntilTheGroupIsRemoved(t *testing.T) {
	g := commandstest.Up(t)
	old := g.Storage()
	if code := g.Run("replace", "sample", old[0], "--wait=all", "--yes"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	now := g.Storage()
	if slices.Contains(now, old[0]) || len(now) != len(old) || g.Cluster.Pods["sample-"+old[0]] != nil {
		t.Errorf("%v after %v", now, old)
	}
	golden.RequireEqual(t, g.Out.Bytes())
}

// What scripts read of a change is its result alone; who replaces something wants to know what
// came for it.
func TestChangeResultsSupportEveryOutputFormat(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string // a pattern of all of stdout; OLD is the group
		code int
	}{
		"what took over":        {args: []string{"replace", "sample", "OLD", "--wait", "--yes", "-o", "name"}, want: `^processgroup/storage-\d+\n$`},
		"what was excluded":     {args: []string{"exclude", "sample", "OLD", "--yes", "-o", "name"}, want: `^processgroup/OLD\n$`},
		"the cluster of a pass": {args: []string{"reconcile", "sample", "--yes", "-o", "name"}, want: `^foundationdbcluster/sample\n$`},
		"a field of the result": {args: []string{"replace", "sample", "OLD", "--yes", "-o", "jsonpath={.targets[0].phase}"}, want: `^marked$`},
		"the result as YAML":    {args: []string{"pause", "sample", "-o", "yaml"}, want: `\nkind: ChangeResult\n`},
		"columns of it":         {args: []string{"pause", "sample", "-o", "custom-columns=CODE:.exitCode"}, want: `^CODE\n0\n$`},
		"a plan as YAML":        {args: []string{"replace", "sample", "OLD", "--dry-run", "-o", "yaml"}, want: `\nkind: Plan\n`, code: exit.ExitNo},
		"the actions of a plan": {args: []string{"plan", "sample", "-o", "name"}, want: `^$`},
		"of many there is none": {args: []string{"reconcile", "sample", "--yes", "--with-backups", "-o", "yaml"}, want: `^$`, code: exit.ExitUsage},
		"an unknown form":       {args: []string{"pause", "sample", "-o", "xml"}, want: `^$`, code: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Settled(t)
			g.Cluster.Tick(time.Hour)
			old := g.Storage()[0]
			ids := strings.NewReplacer("OLD", old)
			args := make([]string, len(tc.args))
			for i, word := range tc.args {
				args[i] = ids.Replace(word)
			}
			if code := g.Run(args...); code != tc.code || !regexp.MustCompile(ids.Replace(tc.want)).MatchString(g.Out.String()) {
				t.Errorf("exit code %d, want %d and %s: %s%s", code, tc.code, tc.want, &g.Out, &g.Err)
			}
		})
	}
}

// A change of the spec that this command is not about has to wait for a pass.
func TestReplaceAppliesNoOtherSpecChanges(t *testing.T) {
	g := commandstest.Up(t)
	g.Cluster.Resource.Spec.DatabaseConfiguration.RedundancyMode = "triple"
	g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
		v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_max_trace_lines=3000"}},
	}
	g.Cluster.Resource.Generation++
	g.Cluster.Acted = nil
	if code := g.Run("replace", "sample", g.Storage()[0], "--wait", "--yes", "--timeout", "30m"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	for _, a := range g.Cluster.Acted {
		if kind := plan.KindOf(a); kind == "Configure" || kind == "RestartProcesses" || kind == "DeletePods" {
			t.Errorf("it did: %s", a.Describe())
		}
	}
}

func TestReplaceExitCodes(t *testing.T) {
	tests := map[string]struct {
		given  func(*commandstest.Given)
		args   []string
		want   int
		says   string
		marked int
	}{
		"marks a group and leaves the rest to a pass": {args: []string{"STORAGE0", "--yes"}, want: exit.ExitDone, marked: 1, says: "run reconcile (or use --wait) to complete"},
		"by the name of its pod":                      {args: []string{"sample-STORAGE0", "--yes"}, want: exit.ExitDone, marked: 1},
		"by flag, with -c":                            {args: []string{"-c", "sample", "--process-group", "STORAGE0", "--yes"}, want: exit.ExitDone, marked: 1},
		"one at a time":                               {args: []string{"STORAGE0", "STORAGE1", "--yes"}, want: exit.ExitWaiting, marked: 1, says: "waits until others are drained"},
		"as many at once as the flag allows":          {args: []string{"--class", "storage", "--max-concurrent", "3", "--yes"}, want: exit.ExitDone, marked: 3},
		"shows what it would do":                      {args: []string{"STORAGE0", "--dry-run"}, want: exit.ExitNo, says: "- process groups   STORAGE0"},
		"shows that marks alone replace nothing":      {args: []string{"STORAGE0", "--dry-run"}, want: exit.ExitNo, says: "1 action; later passes complete it, forecast by --wait"},
		"shows all that --wait does":                  {args: []string{"STORAGE0", "--dry-run", "--wait"}, want: exit.ExitNo, says: "Forecast: complete after about"},
		"has the API server try it":                   {args: []string{"STORAGE0", "--dry-run=server"}, want: exit.ExitNo, says: "the API server accepts the only action"},
		"shows what the API server rejects": {
			given: func(g *commandstest.Given) {
				g.Cluster.Refuse = commandstest.Refuse("MarkForRemoval", errors.New("admission webhook denied it"))
			},
			args: []string{"STORAGE0", "--dry-run=server"}, want: exit.ExitRefused, says: "rejects 1 of 1 action: ReplaceGroups: admission webhook denied it",
		},
		"or may not be asked": {
			given: func(g *commandstest.Given) {
				g.Cluster.Refuse = commandstest.Refuse("MarkForRemoval", commandstest.ErrForbidden)
			}, args: []string{"STORAGE0", "--dry-run=server"}, want: exit.ExitForbidden, says: "rejects 1",
		},
		"nothing chosen":                        {args: []string{"--yes"}, want: exit.ExitUsage, says: "process groups are required"},
		"a selection that is empty":             {args: []string{"--zone", "nowhere", "--yes"}, want: exit.ExitUsage, says: "(nothing was changed)"},
		"a group that is not there":             {args: []string{"storage-9", "--yes"}, want: exit.ExitUsage, says: "not found: storage-9"},
		"none at a time":                        {args: []string{"STORAGE0", "--max-concurrent", "0", "--yes"}, want: exit.ExitUsage},
		"without a terminal it is not approved": {args: []string{"STORAGE0"}, want: exit.ExitUnconfirmed},
		"a live operator":                       {given: func(g *commandstest.Given) { g.Evaluated = commandstest.OperatorLives }, args: []string{"STORAGE0", "--yes"}, want: exit.ExitRefused},
		"in another name, also in hints":        {given: func(g *commandstest.Given) { g.Cluster.LeaseHolder = "alice" }, args: []string{"STORAGE0", "--yes", "--field-manager", "ci"}, want: exit.ExitConflict, says: "replace sample STORAGE0 --yes --field-manager ci -n fdb"},
		"in too long a name":                    {args: []string{"STORAGE0", "--yes", "--field-manager", strings.Repeat("x", 129)}, want: exit.ExitUsage, says: "128 characters"},
		"another run":                           {given: func(g *commandstest.Given) { g.Cluster.LeaseHolder = "alice" }, args: []string{"STORAGE0", "--yes"}, want: exit.ExitConflict, says: "hint: later: kubectl fdb replace sample STORAGE0 --yes -n fdb --context test"},
		"missing rights":                        {given: func(g *commandstest.Given) { g.Denied = []string{"create pods"} }, args: []string{"STORAGE0", "--yes"}, want: exit.ExitForbidden},
		"undo without a mark":                   {args: []string{"STORAGE0", "--undo", "--yes"}, want: exit.ExitDone},
		"an inclusion without undo":             {args: []string{"STORAGE0", "--include", "--yes"}, want: exit.ExitUsage, says: "--include requires --undo"},
		"undo with --wait":                      {args: []string{"STORAGE0", "--undo", "--wait", "--yes"}, want: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			if tc.given != nil {
				tc.given(g)
			}
			ids := strings.NewReplacer("STORAGE0", g.Storage()[0], "STORAGE1", g.Storage()[1])
			args := []string{"replace"}
			if !slices.Contains(tc.args, "-c") {
				args = append(args, "sample")
			}
			for _, arg := range tc.args {
				args = append(args, ids.Replace(arg))
			}
			got := g.Run(args...)
			if output := g.Out.String() + g.Err.String(); got != tc.want || !strings.Contains(output, ids.Replace(tc.says)) {
				t.Errorf("exit code %d, want %d and %q:\n%s", got, tc.want, tc.says, output)
			}
			if marked := g.Marked(); len(marked) != tc.marked {
				t.Errorf("marked: %v", marked)
			}
		})
	}
}

func TestReplaceCanBeUndoneOnlyBeforeExclusion(t *testing.T) {
	g := commandstest.Up(t)
	id := g.Storage()[0]
	g.Run("replace", "sample", id, "--yes")
	if code := g.Run("replace", "sample", id, "--undo", "--yes"); code != exit.ExitDone || len(g.Marked()) > 0 {
		t.Fatalf("exit code %d, marked %v: %s%s", code, g.Marked(), &g.Out, &g.Err)
	}
	g.Run("replace", "sample", id, "--yes")
	if _, err := simtest.Type(g.Cluster, "exclude no_wait "+g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)).ExclusionString()); err != nil {
		t.Fatal(err)
	}
	code := g.Run("replace", "sample", id, "--undo", "--yes")
	if code != exit.ExitRefused || len(g.Marked()) != 1 || !strings.Contains(g.Out.String(), "it is excluded") {
		t.Errorf("exit code %d, marked %v: %s%s", code, g.Marked(), &g.Out, &g.Err)
	}
}

func TestTheReplaceResultReportsThePhaseOfEachGroup(t *testing.T) {
	g := commandstest.Up(t)
	id := g.Storage()[0]
	g.Run("replace", "sample", id, "--yes", "-o", "json")
	lines := bytes.Split(bytes.TrimSpace(g.Out.Bytes()), []byte("\n"))
	var last struct {
		Kind, Command string
		Reached       bool
		Targets       []struct{ ID, Phase string }
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
		t.Fatal(err)
	}
	if last.Kind != "ChangeResult" || last.Command != "replace" || last.Reached || len(last.Targets) != 1 || last.Targets[0].Phase != "marked" {
		t.Errorf("%+v", last)
	}
}

// The same command finishes an interrupted run. Removed groups are known from the audit of the
// run that replaced them, or from Events on the cluster.
func TestARepeatedReplaceContinuesAfterSomeGroupsAreRemoved(t *testing.T) {
	tests := map[string]struct {
		forget func(*commandstest.Given)
		more   []string // words besides the IDs
		want   int
		says   string
	}{
		"the audit file knows": {},
		"Events know, on another machine": {forget: func(g *commandstest.Given) {
			g.Env["XDG_STATE_HOME"] = t.TempDir()
			g.KeepEvents()
		}},
		"a plan is of both":                            {more: []string{"--dry-run"}, want: exit.ExitNo, says: "- process groups   STORAGE1"},
		"the file is about a cluster that was deleted": {forget: func(g *commandstest.Given) { commandstest.Remake(g.Cluster.Resource) }, want: exit.ExitUsage, says: "not found: STORAGE0"},
		"Events are about a cluster that was deleted": {forget: func(g *commandstest.Given) {
			g.Env["XDG_STATE_HOME"] = t.TempDir()
			g.KeepEvents()
			commandstest.Remake(g.Cluster.Resource)
		}, want: exit.ExitUsage, says: "not found: STORAGE0"},
		"the file is of an earlier release":              {forget: func(g *commandstest.Given) { g.WithoutUIDs() }, want: exit.ExitUsage, says: "not found: STORAGE0"},
		"unknown here":                                   {forget: func(g *commandstest.Given) { g.Env["XDG_STATE_HOME"] = t.TempDir() }, want: exit.ExitUsage, says: "not found: STORAGE0"},
		"no other was ever there":                        {more: []string{"storage-9"}, want: exit.ExitUsage, says: "not found: storage-9"},
		"a mark is not removed from what does not exist": {more: []string{"--undo"}, want: exit.ExitUsage, says: "not found: STORAGE0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			before := g.Storage()
			if code := g.Run("replace", "sample", before[0], "--wait=all", "--yes"); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			if tc.forget != nil {
				tc.forget(g)
			}
			args := []string{"replace", "sample", before[0], before[1]}
			if !slices.Contains(tc.more, "--undo") && !slices.Contains(tc.more, "--dry-run") {
				args = append(args, "--wait=all")
			}
			names := strings.NewReplacer("STORAGE0", before[0], "STORAGE1", before[1])
			code := g.Run(append(append(args, "--yes"), tc.more...)...)
			if output := g.Out.String() + g.Err.String(); code != tc.want || !strings.Contains(output, names.Replace(tc.says)) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, names.Replace(tc.says), output)
			}
			if still := slices.Contains(g.Storage(), before[1]); still != (tc.want != exit.ExitDone) {
				t.Errorf("%s is still there: %t", before[1], still)
			}
		})
	}
}

func TestARepeatedReplaceFinishesAKilledOne(t *testing.T) {
	for after := 1; after <= 12; after++ {
		g := commandstest.Up(t)
		id := g.Storage()[0]
		g.Cluster.Crash = len(g.Cluster.Acted) + after
		g.Run("replace", "sample", id, "--wait=all", "--yes", "--timeout", "1h")
		g.Cluster.Crash = 0
		g.Cluster.LeaseHolder = ""
		if code := g.Run("replace", "sample", id, "--wait=all", "--yes", "--timeout", "1h"); code != exit.ExitDone || slices.Contains(g.Storage(), id) {
			t.Errorf("killed before action %d, then exit code %d: %s%s", after, code, &g.Out, &g.Err)
		}
	}
}
