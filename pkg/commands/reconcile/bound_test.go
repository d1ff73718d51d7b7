package reconcile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestAnApprovedPlanIsRefusedAfterASpecChangeOrRecreation(t *testing.T) {
	tests := map[string]struct {
		moved func(*v1beta2.FoundationDBCluster)
		says  string
	}{
		"another spec":    {commandstest.Recompute, "G-PLAN: the spec changed since the plan was approved: generation 2, now 3"},
		"another cluster": {commandstest.Remake, "G-PLAN: the resource was deleted and recreated under the same name since the run began"},
	}
	for name, tc := range tests {
		for _, flags := range [][]string{{}, {"--wait"}} {
			t.Run(strings.Join(append(flags, name), " "), func(t *testing.T) {
				g := commandstest.Up(t)
				grow(g)
				args := append([]string{"reconcile", "sample"}, flags...)
				path := g.Planned(args...)
				g.Meddle(tc.moved)
				args = append(args, "--yes", "--plan", path)
				if code := g.Run(args...); code != exit.ExitConflict || len(g.Cluster.Acted) > 0 {
					t.Errorf("exit code %d, did %v\n%s", code, g.Changes(), &g.Err)
				}
				for _, says := range []string{tc.says, "create a plan for the rest"} {
					if !strings.Contains(g.Err.String()+g.Out.String(), says) {
						t.Errorf("does not say %q:\n%s%s", says, &g.Out, &g.Err)
					}
				}
			})
		}
	}
}

// The groups and the approval of a command are those of the resource with which it began.
func TestARunDoesNotContinueOnAnotherClusterOfTheSameName(t *testing.T) {
	tests := map[string]struct {
		args    []string
		answers string
		passes  int
	}{
		"with --yes":                     {args: []string{"--yes"}},
		"with --wait, after passes":      {args: []string{"--wait", "--yes"}, passes: 2},
		"with an approval on a terminal": {answers: strings.Repeat("y\n", 3)},
		"with --wait on a terminal":      {args: []string{"--wait"}, answers: strings.Repeat("y\n", 3), passes: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			id, acted := g.Storage()[0], 0
			g.Cluster.Acted = nil
			g.MeddleAfter(tc.passes, func(c *v1beta2.FoundationDBCluster) {
				commandstest.Remake(c)
				c.Status.ProcessGroups = slices.DeleteFunc(c.Status.ProcessGroups, func(p *v1beta2.ProcessGroupStatus) bool { return string(p.ProcessGroupID) == id })
				acted = len(g.Cluster.Acted)
			})
			code := g.Answering(tc.answers, append([]string{"replace", "sample", id}, tc.args...)...)
			if text := g.Out.String() + g.Err.String(); code != exit.ExitConflict || !strings.Contains(text, "was deleted and recreated under the same name") || len(g.Cluster.Acted) != acted {
				t.Errorf("exit code %d, %d actions after %d: %s", code, len(g.Cluster.Acted), acted, text)
			}
		})
	}
}

func TestASpecChangedAfterApprovalIsShownAndPromptsAgain(t *testing.T) {
	for answers, declined := range map[string]bool{"y\nn\n": true, "y\nyes\n": false} {
		g := commandstest.Up(t)
		grow(g)
		g.Cluster.Acted = nil
		g.Meddle(commandstest.Recompute)
		code := g.Answering(answers, "reconcile", "sample")
		if requested := strings.Count(g.Err.String(), "[y/N]"); requested != 2 || !strings.Contains(g.Err.String(), "the spec changed since the plan was approved") {
			t.Errorf("asked %d times: %s", requested, &g.Err)
		}
		if declined != (code == exit.ExitUnconfirmed) || declined != (len(g.Changes()) == 0) {
			t.Errorf("%q: exit code %d, did %v", answers, code, g.Changes())
		}
	}
}

func TestDecliningReportsTheActionsAlreadyCarriedOut(t *testing.T) {
	for lines, want := range map[string]string{
		"n\n":    "declined (nothing was changed)",
		"y\nn\n": " actions were carried out before",
	} {
		g := commandstest.NewGiven(t)
		g.MeddleAfter(1, commandstest.Recompute) // another spec needs another approval
		code := g.Answering(lines, "reconcile", "sample", "--wait")
		output := g.Out.String() + g.Err.String()
		if code != exit.ExitUnconfirmed || !strings.Contains(output, want) || (len(g.Cluster.Acted) == 0) != strings.Contains(output, "nothing was changed") {
			t.Errorf("%q: exit code %d after %d actions: %s", lines, code, len(g.Cluster.Acted), output)
		}
	}
}

func TestReconcileWithYesContinuesAfterASpecChange(t *testing.T) {
	g := commandstest.Up(t)
	grow(g)
	g.Cluster.Acted = nil
	g.Meddle(func(c *v1beta2.FoundationDBCluster) { c.Spec.ProcessCounts.Storage++; c.Generation++ })
	if code := g.Run("reconcile", "sample", "--yes"); code != exit.ExitWaiting || len(g.Changes()) == 0 {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}

func TestAnApprovalSurvivesOnlyTheSpecChangeOfItsOwnPause(t *testing.T) {
	record := func(generation int64, skip bool, storage int) plan.Snapshot {
		c := &v1beta2.FoundationDBCluster{}
		c.UID, c.Generation, c.Spec.Skip, c.Spec.ProcessCounts.Storage = "1", generation, skip, storage
		return plan.Snapshot{Cluster: c}
	}
	paused := reconcile.ActionDone{Action: plan.SetSkip{Skip: true}}
	tests := map[string]struct {
		did  reconcile.Event
		then plan.Snapshot
		want bool
	}{
		"the same spec":                        {then: record(1, false, 3), want: true},
		"a pause by the pass":                  {did: paused, then: record(2, true, 3), want: true},
		"a pause by another user":              {then: record(2, true, 3)},
		"a pause that failed":                  {did: reconcile.ActionDone{Action: plan.SetSkip{Skip: true}, Err: commandstest.ErrNoAnswer}, then: record(2, true, 3)},
		"the end of the pause by another":      {did: paused, then: record(2, false, 3)},
		"a pause by the pass, and another one": {did: paused, then: record(3, true, 3)},
		"a pause by the pass, and more":        {did: paused, then: record(2, true, 4)},
		"another action":                       {did: reconcile.ActionDone{Action: plan.WriteStatus{}}, then: record(2, false, 4)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var a apply.Approval
			a.About(apply.Identity{UID: "1", Generation: 1})
			if err := a.HoldsFor(record(1, false, 3)); err != nil {
				t.Fatal(err)
			}
			if tc.did != nil {
				a.Carried(tc.did)
			}
			if err := a.HoldsFor(tc.then); (err == nil) != tc.want {
				t.Errorf("%v, want it to hold: %t", err, tc.want)
			}
			if a.Carried(paused); tc.want && a.HoldsFor(record(9, true, 3)) == nil {
				t.Error("holds for any spec after that")
			}
		})
	}
}

func TestAnApprovalSurvivesOnlyItsOwnBackupStateChange(t *testing.T) {
	record := func(generation int64, state v1beta2.BackupState, tag v1beta2.BackupTag) plan.Snapshot {
		b := &v1beta2.FoundationDBBackup{}
		b.UID, b.Generation, b.Spec.BackupState, b.Spec.Tag = "1", generation, state, &tag
		return plan.Snapshot{Backup: b}
	}
	stopped := reconcile.ActionDone{Action: plan.SetBackupState{State: v1beta2.BackupStateStopped}}
	tests := map[string]struct {
		did  reconcile.Event
		then plan.Snapshot
		want bool
	}{
		"by the pass":           {stopped, record(2, v1beta2.BackupStateStopped, "a"), true},
		"by another user":       {nil, record(2, v1beta2.BackupStateStopped, "a"), false},
		"by the pass, and more": {stopped, record(2, v1beta2.BackupStateStopped, "b"), false},
		"and then another":      {stopped, record(3, v1beta2.BackupStateStopped, "a"), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var a apply.Approval
			a.About(apply.Identity{UID: "1", Generation: 1})
			if err := a.HoldsFor(record(1, v1beta2.BackupStateRunning, "a")); err != nil {
				t.Fatal(err)
			}
			if tc.did != nil {
				a.Carried(tc.did)
			}
			if err := a.HoldsFor(tc.then); (err == nil) != tc.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestApprovalOfRestoreAtCoversOnlySettingTheVersion(t *testing.T) {
	record := func(generation int64, version uint64, cluster string) plan.Snapshot {
		r := &v1beta2.FoundationDBRestore{}
		r.UID, r.Generation, r.Spec.BackupVersion, r.Spec.DestinationClusterName = "1", generation, &version, cluster
		return plan.Snapshot{Restore: r}
	}
	chosen := reconcile.ActionDone{Action: plan.SetRestoreVersion{Chosen: plan.RestoreTime{Version: 42}}}
	tests := map[string]struct {
		did  reconcile.Event
		then plan.Snapshot
		want bool
	}{
		"by the pass":            {chosen, record(2, 42, "a"), true},
		"by the pass to another": {chosen, record(2, 43, "a"), false},
		"by another user":        {nil, record(2, 42, "a"), false},
		"by the pass, and more":  {chosen, record(2, 42, "b"), false},
		"and then another":       {chosen, record(3, 42, "a"), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var a apply.Approval
			a.About(apply.Identity{UID: "1", Generation: 1})
			if err := a.HoldsFor(record(1, 7, "a")); err != nil {
				t.Fatal(err)
			}
			if tc.did != nil {
				a.Carried(tc.did)
			}
			if err := a.HoldsFor(tc.then); (err == nil) != tc.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The cluster of a command is the one that it found by its name, and not the one that its first pass reads.
func TestARunActsOnTheClusterThatItsCommandFound(t *testing.T) {
	for _, args := range [][]string{
		{"reconcile", "sample", "--yes"},
		{"replace", "sample", "--class", "storage", "--yes"},
		{"maintenance", "off", "sample", "--yes"},
		{"pause", "sample", "--yes"},
	} {
		t.Run(args[0], func(t *testing.T) {
			g := commandstest.Up(t)
			g.Cluster.Resource.Spec.ProcessCounts.Stateless = 4
			before := len(g.Audited())
			g.Connect = func() (session.Session, error) {
				commandstest.Remake(g.Cluster.Resource)
				return commandstest.Simulated{Cluster: g.Cluster, G: g}, nil
			}
			code := g.Run(args...)
			if code != exit.ExitConflict || !strings.Contains(g.Out.String()+g.Err.String(), "deleted and recreated under the same name") || len(g.Audited()) != before {
				t.Errorf("exit code %d after %d actions: %s%s", code, len(g.Audited())-before, &g.Out, &g.Err)
			}
		})
	}
}

func TestAWaitEndsWhereItsClusterIsRecreated(t *testing.T) {
	g := commandstest.Up(t)
	g.Connect = func() (session.Session, error) {
		commandstest.Remake(g.Cluster.Resource)
		return commandstest.Simulated{Cluster: g.Cluster, G: g}, nil
	}
	if code := g.Run("wait", "sample", "--for", "available"); code != exit.ExitConflict || !strings.Contains(g.Err.String(), "deleted and recreated under the same name") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
