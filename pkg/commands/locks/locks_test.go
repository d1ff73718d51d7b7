package locks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestLocksAreListedWhetherOrNotTheSpecUsesThem(t *testing.T) {
	g := commandstest.Up(t)
	g.Cluster.Shared.Lock = &fdb.Lock{Owner: "west", Start: g.Cluster.Now().Add(-time.Minute), End: g.Cluster.Now().Add(9 * time.Minute)}
	g.Cluster.Shared.DenyList["north"] = true
	g.Cluster.Resource.Spec.LockOptions.DenyList = []v1beta2.LockDenyListEntry{{ID: "south"}}
	tests := map[string]struct {
		args []string
		want []string
		code int
	}{
		"as a table":             {args: []string{"get", "locks", "sample"}, want: []string{"west    no", "held", "north       yes     -", "south       no      deny", "the spec does not use the lock", "Lease of runs in this Kubernetes cluster: free"}},
		"by the other name":      {args: []string{"get", "locks", "sample", "-o", "jsonpath={.kind} {.items[0].state}"}, want: []string{"LockList held"}},
		"its name":               {args: []string{"get", "locks", "-o", "name"}, want: []string{"lock/sample\n"}},
		"a column":               {args: []string{"get", "locks", "sample", "-o", "custom-columns=OWNER:.owner", "--no-headers"}, want: []string{"west\n"}},
		"a command that is none": {args: []string{"locks", "steal"}, code: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code := g.Run(tc.args...)
			if code != tc.code {
				t.Errorf("exit code %d, want %d: %s", code, tc.code, &g.Err)
			}
			for _, want := range tc.want {
				if !strings.Contains(g.Out.String(), want) {
					t.Errorf("no %q in\n%s%s", want, &g.Out, &g.Err)
				}
			}
		})
	}
}

func TestTheLockHolderIsUnknownIfTheDatabaseDoesNotAnswer(t *testing.T) {
	g := commandstest.Up(t)
	g.Connect = func() (session.Session, error) {
		return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
	}
	if code := g.Run("get", "locks", "sample"); code != exit.ExitUnreachable || g.Out.Len() > 0 || !strings.Contains(g.Err.String(), "cannot determine the lock holder: timed out") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
