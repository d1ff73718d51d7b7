package groups_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// aged is a cluster that has been up for so long that it may restart.
func aged(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Up(t)
	g.Cluster.Resource.Spec.MinimumUptimeSecondsForBounce = 120
	g.Cluster.Tick(3 * time.Minute)
	g.Cluster.Acted = nil
	return g
}

func TestRestartContinuesUntilEveryWaveReportsAgain(t *testing.T) {
	g := aged(t)
	if code := g.Run("restart", "sample", "--class", "storage,stateless", "--wait", "--yes"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	waves := g.Kills()
	if len(waves) != 4 || len(waves[3]) != 3 {
		t.Errorf("waves: %v, want storage one by one, and then all stateless ones", waves)
	}
	golden.RequireEqual(t, g.Out.Bytes())
}

// Its entry stays in the status until its exclusion may end, minutes after the last recovery.
func TestARestartDoesNotWaitForARemovedProcessGroup(t *testing.T) {
	g := aged(t)
	if code := g.Run("replace", "sample", g.Storage()[0], "--wait", "--yes"); code != exit.ExitDone {
		t.Fatalf("replace: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if left := len(g.Storage()); left != 4 {
		t.Fatalf("%d storage process groups in the status, want the removed one as well", left)
	}
	g.Cluster.Acted = nil
	if code := g.Run("restart", "sample", "--class", "storage", "--wait", "--yes", "--timeout", "1h"); code != exit.ExitDone || len(g.Kills()) != 3 {
		t.Errorf("exit code %d after %d restarts: %s%s", code, len(g.Kills()), &g.Out, &g.Err)
	}
}

func TestRestartExitCodes(t *testing.T) {
	tests := map[string]struct {
		given func(*commandstest.Given)
		args  []string
		want  int
		says  string
		kills int
	}{
		"restarts one wave and prints that more follow": {args: []string{"--class", "storage", "--yes"}, want: exit.ExitWaiting, kills: 1, says: "2 more process groups restart in later waves"},
		"the last wave": {args: []string{"STORAGE0", "--yes"}, want: exit.ExitDone, kills: 1, says: "sample: restarted: STORAGE0"},
		"the last wave, which does not report yet": {given: staysDown, args: []string{"STORAGE0", "--yes"}, want: exit.ExitDone, kills: 1, says: "sample: restart requested: STORAGE0; use --wait to wait for them to report again"},
		"all at once":            {args: []string{"--class", "storage", "--strategy", "all-at-once", "--yes"}, want: exit.ExitDone, kills: 1},
		"shows what it would do": {args: []string{"STORAGE0", "--dry-run"}, want: exit.ExitNo, says: "~ restarts   restart 1 process of STORAGE0"},
		"too soon after the last start": {given: func(g *commandstest.Given) {
			g.Run("restart", "sample", g.Storage()[1], "--yes")
			g.Cluster.Tick(time.Minute)
			g.Cluster.Acted = nil
		}, args: []string{"STORAGE0", "--yes"}, want: exit.ExitWaiting, says: "have all processes been up for 2m0s?"},
		"nothing to do since then":              {args: []string{"STORAGE0", "--yes", "--since", "2000-01-01T00:00:00Z"}, want: exit.ExitDone, says: "restarted: STORAGE0"},
		"a time in the future":                  {args: []string{"STORAGE0", "--yes", "--since", "2999-01-01T00:00:00Z"}, want: exit.ExitUsage, says: "must not be in the future"},
		"no time":                               {args: []string{"STORAGE0", "--yes", "--since", "noon"}, want: exit.ExitUsage},
		"no strategy":                           {args: []string{"STORAGE0", "--yes", "--strategy", "fast"}, want: exit.ExitUsage},
		"nothing chosen":                        {args: []string{"--yes"}, want: exit.ExitUsage, says: "process groups are required"},
		"a selection that is empty":             {args: []string{"--zone", "nowhere", "--yes"}, want: exit.ExitUsage, says: "(nothing was changed)"},
		"without a terminal it is not approved": {args: []string{"STORAGE0"}, want: exit.ExitUnconfirmed},
		"a live operator":                       {given: func(g *commandstest.Given) { g.Evaluated = commandstest.OperatorLives }, args: []string{"STORAGE0", "--yes"}, want: exit.ExitRefused},
		"another run":                           {given: func(g *commandstest.Given) { g.Cluster.LeaseHolder = "alice" }, args: []string{"STORAGE0", "--yes"}, want: exit.ExitConflict, says: "hint: later: kubectl fdb restart sample STORAGE0 --since="},
		"missing rights": {given: func(g *commandstest.Given) {
			g.Denied = []string{"update foundationdbclusters.apps.foundationdb.org/status"}
		}, args: []string{"STORAGE0", "--yes"}, want: exit.ExitForbidden},
		"rights that only replacements need":              {given: func(g *commandstest.Given) { g.Denied = []string{"create pods", "delete pods"} }, args: []string{"STORAGE0", "--yes"}, want: exit.ExitDone, kills: 1},
		"a database that does not answer has no clock":    {given: func(g *commandstest.Given) { g.Cluster.Resource.Status.ConnectionString = "" }, args: []string{"STORAGE0", "--yes"}, want: exit.ExitUnreachable, says: "cannot determine the age of processes"},
		"an upgrade to another protocol is not disturbed": {given: func(g *commandstest.Given) { g.Cluster.Resource.Spec.Version = "7.4.6" }, args: []string{"STORAGE0", "--yes"}, want: exit.ExitRefused, says: "an upgrade from 7.3.79 to 7.4.6 is in progress"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := aged(t)
			if tc.given != nil {
				tc.given(g)
			}
			ids := strings.NewReplacer("STORAGE0", g.Storage()[0])
			args := []string{"restart", "sample"}
			for _, arg := range tc.args {
				args = append(args, ids.Replace(arg))
			}
			got := g.Run(args...)
			if output := g.Out.String() + g.Err.String(); got != tc.want || !strings.Contains(output, ids.Replace(tc.says)) {
				t.Errorf("exit code %d, want %d and %q:\n%s", got, tc.want, tc.says, output)
			}
			if kills := g.Kills(); len(kills) != tc.kills {
				t.Errorf("restarted: %v", kills)
			}
		})
	}
}

// An interrupted run leaves processes that have been restarted and others that have not;
// --since separates them.
func TestAnInterruptedRestartResumesWhereItStopped(t *testing.T) {
	for after := 1; after <= 4; after++ {
		g := aged(t)
		g.Cluster.Crash = after
		g.Run("restart", "sample", "--class", "storage", "--wait", "--yes", "-o", "json", "--timeout", "2h")
		first := g.Kills()
		_, rest, reported := strings.Cut(g.Err.String(), "--since=")
		if !reported {
			t.Fatalf("killed before action %d, and no hint how to resume: %s", after, &g.Err)
		}
		g.Cluster.Crash, g.Cluster.LeaseHolder, g.Cluster.Acted = 0, "", nil
		if code := g.Run("restart", "sample", "--class", "storage", "--wait", "--yes", "--timeout", "2h", "--since", strings.Fields(rest)[0]); code != exit.ExitDone {
			t.Errorf("killed before action %d, then exit code %d: %s%s", after, code, &g.Out, &g.Err)
		}
		all := slices.Concat(slices.Concat(first, g.Kills())...)
		if slices.Sort(all); !slices.Equal(all, slices.Sorted(slices.Values(g.Storage()))) {
			t.Errorf("killed before action %d, these were restarted: %v", after, all)
		}
	}
}

// staysDown keeps the process of the first storage group from starting again.
func staysDown(g *commandstest.Given) {
	first := g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.Storage()[0]))
	g.Cluster.Broken[first.PodName(g.Cluster.Resource)] = true
}

func TestTheRestartResultReportsThePhaseOfEachGroup(t *testing.T) {
	g := aged(t)
	staysDown(g)
	g.Run("restart", "sample", "--class", "storage", "--yes", "-o", "json")
	lines := strings.Split(strings.TrimSpace(g.Out.String()), "\n")
	var last struct {
		Kind, Command string
		Reached       bool
		Targets       []struct{ ID, Phase string }
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	var phases []string
	for _, target := range last.Targets {
		phases = append(phases, target.Phase)
	}
	slices.Sort(phases)
	if last.Kind != "ChangeResult" || last.Command != "restart" || last.Reached || !slices.Equal(phases, []string{"not-reporting", "pending", "pending"}) {
		t.Errorf("%+v", last)
	}
}
