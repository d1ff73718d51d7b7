package plan

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// AnnotationBackupMove is on the record of a backup that was moved, for as long as it is not
// known that it can be restored from the new place: a BackupMove as JSON.
const AnnotationBackupMove = "kubectl-fdb/backup-move"

// BackupMove is what is noted of the move of a backup that runs. The database does not know
// what is in which place: after a move it goes on to call the backup restorable, which is so
// of the former place only. The new one can be restored from once a snapshot is complete that
// began after the move, since parts of every other one are elsewhere. Source: recording 30,
// steps 90 to 92.
type BackupMove struct {
	// UID is the backup's: one that is begun anew has not moved.
	UID string `json:"uid"`
	// URL is where it goes since, without secrets, and From where it was to be restored from
	// before; empty where nobody knows.
	URL  string `json:"url"`
	From string `json:"from,omitempty"`
	// During is the version at which the snapshot began that was being made when the backup
	// was first seen at URL: parts of it may be elsewhere. It is 0 where none had begun, and nil
	// until somebody has looked.
	During *int64 `json:"during,omitempty"`
	// First is the version at which the first snapshot began that is known to have begun after
	// the move; nil until one was seen.
	First *int64 `json:"first,omitempty"`
	// Before is the earlier move that was not over when this one was noted. It counts for as
	// long as the backup is seen at its place: this one has not been carried out then.
	Before *BackupMove `json:"before,omitempty"`
}

// MoveTo is the move of a backup to another place, as it is noted before it is made.
func MoveTo(b *v1beta2.FoundationDBBackup, live *fdb.BackupStatus, url string) BackupMove {
	m := BackupMove{UID: live.UID, URL: fdb.WithoutSecrets(url), From: fdb.WithoutSecrets(live.URL)}
	if earlier, some := moveOf(b, live); some && !earlier.isOver(live) {
		m.From = earlier.From
		earlier.Before = nil
		m.Before = &earlier
	}
	return m
}

// Note is the move as an annotation has it.
func (m BackupMove) Note() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // texts and numbers always have a form
	}
	return string(text)
}

// NoteOfMove is the annotation that a record should have after a look at its own backup;
// empty for none.
func NoteOfMove(b *v1beta2.FoundationDBBackup, live *fdb.BackupStatus) string {
	m, moved := moveOf(b, live)
	unfinished := moved && !m.isOver(live)
	noted, err := notedMove(b)
	switch {
	case err == nil && noted != nil && noted.isPending(m, live):
		noted.Before = nil
		if unfinished {
			noted.Before = &m
		}
		return noted.Note()
	case unfinished:
		return m.Note()
	default:
		return ""
	}
}

// isPending reports whether a noted move of the backup was not seen to be made: the backup
// is not known to have moved, or is at the place of the move before.
func (m BackupMove) isPending(seen BackupMove, live *fdb.BackupStatus) bool {
	if m.UID != live.UID || fdb.SameBackupURL(m.URL, live.URL) {
		return false
	}
	return seen.UID == "" || m.Before.isAt(live)
}

// isAt reports whether a backup is where a move took it.
func (m *BackupMove) isAt(live *fdb.BackupStatus) bool {
	return m != nil && m.UID == live.UID && fdb.SameBackupURL(m.URL, live.URL)
}

// notedMove is nil where no move is noted.
func notedMove(b *v1beta2.FoundationDBBackup) (*BackupMove, error) {
	text := b.Annotations[AnnotationBackupMove]
	if text == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	m := &BackupMove{}
	if err := json.Unmarshal([]byte(text), m); err != nil {
		return nil, fmt.Errorf("reading the annotation %s: %w", AnnotationBackupMove, err)
	}
	if m.UID == "" || m.URL == "" {
		return nil, fmt.Errorf("reading the annotation %s: it lacks what was moved, or where to", AnnotationBackupMove)
	}
	return m, nil
}

// moveOf is the last move of a backup, as far as a look tells; false where it is not known
// to have moved. One whose note cannot be read, or that was last seen to run elsewhere, has
// moved as far as anybody knows.
func moveOf(b *v1beta2.FoundationDBBackup, live *fdb.BackupStatus) (BackupMove, bool) {
	if !live.Known() {
		return BackupMove{}, false
	}
	unnoted := BackupMove{UID: live.UID, URL: fdb.WithoutSecrets(live.URL)}
	noted, err := notedMove(b)
	switch {
	case err != nil:
		return unnoted.after(live), true
	case noted.isAt(live):
		noted.Before = nil
		return noted.after(live), true
	case noted != nil && noted.Before.isAt(live):
		return noted.Before.after(live), true
	case noted != nil && noted.UID == live.UID && noted.During != nil:
		unnoted.From = noted.From
		return unnoted.after(live), true
	}
	if seen := b.Status.BackupDetails; seen != nil && seen.Running && seen.URL != "" && seen.Tag == live.Tag && !fdb.SameBackupURL(seen.URL, live.URL) {
		unnoted.From = fdb.WithoutSecrets(seen.URL)
		return unnoted.after(live), true
	}
	return BackupMove{}, false
}

// after is the move as it is known after a look at the new place. A snapshot that began later
// than the one which was being made at the first look began after the move.
func (m BackupMove) after(live *fdb.BackupStatus) BackupMove {
	begin, known := snapshotBegin(live)
	switch {
	case !known:
	case m.During == nil:
		m.During = &begin
	case m.First == nil && begin > *m.During:
		m.First = &begin
	}
	return m
}

// snapshotBegin is the version at which the snapshot began that is being made; 0 where agents
// have not taken the backup up. It is false where the database does not tell.
func snapshotBegin(live *fdb.BackupStatus) (version int64, known bool) {
	switch {
	case live.State.Name == fdb.BackupSubmitted:
		return 0, true
	case live.Snapshot == nil || live.Snapshot.Begin.Version <= 0:
		return 0, false
	default:
		return live.Snapshot.Begin.Version, true
	}
}

// isOver reports whether a whole snapshot is at the new place, with all of the log that it
// needs: the last complete one ended after the first one began that can be whole.
func (m BackupMove) isOver(live *fdb.BackupStatus) bool {
	end, point := live.LatestSnapshotEnd, live.LatestRestorable
	return m.First != nil && live.CanBeRestored() && end != nil && end.Version > *m.First && point != nil && point.Version >= end.Version
}

// Restorability says whether a backup can be restored from the place that it goes to.
type Restorability struct {
	// OK is true where it can, up to the point that the database tells.
	OK bool
	// Move is why it cannot whatever the database says; nil where it was not moved.
	Move *BackupMove
	// Why says what a move has it wait for; empty where it was not moved.
	Why string
}

// CanBeRestored asks whether a backup can be restored from where it goes. The database's word
// is about all places together, so that it counts only for a backup that stayed where it was.
func CanBeRestored(b *v1beta2.FoundationDBBackup, live *fdb.BackupStatus) Restorability {
	m, moved := moveOf(b, live)
	if !moved || m.isOver(live) {
		return Restorability{OK: live.CanBeRestored()}
	}
	return Restorability{Move: &m, Why: m.words(live)}
}

// words say why nothing can be restored from the new place, and what can be from where.
func (m BackupMove) words(live *fdb.BackupStatus) string {
	text := "it was moved to " + m.URL + ", and nothing can be restored from there before a whole snapshot is complete that began after the move, whatever the database says; " + m.progress(live)
	if m.From != "" && !fdb.SameBackupURL(m.From, m.URL) {
		text += "; what came before the move is at " + m.From
	}
	return text
}

func (m BackupMove) progress(live *fdb.BackupStatus) string {
	switch end := live.LatestSnapshotEnd; {
	case !live.State.Running:
		return "the backup ended before that"
	case m.During == nil:
		return "the database does not tell which snapshot is being made"
	case m.First == nil:
		return "none was seen to begin yet"
	case end == nil || end.Version <= *m.First:
		return "that one is being made"
	default:
		return "that one is complete, and the log that it needs is not"
	}
}
