package diagnose_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestWhyExitCodes(t *testing.T) {
	tests := map[string]struct {
		given func(*testing.T) *commandstest.Given
		args  []string
		stdin string
		want  int
		says  string // on stdout
	}{
		"nothing is wrong":                          {given: commandstest.Up, want: exit.ExitDone, says: "fdb/sample: nothing is blocked: the cluster matches its spec\n"},
		"a new cluster":                             {given: commandstest.NewGiven, want: exit.ExitDone, says: "nothing blocks the next pass  next: kubectl fdb reconcile sample -n fdb --context test\n"},
		"a pod without a node":                      {given: unscheduled, want: exit.ExitNo, says: "its pod is Pending, no node fits: 0/5 nodes are available: 5 Insufficient memory  next: kubectl describe pod sample-storage-"},
		"one group, by its pod":                     {given: unscheduled, args: []string{"POD"}, want: exit.ExitNo, says: "no node fits"},
		"one group, from stdin":                     {given: unscheduled, args: []string{"-"}, stdin: "POD\n", want: exit.ExitNo, says: "no node fits"},
		"a group that is fine":                      {given: unscheduled, args: []string{"OTHER"}, want: exit.ExitDone, says: "nothing blocks storage-"},
		"a group that does not exist":               {given: commandstest.Up, args: []string{"storage-0"}, want: exit.ExitUsage},
		"names of the groups":                       {given: unscheduled, args: []string{"-o", "name"}, want: exit.ExitNo, says: "processgroup/storage-"},
		"one field":                                 {given: unscheduled, args: []string{"-o", "jsonpath={.state}"}, want: exit.ExitNo, says: "blocked"},
		"a row per reason":                          {given: unscheduled, args: []string{"-o", "wide"}, want: exit.ExitNo, says: "SUBJECT"},
		"an unknown output":                         {given: commandstest.Up, args: []string{"-o", "xml"}, want: exit.ExitUsage},
		"the database does not answer":              {given: withoutAnswer, want: exit.ExitUnreachable, says: "fdb/sample: database does not answer: timed out  next: kubectl fdb status sample -n fdb --context test\n"},
		"a group, and the database does not report": {given: withoutAnswer, args: []string{"OTHER"}, want: exit.ExitUnreachable, says: "database does not answer"},
		"a live operator": {given: func(t *testing.T) *commandstest.Given {
			t.Helper()
			g := commandstest.NewGiven(t)
			g.Evaluated = []plan.Check{{Question: "is no live operator managing this cluster?", Gate: plan.GateOperator, Evidence: "one is"}}
			return g
		}, want: exit.ExitNo, says: "G-OPERATOR: is no live operator managing this cluster? one is"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := tc.given(t)
			args := []string{"why", "sample"}
			for _, arg := range tc.args {
				args = append(args, g.Named(arg))
			}
			if tc.stdin != "" {
				input := g.Named(tc.stdin)
				g.Input = &input
			}
			got := g.Run(args...)
			if got != tc.want || !strings.Contains(g.Out.String(), tc.says) {
				t.Errorf("exit code %d, want %d, and %q on stdout\nstdout: %s\nstderr: %s", got, tc.want, tc.says, &g.Out, &g.Err)
			}
		})
	}
}

func unscheduled(t *testing.T) *commandstest.Given {
	t.Helper()
	g, _ := commandstest.WithoutNode(t)
	return g
}

func withoutAnswer(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Up(t)
	g.Connect = func() (session.Session, error) {
		return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
	}
	return g
}

// countingLooks counts the reads of the database.
type countingLooks struct {
	commandstest.Simulated
	requested *int
}

func (c countingLooks) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.Database != 0 {
		*c.requested++
	}
	return c.Simulated.Observe(ctx, into, facets)
}

func TestWhyReadsTheDatabaseOnce(t *testing.T) {
	g, _ := commandstest.WithoutNode(t)
	requested := 0
	g.Connect = func() (session.Session, error) {
		return countingLooks{commandstest.Simulated{Cluster: g.Cluster, G: g}, &requested}, nil
	}
	g.Run("why", "sample")
	if requested != 1 {
		t.Errorf("asked %d times", requested)
	}
}

func TestWhyChangesNothing(t *testing.T) {
	g, _ := commandstest.WithoutNode(t)
	acted := len(g.Cluster.Acted)
	g.Run("why", "sample")
	if len(g.Cluster.Acted) != acted {
		t.Errorf("%v", g.Cluster.Acted[acted:])
	}
}

func TestWhyWarnsOfMissingOrUnreadableNodes(t *testing.T) {
	tests := map[string]struct {
		hidden error
		want   string
	}{
		"the node was removed":         {want: "node lost-1 of some pods no longer exists"},
		"reading nodes is not allowed": {hidden: commandstest.ErrForbidden, want: "cannot determine whether nodes are ready: forbidden: list nodes: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, pod := commandstest.WithoutNode(t)
			g.Cluster.Pods[pod].Spec.NodeName = "lost-1"
			g.NodesHidden = tc.hidden
			g.Run("why", "sample", "-o", "json")
			var v why.Report
			if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil {
				t.Fatal(err)
			}
			if len(v.Warnings) != 1 || !strings.HasPrefix(v.Warnings[0], tc.want) {
				t.Errorf("want %q, got %q", tc.want, v.Warnings)
			}
		})
	}
}

// faulty is a cluster of a program with a bug in what reads the database.
type faulty struct{ commandstest.Simulated }

func (f faulty) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.Database != 0 {
		panic("no status")
	}
	return f.Simulated.Observe(ctx, into, facets)
}

// A panic in a goroutine ended the program, and left the terminal of a dashboard as it was. It is no database without an answer.
func TestABugInAReadIsReportedAsOne(t *testing.T) {
	for _, args := range [][]string{{"status", "sample"}, {"why", "sample"}, {"check", "sample"}} {
		g := commandstest.Up(t)
		g.Connect = func() (session.Session, error) {
			return faulty{commandstest.Simulated{Cluster: g.Cluster, G: g}}, nil
		}
		code := g.Run(args...)
		if output := g.Out.String() + g.Err.String(); code == exit.ExitDone || !strings.Contains(output, "bug in kubectl-fdb") {
			t.Errorf("%v: exit code %d: %s", args, code, output)
		}
	}
}

func TestWhyCoversBackupsAndRestores(t *testing.T) {
	paused := func(v *commandstest.Vault) { v.Runs(); v.Tool(v.T.Context(), "fdbbackup", "pause") }
	restoring := func(v *commandstest.Vault) {
		v.Runs()
		v.Fdbcli(`writemode on; clearrange "" \xff`)
		v.Must(exit.ExitWaiting, "", "reconcile", "fdbrestore/again", "--yes")
	}
	tests := map[string]struct {
		given func(*commandstest.Vault)
		args  []string
		want  int
		says  string
	}{
		"a cluster whose backup has no agents": {
			args: []string{"why", "sample"}, want: exit.ExitNo,
			says: "fdb/sample: fdbbackup/nightly has no agents: 0 of 1 agent ready: nothing is written, and what is restorable is unknown  next: kubectl fdb plan fdbbackup/nightly -n fdb --context test\n",
		},
		"a cluster whose backup is well": {given: (*commandstest.Vault).Runs, args: []string{"why", "sample"}, want: exit.ExitDone, says: "fdbrestore/again is not started"},
		"a cluster whose agents are paused": {
			given: paused, args: []string{"why", "sample"}, want: exit.ExitNo, says: "fdbbackup/nightly is paused: all agents of the database are paused  next: kubectl fdb plan fdbbackup/nightly",
		},
		"as names":                   {given: paused, args: []string{"why", "sample", "-o", "name"}, want: exit.ExitNo, says: "fdbbackup/nightly\n"},
		"as a table":                 {given: paused, args: []string{"why", "sample", "-o", "wide"}, want: exit.ExitNo, says: "all agents of the database are paused"},
		"as JSON":                    {given: paused, args: []string{"why", "sample", "-o", "json"}, want: exit.ExitNo, says: `"fdbbackup/nightly"`},
		"a cluster that is restored": {given: restoring, args: []string{"why", "sample"}, want: exit.ExitNo, says: "fdbrestore/again is in progress, and the database is locked: "},
		"a backup that is well":      {given: (*commandstest.Vault).Runs, args: []string{"why", "fdbbackup/nightly"}, want: exit.ExitDone, says: "fdb/fdbbackup/nightly: nothing is blocked"},
		"a backup that is paused": {
			given: paused, args: []string{"why", "fdbbackup/nightly"}, want: exit.ExitNo, says: "fdb/fdbbackup/nightly: is paused: all agents of the database are paused",
		},
		"what a pass would do about it": {given: paused, args: []string{"why", "fdbbackup/nightly"}, want: exit.ExitNo, says: "nothing blocks the next pass"},
		"a restore that is not started": {
			given: func(v *commandstest.Vault) { v.Runs(); v.Fdbcli(`writemode on; clearrange "" \xff`) },
			args:  []string{"why", "fdbrestore/again"}, want: exit.ExitDone, says: "next: kubectl fdb reconcile fdbrestore/again -n fdb --context test",
		},
		"a restore without agents": {args: []string{"why", "fdbrestore/again"}, want: exit.ExitNo, says: "no pod of a backup agent is ready"},
		"a restore as JSON":        {given: restoring, args: []string{"why", "fdbrestore/again", "-o", "json"}, want: exit.ExitNo, says: `"fdbrestore/again"`},
		"a backup that is not there": {
			args: []string{"why", "fdbbackup/other"}, want: exit.ExitUsage, says: "FoundationDBBackup other not found",
		},
		"a backup without a name":   {args: []string{"why", "fdbbackup/"}, want: exit.ExitUsage, says: "name is required: fdbbackup/NAME"},
		"a backup and a cluster":    {args: []string{"why", "fdbbackup/nightly", "-c", "sample"}, want: exit.ExitUsage, says: "conflicts with cluster sample"},
		"all of a cluster":          {given: paused, args: []string{"describe", "sample"}, want: exit.ExitDone, says: "nightly: does not match its spec: all agents of the database are paused"},
		"all of it, and the reason": {given: paused, args: []string{"describe", "sample"}, want: exit.ExitDone, says: "fdbbackup/nightly  is paused  blocked"},
		"all of it, and commands":   {given: paused, args: []string{"describe", "sample"}, want: exit.ExitDone, says: "kubectl fdb backup status nightly -n fdb --context test"},
		"all of it, as JSON":        {given: paused, args: []string{"describe", "sample", "-o", "json"}, want: exit.ExitDone, says: `"restores": [`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := commandstest.NewVault(t)
			if tc.given != nil {
				tc.given(v)
			}
			v.Must(tc.want, tc.says, tc.args...)
		})
	}
}

// Without permission to read backups the missing permission is reported, and everything else
// shown.
func TestWhyAndDescribeContinueWithoutBackupPermissions(t *testing.T) {
	v := commandstest.NewVault(t)
	v.BackupsHidden = apierrors.NewForbidden(schema.GroupResource{Group: "apps.foundationdb.org", Resource: "foundationdbbackups"}, "", errors.New("RBAC"))
	v.Must(exit.ExitDone, "warning: backups and restores could not be read: forbidden: ", "why", "sample")
	v.Must(exit.ExitDone, "nothing is blocked: the cluster matches its spec", "why", "sample")
	output := v.Must(exit.ExitDone, "warning: backups and restores could not be read: forbidden: ", "describe", "sample")
	if !strings.Contains(output, "Nodes") || len(v.Ran) > 0 {
		t.Errorf("ran %v, and printed %s", v.Ran, output)
	}
}

// Tools that do not answer time out, and the rest is shown.
func TestWhyTimesOutHangingBackupTools(t *testing.T) {
	commandstest.GazeAtVault(t, func(g *commandstest.Gazed, v *commandstest.Vault) {
		v.Stuck = true
		began := time.Now()
		v.Must(exit.ExitUnreachable, "fdbbackup/nightly has an unknown state: ", "why", "sample")
		if took := time.Since(began); took > 2*time.Minute {
			g.T.Errorf("it took %s", took)
		}
	})
}

func TestWhyOfAProcessGroupRunsNoBackupTool(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Runs()
	v.Ran = nil
	v.Must(exit.ExitDone, "nothing blocks storage-", "why", "sample", v.Named("OTHER"))
	if len(v.Ran) > 0 {
		t.Errorf("ran %v", v.Ran)
	}
}

// lockedBy has the database say that it is locked; with an empty UID it does not say anything.
type lockedBy struct {
	commandstest.Simulated
	uid string
}

func (l lockedBy) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	err := l.Simulated.Observe(ctx, into, facets)
	if into.Database.Status == nil {
		return err
	}
	if l.uid == "" {
		into.Database = plan.DatabaseFacts{Unreachable: "timed out"}
		return err
	}
	status := *into.Database.Status
	status.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: l.uid}
	into.Database.Status = &status
	return err
}

func TestWhyOfARestoreAgreesWithWhyOfItsCluster(t *testing.T) {
	begun := func(v *commandstest.Vault) {
		v.Runs()
		v.Fdbcli(`writemode on; clearrange "" \xff`)
		v.Must(exit.ExitWaiting, "", "reconcile", "fdbrestore/again", "--yes")
	}
	done := func(v *commandstest.Vault) {
		v.Runs()
		v.Fdbcli(`writemode on; clearrange "" \xff`)
		v.Must(exit.ExitDone, "the restore is completed", "reconcile", "fdbrestore/again", "--yes", "--wait")
	}
	tests := map[string]struct {
		given   func(*commandstest.Vault)
		want    int
		cluster string // output of why CLUSTER
		restore string // output of why fdbrestore/NAME
		next    string
	}{
		"its agents are paused": {
			given: func(v *commandstest.Vault) { begun(v); v.Tool(v.T.Context(), "fdbbackup", "pause") }, want: exit.ExitNo,
			cluster: "fdb/sample: fdbrestore/again is in progress, and the database is locked: all agents of the database are paused, so it does not continue",
			restore: "fdb/fdbrestore/again: is in progress, and the database is locked: all agents of the database are paused, so it does not continue",
			next:    "next: kubectl fdb backup resume nightly -n fdb --context test",
		},
		"it left the database locked": {
			given: func(v *commandstest.Vault) {
				done(v)
				uid := v.UID()
				v.Connect = func() (session.Session, error) {
					return lockedBy{commandstest.Simulated{Cluster: v.Cluster, G: v.Given}, uid}, nil
				}
			}, want: exit.ExitNo,
			cluster: "fdbrestore/again  completed, and left the database locked  blocked",
			restore: "fdb/fdbrestore/again: completed, and left the database locked: the lock is the restore's",
			next:    "next: kubectl fdb restore status again -n fdb --context test",
		},
		"unknown whether it left the database locked": {
			given: func(v *commandstest.Vault) {
				done(v)
				v.Connect = func() (session.Session, error) {
					return lockedBy{commandstest.Simulated{Cluster: v.Cluster, G: v.Given}, ""}, nil
				}
			}, want: exit.ExitUnreachable,
			cluster: "fdb/sample: database does not answer: timed out",
			restore: "fdb/fdbrestore/again: may have left the database locked: cannot determine whether the database is left locked: timed out",
			next:    "next: kubectl fdb ",
		},
		"it is done, and the database is not locked": {
			given: done, want: exit.ExitDone, cluster: "nothing is blocked", restore: "fdb/fdbrestore/again: nothing is blocked",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := commandstest.NewVault(t)
			tc.given(v)
			output := []string{v.Must(tc.want, tc.cluster, "why", "sample"), v.Must(tc.want, tc.restore, "why", "fdbrestore/again")}
			for _, text := range output {
				if !strings.Contains(text, tc.next) {
					t.Errorf("no %q in %s", tc.next, text)
				}
			}
		})
	}
}

// Without permission to see what a restore leaves behind that is reported, and not that all is
// well.
func TestWhyOfARestoreIsUnknownWithoutBackupPermissions(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Runs()
	v.Fdbcli(`writemode on; clearrange "" \xff`)
	v.Must(exit.ExitDone, "the restore is completed", "reconcile", "fdbrestore/again", "--yes", "--wait")
	v.BackupsHidden = apierrors.NewForbidden(schema.GroupResource{Group: "apps.foundationdb.org", Resource: "foundationdbbackups"}, "", errors.New("RBAC"))
	out := v.Must(exit.ExitUnreachable, "may have left the database locked", "why", "fdbrestore/again")
	if want := "warning: backups and restores could not be read: forbidden: "; !strings.Contains(v.Err.String(), want) || strings.Contains(out, "nothing is blocked") {
		t.Errorf("stdout: %s\nstderr: %s", out, &v.Err)
	}
}
