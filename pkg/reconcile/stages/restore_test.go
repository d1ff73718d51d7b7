package stages

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// newRestore is a restore that was never started, into a cluster with a database.
func newRestore() plan.Snapshot {
	r := &v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: "again"}}
	r.Spec.DestinationClusterName = "sample"
	r.Spec.BlobStoreConfiguration = &v1beta2.BlobStoreConfiguration{AccountName: "key@store", BackupName: "nightly"}
	c := &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: "sample"}}
	c.Spec.Version, c.Status.RunningVersion, c.Status.Configured = "7.3.79", "7.3.79", true
	return plan.Snapshot{Now: noon, Cluster: c, Restore: r, RestoreStatus: plan.RestoreFacts{Read: true}}
}

func shown(state string) change {
	return func(s *plan.Snapshot) {
		s.RestoreStatus.All = append(s.RestoreStatus.All, fdb.RestoreStatus{Tag: "default", UID: "1", State: state, URL: nightlyURL, Version: 42, BlocksDone: 1, BlocksTotal: 9})
	}
}

func recorded(state v1beta2.FoundationDBRestoreState, running bool) change {
	return func(s *plan.Snapshot) {
		s.Restore.Status = v1beta2.FoundationDBRestoreStatus{State: state, Running: running}
	}
}

func anotherSource(s *plan.Snapshot) {
	s.RestoreStatus.All[0].URL = "blobstore://key@store:443/other?bucket=b"
}

func nobodyAnswers(s *plan.Snapshot) { s.RestoreStatus = plan.RestoreFacts{Unreachable: "timed out"} }

func restoreSpec(change func(*v1beta2.FoundationDBRestoreSpec)) change {
	return func(s *plan.Snapshot) { change(&s.Restore.Spec) }
}

func checkRestore(t *testing.T, stage plan.Stage, rows map[string]backupRow) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			s := newRestore()
			row.given(&s)
			checkDecision(t, stage, s, row)
		})
	}
}

func TestStartRestore(t *testing.T) {
	const start = "restore everything as of the latest version there is from " + nightlyURL + " into sample, which is locked until it is done"
	checkRestore(t, startRestore, map[string]backupRow{
		"starts what was never started":              {given: same, does: []string{start}},
		"starts though an earlier restore completed": {given: shown(fdb.RestoreCompleted), does: []string{start}},
		"starts though an earlier restore was ended": {given: shown(fdb.RestoreAborted), does: []string{start}},
		"waits for another restore":                  {given: shown(fdb.RestoreRunning), holds: "the end of another restore"},
		"waits for one in a state that nobody knows": {given: shown("paused"), holds: "the end of another restore"},
		"never starts twice":                         {given: changed(shown(fdb.RestoreCompleted), recorded(v1beta2.RestoreStateCompleted, false))},
		"never starts again what was ended":          {given: changed(shown(fdb.RestoreAborted), recorded(v1beta2.RestoreStateAborted, false))},
		"never starts again what nobody knows of":    {given: recorded("", true)},
		"starts nothing while nobody can tell":       {given: nobodyAnswers, holds: "nobody can tell whether a restore runs: timed out"},
		"waits for a database":                       {given: func(s *plan.Snapshot) { s.Cluster.Status.Configured = false }, holds: "has no database yet"},
		"restores ranges as of a version": {given: restoreSpec(func(r *v1beta2.FoundationDBRestoreSpec) {
			r.BackupVersion, r.KeyRanges = new(uint64(42)), []v1beta2.FoundationDBKeyRange{{Start: "a", End: "b"}}
		}), does: []string{"restore 1 key ranges (\"a\" to \"b\") as of version 42 from " + nightlyURL + " into sample, which is locked until it is done"}},
		"says that it cannot read encrypted data": {given: changed(func(s *plan.Snapshot) { s.Cluster.Status.RunningVersion = "7.1.67" },
			restoreSpec(func(r *v1beta2.FoundationDBRestoreSpec) { r.EncryptionKeyPath = "/key" })), holds: "cannot encrypt backups", human: true},
		"never makes a URL with a secret": {given: restoreSpec(func(r *v1beta2.FoundationDBRestoreSpec) { r.BlobStoreConfiguration.AccountName = "key:hunter2@store" }), holds: "the account holds a secret", human: true},
		"leaves a record alone that goes": {given: func(s *plan.Snapshot) { s.Restore.DeletionTimestamp = &metav1.Time{Time: noon} }},
	})
}

func TestUpdateRestoreStatus(t *testing.T) {
	started := recorded(v1beta2.RestoreStateQueued, true)
	checkRestore(t, updateRestoreStatus, map[string]backupRow{
		"has nothing to say of what was never started": {given: shown(fdb.RestoreCompleted)},
		"follows a restore":                            {given: changed(started, shown(fdb.RestoreRunning)), does: []string{"record what was observed: the restore is running"}, holds: "1 of 9 blocks"},
		"says that it is done":                         {given: changed(started, shown(fdb.RestoreCompleted)), does: []string{"record what was observed: the restore is completed"}},
		"writes nothing twice":                         {given: changed(recorded(v1beta2.RestoreStateCompleted, false), shown(fdb.RestoreCompleted))},
		"is no longer running when it is done":         {given: changed(recorded(v1beta2.RestoreStateCompleted, true), shown(fdb.RestoreCompleted)), does: []string{"record what was observed: the restore is completed"}},
		"says what an end leaves behind":               {given: changed(started, shown(fdb.RestoreAborted)), does: []string{"record what was observed: the restore is aborted"}, holds: "a part of the data in it", human: true},
		"does not take another's restore for its own":  {given: changed(started, shown(fdb.RestoreCompleted), anotherSource), does: []string{"record what was observed: the restore is Unknown"}, holds: "the database does not know of it", human: true},
		"remembers what was done":                      {given: changed(recorded(v1beta2.RestoreStateCompleted, false), shown(fdb.RestoreRunning), anotherSource)},
		"keeps what the database last said":            {given: changed(started, nobodyAnswers), holds: "nobody can tell how far the restore is"},
		"tells its last error": {
			given: changed(recorded(v1beta2.RestoreStateRunning, true), shown(fdb.RestoreRunning), func(s *plan.Snapshot) { s.RestoreStatus.All[0].LastError = "'File not found'" }),
			holds: "'File not found'",
		},
	})
}

func TestRestoreStagesArePureAndHonest(t *testing.T) {
	all := plan.Everything | plan.EverythingOfBackups
	for _, first := range []change{same, recorded("", true), recorded(v1beta2.RestoreStateRunning, true), recorded(v1beta2.RestoreStateCompleted, false)} {
		for _, second := range []change{same, shown(fdb.RestoreRunning), shown(fdb.RestoreCompleted), shown(fdb.RestoreAborted), nobodyAnswers} {
			s, before := newRestore(), newRestore()
			changed(first, second)(&s)
			changed(first, second)(&before)
			for _, stage := range Restore() {
				if diff := cmp.Diff(stage.Decide(s), stage.Decide(s.Without(all&^stage.Reads))); diff != "" {
					t.Errorf("%s looked past what it reads: %s", stage.Name, diff)
				}
			}
			if diff := cmp.Diff(before, s); diff != "" {
				t.Errorf("a stage changed the snapshot: %s", diff)
			}
		}
	}
	if s := newRestore(); strings.Contains(startRestore.Decide(s).Why, "again") {
		t.Error("a first start is called a second one")
	}
}
