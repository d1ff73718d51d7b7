package reconcile_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// A drift check must not report a status that is out of date in what only users read.
func TestAnOutdatedStatusAloneIsNotReportedAsWork(t *testing.T) {
	for line, words := range map[string]string{
		"plan sample":                    "sample: nothing to do; the next pass also updates the status.",
		"include sample --all --dry-run": "nothing to do",
		"why sample":                     "nothing is blocked",
	} {
		t.Run(line, func(t *testing.T) {
			g := commandstest.Healthy(t)
			g.Run("reconcile", "sample", "--yes", "--wait")
			g.Cluster.Resource.Generation++
			if code := g.Run(strings.Fields(line)...); code != exit.ExitDone || !strings.Contains(g.Out.String(), words) {
				t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			g.Cluster.Resource.Status.ProcessGroups[0].SetCondition(v1beta2.ConditionPodFailing, g.Cluster.Now())
			want := exit.ExitNo
			words = "to do."
			if line == "why sample" {
				want, words = exit.ExitDone, "nothing blocks the next pass, which will only update status: " // a pass can do it now
			}
			if code := g.Run(strings.Fields(line)...); code != want || !strings.Contains(g.Out.String(), words) {
				t.Errorf("a condition of a process group: exit code %d: %s%s", code, &g.Out, &g.Err)
			}
		})
	}
}
