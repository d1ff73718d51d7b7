package commands

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// rested is a cluster whose last recovery is so long ago that exclusions may end.
func rested(t *testing.T) *given {
	t.Helper()
	g := up(t)
	g.cluster.Tick(11 * time.Minute)
	g.cluster.Acted = nil
	return g
}

// did are what was done of a kind.
func (g *given) did(kind string) []string {
	var words []string
	for _, a := range g.cluster.Acted {
		if plan.KindOf(a) == kind {
			words = append(words, a.Describe())
		}
	}
	return words
}

// fdbcli runs a command of fdbcli like a user.
func (g *given) fdbcli(script string) string {
	g.t.Helper()
	out, err := simtest.Type(g.cluster, script)
	if err != nil {
		g.t.Fatal(err)
	}
	return out
}

func (g *given) exclusionOf(id string) string {
	return g.cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)).ExclusionString()
}

func TestExcludeWaitsUntilDrainedAndIncludeEndsTheExclusion(t *testing.T) {
	g := rested(t)
	id := g.storage()[0]
	if code := g.run("exclude", "sample", id, "--wait", "--yes"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	excluded := g.out.String() + "\n" + g.err.String()
	if len(g.did("Exclude")) != 1 || len(g.marked()) > 0 || !slices.Contains(g.storage(), id) {
		t.Errorf("it did %v, marked %v, and %v are left", g.did("Exclude"), g.marked(), g.storage())
	}
	if code := g.run("exclude", "sample", id, "--wait", "--yes"); code != exit.ExitDone || len(g.did("Exclude")) != 1 {
		t.Errorf("again: exit code %d, did %v: %s%s", code, g.did("Exclude"), &g.out, &g.err)
	}
	g.cluster.Tick(10 * time.Minute)
	if code := g.run("include", "sample", id); code != exit.ExitDone || len(g.did("Include")) != 1 {
		t.Fatalf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	if g.cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)).HasCondition(v1beta2.ConditionProcessIsMarkedAsExcluded) {
		t.Error("the status still has it excluded")
	}
	golden.RequireEqual(t, []byte(excluded+"\n"+g.out.String()+"\n"+g.err.String()))
}

func TestExcludeAndIncludeExitCodes(t *testing.T) {
	exclude := func(g *given) { g.fdbcli("exclude no_wait " + g.exclusionOf(g.storage()[0])) }
	stray := func(g *given) { g.fdbcli("exclude no_wait 10.9.9.9") }
	marked := func(g *given) {
		exclude(g)
		g.cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.storage()[0])).MarkForRemoval(g.cluster.Now())
	}
	tests := map[string]struct {
		given func(*given)
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
		"shows what it would exclude":                      {args: []string{"exclude", "sample", "STORAGE0", "--dry-run"}, want: exit.ExitNo, says: "Exclude"},
		"not approved without a terminal":                  {args: []string{"exclude", "sample", "STORAGE0"}, want: exit.ExitUnconfirmed},
		"excludes none when none is chosen":                {args: []string{"exclude", "sample", "--yes"}, want: exit.ExitUsage, says: "process groups are required"},
		"excludes none beside an operator":                 {given: func(g *given) { g.gates = operatorLives }, args: []string{"exclude", "sample", "STORAGE0", "--yes"}, want: exit.ExitRefused},
		"excludes none without the right to":               {given: func(g *given) { g.denied = []string{"create pods/exec"} }, args: []string{"exclude", "sample", "STORAGE0", "--yes"}, want: exit.ExitForbidden},
		"includes without being asked":                     {given: exclude, args: []string{"include", "sample", "STORAGE0"}, want: exit.ExitDone, did: 1, says: "undo: kubectl fdb exclude sample STORAGE0 -n fdb --context test"},
		"includes all":                                     {given: exclude, args: []string{"include", "sample", "--all"}, want: exit.ExitDone, did: 1, says: "sample: included: STORAGE0"},
		"names what it leaves":                             {given: stray, args: []string{"include", "sample", "--all"}, want: exit.ExitDone, says: "not included: 10.9.9.9 does not belong to a process group of sample; to include it: kubectl fdb include sample --target 10.9.9.9 -n fdb --context test"},
		"includes what is of no process group by its name": {given: stray, args: []string{"include", "sample", "--target", "10.9.9.9"}, want: exit.ExitDone, did: 1, says: "sample: included: 10.9.9.9"},
		"never includes a group that is to be removed":     {given: marked, args: []string{"include", "sample", "STORAGE0"}, want: exit.ExitRefused, says: "because STORAGE0 is marked for removal"},
		"not among all others either":                      {given: marked, args: []string{"include", "sample", "--all"}, want: exit.ExitDone, says: "nothing to include"},
		"waits after a recovery": {given: func(g *given) {
			exclude(g)
			g.fdbcli("kill; kill " + g.cluster.Resource.Status.ProcessGroups[0].Addresses[0] + ":4501; sleep 5")
			g.cluster.Tick(5 * time.Minute)
		}, args: []string{"include", "sample", "STORAGE0"}, want: exit.ExitWaiting, says: "was the last recovery at least 10m0s ago?"},
		"includes nothing when there is nothing": {args: []string{"include", "sample", "STORAGE0"}, want: exit.ExitDone, says: "included: STORAGE0"},
		"shows what it would include":            {given: exclude, args: []string{"include", "sample", "STORAGE0", "--dry-run"}, want: exit.ExitNo, says: "Include"},
		"--all is alone":                         {args: []string{"include", "sample", "STORAGE0", "--all"}, want: exit.ExitUsage},
		"a target is an exclusion":               {args: []string{"include", "sample", "--target", "all"}, want: exit.ExitUsage, says: "--target must be an IP"},
		"includes none when none is chosen":      {args: []string{"include", "sample"}, want: exit.ExitUsage, says: "process groups are required"},
		"another run":                            {given: func(g *given) { exclude(g); g.cluster.LeaseHolder = "alice" }, args: []string{"include", "sample", "STORAGE0"}, want: exit.ExitConflict, says: "hint: later: kubectl fdb include sample STORAGE0 -n fdb --context test"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := rested(t)
			if tc.given != nil {
				tc.given(g)
			}
			g.cluster.Acted = nil
			ids := strings.NewReplacer("STORAGE0", g.storage()[0], "STORAGE1", g.storage()[1])
			var args []string
			for _, arg := range tc.args {
				args = append(args, ids.Replace(arg))
			}
			got := g.run(args...)
			if output := g.out.String() + g.err.String(); got != tc.want || !strings.Contains(output, ids.Replace(tc.says)) {
				t.Errorf("exit code %d, want %d and %q:\n%s", got, tc.want, ids.Replace(tc.says), output)
			}
			if did := append(g.did("Exclude"), g.did("Include")...); len(did) != tc.did {
				t.Errorf("did: %v", did)
			}
		})
	}
}

// A run that was killed leaves nothing that the same command does not finish.
func TestARepeatedExcludeFinishesAKilledOne(t *testing.T) {
	for after := 1; after <= 3; after++ {
		g := rested(t)
		id := g.storage()[0]
		g.cluster.Crash = after
		g.run("exclude", "sample", id, "--wait", "--yes", "--timeout", "1h")
		g.cluster.Crash, g.cluster.LeaseHolder = 0, ""
		if code := g.run("exclude", "sample", id, "--wait", "--yes", "--timeout", "1h"); code != exit.ExitDone || len(g.did("Exclude")) != 1 {
			t.Errorf("killed before action %d, then exit code %d, did %v: %s%s", after, code, g.did("Exclude"), &g.out, &g.err)
		}
	}
}

func TestExcludeReplacesACoordinatorBeforeExcludingIt(t *testing.T) {
	g := rested(t)
	var id string
	for _, group := range g.cluster.Resource.Status.ProcessGroups {
		if strings.Contains(g.cluster.Resource.Status.ConnectionString, g.cluster.Resource.Name+"-"+string(group.ProcessGroupID)) || strings.Contains(g.cluster.Resource.Status.ConnectionString, group.Addresses[0]+":") {
			id = string(group.ProcessGroupID)
		}
	}
	if id == "" {
		t.Fatalf("no coordinators: %s", g.cluster.Resource.Status.ConnectionString)
	}
	if code := g.run("exclude", "sample", id, "--yes"); code != exit.ExitWaiting || len(g.did("ChangeCoordinators")) != 1 || len(g.did("Exclude")) != 0 {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	g.cluster.Tick(3 * time.Minute)
	if code := g.run("exclude", "sample", id, "--yes"); code != exit.ExitDone || len(g.did("ChangeCoordinators")) != 1 || len(g.did("Exclude")) != 1 {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
}

// stoppedReporting is a session in which a group stopped reporting after its exclusion, before any
// pass observed that.
type stoppedReporting struct {
	simulated
	id v1beta2.ProcessGroupID
}

func (w stoppedReporting) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if err := w.simulated.Observe(ctx, into, facets); err != nil {
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
			g := rested(t)
			id := g.storage()[0]
			if excluded {
				g.fdbcli("exclude no_wait " + g.exclusionOf(id))
			}
			g.cluster.Tick(5 * time.Minute)
			targets, reached, err := groups.Excluding{v1beta2.ProcessGroupID(id)}.Progress(t.Context(), stoppedReporting{simulated{g.cluster, g}, v1beta2.ProcessGroupID(id)})
			if err != nil || reached != excluded {
				t.Errorf("reached %t, want %t: %+v, %v", reached, excluded, targets, err)
			}
		})
	}
}
