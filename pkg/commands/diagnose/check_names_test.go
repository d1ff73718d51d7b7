package diagnose_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// resolver is a session whose pods resolve names slowly, or not at all.
type resolver struct {
	commandstest.Simulated
	took time.Duration
	// moved is whether they find another address.
	moved     bool
	err       error
	requested *[][]string
}

func (r resolver) ReadNames(ctx context.Context, names []string) (fdb.NameLookups, error) {
	*r.requested = append(*r.requested, names)
	if r.err != nil {
		return fdb.NameLookups{}, r.err
	}
	lookups, err := r.Simulated.ReadNames(ctx, names)
	for i := range lookups.Names {
		lookups.Names[i].Slowest = max(r.took, lookups.Names[i].Slowest)
		if r.moved {
			lookups.Names[i].Addresses = []netip.Addr{netip.MustParseAddr("192.0.2.1")}
		}
	}
	return lookups, err
}

func TestCheckMeasuresCoordinatorNameResolution(t *testing.T) {
	tests := map[string]struct {
		given     func(*commandstest.Given)
		took      time.Duration
		moved     bool
		err       error
		args      []string
		want      int
		requested int
		says      string
	}{
		"a resolver that answers":      {want: exit.ExitDone, requested: 1, says: "CONN-003   passed"},
		"a slow one":                   {took: 5 * time.Second, want: exit.ExitNo, requested: 1, says: "CONN-003   failed"},
		"a pod without getent":         {err: errors.New("resolve names: the container has no getent"), want: exit.ExitUnreachable, requested: 1, says: "CONN-003   not-checked   resolve names: the container has no getent"},
		"a rule that is left out":      {took: 5 * time.Second, args: []string{"--skip", "CONN-003=known"}, want: exit.ExitDone, says: "CONN-003   skipped"},
		"the addresses of its pods":    {args: []string{"--rules", "CONN-004"}, want: exit.ExitDone, requested: 1, says: "CONN-004   passed"},
		"the address of another pod":   {moved: true, args: []string{"--rules", "CONN-004"}, want: exit.ExitNo, requested: 1, says: "CONN-004   failed"},
		"a rule that was not asked of": {took: 5 * time.Second, args: []string{"--rules", "CONN-001"}, want: exit.ExitDone, says: "CONN-001   passed"},
		"addresses":                    {given: func(g *commandstest.Given) { g.Cluster.Resource.Spec.Routing.UseDNSInClusterFile = new(false) }, took: 5 * time.Second, want: exit.ExitDone, says: "CONN-003   passed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			if tc.given != nil {
				tc.given(g)
			}
			if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			g.Cluster.FDB.Advance(2 * time.Minute) // the DNS records of new pods may be those of former ones
			var requested [][]string
			g.Connect = func() (session.Session, error) {
				return resolver{commandstest.Simulated{Cluster: g.Cluster, G: g}, tc.took, tc.moved, tc.err, &requested}, nil
			}
			args := append([]string{"check", "sample", "--fail-on", "warning", "-o", "custom-columns=R:.rule,O:.outcome,WHY:.reason"}, tc.args...)
			if !slices.Contains(args, "--rules") {
				args = append(args, "--rules", "CONN-003")
			}
			if code := g.Run(args...); code != tc.want || !strings.Contains(g.Out.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q in\n%s%s", code, tc.want, tc.says, &g.Out, &g.Err)
			}
			if len(requested) != tc.requested || (tc.requested > 0 && len(requested[0]) != 3) {
				t.Errorf("names looked up: %v", requested)
			}
		})
	}
}
