package backup

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// newRestore returns a restore that was never started, into a cluster with a database.
func newRestore() plan.Snapshot {
	r := &v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: "again"}}
	r.Spec.DestinationClusterName = "sample"
	r.Spec.BlobStoreConfiguration = &v1beta2.BlobStoreConfiguration{AccountName: "key@store", BackupName: "nightly"}
	c := &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: "sample"}}
	c.Spec.Version, c.Status.RunningVersion, c.Status.Configured = "7.3.79", "7.3.79", true
	return plan.Snapshot{Now: stagestest.Noon, Cluster: c, Restore: r, RestoreStatus: plan.RestoreFacts{Read: true}, RestoreTarget: plan.TargetFacts{Read: true}}
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

// fromABeginning is a backup of the cluster that writes its first snapshot to the restore's source.
func fromABeginning(s *plan.Snapshot) {
	live := &fdb.BackupStatus{Tag: "default", UID: "1", URL: nightlyURL, Restorable: new(false)}
	live.State.Name, live.State.Running = fdb.BackupRunning, true
	s.RestoreSource = plan.SourceFacts{Backup: "nightly", Status: live}
}

func targetRead(facts plan.TargetFacts) change {
	return func(s *plan.Snapshot) { s.RestoreTarget = facts }
}

func occupied(s *plan.Snapshot) {
	s.RestoreTarget.Occupied = [][2]string{{"a", "b"}}
}

// The target is read only where the restore would be started otherwise, and the result is a check of
// the plan.
func TestTheTargetOfARestoreIsReadRightBeforeItsStart(t *testing.T) {
	for name, tt := range map[string]struct {
		given change
		reads bool
	}{
		"about to start":      {same, true},
		"started before":      {recorded(v1beta2.RestoreStateCompleted, false), false},
		"behind another one":  {shown(fdb.RestoreRunning), false},
		"restores unknown":    {nobodyAnswers, false},
		"no database yet":     {func(s *plan.Snapshot) { s.Cluster.Status.Configured = false }, false},
		"nothing to restore":  {fromABeginning, false},
		"resource is deleted": {func(s *plan.Snapshot) { s.Restore.DeletionTimestamp = &metav1.Time{Time: stagestest.Noon} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRestore()
			tt.given(&s)
			if reads := startRestore.Facets(s)&plan.RestoreTarget != 0; reads != tt.reads {
				t.Errorf("reads the target: %t, want %t", reads, tt.reads)
			}
		})
	}
	for _, facts := range []plan.TargetFacts{{Read: true, Occupied: [][2]string{{"a", "b"}}}, {Unreachable: "timed out"}, {}} {
		s := newRestore()
		s.RestoreTarget = facts
		if c, refused := startRestore.Decide(s).Refused(); !refused || c.Gate != plan.GateRestore || c.Evidence == "" {
			t.Errorf("%+v: check %+v", facts, c)
		}
	}
}

func TestStartRestore(t *testing.T) {
	const start = "restore everything as of the latest restorable version from " + nightlyURL + " into sample, which is locked until the restore is complete"
	checkRestore(t, startRestore, map[string]backupRow{
		"starts what was never started":                      {given: same, does: []string{start}},
		"starts though an earlier restore completed":         {given: shown(fdb.RestoreCompleted), does: []string{start}},
		"starts though an earlier restore was ended":         {given: shown(fdb.RestoreAborted), does: []string{start}},
		"waits for another restore":                          {given: shown(fdb.RestoreRunning), holds: "the end of another restore"},
		"waits for one in an unknown state":                  {given: shown("paused"), holds: "the end of another restore"},
		"never starts twice":                                 {given: changed(shown(fdb.RestoreCompleted), recorded(v1beta2.RestoreStateCompleted, false))},
		"never starts again what was ended":                  {given: changed(shown(fdb.RestoreAborted), recorded(v1beta2.RestoreStateAborted, false))},
		"never starts again what the database does not list": {given: recorded("", true)},
		"starts nothing while the state is unknown":          {given: nobodyAnswers, holds: "cannot determine whether a restore runs: timed out"},
		"waits for a database":                               {given: func(s *plan.Snapshot) { s.Cluster.Status.Configured = false }, holds: "has no database yet"},
		"restores ranges as of a version": {given: restoreSpec(func(r *v1beta2.FoundationDBRestoreSpec) {
			r.BackupVersion, r.KeyRanges = new(uint64(42)), []v1beta2.FoundationDBKeyRange{{Start: "a", End: "b"}}
		}), does: []string{"restore 1 key range (\"a\" to \"b\") as of version 42 from " + nightlyURL + " into sample, which is locked until the restore is complete"}},
		"refuses encrypted data that it cannot read": {given: changed(func(s *plan.Snapshot) { s.Cluster.Status.RunningVersion = "7.1.67" },
			restoreSpec(func(r *v1beta2.FoundationDBRestoreSpec) { r.EncryptionKeyPath = "/key" })), holds: "cannot encrypt backups", manual: true},
		"never makes a URL with a secret":  {given: restoreSpec(func(r *v1beta2.FoundationDBRestoreSpec) { r.BlobStoreConfiguration.AccountName = "key:hunter2@store" }), holds: "the account must not have a secret", manual: true},
		"waits for the first snapshot":     {given: fromABeginning, holds: "FoundationDBBackup nightly writes to the destination"},
		"restores a version of the spec":   {given: changed(fromABeginning, restoreSpec(func(r *v1beta2.FoundationDBRestoreSpec) { r.BackupVersion = new(uint64(42)) })), does: []string{strings.Replace(start, "the latest restorable version", "version 42", 1)}},
		"restores what was there before":   {given: changed(fromABeginning, func(s *plan.Snapshot) { s.RestoreSource.There = &fdb.BackupDescription{Restorable: true} }), does: []string{start}},
		"waits while there is only a part": {given: changed(fromABeginning, func(s *plan.Snapshot) { s.RestoreSource.There = &fdb.BackupDescription{} }), holds: "first snapshot"},
		"waits for the first snapshot after a move": {given: changed(fromABeginning, func(s *plan.Snapshot) {
			s.RestoreSource.Status.Restorable, s.RestoreSource.Restorable.Why = new(true), "it was moved"
		}), holds: "FoundationDBBackup nightly writes to the destination to restore from: it was moved"},
		"waits for no backup that is restorable":       {given: changed(fromABeginning, func(s *plan.Snapshot) { s.RestoreSource.Restorable.OK = true }), does: []string{start}},
		"waits for no backup that has ended":           {given: changed(fromABeginning, func(s *plan.Snapshot) { s.RestoreSource.Status.State.Running = false }), does: []string{start}},
		"waits for no backup to another place":         {given: changed(fromABeginning, func(s *plan.Snapshot) { s.RestoreSource.Status.URL = "blobstore://key@store:443/other?bucket=b" }), does: []string{start}},
		"never overwrites data":                        {given: occupied, holds: "cluster sample holds data (keys found in a to b)", manual: true},
		"starts nothing while the target is unknown":   {given: targetRead(plan.TargetFacts{Unreachable: "timed out"}), holds: "cannot determine whether the database of cluster sample holds data: timed out"},
		"starts nothing while the target was not read": {given: targetRead(plan.TargetFacts{}), holds: "cannot determine whether the database of cluster sample holds data"},
		"starts nothing over the lock of another":      {given: targetRead(plan.TargetFacts{Unreachable: "Database is locked (1038)", Locked: true}), holds: "another lock has to be released first", manual: true},
		"leaves a record alone that goes":              {given: func(s *plan.Snapshot) { s.Restore.DeletionTimestamp = &metav1.Time{Time: stagestest.Noon} }},
	})
}

func TestUpdateRestoreStatus(t *testing.T) {
	started := recorded(v1beta2.RestoreStateQueued, true)
	checkRestore(t, updateRestoreStatus, map[string]backupRow{
		"has nothing to say of what was never started": {given: shown(fdb.RestoreCompleted)},
		"follows a restore":                            {given: changed(started, shown(fdb.RestoreRunning)), does: []string{"update status: the restore is running"}, holds: "1 of 9 blocks"},
		"records that it is done":                      {given: changed(started, shown(fdb.RestoreCompleted)), does: []string{"update status: the restore is completed"}},
		"writes nothing twice":                         {given: changed(recorded(v1beta2.RestoreStateCompleted, false), shown(fdb.RestoreCompleted))},
		"is no longer running when it is done":         {given: changed(recorded(v1beta2.RestoreStateCompleted, true), shown(fdb.RestoreCompleted)), does: []string{"update status: the restore is completed"}},
		"reports what an abort leaves behind":          {given: changed(started, shown(fdb.RestoreAborted)), does: []string{"update status: the restore is aborted"}, holds: "with partially restored data", manual: true},
		"does not take another's restore for its own":  {given: changed(started, shown(fdb.RestoreCompleted), anotherSource), does: []string{"update status: the restore is Unknown"}, holds: "the database does not list it", manual: true},
		"remembers what was ended":                     {given: changed(recorded(v1beta2.RestoreStateAborted, false), shown(fdb.RestoreRunning)), holds: "never started again", manual: true},
		"remembers what was done":                      {given: changed(recorded(v1beta2.RestoreStateCompleted, false), shown(fdb.RestoreRunning), anotherSource)},
		"keeps the last known state":                   {given: changed(started, nobodyAnswers), holds: "cannot determine the state of the restore"},
		"reports its last error": {
			given: changed(recorded(v1beta2.RestoreStateRunning, true), shown(fdb.RestoreRunning), func(s *plan.Snapshot) { s.RestoreStatus.All[0].LastError = "'File not found'" }),
			holds: "'File not found'",
		},
	})
}

func TestRestoreStagesReadOnlyDeclaredFacetsAndChangeNothing(t *testing.T) {
	all := plan.Everything | plan.EverythingOfBackups
	for _, first := range []change{same, recorded("", true), recorded(v1beta2.RestoreStateRunning, true), recorded(v1beta2.RestoreStateCompleted, false)} {
		for _, second := range []change{same, shown(fdb.RestoreRunning), shown(fdb.RestoreCompleted), shown(fdb.RestoreAborted), nobodyAnswers, occupied} {
			s, before := newRestore(), newRestore()
			changed(first, second)(&s)
			changed(first, second)(&before)
			for _, stage := range slices.Concat(Restore(), AbortRestore()) {
				if diff := cmp.Diff(stage.Decide(s), stage.Decide(s.Without(all&^stage.Facets(s)))); diff != "" {
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

// An older restore of the same destination stays listed. It is not one whose start was not observed.
func TestAnOlderFinishedRestoreIsNotTakenForALostStart(t *testing.T) {
	noted, unknown := recorded(v1beta2.RestoreStateQueued, false), recorded(v1beta2.RestoreStateUnknown, false)
	const lost = "update status: the restore is Unknown"
	const holds = "or lists only one that is over and may be older"
	checkRestore(t, updateRestoreStatus, map[string]backupRow{
		"one that is done":                 {given: changed(noted, shown(fdb.RestoreCompleted)), does: []string{lost}, holds: holds, manual: true},
		"one that was aborted":             {given: changed(noted, shown(fdb.RestoreAborted)), does: []string{lost}, holds: holds, manual: true},
		"one that is done, once more":      {given: changed(unknown, shown(fdb.RestoreCompleted)), holds: holds, manual: true},
		"one that goes on is the record's": {given: changed(noted, shown(fdb.RestoreRunning)), does: []string{"update status: the restore is running"}, holds: "1 of 9 blocks"},
		"one that goes on is seen late":    {given: changed(unknown, shown(fdb.RestoreRunning)), does: []string{"update status: the restore is running"}, holds: "1 of 9 blocks"},
	})
	checkRestore(t, startRestore, map[string]backupRow{"nor is it started twice": {given: changed(noted, shown(fdb.RestoreCompleted))}})
}

func started(s *plan.Snapshot) {
	s.Restore.Status = v1beta2.FoundationDBRestoreStatus{Running: true, State: v1beta2.RestoreStateQueued}
	s.OtherRestores.Read = true
}

// beside adds another resource with the same restore.
func beside(edit func(*v1beta2.FoundationDBRestore)) change {
	return func(s *plan.Snapshot) {
		other := s.Restore.DeepCopy()
		other.Name = "other"
		edit(other)
		s.OtherRestores.All = append(s.OtherRestores.All, *other)
	}
}

func TestAbortRestore(t *testing.T) {
	const abort = "abort the restore 1 of tag default, as of version 42 from " + nightlyURL + ": sample is unlocked with partially restored data"
	runs := changed(started, shown(fdb.RestoreRunning))
	checkRestore(t, abortRestore, map[string]backupRow{
		"aborts what runs":                        {given: runs, does: []string{abort}},
		"aborts what is queued":                   {given: changed(started, shown(fdb.RestoreQueued)), does: []string{abort}},
		"aborts what is in an unknown state":      {given: changed(started, shown("paused")), does: []string{abort}},
		"never aborts while the state is unknown": {given: changed(started, nobodyAnswers), holds: "cannot determine whether the restore runs"},
		"never aborts what was never started":     {given: shown(fdb.RestoreRunning), holds: "has not started its restore", manual: true},
		"never aborts what another place is in":   {given: changed(runs, anotherSource), holds: "does not list the restore", manual: true},
		"never aborts what is done":               {given: changed(started, shown(fdb.RestoreCompleted)), holds: "the restore is completed", manual: true},
		"aborts nothing twice":                    {given: changed(started, shown(fdb.RestoreAborted))},
		"never aborts for a record that is over":  {given: changed(runs, recorded(v1beta2.RestoreStateCompleted, false)), holds: "does not list the restore", manual: true},
		"never aborts what another record may have started": {
			given: changed(runs, beside(func(*v1beta2.FoundationDBRestore) {})), holds: "FoundationDBRestore other may have started it", manual: true,
		},
		"never aborts while others cannot be read": {
			given: changed(runs, func(s *plan.Snapshot) { s.OtherRestores = plan.OtherRestoreFacts{NotRead: "forbidden"} }), holds: "unknown: forbidden", manual: true,
		},
		"aborts beside a record whose restore is over": {
			given: changed(runs, beside(func(r *v1beta2.FoundationDBRestore) { r.Status.State = v1beta2.RestoreStateAborted })), does: []string{abort},
		},
		"aborts beside a record that never started": {
			given: changed(runs, beside(func(r *v1beta2.FoundationDBRestore) { r.Status = v1beta2.FoundationDBRestoreStatus{} })), does: []string{abort},
		},
		"aborts beside a restore into another cluster": {
			given: changed(runs, beside(func(r *v1beta2.FoundationDBRestore) { r.Spec.DestinationClusterName = "another" })), does: []string{abort},
		},
	})
}

func TestAbortedRestoresAreWrittenToTheStatus(t *testing.T) {
	checkRestore(t, recordAborted, map[string]backupRow{
		"records the end, and needs no user":      {given: changed(started, shown(fdb.RestoreAborted)), does: []string{"update status: the restore is aborted"}},
		"reports that it was done before":         {given: changed(started, shown(fdb.RestoreCompleted)), holds: "not aborted", manual: true},
		"leaves the rest to passes":               {given: changed(started, shown(fdb.RestoreRunning))},
		"does nothing while the state is unknown": {given: changed(started, shown(fdb.RestoreAborted), nobodyAnswers)},
	})
}
