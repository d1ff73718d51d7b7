package backup

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestOutstandingChangesOfABackupAreCounted counts the differences between a resource's backup and its spec.
func TestOutstandingChangesOfABackupAreCounted(t *testing.T) {
	period := func(s *plan.Snapshot) { s.Backup.Spec.SnapshotPeriodSeconds = new(7) }
	for name, tc := range map[string]struct {
		given change
		want  int
	}{
		"nothing":                        {same, 0},
		"another period":                 {period, 1},
		"it was stopped":                 {reportedToEnd, 1},
		"both":                           {changed(period, reportedToEnd), 2},
		"another backup has the tag":     {changed(period, reportedToEnd, toAnotherPlace), 0},
		"the backup is unmanaged":        {changed(period, reportedToEnd, unmanaged), 0},
		"the database was not queried":   {changed(period, reportedToEnd, unasked), 0},
		"unmanaged, and of other owners": {changed(period, reportedToEnd, unmanaged, toAnotherPlace), 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := runningBackup(t)
			tc.given(&s)
			if got := OutstandingOfBackup(s); len(got) != tc.want {
				t.Errorf("%d outstanding, want %d: %q", len(got), tc.want, got)
			}
		})
	}
}

// TestAgentsOfAnotherBackupCountOnlyIfTheyRunAndRemain looks for another resource with agents.
func TestAgentsOfAnotherBackupCountOnlyIfTheyRunAndRemain(t *testing.T) {
	other := func(edit func(*v1beta2.FoundationDBBackup)) change {
		return func(s *plan.Snapshot) {
			besides(func(b *v1beta2.FoundationDBBackup) {
				b.Spec.ClusterName, b.Status.AgentCount, b.Spec.AgentCount = s.Backup.Spec.ClusterName, 1, new(1)
				edit(b)
			})(s)
		}
	}
	for name, tc := range map[string]struct {
		given change
		want  bool
	}{
		"none":                     {same, false},
		"with agents":              {other(func(*v1beta2.FoundationDBBackup) {}), true},
		"of another cluster":       {other(func(b *v1beta2.FoundationDBBackup) { b.Spec.ClusterName = "another" }), false},
		"that is being deleted":    {other(func(b *v1beta2.FoundationDBBackup) { b.DeletionTimestamp = new(stagestest.NoonTime()) }), false},
		"without agents that run":  {other(func(b *v1beta2.FoundationDBBackup) { b.Status.AgentCount = 0 }), false},
		"whose agents are to stop": {other(func(b *v1beta2.FoundationDBBackup) { b.Spec.AgentCount = new(0) }), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := runningBackup(t)
			tc.given(&s)
			if _, got := otherAgents(s); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}

// TestAnEncryptionKeyRequiresAVersionThatSupportsIt tries both kinds of version with and without a key.
func TestAnEncryptionKeyRequiresAVersionThatSupportsIt(t *testing.T) {
	version := func(text string) fdb.Version {
		v, err := fdb.ParseVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tc := range []struct {
		path, version string
		fails         bool
	}{{"", "7.1.20", false}, {"", "7.3.79", false}, {"/key", "7.3.79", false}, {"/key", "7.1.20", true}} {
		got, err := encryptionKey(tc.path, version(tc.version))
		if (err != nil) != tc.fails || (!tc.fails && got != tc.path) {
			t.Errorf("key %q with %s: %q, %v", tc.path, tc.version, got, err)
		}
	}
}
