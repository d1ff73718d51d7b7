package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestADashboardFrameIncludesBackupsAndRestores(t *testing.T) {
	commandstest.GazeAtVault(t, func(g *commandstest.Gazed, v *commandstest.Vault) {
		t := g.T
		_, end := g.Follow(2 * time.Second)
		defer end()
		seen := g.After(3 * time.Second)
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
		commandstest.Valid(t, "a frame", line)
		if strings.Contains(string(line), commandstest.StoreSecret) {
			t.Error("the secret of the store is in a frame")
		}
		v.Tools("")
		g.After(time.Minute)
		if n := v.Tools("fdbbackup status"); n != 3 {
			t.Errorf("the tools ran %d times in a minute", n)
		}
	})
}

func TestHangingBackupToolsDoNotBlockTheDashboard(t *testing.T) {
	commandstest.GazeAtVault(t, func(g *commandstest.Gazed, v *commandstest.Vault) {
		t := g.T
		v.Stuck = true
		_, end := g.Follow(2 * time.Second)
		defer end()
		seen := g.After(5 * time.Second)
		if seen.Status.State != inspect.StateHealthy || seen.Plan == nil || seen.Backups != nil {
			t.Errorf("%s: %s, %+v", seen.Status.State, seen.Status.Summary, seen.Backups)
		}
		if s := seen.Source(frame.SourceOfBackups); s.RequestedAt == nil {
			t.Errorf("that an answer is awaited does not show: %+v", s)
		}
		seen = g.After(time.Minute)
		if b := seen.Backups; b == nil || len(b.Backups) != 1 || b.Backups[0].Status == nil || b.Backups[0].Status.UnknownReason == "" || b.Backups[0].Status.Running != nil {
			t.Errorf("an unknown backup is shown as %+v", b)
		}
	})
}

func TestADashboardOfAClusterWithoutBackupsRunsNoTool(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		_, end := g.Follow(2 * time.Second)
		defer end()
		if b := g.After(time.Minute).Backups; b == nil || b.Unread != "" || len(b.Backups)+len(b.Restores) > 0 {
			t.Errorf("got %+v", b)
		}
	})
}

// What blocks backups is one key away in every view, that of backups as well.
func TestADashboardExplainsWhatBlocksBackups(t *testing.T) {
	commandstest.GazeAtVault(t, func(g *commandstest.Gazed, v *commandstest.Vault) {
		t := g.T
		v.Tool(v.T.Context(), "fdbbackup", "pause")
		_, end := g.Follow(2 * time.Second)
		defer end()
		if why := g.After(time.Minute).Why; why == nil || !strings.Contains(why.Summary, "fdbbackup/nightly is paused") {
			t.Errorf("got %+v", why)
		}
	})
}
