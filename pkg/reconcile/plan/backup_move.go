package plan

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// AnnotationBackupMove is on a FoundationDBBackup that was moved, until it is known to be
// restorable from the new destination: a BackupMove as JSON.
const AnnotationBackupMove = "kubectl-fdb/backup-move"

// BackupMove records the move of a running backup to another destination. The database does
// not know which data is where: after a move it continues to report the backup as restorable,
// which is true only of the former destination. The new one is restorable once a snapshot is
// complete that began after the move, since parts of every earlier one are elsewhere. Source:
// recording 30, steps 90 to 92.
type BackupMove struct {
	// UID is the backup's: a backup that was started again has not moved.
	UID string `json:"uid"`
	// URL is the new destination, without secrets, and From the one that was restorable
	// before; empty when unknown.
	URL  string `json:"url"`
	From string `json:"from,omitempty"`
	// During is the version at which the snapshot began that was being written when the backup
	// was first observed at URL: parts of it may be elsewhere. It is 0 where none had begun,
	// and nil before the first observation.
	During *int64 `json:"during,omitempty"`
	// First is the version at which the first snapshot began that is known to have begun after
	// the move; nil until one was observed.
	First *int64 `json:"first,omitempty"`
	// Before is the earlier move that was not complete when this one was recorded. It counts
	// while the backup is observed at its destination: then this move has not been carried out.
	Before *BackupMove `json:"before,omitempty"`
}

// MoveTo returns the move of a backup to another destination, as recorded before it is made.
func MoveTo(b *v1beta2.FoundationDBBackup, live *fdb.BackupStatus, url string) BackupMove {
	m := BackupMove{UID: live.UID, URL: fdb.WithoutSecrets(url), From: fdb.WithoutSecrets(live.URL)}
	if earlier, some := moveOf(b, live); some && !earlier.isOver(live) {
		m.From = earlier.From
		earlier.Before = nil
		m.Before = &earlier
	}
	return m
}

// Note is the move as the value of the annotation.
func (m BackupMove) Note() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return string(text)
}

// NoteOfMove returns the annotation that a FoundationDBBackup should have after its backup was
// read; empty for none.
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

// isPending reports whether a recorded move of the backup was not observed yet: the backup has no
// known move, or is still at the destination of the move before.
func (m BackupMove) isPending(seen BackupMove, live *fdb.BackupStatus) bool {
	if m.UID != live.UID || fdb.SameBackupURL(m.URL, live.URL) {
		return false
	}
	return seen.UID == "" || m.Before.isAt(live)
}

// isAt reports whether a backup is at the destination of a move.
func (m *BackupMove) isAt(live *fdb.BackupStatus) bool {
	return m != nil && m.UID == live.UID && fdb.SameBackupURL(m.URL, live.URL)
}

// notedMove returns nil where no move is recorded.
func notedMove(b *v1beta2.FoundationDBBackup) (*BackupMove, error) {
	text := b.Annotations[AnnotationBackupMove]
	if text == "" {
		return nil, nil // nil means none
	}
	m := &BackupMove{}
	if err := json.Unmarshal([]byte(text), m); err != nil {
		return nil, fmt.Errorf("read annotation %s: %w", AnnotationBackupMove, err)
	}
	if m.UID == "" || m.URL == "" {
		return nil, fmt.Errorf("read annotation %s: uid and url are required", AnnotationBackupMove)
	}
	return m, nil
}

// moveOf is the last known move of a backup; false where none is known. A
// backup whose annotation cannot be parsed, or that was last observed at another destination,
// counts as moved.
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

// after adds to the move what an observation at the new destination shows. A snapshot that began
// later than the one of the first observation began after the move.
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

// snapshotBegin is the version at which the current snapshot began; 0 before agents have
// started the backup. It is false where the database does not report it.
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

// isOver reports whether a full snapshot is at the new destination, with all of the log that it
// needs: the last complete one ended after the begin of the first one that can be full.
func (m BackupMove) isOver(live *fdb.BackupStatus) bool {
	end, point := live.LatestSnapshotEnd, live.LatestRestorable
	return m.First != nil && live.CanBeRestored() && end != nil && end.Version > *m.First && point != nil && point.Version >= end.Version
}

// Restorability is whether a backup can be restored from its destination.
type Restorability struct {
	// OK is true where it can, up to the version that the database reports.
	OK bool
	// Move is why it cannot although the database may report it restorable; nil where it was not moved.
	Move *BackupMove
	// Why is what is missing after a move; empty where it was not moved.
	Why string
}

// CanBeRestored returns whether a backup can be restored from its destination. The database
// reports on all destinations together, so that its answer counts only without a move.
func CanBeRestored(b *v1beta2.FoundationDBBackup, live *fdb.BackupStatus) Restorability {
	m, moved := moveOf(b, live)
	if !moved || m.isOver(live) {
		return Restorability{OK: live.CanBeRestored()}
	}
	return Restorability{Move: &m, Why: m.words(live)}
}

// words are why nothing can be restored from the new destination, and where earlier data is.
func (m BackupMove) words(live *fdb.BackupStatus) string {
	text := "it was moved to " + m.URL + " and is not restorable from there before a full snapshot that began after the move is complete, even if the database reports it restorable; " + m.progress(live)
	if m.From != "" && !fdb.SameBackupURL(m.From, m.URL) {
		text += "; data from before the move is at " + m.From
	}
	return text
}

func (m BackupMove) progress(live *fdb.BackupStatus) string {
	switch end := live.LatestSnapshotEnd; {
	case !live.State.Running:
		return "the backup ended before"
	case m.During == nil:
		return "the current snapshot is unknown"
	case m.First == nil:
		return "no such snapshot has begun yet"
	case end == nil || end.Version <= *m.First:
		return "that snapshot is being written"
	default:
		return "that snapshot is complete, the log that it needs is not"
	}
}
