package commands

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// gazeAtVault runs a test over a cluster with a backup that runs, and that a screen looks at.
func gazeAtVault(t *testing.T, test func(g *gazed, v *vault)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := newVault(t)
		v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
		v.cluster.FDB.Advance(time.Minute)
		v.now = clock.RealClock{}
		test(&gazed{given: v.given}, v)
	})
}

// tools is how often a tool ran since this was called last.
func (v *vault) tools(name string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := 0
	for _, line := range v.ran {
		if strings.Contains(line, name) {
			n++
		}
	}
	v.ran = nil
	return n
}

func TestADashboardFrameIncludesBackupsAndRestores(t *testing.T) {
	gazeAtVault(t, func(g *gazed, v *vault) {
		t := g.t
		_, end := g.follow(2 * time.Second)
		defer end()
		seen := g.after(3 * time.Second)
		b := seen.Backups
		if b == nil || b.AsOf == nil || len(b.Backups) != 1 || b.Backups[0].Status == nil || len(b.Restores) != 1 || b.Restores[0].Status == nil {
			t.Fatalf("got %+v", b)
		}
		if s := b.Backups[0].Status; !*s.Running || !*s.Restorable || s.Agents.Ready != 1 || s.Snapshot == nil {
			t.Errorf("got %+v", s)
		}
		if s := seen.Source(frame.SourceOfBackups); s.AsOf == nil || s.Problem != "" {
			t.Errorf("got %+v", s)
		}
		line := ui.Line(seen)
		valid(t, "a frame", line)
		if strings.Contains(string(line), storeSecret) {
			t.Error("the secret of the store is in a frame")
		}
		v.tools("")
		g.after(time.Minute)
		if n := v.tools("fdbbackup status"); n != 3 {
			t.Errorf("the tools ran %d times in a minute", n)
		}
	})
}

func TestHangingBackupToolsDoNotBlockTheDashboard(t *testing.T) {
	gazeAtVault(t, func(g *gazed, v *vault) {
		t := g.t
		v.stuck = true
		_, end := g.follow(2 * time.Second)
		defer end()
		seen := g.after(5 * time.Second)
		if seen.Status.State != inspect.StateHealthy || seen.Plan == nil || seen.Backups != nil {
			t.Errorf("%s: %s, %+v", seen.Status.State, seen.Status.Summary, seen.Backups)
		}
		if s := seen.Source(frame.SourceOfBackups); s.RequestedAt == nil {
			t.Errorf("that an answer is awaited does not show: %+v", s)
		}
		seen = g.after(time.Minute)
		if b := seen.Backups; b == nil || len(b.Backups) != 1 || b.Backups[0].Status == nil || b.Backups[0].Status.UnknownReason == "" || b.Backups[0].Status.Running != nil {
			t.Errorf("an unknown backup is shown as %+v", b)
		}
	})
}

func TestADashboardOfAClusterWithoutBackupsRunsNoTool(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		_, end := g.follow(2 * time.Second)
		defer end()
		if b := g.after(time.Minute).Backups; b == nil || b.Unread != "" || len(b.Backups)+len(b.Restores) > 0 {
			t.Errorf("got %+v", b)
		}
	})
}

// What blocks backups is one key away in every view, that of backups as well.
func TestADashboardExplainsWhatBlocksBackups(t *testing.T) {
	gazeAtVault(t, func(g *gazed, v *vault) {
		t := g.t
		v.tool(v.t.Context(), "fdbbackup", "pause")
		_, end := g.follow(2 * time.Second)
		defer end()
		if why := g.after(time.Minute).Why; why == nil || !strings.Contains(why.Summary, "fdbbackup/nightly is paused") {
			t.Errorf("got %+v", why)
		}
	})
}
