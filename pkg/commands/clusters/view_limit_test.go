package clusters_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// A tool can hang in all pods, and would keep each view waiting for as long as it is given there.
func TestAViewIsShownWithinItsLimitWhenToolsHangInAllPods(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		for _, words := range []string{
			"status", "why", "describe", "describe --tree", "get process-groups", "get processes", "get nodes", "get coordinators", "get configuration", "get locks", "get exclusions", "top",
		} {
			g.Hang(plan.Database)
			began := time.Now()
			code := g.Run(append(strings.Fields(words), "sample")...)
			if took := time.Since(began); took > session.ViewLimit {
				t.Errorf("%s took %s", words, took)
			}
			if all := g.Out.String() + g.Err.String(); !strings.Contains(all, "no answer within 30s") {
				t.Errorf("%s: exit code %d, without the reason:\n%s", words, code, all)
			}
		}
	})
}

// A recovery plan distinguishes a lost quorum from a slow database, so it does not end where a view does.
func TestARecoveryPlanWaitsLongerForTheDatabaseThanAView(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		g.Tool = func(*corev1.Pod, string) (admin.Transport, error) { return nil, errors.New("no route to pods") }
		g.Hang(plan.Database)
		began := time.Now()
		g.Run("recover", "plan", "sample")
		if took := time.Since(began); took <= session.ViewLimit || strings.Contains(g.Out.String(), "no answer within 30s") {
			t.Errorf("took %s:\n%s", took, &g.Out)
		}
	})
}

// The dashboard reads continuously, and each of its reads has the limit.
func TestTheDashboardShowsWithinTheLimitThatToolsHang(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		_, end := g.Follow(2 * time.Second)
		defer end()
		g.After(5 * time.Second)
		g.Hang(plan.Database)
		f := g.After(session.ViewLimit + 5*time.Second)
		if reason := f.Status.Database.UnknownReason; !strings.Contains(reason, "no answer within 30s") {
			t.Errorf("the database is unknown because of %q", reason)
		}
		if f.Source(frame.SourceOfDatabase).Problem == "" || len(f.Groups.Items) == 0 {
			t.Errorf("the rest of the frame: %+v", f.Source(frame.SourceOfDatabase))
		}
	})
}
