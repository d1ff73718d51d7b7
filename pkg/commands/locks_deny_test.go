package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// together is one of several instances that share a database.
func together(t *testing.T) *given {
	t.Helper()
	g := newGiven(t)
	g.world.Record.Spec.ProcessGroupIDPrefix = "dc1"
	g.world.Record.Spec.LockOptions.DisableLocks = new(bool)
	if code := g.run("reconcile", "sample", "--yes", "--wait"); code != ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	return g
}

func TestLocksDenyAndAllow(t *testing.T) {
	spec := func(entries ...v1beta2.LockDenyListEntry) func(*given) {
		return func(g *given) { g.world.Record.Spec.LockOptions.DenyList = entries }
	}
	const patch = "kubectl patch foundationdbcluster sample -n fdb --context test --type merge -p "
	tests := map[string]struct {
		given  func(*given)
		lines  [][]string
		want   int
		says   string
		denied []string
	}{
		"an instance is shut out": {
			lines: [][]string{{"deny", "sample", "dc2"}}, denied: []string{"dc2"}, says: "undo: kubectl fdb locks allow sample dc2 -n fdb --context test",
		},
		"and the spec can say so too": {
			given: spec(v1beta2.LockDenyListEntry{ID: "dc3", Allow: true}), lines: [][]string{{"deny", "sample", "dc2"}}, denied: []string{"dc2"},
			says: patch + `'{"spec":{"lockOptions":{"denyList":[{"id":"dc3","allow":true},{"id":"dc2"}]}}}'`,
		},
		"it is let in again": {lines: [][]string{{"deny", "sample", "dc2"}, {"allow", "sample", "dc2"}}, says: "dc2 may take the lock; the database says so"},
		"a spec that says the opposite takes it back": {
			given: spec(v1beta2.LockDenyListEntry{ID: "dc2"}), lines: [][]string{{"deny", "sample", "dc2"}, {"allow", "sample", "dc2"}},
			says: "warning: the spec says the opposite, and the next pass takes it back; to have the spec say so too: " + patch + `'{"spec":{"lockOptions":{"denyList":[{"id":"dc2","allow":true}]}}}'`,
		},
		"twice is once":                    {lines: [][]string{{"deny", "sample", "dc2"}, {"deny", "dc2", "-c", "sample"}}, denied: []string{"dc2"}, says: "dc2 may not take the lock"},
		"a dry run shuts nobody out":       {lines: [][]string{{"deny", "sample", "dc2", "--dry-run"}}, want: ExitNo, says: "UpdateDenyList"},
		"no locks, nobody to shut out":     {given: func(g *given) { *g.world.Record.Spec.LockOptions.DisableLocks = true }, lines: [][]string{{"deny", "sample", "dc2"}}, want: ExitRefused, says: "no locks are used here"},
		"what is no prefix is no instance": {lines: [][]string{{"deny", "sample", "dc2/x"}}, want: ExitUsage, says: "is no instance"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := together(t)
			if tc.given != nil {
				tc.given(g)
			}
			code := 0
			for _, line := range tc.lines {
				code = g.run(append([]string{"locks"}, line...)...)
			}
			said := g.out.String() + g.err.String()
			if code != tc.want || !strings.Contains(said, tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, tc.says, said)
			}
			var denied []string
			for owner, is := range g.world.Shared.DenyList {
				if is {
					denied = append(denied, owner)
				}
			}
			if !slices.Equal(tc.denied, denied) {
				t.Errorf("denied are %v, want %v", denied, tc.denied)
			}
		})
	}
}
