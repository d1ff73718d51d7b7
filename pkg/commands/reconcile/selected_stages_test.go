package reconcile_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// A status of before the restart would ask for it again, whenever the processes are old enough.
func TestSelectedStagesRestartEachProcessOnce(t *testing.T) {
	for name, selected := range map[string][]string{
		"one stage only":          {"--only", "BounceProcesses"},
		"all but what records it": {"--skip", "UpdateStatus"},
	} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			g.Cluster.Resource.Spec.MinimumUptimeSecondsForBounce = 120
			g.Cluster.Tick(20 * time.Minute)
			g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
				v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_min_available_space_ratio=0.01"}},
			}
			g.Cluster.Resource.Generation++
			for range 3 {
				g.Run("reconcile", "sample", "--yes", "--skip", "BounceProcesses")
				g.Cluster.Tick(time.Minute)
			}
			g.Cluster.Acted = nil
			code := g.Run(append([]string{"reconcile", "sample", "--yes", "--wait", "--timeout", "2h"}, selected...)...)
			if kills := g.Kills(); code != exit.ExitDone || len(kills) != 1 || len(kills[0]) != 9 {
				t.Errorf("exit code %d after %d restarts, want one of 9 process groups: %s%s", code, len(kills), &g.Out, &g.Err)
			}
		})
	}
}
