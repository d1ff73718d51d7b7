package nodes_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Without permission to list nodes all else still works, and what is missing is reported.
func TestUnreadableNodesAreReportedAndCommandsStillSucceed(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Cluster.NodesHidden = "listing nodes is forbidden"
	g.Cluster.Resource.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{{Key: new("*"), DurationInSeconds: new(int64(60))}}
	for _, command := range [][]string{{"reconcile", "sample", "--yes", "--wait"}, {"status", "sample"}, {"get", "pg", "sample"}} {
		if code := g.Run(command...); code != exit.ExitDone {
			t.Errorf("%v: exit code %d: %s", command, code, &g.Err)
		}
		if output := g.Out.String() + g.Err.String(); !strings.Contains(output, "listing nodes is forbidden; recorded taints stay unchanged") {
			t.Errorf("%v does not report that taints are unknown:\n%s", command, output)
		}
	}
}
