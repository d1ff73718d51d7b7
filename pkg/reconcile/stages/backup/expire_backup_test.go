package backup

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// minute is a minute in versions.
const minute = 60_000_000

// stored is a store with a snapshot every 10 minutes, each made in one, up to minute 40.
func stored(s *plan.Snapshot) {
	at := func(m int64) *fdb.DescribedVersion { return &fdb.DescribedVersion{Version: m * minute} }
	there := &fdb.BackupDescription{URL: nightlyURL, Restorable: true, MinLogBegin: at(0), ContiguousLogEnd: at(40), MaxLogEnd: at(40), MinRestorable: at(1), MaxRestorable: at(40)}
	for m := int64(0); m < 40; m += 10 {
		there.Snapshots = append(there.Snapshots, fdb.DescribedSnapshot{Start: *at(m), End: *at(m + 1), Restorable: true, Bytes: 5})
	}
	s.BackupStore = plan.StoreFacts{Read: true, There: there}
	s.OtherBackups.Read, s.BackupUse.Read = true, true
}

func isStopped(s *plan.Snapshot) {
	hasFinished(s)
	s.Backup.Spec.BackupState = v1beta2.BackupStateStopped
}

func expired(m int64) change {
	return func(s *plan.Snapshot) {
		s.BackupStore.There.ExpiredEnd = &fdb.DescribedVersion{Version: m * minute}
	}
}

func restoringFrom(url string) change {
	return func(s *plan.Snapshot) {
		s.BackupUse.Restores = []fdb.RestoreStatus{{Tag: "default", State: fdb.RestoreRunning, URL: url}}
	}
}

func storeUnread(s *plan.Snapshot) { s.BackupStore = plan.StoreFacts{Unreachable: "timed out"} }

func neverSeen(s *plan.Snapshot) { s.Backup.Status.BackupDetails = nil }

func useUnread(s *plan.Snapshot) { s.BackupUse = plan.UseFacts{NotRead: "timed out"} }

func othersUnread(s *plan.Snapshot) {
	s.OtherBackups = plan.OtherBackupFacts{NotRead: "forbidden"}
}

func TestExpireBackup(t *testing.T) {
	words := func(before, snapshots, bytes, from int64) []string {
		return []string{fmt.Sprintf("delete the data of the backup at %s before version %d: %d snapshots with %d bytes, and the log; restorable from version %d afterwards",
			nightlyURL, before*minute, snapshots, bytes, from*minute)}
	}
	t.Run("by time", func(t *testing.T) {
		checkBackup(t, ExpireBackup(Expiry{OlderThan: 15 * time.Minute}), map[string]backupRow{
			"keeps what it takes to restore all of that time": {given: stored, does: words(20, 2, 10, 21)},
			"does nothing twice":                              {given: changed(stored, expired(20))},
			"goes on where it ended before":                   {given: changed(stored, expired(10)), does: words(20, 2, 10, 21)},
			"waits while the store is unknown":                {given: changed(stored, storeUnread), holds: "cannot determine the content of the store: timed out"},
			"finds nothing":                                   {given: changed(stored, func(s *plan.Snapshot) { s.BackupStore.There = nil }), holds: "no backup at", manual: true},
			"deletes nothing of what cannot be restored":      {given: changed(stored, func(s *plan.Snapshot) { s.BackupStore.There.MaxRestorable = nil })},
			"deletes nothing where it never wrote":            {given: changed(stored, neverSeen), holds: "no backup of this resource was ever observed", manual: true},
			"deletes nothing that another record has":         {given: changed(stored, besides(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.BackupName = "nightly" })), holds: "FoundationDBBackup other does", manual: true},
			"deletes nothing while others cannot be read":     {given: changed(stored, othersUnread), holds: "unknown: forbidden", manual: true},
			"deletes nothing that is being restored":          {given: changed(stored, restoringFrom(nightlyURL)), holds: "the restore on tag default is running", manual: true},
			"deletes beside a restore of something else":      {given: changed(stored, restoringFrom("blobstore://key@store:443/x?bucket=b")), does: words(20, 2, 10, 21)},
			"deletes nothing while restores cannot be seen":   {given: changed(stored, useUnread), holds: "unknown: timed out", manual: true},
		})
	})
	t.Run("by version", func(t *testing.T) {
		checkBackup(t, ExpireBackup(Expiry{Before: new(int64(25 * minute))}), map[string]backupRow{
			"keeps what begins later": {given: stored, does: words(25, 3, 15, 31)},
		})
		checkBackup(t, ExpireBackup(Expiry{Before: new(int64(35 * minute))}), map[string]backupRow{
			"never takes the last snapshot": {given: stored, holds: "no complete snapshot begins at or after that version", manual: true},
		})
		checkBackup(t, ExpireBackup(Expiry{Before: new(int64(41 * minute)), Force: true}), map[string]backupRow{
			"never takes what is yet to come": {given: stored, holds: "its log ends at version", manual: true},
		})
		checkBackup(t, ExpireBackup(Expiry{Before: new(int64(35 * minute)), Force: true}), map[string]backupRow{
			"takes it when forced": {given: stored, does: []string{fmt.Sprintf("delete the data of the backup at %s before version %d: 4 snapshots with 20 bytes, and the log; not restorable afterwards, until another snapshot is complete; forced", nightlyURL, 35*minute)}},
		})
	})
}

func TestClearBackup(t *testing.T) {
	all := fmt.Sprintf("permanently delete all data of the backup at %s: 4 snapshots with 20 bytes, and the log, up to version %d, restorable now from version %d to %d", nightlyURL, 40*minute, minute, 40*minute)
	over := changed(stored, isStopped)
	goesThere := func(s *plan.Snapshot) {
		s.BackupUse.Backups = []fdb.BackupStatus{{Tag: "byhand", URL: nightlyURL}}
	}
	checkBackup(t, ClearBackup, map[string]backupRow{
		"deletes what was stopped":                  {given: over, does: []string{all}},
		"never deletes what runs":                   {given: stored, holds: "a backup runs on tag default", manual: true},
		"never deletes what a pass would start":     {given: changed(over, state(v1beta2.BackupStateRunning)), holds: "which the next pass would start", manual: true},
		"never deletes while the state is unknown":  {given: changed(over, unasked), holds: "cannot determine whether the backup runs"},
		"never deletes while the store is unknown":  {given: changed(over, storeUnread), holds: "cannot determine the content of the store"},
		"never deletes where it never wrote":        {given: changed(over, neverSeen), holds: "no backup of this resource was ever observed", manual: true},
		"never deletes at a place that was edited":  {given: changed(over, spec(func(b *v1beta2.FoundationDBBackupSpec) { b.BlobStoreConfiguration.BackupName = "theirs" })), holds: "its last observed destination is", manual: true},
		"never deletes what another record has":     {given: changed(over, besides(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.BackupName = "nightly" })), holds: "FoundationDBBackup other does", manual: true},
		"never deletes while others cannot be read": {given: changed(over, othersUnread), holds: "unknown: forbidden", manual: true},
		"never deletes where another tag goes":      {given: changed(over, goesThere), holds: "the backup on tag byhand does", manual: true},
		"never deletes what is being restored":      {given: changed(over, restoringFrom(nightlyURL)), holds: "the restore on tag default is running", manual: true},
		"never deletes while uses cannot be seen":   {given: changed(over, useUnread), holds: "unknown: timed out", manual: true},
		"leaves a record to its policy":             {given: changed(over, deleting), holds: "spec.deletionPolicy decides", manual: true},
		"has nothing to do where nothing is":        {given: changed(over, func(s *plan.Snapshot) { s.BackupStore.There = nil })},
	})
}
