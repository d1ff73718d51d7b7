package locks_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// The list has who denied a control-plane instance, and why.
func TestTheDenyListShowsTheUserAndReasonOfEachEntry(t *testing.T) {
	g := commandstest.Together(t)
	g.Run("locks", "deny", "sample", "dc2", "--reason", "dc2 is lost")
	g.Cluster.Shared.DenyList["dc3"] = true // as an operator does
	g.Cluster.Shared.Denials["dc4"] = fdb.Denial{By: "an earlier one", At: g.Cluster.Now()}
	g.Cluster.Resource.Spec.LockOptions.DenyList = []v1beta2.LockDenyListEntry{{ID: "dc5"}}
	g.Run("reconcile", "sample", "--yes")
	if code := g.Run("get", "locks", "sample", "-o", "json"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	type denial struct {
		ID            string
		SetBy, Reason *string
		When          *time.Time
	}
	var list struct{ Denied []denial }
	if err := json.Unmarshal(g.Out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	at := func(i int) *time.Time { return list.Denied[i].When }
	want := []denial{
		{"dc2", new("me@here"), new("dc2 is lost"), at(0)}, {ID: "dc3"}, {"dc5", new("the spec of sample"), nil, at(2)},
	}
	if diff := cmp.Diff(want, list.Denied); diff != "" || at(0) == nil || at(2) == nil {
		t.Errorf("%s%v", diff, list.Denied)
	}
	g.Run("get", "locks", "sample")
	for _, line := range []string{"DENIED-ID   IN-DB   IN-SPEC   SET-BY               WHEN   REASON", "dc3         yes     -         ?"} {
		if !strings.Contains(g.Out.String(), line) {
			t.Errorf("no %q in %s", line, &g.Out)
		}
	}
}

func TestLocksDenyAndAllow(t *testing.T) {
	spec := func(entries ...v1beta2.LockDenyListEntry) func(*commandstest.Given) {
		return func(g *commandstest.Given) { g.Cluster.Resource.Spec.LockOptions.DenyList = entries }
	}
	const patch = "kubectl patch foundationdbcluster sample -n fdb --context test --type merge -p "
	tests := map[string]struct {
		given  func(*commandstest.Given)
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
		"a dry run denies none":             {lines: [][]string{{"deny", "sample", "dc2", "--dry-run"}}, want: exit.ExitNo, says: "~ deny list "},
		"no locks, none to deny":            {given: func(g *commandstest.Given) { *g.Cluster.Resource.Spec.LockOptions.DisableLocks = true }, lines: [][]string{{"deny", "sample", "dc2"}}, want: exit.ExitRefused, says: "locks are not used here"},
		"what is no prefix is no instance":  {lines: [][]string{{"deny", "sample", "dc2/x"}}, want: exit.ExitUsage, says: "invalid control-plane instance"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Together(t)
			if tc.given != nil {
				tc.given(g)
			}
			code := 0
			for _, line := range tc.lines {
				code = g.Run(append([]string{"locks"}, line...)...)
			}
			output := g.Out.String() + g.Err.String()
			if code != tc.want || !strings.Contains(output, tc.says) || tc.lacks != "" && strings.Contains(output, tc.lacks) {
				t.Errorf("exit code %d, want %d and %q without %q: %s", code, tc.want, tc.says, tc.lacks, output)
			}
			var denied []string
			for owner, is := range g.Cluster.Shared.DenyList {
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
