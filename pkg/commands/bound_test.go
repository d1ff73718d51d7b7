package commands

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// meddled is a session in whose world something happens once, when the Lease is taken, or one of
// the next times.
type meddled struct {
	simulated
	meddle func()
	passes int
}

func (m *meddled) Begin(ctx context.Context) error {
	m.passes--
	if m.meddle != nil && m.passes < 0 {
		m.meddle()
		m.meddle = nil
	}
	return m.simulated.Begin(ctx)
}

// meddle has something happen when the next run takes the Lease.
func (g *given) meddle(what func(*v1beta2.FoundationDBCluster)) { g.meddleAfter(0, what) }

// meddleAfter has it happen after some passes that acted.
func (g *given) meddleAfter(passes int, what func(*v1beta2.FoundationDBCluster)) {
	g.connect = func() (session.Session, error) {
		return &meddled{simulated{g.cluster, g}, func() { what(g.cluster.Resource) }, passes}, nil
	}
}

// recompute asks for other pods under the same names.
func recompute(c *v1beta2.FoundationDBCluster) {
	c.Spec.MainContainer.EnableTLS = true
	c.Generation++
}

func remake(c *v1beta2.FoundationDBCluster) { c.UID = "another" }

func TestAnApprovedPlanIsRefusedAfterASpecChangeOrRecreation(t *testing.T) {
	tests := map[string]struct {
		moved func(*v1beta2.FoundationDBCluster)
		says  string
	}{
		"another spec":    {recompute, "G-PLAN: the spec changed since the plan was approved: generation 2, now 3"},
		"another cluster": {remake, "G-PLAN: the resource was deleted and recreated under the same name since the run began"},
	}
	for name, tc := range tests {
		for _, flags := range [][]string{{}, {"--wait"}} {
			t.Run(strings.Join(append(flags, name), " "), func(t *testing.T) {
				g := up(t)
				grow(g)
				args := append([]string{"reconcile", "sample"}, flags...)
				path := g.planned(args...)
				g.meddle(tc.moved)
				args = append(args, "--yes", "--plan", path)
				if code := g.run(args...); code != exit.ExitConflict || len(g.cluster.Acted) > 0 {
					t.Errorf("exit code %d, did %v\n%s", code, g.changes(), &g.err)
				}
				for _, says := range []string{tc.says, "create a plan for the rest"} {
					if !strings.Contains(g.err.String()+g.out.String(), says) {
						t.Errorf("does not say %q:\n%s%s", says, &g.out, &g.err)
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
			g := up(t)
			id, acted := g.storage()[0], 0
			g.cluster.Acted = nil
			g.meddleAfter(tc.passes, func(c *v1beta2.FoundationDBCluster) {
				remake(c)
				c.Status.ProcessGroups = slices.DeleteFunc(c.Status.ProcessGroups, func(p *v1beta2.ProcessGroupStatus) bool { return string(p.ProcessGroupID) == id })
				acted = len(g.cluster.Acted)
			})
			code := g.answering(tc.answers, append([]string{"replace", "sample", id}, tc.args...)...)
			if text := g.out.String() + g.err.String(); code != exit.ExitConflict || !strings.Contains(text, "was deleted and recreated under the same name") || len(g.cluster.Acted) != acted {
				t.Errorf("exit code %d, %d actions after %d: %s", code, len(g.cluster.Acted), acted, text)
			}
		})
	}
}

// answering runs a command on a terminal with one typed line per prompt.
func (g *given) answering(lines string, args ...string) int {
	g.t.Helper()
	g.out.Reset()
	g.err.Reset()
	env := g.environment()
	env.In, env.IsTerminal = iotest.OneByteReader(strings.NewReader(lines)), func(any) bool { return true }
	return Run(g.t.Context(), env, args)
}

func TestASpecChangedAfterApprovalIsShownAndPromptsAgain(t *testing.T) {
	for answers, declined := range map[string]bool{"y\nn\n": true, "y\nyes\n": false} {
		g := up(t)
		grow(g)
		g.cluster.Acted = nil
		g.meddle(recompute)
		code := g.answering(answers, "reconcile", "sample")
		if requested := strings.Count(g.err.String(), "[y/N]"); requested != 2 || !strings.Contains(g.err.String(), "the spec changed since the plan was approved") {
			t.Errorf("asked %d times: %s", requested, &g.err)
		}
		if declined != (code == exit.ExitUnconfirmed) || declined != (len(g.changes()) == 0) {
			t.Errorf("%q: exit code %d, did %v", answers, code, g.changes())
		}
	}
}

func TestDecliningReportsTheActionsAlreadyCarriedOut(t *testing.T) {
	for lines, want := range map[string]string{
		"n\n":    "declined (nothing was changed)",
		"y\nn\n": " actions were carried out before",
	} {
		g := newGiven(t)
		g.meddleAfter(1, recompute) // another spec needs another approval
		code := g.answering(lines, "reconcile", "sample", "--wait")
		output := g.out.String() + g.err.String()
		if code != exit.ExitUnconfirmed || !strings.Contains(output, want) || (len(g.cluster.Acted) == 0) != strings.Contains(output, "nothing was changed") {
			t.Errorf("%q: exit code %d after %d actions: %s", lines, code, len(g.cluster.Acted), output)
		}
	}
}

func TestReconcileWithYesContinuesAfterASpecChange(t *testing.T) {
	g := up(t)
	grow(g)
	g.cluster.Acted = nil
	g.meddle(func(c *v1beta2.FoundationDBCluster) { c.Spec.ProcessCounts.Storage++; c.Generation++ })
	if code := g.run("reconcile", "sample", "--yes"); code != exit.ExitWaiting || len(g.changes()) == 0 {
		t.Errorf("exit code %d: %s", code, &g.err)
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
		"a pause that failed":                  {did: reconcile.ActionDone{Action: plan.SetSkip{Skip: true}, Err: errNoAnswer}, then: record(2, true, 3)},
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
			g := up(t)
			g.cluster.Resource.Spec.ProcessCounts.Stateless = 4
			before := len(g.audited())
			g.connect = func() (session.Session, error) {
				remake(g.cluster.Resource)
				return simulated{g.cluster, g}, nil
			}
			code := g.run(args...)
			if code != exit.ExitConflict || !strings.Contains(g.out.String()+g.err.String(), "deleted and recreated under the same name") || len(g.audited()) != before {
				t.Errorf("exit code %d after %d actions: %s%s", code, len(g.audited())-before, &g.out, &g.err)
			}
		})
	}
}

func TestAWaitEndsWhereItsClusterIsRecreated(t *testing.T) {
	g := up(t)
	g.connect = func() (session.Session, error) {
		remake(g.cluster.Resource)
		return simulated{g.cluster, g}, nil
	}
	if code := g.run("wait", "sample", "--for", "available"); code != exit.ExitConflict || !strings.Contains(g.err.String(), "deleted and recreated under the same name") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
}
