package commands

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// together is one of several control-plane instances that share a database.
func together(t *testing.T) *given {
	t.Helper()
	g := newGiven(t)
	g.cluster.Resource.Spec.ProcessGroupIDPrefix = "dc1"
	g.cluster.Resource.Spec.LockOptions.DisableLocks = new(bool)
	if code := g.run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	return g
}

// The list has who denied a control-plane instance, and why.
func TestTheDenyListShowsTheUserAndReasonOfEachEntry(t *testing.T) {
	g := together(t)
	g.run("locks", "deny", "sample", "dc2", "--reason", "dc2 is lost")
	g.cluster.Shared.DenyList["dc3"] = true // as an operator does
	g.cluster.Shared.Denials["dc4"] = fdb.Denial{By: "an earlier one", At: g.cluster.Now()}
	g.cluster.Resource.Spec.LockOptions.DenyList = []v1beta2.LockDenyListEntry{{ID: "dc5"}}
	g.run("reconcile", "sample", "--yes")
	if code := g.run("get", "locks", "sample", "-o", "json"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.err)
	}
	type denial struct {
		ID            string
		SetBy, Reason *string
		When          *time.Time
	}
	var list struct{ Denied []denial }
	if err := json.Unmarshal(g.out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	at := func(i int) *time.Time { return list.Denied[i].When }
	want := []denial{
		{"dc2", new("me@here"), new("dc2 is lost"), at(0)}, {ID: "dc3"}, {"dc5", new("the spec of sample"), nil, at(2)},
	}
	if diff := cmp.Diff(want, list.Denied); diff != "" || at(0) == nil || at(2) == nil {
		t.Errorf("%s%v", diff, list.Denied)
	}
	g.run("get", "locks", "sample")
	for _, line := range []string{"DENIED-ID   IN-DB   IN-SPEC   SET-BY               WHEN   REASON", "dc3         yes     -         ?"} {
		if !strings.Contains(g.out.String(), line) {
			t.Errorf("no %q in %s", line, &g.out)
		}
	}
}

func TestLocksDenyAndAllow(t *testing.T) {
	spec := func(entries ...v1beta2.LockDenyListEntry) func(*given) {
		return func(g *given) { g.cluster.Resource.Spec.LockOptions.DenyList = entries }
	}
	const patch = "kubectl patch foundationdbcluster sample -n fdb --context test --type merge -p "
	tests := map[string]struct {
		given  func(*given)
		lines  [][]string
		want   int
		says   string
		lacks  string // nothing for the empty string
		denied []string
	}{
		"an instance is shut out": {
			lines: [][]string{{"deny", "sample", "dc2"}}, denied: []string{"dc2"}, says: "undo: kubectl fdb locks allow sample dc2 -n fdb --context test",
		},
		"and the spec can say so too": {
			given: spec(v1beta2.LockDenyListEntry{ID: "dc3", Allow: true}), lines: [][]string{{"deny", "sample", "dc2"}}, denied: []string{"dc2"},
			says: patch + `'{"spec":{"lockOptions":{"denyList":[{"id":"dc3","allow":true},{"id":"dc2"}]}}}'`,
		},
		"it is let in again": {lines: [][]string{{"deny", "sample", "dc2"}, {"allow", "sample", "dc2"}}, says: "dc2 is not on the deny list of the database"},
		"a spec with the opposite reverts it": {
			given: spec(v1beta2.LockDenyListEntry{ID: "dc2"}), lines: [][]string{{"deny", "sample", "dc2"}, {"allow", "sample", "dc2"}},
			says: "warning: the spec conflicts with this, so the next pass reverts it; to update the spec: " + patch + `'{"spec":{"lockOptions":{"denyList":[{"id":"dc2","allow":true}]}}}'`,
		},
		"this one itself, only when agreed": {lines: [][]string{{"deny", "sample", "dc1"}}, want: exit.ExitUnconfirmed, says: "nothing was changed"},
		"this one itself":                   {lines: [][]string{{"deny", "sample", "dc1", "--yes"}}, denied: []string{"dc1"}, says: "warning: dc1 is this control-plane instance itself", lacks: "refused "},
		"twice is once":                     {lines: [][]string{{"deny", "sample", "dc2"}, {"deny", "dc2", "-c", "sample"}}, denied: []string{"dc2"}, says: "dc2 is on the deny list"},
		"a dry run denies none":             {lines: [][]string{{"deny", "sample", "dc2", "--dry-run"}}, want: exit.ExitNo, says: "UpdateDenyList"},
		"no locks, none to deny":            {given: func(g *given) { *g.cluster.Resource.Spec.LockOptions.DisableLocks = true }, lines: [][]string{{"deny", "sample", "dc2"}}, want: exit.ExitRefused, says: "locks are not used here"},
		"what is no prefix is no instance":  {lines: [][]string{{"deny", "sample", "dc2/x"}}, want: exit.ExitUsage, says: "invalid control-plane instance"},
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
			output := g.out.String() + g.err.String()
			if code != tc.want || !strings.Contains(output, tc.says) || tc.lacks != "" && strings.Contains(output, tc.lacks) {
				t.Errorf("exit code %d, want %d and %q without %q: %s", code, tc.want, tc.says, tc.lacks, output)
			}
			var denied []string
			for owner, is := range g.cluster.Shared.DenyList {
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
