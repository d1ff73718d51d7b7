package coordinators_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestCoordinatorsChange(t *testing.T) {
	tests := map[string]struct {
		args []string // ONE is a coordinator
		want int
		says string
		// moved is true when ONE is a coordinator no more.
		moved bool
	}{
		"good ones stay":                   {args: []string{"--yes"}, says: "the coordinators match the spec"},
		"they are moved away from a group": {args: []string{"--away-from", "ONE", "--yes", "--wait"}, says: "and none is on ONE", moved: true},
		"also when its pod is named":       {args: []string{"--away-from", "sample-ONE", "--yes", "--wait"}, says: "and none is on ONE", moved: true},
		"a dry run moves none":             {args: []string{"--away-from", "ONE", "--dry-run"}, want: exit.ExitNo, says: "~ coordinators "},
		"without a terminal a user agreed": {args: []string{"--away-from", "ONE"}, want: exit.ExitUnconfirmed, says: "use --yes"},
		"an unknown group is a mistake":    {args: []string{"--away-from", "storage-1", "--yes"}, want: exit.ExitUsage, says: "not found: storage-1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			g.Cluster.Resource.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 4, Log: 4, Stateless: 3}
			if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s", code, &g.Err)
			}
			g.Cluster.Tick(6 * time.Minute)
			before := g.Coordinating()
			one := strings.NewReplacer("ONE", before[0])
			args := []string{"coordinators", "change", "sample"}
			for _, arg := range tc.args {
				args = append(args, one.Replace(arg))
			}
			code := g.Run(args...)
			output := g.Out.String() + g.Err.String()
			if code != tc.want || !strings.Contains(output, one.Replace(tc.says)) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, one.Replace(tc.says), output)
			}
			after := g.Coordinating()
			if len(after) != len(before) || slices.Contains(after, before[0]) == tc.moved {
				t.Errorf("%v after %v", after, before)
			}
		})
	}
}
