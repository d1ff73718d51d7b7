package operations_test

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// operated is a cluster on which ann replaces two process groups; edit changes her operation.
func operated(t *testing.T, edit func(*reconcile.Operation)) (*commandstest.Given, client.Client) {
	t.Helper()
	g := commandstest.Up(t)
	o := &reconcile.Operation{
		ID: "run7", Command: "replace sample storage-1 storage-2 --wait", Holder: "ann@laptop process 7 (1 2) (CHG-42)", User: "ann@laptop", Reason: "CHG-42",
		Since: g.Cluster.Now().Add(-10 * time.Minute).UTC(), Seen: g.Cluster.Now().UTC(),
		Progress: reconcile.OperationProgress{Passes: 3, Actions: 9, Reached: 1, Targets: 2, WaitingFor: "storage-2 is draining"},
	}
	if edit != nil {
		edit(o)
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	g.Objects = append(g.Objects, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: commandstest.LeaseKey.Namespace, Name: commandstest.LeaseKey.Name, Annotations: map[string]string{live.AnnotationOperation: string(text)}}})
	return g, g.Client()
}

func TestOperationsAreListed(t *testing.T) {
	lost := func(o *reconcile.Operation) { o.Seen = o.Seen.Add(-4 * time.Minute) }
	tests := map[string]struct {
		edit func(*reconcile.Operation)
		args []string
		want []string
	}{
		"an active one":     {args: []string{"operations", "list"}, want: []string{"run7", "replace sample storage-1 storage-2 --wait", "ann@laptop", "10m", "active", "1 of 2 done, 9 actions in 3 passes, waiting: storage-2 is draining"}},
		"one that was lost": {edit: lost, args: []string{"operations", "list"}, want: []string{"lost"}},
		"as JSON":           {args: []string{"operations", "list", "-A", "-o", "json"}, want: []string{`"kind": "OperationList"`, `"id": "run7"`, `"active": true`, `"reason": "CHG-42"`, `"waitingFor": "storage-2 is draining"`}},
		"as names":          {args: []string{"operations", "list", "-o", "name"}, want: []string{"operation/sample"}},
		"in why":            {args: []string{"why", "sample"}, want: []string{"operation: run7: replace sample storage-1 storage-2 --wait, by ann@laptop (CHG-42), for 10m"}},
		"in why, as JSON":   {args: []string{"why", "sample", "-o", "json"}, want: []string{`"operation": {`, `"id": "run7"`}},
		"in the status":     {args: []string{"status", "sample"}, want: []string{"run7: replace sample storage-1 storage-2 --wait, by ann@laptop (CHG-42), for 10m", "1 of 2 done"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, c := operated(t, tc.edit)
			if code := g.RunOn(c, tc.args...); code != exit.ExitDone {
				t.Errorf("exit code %d: %s", code, &g.Err)
			}
			output := strings.Join(strings.Fields(g.Out.String()), " ")
			for _, part := range tc.want {
				if !strings.Contains(output, strings.Join(strings.Fields(part), " ")) {
					t.Errorf("does not say %q: %s", part, &g.Out)
				}
			}
		})
	}
}

// What is pending is in the hands of the operation: following it comes before another pass.
func TestWhySuggestsFollowingTheActiveOperation(t *testing.T) {
	g, c := operated(t, nil)
	g.Cluster.Resource.Spec.ProcessCounts.Storage = 5
	g.Cluster.Resource.Generation++
	code := g.RunOn(c, "why", "sample")
	for _, part := range []string{"an operation is active: run7: replace sample storage-1 storage-2 --wait, by ann@laptop", "next: kubectl fdb operations follow sample"} {
		if code != exit.ExitNo || !strings.Contains(strings.Join(strings.Fields(g.Out.String()), " "), part) {
			t.Errorf("exit code %d, does not contain %q: %s%s", code, part, &g.Out, &g.Err)
		}
	}
}

// The commands that follow and abort an operation take the name of a cluster, and so does the list.
func TestOperationsListTakesACluster(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
		says string
	}{
		"one with an operation":     {args: []string{"sample"}, says: "run7"},
		"by the flag":               {args: []string{"-c", "sample"}, says: "run7"},
		"as JSON":                   {args: []string{"sample", "-o", "json"}, says: `"cluster": "sample"`},
		"one that does not exist":   {args: []string{"smaple"}, want: exit.ExitUsage, says: "did you mean sample?"},
		"one, and all namespaces":   {args: []string{"sample", "-A"}, want: exit.ExitUsage, says: "-A conflicts with a cluster name"},
		"two":                       {args: []string{"sample", "other"}, want: exit.ExitUsage, says: "invalid arguments"},
		"one that has no operation": {args: []string{"second"}, says: "no operation on cluster second"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, c := operated(t, nil)
			second := g.Cluster.Resource.DeepCopy()
			second.Name, second.UID, second.ResourceVersion = "second", "second", ""
			if err := c.Create(t.Context(), second); err != nil {
				t.Fatal(err)
			}
			code := g.RunOn(c, append([]string{"operations", "list"}, tc.args...)...)
			if output := g.Out.String() + g.Err.String(); code != tc.want || !strings.Contains(output, tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, tc.says, output)
			}
		})
	}
}

func TestOperationsListReportsThatThereIsNone(t *testing.T) {
	g := commandstest.Up(t)
	if code := g.Run("operations", "list"); code != exit.ExitDone || !strings.Contains(g.Err.String(), "no operation in namespace fdb") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

// goesOn is an operation whose run reports for the whole test.
func goesOn(o *reconcile.Operation) { o.Seen = o.Seen.Add(10 * time.Hour) }

func TestAnOperationIsFollowedToItsEnd(t *testing.T) {
	tests := map[string]struct {
		edit func(*reconcile.Operation)
		ends int // at which wait; 0 for never
		args []string
		want int
		says string
	}{
		"to its end":   {ends: 3, want: exit.ExitDone, says: "operation run7 has ended: replace sample storage-1 storage-2 --wait, by ann@laptop"},
		"as JSON":      {ends: 3, args: []string{"-o", "json"}, want: exit.ExitDone, says: `"ended": true`},
		"for a time":   {edit: goesOn, args: []string{"--timeout", "40s"}, want: exit.ExitWaiting, says: "timed out after 40s: 1 of 2 done"},
		"to its loss":  {want: exit.ExitUnreachable, says: "operation run7 no longer reports"},
		"once it lost": {edit: func(o *reconcile.Operation) { o.Seen = o.Seen.Add(-time.Hour) }, want: exit.ExitUnreachable, says: "operation run7 no longer reports"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, c := operated(t, tc.edit)
			g.EndsAfter(c, tc.ends)
			code := g.RunOn(c, append([]string{"operations", "follow", "sample"}, tc.args...)...)
			if output := g.Out.String() + g.Err.String(); code != tc.want || !strings.Contains(output, tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, tc.says, output)
			}
		})
	}
}

func TestOperationsFollowEndsWithoutAnOperation(t *testing.T) {
	g := commandstest.Up(t)
	if code := g.Run("operations", "follow", "sample"); code != exit.ExitDone || !strings.Contains(g.Out.String(), "no operation") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestAnOperationIsAborted(t *testing.T) {
	answers := func(word string) *string { return &word }
	tests := map[string]struct {
		edit  func(*reconcile.Operation)
		input *string
		ends  int
		// cluster is another than "sample".
		cluster string
		args    []string
		want    int
		says    string
		// by is who is stored as having requested it; empty for none.
		by string
	}{
		"to its end":             {ends: 2, args: []string{"--yes", "--reason", "wrong group"}, want: exit.ExitDone, says: "operation run7 has ended"},
		"on a terminal":          {ends: 2, input: answers("y\n"), want: exit.ExitDone, says: "operation run7: replace sample storage-1 storage-2 --wait, by ann@laptop (CHG-42)"},
		"not approved":           {input: answers("n\n"), want: exit.ExitUnconfirmed, says: "declined (nothing was changed)"},
		"without a terminal":     {want: exit.ExitUnconfirmed, says: "use --yes"},
		"it goes on":             {edit: goesOn, args: []string{"--yes", "--timeout", "40s"}, want: exit.ExitWaiting, says: "operation run7 has not ended yet", by: "me@here"},
		"its run is lost then":   {args: []string{"--yes", "--timeout", "0"}, want: exit.ExitUnreachable, says: "whether it ended is unknown", by: "me@here"},
		"another one":            {args: []string{"--yes", "--id", "run6"}, want: exit.ExitConflict, says: "is run7, not run6"},
		"one that is mistyped":   {args: []string{"--yes", "--id", "rum7"}, want: exit.ExitConflict, says: "did you mean run7?"},
		"one that was lost":      {edit: func(o *reconcile.Operation) { o.Seen = o.Seen.Add(-time.Hour) }, args: []string{"--yes"}, want: exit.ExitRefused, says: "no longer reports"},
		"of an older release":    {edit: func(o *reconcile.Operation) { o.ID, o.User = "", "" }, args: []string{"--yes"}, want: exit.ExitRefused, says: "older release"},
		"for less than no time":  {args: []string{"--yes", "--timeout", "-1s"}, want: exit.ExitUsage, says: "must not be negative"},
		"of an unknown cluster":  {cluster: "other", args: []string{"--yes"}, want: exit.ExitUsage, says: "other"},
		"in a dry run":           {args: []string{"--dry-run"}, want: exit.ExitNo, says: "operation run7: replace sample"},
		"in a server dry run":    {args: []string{"--dry-run=server"}, want: exit.ExitNo, says: "operation run7: replace sample"},
		"the ID is the expected": {ends: 2, args: []string{"--yes", "--id", "run7"}, want: exit.ExitDone, says: "operation run7 has ended"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, c := operated(t, tc.edit)
			g.Input = tc.input
			g.EndsAfter(c, tc.ends)
			code := g.RunOn(c, append([]string{"operations", "abort", cmp.Or(tc.cluster, "sample")}, tc.args...)...)
			if output := g.Out.String() + g.Err.String(); code != tc.want || !strings.Contains(output, tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, tc.says, output)
			}
			lease, by := &coordinationv1.Lease{}, ""
			if err := c.Get(t.Context(), commandstest.LeaseKey, lease); err != nil {
				t.Fatal(err)
			}
			if abort := live.AbortOf(lease); abort != nil {
				by = abort.By
			}
			if by != tc.by {
				t.Errorf("requested by %q, want %q", by, tc.by)
			}
		})
	}
}

func TestTheRequestToAbortAnOperationHasAnAuditLine(t *testing.T) {
	g, c := operated(t, nil)
	g.EndsAfter(c, 2)
	if code := g.RunOn(c, "operations", "abort", "sample", "--yes", "--reason", "wrong group"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	all := g.Audited()
	if last := all[len(all)-1]; last.Action != "RequestAbort" || last.Subject != "run7" || last.Cluster != "sample" || last.UID != "1" || last.Reason != "wrong group" {
		t.Errorf("the last line is %+v", last)
	}
}

func TestOperationsAbortIsRefusedWithoutAnOperation(t *testing.T) {
	g := commandstest.Up(t)
	if code := g.Run("operations", "abort", "sample", "--yes"); code != exit.ExitRefused || !strings.Contains(g.Err.String(), "no operation on sample") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

// The operation has ended: what it began is on the cluster, and each has a way back.
func TestOperationAbortPrintsUnfinishedChangesAndHowToRevertThem(t *testing.T) {
	lost := func(o *reconcile.Operation) { o.Seen = o.Seen.Add(-time.Hour) }
	tests := map[string]struct {
		edit func(*reconcile.Operation)
		ends int
		want int
		mark bool
		says []string
	}{
		"of one that ended": {ends: 2, mark: true, want: exit.ExitDone, says: []string{
			"half done, whichever run began it:", "ID is marked for removal, and not excluded",
			"revert: kubectl fdb replace sample ID --undo",
		}},
		"of one whose run is lost": {edit: lost, mark: true, want: exit.ExitRefused, says: []string{"no longer reports", "revert: kubectl fdb replace sample ID --undo"}},
		"of one that did nothing":  {ends: 2, want: exit.ExitDone, says: []string{"nothing is half done"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, c := operated(t, tc.edit)
			if tc.mark {
				g.Cluster.Resource.Status.ProcessGroups[0].MarkForRemoval(g.Cluster.Now().Add(-time.Minute))
			}
			g.EndsAfter(c, tc.ends)
			code := g.RunOn(c, "operations", "abort", "sample", "--yes")
			output := strings.Join(strings.Fields(g.Out.String()+g.Err.String()), " ")
			for _, part := range tc.says {
				part = strings.ReplaceAll(part, "ID", string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID))
				if code != tc.want || !strings.Contains(output, part) {
					t.Errorf("exit code %d, does not contain %q: %s", code, part, output)
				}
			}
			if !tc.mark {
				return
			}
			_, revert, _ := strings.Cut(g.Out.String(), "revert:   kubectl fdb ")
			revert, _, _ = strings.Cut(revert, "\n")
			if code := g.RunOn(c, append(strings.Fields(revert), "--yes", "--join")...); code != exit.ExitDone || g.Cluster.Resource.Status.ProcessGroups[0].IsMarkedForRemoval() {
				t.Errorf("%s: exit code %d: %s", revert, code, &g.Err)
			}
		})
	}
}

// A Lease outlives its cluster, and so does what it records.
func TestAnOperationOnAnotherClusterOfTheSameNameIsNone(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
		says string
	}{
		"it is not listed":         {[]string{"operations", "list", "sample"}, exit.ExitDone, "no operation on cluster sample"},
		"nor with the namespace's": {[]string{"operations", "list"}, exit.ExitDone, "no operation in namespace fdb"},
		"it is not followed":       {[]string{"operations", "follow", "sample"}, exit.ExitDone, "no operation"},
		"it is not aborted":        {[]string{"operations", "abort", "sample", "--yes"}, exit.ExitRefused, "no operation on sample"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, c := operated(t, func(o *reconcile.Operation) { o.UID = "another" })
			if code := g.RunOn(c, tc.args...); code != tc.want || !strings.Contains(g.Out.String()+g.Err.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s%s", code, tc.want, tc.says, &g.Out, &g.Err)
			}
			g, c = operated(t, func(o *reconcile.Operation) { o.UID = "1" })
			if g.RunOn(c, "operations", "list", "sample"); !strings.Contains(g.Out.String(), "run7") {
				t.Errorf("the operation on this cluster is not listed: %s%s", &g.Out, &g.Err)
			}
		})
	}
}

func TestALeaseThatNoRunWritesIsNamed(t *testing.T) {
	g := commandstest.Up(t)
	now := metav1.NewMicroTime(g.Cluster.Now())
	g.Objects = append(g.Objects, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: commandstest.LeaseKey.Namespace, Name: commandstest.LeaseKey.Name}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: new("ann@laptop"), LeaseDurationSeconds: new(int32(2_000_000_000)), AcquireTime: &now, RenewTime: &now,
	}})
	g.Run("status", "sample")
	if out := g.Out.String(); !strings.Contains(out, "which no run writes") || strings.Contains(out, "555555h") && !strings.Contains(out, "has a duration of 555555h") {
		t.Errorf("got %s", out)
	}
	g.Cluster.Tick(2 * time.Minute)
	if code := g.Run("can", "reconcile", "sample"); code != exit.ExitDone {
		t.Errorf("it holds the cluster after its term: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
