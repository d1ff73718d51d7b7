package diagnose_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

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
