package plan

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

const (
	formerPlace = "blobstore://key@store:443/former?bucket=b"
	newPlace    = "blobstore://key@store:443/new?bucket=b"
)

// movedBackup is a backup after its move: its record, and what the database reports, which is
// what it said before but for the place. See recording 30, step 91.
func movedBackup() (*v1beta2.FoundationDBBackup, *fdb.BackupStatus) {
	before := runningAt(formerPlace)
	b := &v1beta2.FoundationDBBackup{}
	b.Status.BackupDetails = &v1beta2.FoundationDBBackupStatusBackupDetails{URL: formerPlace, Running: true, Restorable: true, Tag: "default"}
	noteMove(b, MoveTo(b, before, newPlace).Note())
	return b, runningAt(newPlace)
}

func runningAt(url string) *fdb.BackupStatus {
	live := &fdb.BackupStatus{
		Tag: "default", UID: "9e5e", URL: url, Restorable: new(true), LatestRestorable: &fdb.BackupMoment{Version: 1_600},
		LatestSnapshotEnd: &fdb.BackupMoment{Version: 1_000}, Snapshot: &fdb.BackupSnapshot{Begin: fdb.BackupMoment{Version: 1_001}},
	}
	live.State.Name, live.State.Running = fdb.BackupDifferential, true
	return live
}

// look is what the database reports at one read: when the last complete snapshot ended, when the
// present one began, and up to where the log goes.
type look struct{ end, begin, log int64 }

func (l look) at(live *fdb.BackupStatus) *fdb.BackupStatus {
	live.LatestSnapshotEnd, live.Snapshot, live.LatestRestorable = &fdb.BackupMoment{Version: l.end}, nil, &fdb.BackupMoment{Version: l.log}
	if l.begin > 0 {
		live.Snapshot = &fdb.BackupSnapshot{Begin: fdb.BackupMoment{Version: l.begin}}
	}
	return live
}

// The database calls a backup restorable at every one of these looks.
func TestAMovedBackupNeedsAWholeSnapshotAtTheNewDestination(t *testing.T) {
	move, split, whole := look{1_000, 1_001, 1_600}, look{2_000, 2_001, 2_600}, look{3_000, 3_001, 3_600}
	tests := map[string]struct {
		looks []look
		ok    bool
		says  string
	}{
		"right after the move":                                           {looks: []look{move}, says: "no such snapshot has begun yet"},
		"the snapshot of both places is complete":                        {looks: []look{move, split}, says: "that snapshot is being written"},
		"it is complete, and there were many reads before":               {looks: []look{move, move, split}, says: "that snapshot is being written"},
		"the one after it is complete":                                   {looks: []look{move, split, whole}, ok: true},
		"its log is not complete":                                        {looks: []look{move, split, {3_000, 3_001, 2_999}}, says: "the log that it needs is not"},
		"the begin of the complete one was not observed":                 {looks: []look{move, whole}, says: "that snapshot is being written"},
		"not observed before the next one began":                         {looks: []look{split}, says: "no such snapshot has begun yet"},
		"the database does not tell which one is being made":             {looks: []look{{1_000, 0, 1_600}}, says: "the current snapshot is unknown"},
		"nor later, so that any may have begun before the move":          {looks: []look{{1_000, 0, 1_600}, split}, says: "no such snapshot has begun yet"},
		"it is reported at one read only, and the end cannot be weighed": {looks: []look{move, {3_000, 0, 3_600}}, says: "no such snapshot has begun yet"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, live := movedBackup()
			var got Restorability
			for _, l := range tt.looks {
				got = CanBeRestored(b, l.at(live))
				noteMove(b, NoteOfMove(b, live))
				b.Status.BackupDetails.URL = live.URL
			}
			if got.OK != tt.ok || !strings.Contains(got.Why, tt.says) || (got.Move == nil) != tt.ok {
				t.Errorf("got %+v", got)
			}
			if noted := b.Annotations[AnnotationBackupMove] != ""; noted == tt.ok {
				t.Errorf("noted: %t", noted)
			}
		})
	}
}

func TestRestorabilityAfterABackupMoveFollowsNoteAndStatus(t *testing.T) {
	note := func(text string) func(*v1beta2.FoundationDBBackup, *fdb.BackupStatus) {
		return func(b *v1beta2.FoundationDBBackup, _ *fdb.BackupStatus) { noteMove(b, text) }
	}
	tests := map[string]struct {
		given func(*v1beta2.FoundationDBBackup, *fdb.BackupStatus)
		ok    bool
		says  string
		noted bool
	}{
		"the note is not there, and it was seen elsewhere": {given: note(""), says: "data from before the move is at " + formerPlace, noted: true},
		"the note cannot be read":                          {given: note("{"), says: "was moved to " + newPlace, noted: true},
		"the note lacks what was moved":                    {given: note(`{"url":"x"}`), says: "was moved to " + newPlace, noted: true},
		"it was moved again by another run": {given: func(b *v1beta2.FoundationDBBackup, live *fdb.BackupStatus) {
			noteMove(b, NoteOfMove(b, live))
			b.Status.BackupDetails = nil
			live.URL = "blobstore://key@store:443/third?bucket=b"
		}, says: "was moved to blobstore://key@store:443/third", noted: true},
		"the move was not carried out": {given: func(_ *v1beta2.FoundationDBBackup, live *fdb.BackupStatus) { live.URL = formerPlace }, ok: true, noted: true},
		"another one was begun": {given: func(b *v1beta2.FoundationDBBackup, live *fdb.BackupStatus) {
			live.UID, b.Status.BackupDetails.Running = "08ff", false
		}, ok: true},
		"it has ended before it was over": {given: func(_ *v1beta2.FoundationDBBackup, live *fdb.BackupStatus) {
			live.State.Name, live.State.Running, live.LatestSnapshotEnd, live.Snapshot = fdb.BackupCompleted, false, nil, nil
		}, says: "the backup ended before", noted: true},
		"the tag has none any more": {given: func(_ *v1beta2.FoundationDBBackup, live *fdb.BackupStatus) { *live = fdb.BackupStatus{Tag: "default"} }},
		"it never moved": {given: func(b *v1beta2.FoundationDBBackup, live *fdb.BackupStatus) {
			noteMove(b, "")
			live.URL = formerPlace
		}, ok: true},
		"it was never observed": {given: func(b *v1beta2.FoundationDBBackup, _ *fdb.BackupStatus) {
			b.Annotations, b.Status.BackupDetails = nil, nil
		}, ok: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, live := movedBackup()
			tt.given(b, live)
			if got := CanBeRestored(b, live); got.OK != tt.ok || !strings.Contains(got.Why, tt.says) {
				t.Errorf("got %+v", got)
			}
			if noted := NoteOfMove(b, live) != ""; noted != tt.noted {
				t.Errorf("noted: %t", noted)
			}
		})
	}
}

// No part of a backup that no agent had taken up is elsewhere.
func TestABackupMovedBeforeItsFirstSnapshotNeedsOnlyOneSnapshot(t *testing.T) {
	b, live := movedBackup()
	live.State.Name, live.Restorable, live.LatestRestorable, live.LatestSnapshotEnd, live.Snapshot = fdb.BackupSubmitted, new(false), nil, nil, nil
	noteMove(b, NoteOfMove(b, live))
	began := look{0, 1_001, 0}.at(runningAt(newPlace))
	noteMove(b, NoteOfMove(b, began))
	if got := CanBeRestored(b, look{1_002, 1_003, 1_600}.at(runningAt(newPlace))); !got.OK {
		t.Errorf("got %+v", got)
	}
}

// Of two moves one after the other the first place is the one that can be restored from.
func TestASecondBackupMoveKeepsTheRestorableDestination(t *testing.T) {
	b, live := movedBackup()
	if again := MoveTo(b, live, "blobstore://key@store:443/third?bucket=b"); again.From != formerPlace {
		t.Errorf("got %+v", again)
	}
}

// A second move that fails leaves the backup where the first one went, and the first one is
// not over. Its end does not end what is noted of the second, which may still take effect.
func TestAFailedBackupMoveKeepsThePreviousMove(t *testing.T) {
	b, live := movedBackup()
	noteMove(b, NoteOfMove(b, live))
	b.Status.BackupDetails.URL = newPlace
	for range 2 { // a try that is repeated is no third place
		noteMove(b, MoveTo(b, live, formerPlace).Note())
		if got := CanBeRestored(b, live); got.OK || got.Move.URL != newPlace || got.Move.From != formerPlace {
			t.Errorf("after the failure: %+v", got)
		}
		noteMove(b, NoteOfMove(b, live))
	}
	for _, l := range []look{{2_000, 2_001, 2_600}, {3_000, 3_001, 3_600}} {
		noteMove(b, NoteOfMove(b, l.at(live)))
	}
	if got := CanBeRestored(b, live); !got.OK || b.Annotations[AnnotationBackupMove] == "" {
		t.Errorf("after a whole snapshot: %+v, noted %q", got, b.Annotations[AnnotationBackupMove])
	}
	late := runningAt(formerPlace)
	if got := CanBeRestored(b, late); got.OK || got.Move.URL != formerPlace {
		t.Errorf("after it took effect late: %+v", got)
	}
}

func TestBackupMoveNotesContainNoSecret(t *testing.T) {
	b, live := movedBackup()
	live.URL = "blobstore://key:hunter2@store:443/new?bucket=b"
	noteMove(b, "")
	for _, note := range []string{NoteOfMove(b, live), MoveTo(b, live, live.URL).Note(), CanBeRestored(b, live).Why} {
		if note == "" || strings.Contains(note, "hunter2") {
			t.Errorf("got %q", note)
		}
	}
}
