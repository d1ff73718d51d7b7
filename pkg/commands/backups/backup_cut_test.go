package backups_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func byPlan(path string, command ...string) []string {
	return append(slices.Clone(command), "--yes", "--confirm", "nightly", "--plan", path, "--reason", "moved")
}

const isUnfinished = "part of it may be deleted; run the same command again to delete the rest"

// An interrupted deletion ends at once, and reports what it leaves.
func TestAnInterruptedBackupDeletionEndsAtOnceAsUnfinished(t *testing.T) {
	tests := map[string]struct {
		cause error
		args  []string
		want  int
		says  string
	}{
		"Ctrl-C":  {cause: &exit.InterruptedError{Signal: os.Interrupt}, want: exit.ExitInterrupted, says: "Ctrl-C; "},
		"SIGTERM": {cause: &exit.InterruptedError{Signal: syscall.SIGTERM}, want: exit.ExitTerminated, says: "signal: terminated; "},
		"timeout": {cause: exit.ErrTimeout, args: []string{"--timeout", "2h"}, want: exit.ExitWaiting, says: "timed out"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := commandstest.Stopped(t)
			path := v.Planned("backup", "delete", "nightly")
			ctx, cancel := context.WithCancelCause(t.Context())
			v.Cut = func(ctx context.Context) (admin.Result, error) {
				cancel(tt.cause)
				select {
				case <-ctx.Done():
					return admin.Result{}, &admin.TransportError{Started: true, Where: "pod fdb/agent", Err: ctx.Err()}
				case <-time.After(10 * time.Minute):
					return admin.Result{}, errors.New("the context does not end")
				}
			}
			code := v.RunIn(ctx, append(byPlan(path, "backup", "delete", "nightly"), tt.args...)...)
			output := v.Out.String() + v.Err.String()
			if code != tt.want || !strings.Contains(output, tt.says) || !strings.Contains(output, isUnfinished) {
				t.Errorf("exit code %d: %s", code, output)
			}
		})
	}
}

// A long action reports that it is still running, and its limit.
func TestALongActionReportsItsTimeLimit(t *testing.T) {
	for name, tt := range map[string]struct {
		action plan.Action
		want   string
	}{
		"a deletion":        {plan.ClearBackupData{URL: "blobstore://a"}, "still running after 15s (1h0m0s at most): permanently delete all data of the backup at blobstore://a"},
		"an expiry":         {plan.ExpireBackup{URL: "blobstore://a"}, "still running after 15s (1h0m0s at most): delete the data of the backup at blobstore://a"},
		"a deletion policy": {plan.DeleteBackupData{URL: "blobstore://a"}, "still running after 15s (1h0m0s at most): delete all data of the backup at blobstore://a"},
		"what is short":     {plan.PauseAgents{Pause: true}, "still running after 15s: "},
	} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			h := &session.Heartbeat{Env: g.Environment()}
			h.Report(reconcile.ActionStarted{Action: tt.action})
			g.Cluster.Tick(15 * time.Second)
			h.Beat()
			if !strings.HasPrefix(g.Err.String(), tt.want) {
				t.Errorf("got %q", &g.Err)
			}
		})
	}
}
