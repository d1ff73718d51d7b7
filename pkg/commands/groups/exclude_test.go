package groups_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestExcludeWaitsUntilDrainedAndIncludeEndsTheExclusion(t *testing.T) {
	g := commandstest.Rested(t)
	id := g.Storage()[0]
	if code := g.Run("exclude", "sample", id, "--wait", "--yes"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	excluded := g.Out.String() + "\n" + g.Err.String()
	if len(g.Did("Exclude")) != 1 || len(g.Marked()) > 0 || !slices.Contains(g.Storage(), id) {
		t.Errorf("it did %v, marked %v, and %v are left", g.Did("Exclude"), g.Marked(), g.Storage())
	}
	if code := g.Run("exclude", "sample", id, "--wait", "--yes"); code != exit.ExitDone || len(g.Did("Exclude")) != 1 {
		t.Errorf("again: exit code %d, did %v: %s%s", code, g.Did("Exclude"), &g.Out, &g.Err)
	}
	g.Cluster.Tick(10 * time.Minute)
	if code := g.Run("include", "sample", id); code != exit.ExitDone || len(g.Did("Include")) != 1 {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)).HasCondition(v1beta2.ConditionProcessIsMarkedAsExcluded) {
		t.Error("the status still has it excluded")
	}
	golden.RequireEqual(t, []byte(excluded+"\n"+g.Out.String()+"\n"+g.Err.String()))
}

func TestExcludeAndIncludeExitCodes(t *testing.T) {
	exclude := func(g *commandstest.Given) { g.Fdbcli("exclude no_wait " + g.ExclusionOf(g.Storage()[0])) }
	stray := func(g *commandstest.Given) { g.Fdbcli("exclude no_wait 10.9.9.9") }
	marked := func(g *commandstest.Given) {
		exclude(g)
		g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.Storage()[0])).MarkForRemoval(g.Cluster.Now())
	}
	tests := map[string]struct {
		given func(*commandstest.Given)
		args  []string
		want  int
		says  string
		did   int
	}{
		"excludes, and prints how to revert it":            {args: []string{"exclude", "sample", "STORAGE0", "--yes"}, want: exit.ExitDone, did: 1, says: "undo: kubectl fdb include sample STORAGE0 -n fdb --context test"},
		"prints what follows":                              {args: []string{"exclude", "sample", "STORAGE0", "--yes"}, want: exit.ExitDone, did: 1, says: "process groups that stay excluded for 2h0m0s"},
		"does not exclude again":                           {given: exclude, args: []string{"exclude", "sample", "STORAGE0", "--yes"}, want: exit.ExitDone},
		"no more than the redundancy allows":               {args: []string{"exclude", "sample", "STORAGE0", "STORAGE1", "--yes"}, want: exit.ExitRefused, did: 1, says: "replacements are added first"},
		"nothing is left of the budget":                    {given: exclude, args: []string{"exclude", "sample", "STORAGE1", "--yes"}, want: exit.ExitRefused, says: "2 up + 1 tolerated − 3 desired"},
		"shows what it would exclude":                      {args: []string{"exclude", "sample", "STORAGE0", "--dry-run"}, want: exit.ExitNo, says: "+ exclusions   STORAGE0"},
		"not approved without a terminal":                  {args: []string{"exclude", "sample", "STORAGE0"}, want: exit.ExitUnconfirmed},
		"excludes none when none is chosen":                {args: []string{"exclude", "sample", "--yes"}, want: exit.ExitUsage, says: "process groups are required"},
		"excludes none beside an operator":                 {given: func(g *commandstest.Given) { g.Evaluated = commandstest.OperatorLives }, args: []string{"exclude", "sample", "STORAGE0", "--yes"}, want: exit.ExitRefused},
		"excludes none without the right to":               {given: func(g *commandstest.Given) { g.Denied = []string{"create pods/exec"} }, args: []string{"exclude", "sample", "STORAGE0", "--yes"}, want: exit.ExitForbidden},
		"includes without being asked":                     {given: exclude, args: []string{"include", "sample", "STORAGE0"}, want: exit.ExitDone, did: 1, says: "undo: kubectl fdb exclude sample STORAGE0 -n fdb --context test"},
		"includes all":                                     {given: exclude, args: []string{"include", "sample", "--all"}, want: exit.ExitDone, did: 1, says: "sample: included: STORAGE0"},
		"names what it leaves":                             {given: stray, args: []string{"include", "sample", "--all"}, want: exit.ExitDone, says: "not included: 10.9.9.9 does not belong to a process group of sample; to include it: kubectl fdb include sample --target 10.9.9.9 -n fdb --context test"},
		"includes what is of no process group by its name": {given: stray, args: []string{"include", "sample", "--target", "10.9.9.9"}, want: exit.ExitDone, did: 1, says: "sample: included: 10.9.9.9"},
		"never includes a group that is to be removed":     {given: marked, args: []string{"include", "sample", "STORAGE0"}, want: exit.ExitRefused, says: "because STORAGE0 is marked for removal"},
		"not among all others either":                      {given: marked, args: []string{"include", "sample", "--all"}, want: exit.ExitDone, says: "nothing to include"},
		"waits after a recovery": {given: func(g *commandstest.Given) {
			exclude(g)
			g.Fdbcli("kill; kill " + g.Cluster.Resource.Status.ProcessGroups[0].Addresses[0] + ":4501; sleep 5")
			g.Cluster.Tick(5 * time.Minute)
		}, args: []string{"include", "sample", "STORAGE0"}, want: exit.ExitWaiting, says: "was the last recovery at least 10m0s ago?"},
		"includes nothing when there is nothing": {args: []string{"include", "sample", "STORAGE0"}, want: exit.ExitDone, says: "included: STORAGE0"},
		"shows what it would include":            {given: exclude, args: []string{"include", "sample", "STORAGE0", "--dry-run"}, want: exit.ExitNo, says: "- exclusions   STORAGE0"},
		"--all is alone":                         {args: []string{"include", "sample", "STORAGE0", "--all"}, want: exit.ExitUsage},
		"a target is an exclusion":               {args: []string{"include", "sample", "--target", "all"}, want: exit.ExitUsage, says: "--target must be an IP"},
		"includes none when none is chosen":      {args: []string{"include", "sample"}, want: exit.ExitUsage, says: "process groups are required"},
		"another run":                            {given: func(g *commandstest.Given) { exclude(g); g.Cluster.LeaseHolder = "alice" }, args: []string{"include", "sample", "STORAGE0"}, want: exit.ExitConflict, says: "hint: later: kubectl fdb include sample STORAGE0 -n fdb --context test"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Rested(t)
			if tc.given != nil {
				tc.given(g)
			}
			g.Cluster.Acted = nil
			ids := strings.NewReplacer("STORAGE0", g.Storage()[0], "STORAGE1", g.Storage()[1])
			var args []string
			for _, arg := range tc.args {
				args = append(args, ids.Replace(arg))
			}
			got := g.Run(args...)
			if output := g.Out.String() + g.Err.String(); got != tc.want || !strings.Contains(output, ids.Replace(tc.says)) {
				t.Errorf("exit code %d, want %d and %q:\n%s", got, tc.want, ids.Replace(tc.says), output)
			}
			if did := append(g.Did("Exclude"), g.Did("Include")...); len(did) != tc.did {
				t.Errorf("did: %v", did)
			}
		})
	}
}

// A run that was killed leaves nothing that the same command does not finish.
func TestARepeatedExcludeFinishesAKilledOne(t *testing.T) {
	for after := 1; after <= 3; after++ {
		g := commandstest.Rested(t)
		id := g.Storage()[0]
		g.Cluster.Crash = after
		g.Run("exclude", "sample", id, "--wait", "--yes", "--timeout", "1h")
		g.Cluster.Crash, g.Cluster.LeaseHolder = 0, ""
		if code := g.Run("exclude", "sample", id, "--wait", "--yes", "--timeout", "1h"); code != exit.ExitDone || len(g.Did("Exclude")) != 1 {
			t.Errorf("killed before action %d, then exit code %d, did %v: %s%s", after, code, g.Did("Exclude"), &g.Out, &g.Err)
		}
	}
}

func TestExcludeReplacesACoordinatorBeforeExcludingIt(t *testing.T) {
	g := commandstest.Rested(t)
	var id string
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if strings.Contains(g.Cluster.Resource.Status.ConnectionString, g.Cluster.Resource.Name+"-"+string(group.ProcessGroupID)) || strings.Contains(g.Cluster.Resource.Status.ConnectionString, group.Addresses[0]+":") {
			id = string(group.ProcessGroupID)
		}
	}
	if id == "" {
		t.Fatalf("no coordinators: %s", g.Cluster.Resource.Status.ConnectionString)
	}
	if code := g.Run("exclude", "sample", id, "--yes"); code != exit.ExitWaiting || len(g.Did("ChangeCoordinators")) != 1 || len(g.Did("Exclude")) != 0 {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	g.Cluster.Tick(3 * time.Minute)
	if code := g.Run("exclude", "sample", id, "--yes"); code != exit.ExitDone || len(g.Did("ChangeCoordinators")) != 1 || len(g.Did("Exclude")) != 1 {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

// stoppedReporting is a session in which a group stopped reporting after its exclusion, before any
// pass observed that.
type stoppedReporting struct {
	commandstest.Simulated
	id v1beta2.ProcessGroupID
}

func (w stoppedReporting) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if err := w.Simulated.Observe(ctx, into, facets); err != nil {
		return err
	}
	for key, p := range into.Database.Status.Cluster.Processes {
		if p.InstanceID() == string(w.id) {
			delete(into.Database.Status.Cluster.Processes, key)
		}
	}
	into.Cluster = into.Cluster.DeepCopy()
	into.Cluster.ProcessGroup(w.id).SetCondition(v1beta2.ConditionMissingProcesses, into.Now.Add(-time.Hour))
	into.Coordination.ExclusionsRead, into.Coordination.Exclusions = false, nil
	return nil
}

// Its exclusion is in the database all the same, and so is the proof that nothing depends on it.
func TestAnExcludedGroupThatStopsReportingIsProvenDrained(t *testing.T) {
	for name, excluded := range map[string]bool{"excluded before": true, "never excluded": false} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Rested(t)
			id := g.Storage()[0]
			if excluded {
				g.Fdbcli("exclude no_wait " + g.ExclusionOf(id))
			}
			g.Cluster.Tick(5 * time.Minute)
			targets, reached, err := groups.Excluding{v1beta2.ProcessGroupID(id)}.Progress(t.Context(), stoppedReporting{commandstest.Simulated{Cluster: g.Cluster, G: g}, v1beta2.ProcessGroupID(id)})
			if err != nil || reached != excluded {
				t.Errorf("reached %t, want %t: %+v, %v", reached, excluded, targets, err)
			}
		})
	}
}
