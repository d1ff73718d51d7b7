package targets

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// BackupWithout returns the progress of a deletion in a backup; rest is what its stage would
// still do.
func BackupWithout(s plan.Snapshot, rest plan.Decision) inspect.Target {
	v := lists.NewBackupDescriptionView(inspect.Metadata{}, s)
	t := inspect.Target{ID: s.Backup.Name, Phase: "unknown", Note: v.Summary()}
	if v.UnknownReason == "" {
		t.Reached = len(rest.Actions) == 0 && rest.Hold == nil
		t.Phase = map[bool]string{true: "deleted", false: "present"}[t.Reached]
	}
	return t
}

// BackupTo returns the progress of a backup towards a state. A backup that should run must
// be restorable as well. A backup of another resource on the tag never counts.
func BackupTo(f inspect.BackupFacts, state v1beta2.BackupState) inspect.Target {
	t := inspect.Target{ID: f.Backup.Name, Phase: "unknown"}
	live := f.BackupStatus.Status
	if live == nil {
		t.Note = f.BackupStatus.Why()
		return t
	}
	restorable := f.Restorable()
	if state == v1beta2.BackupStateStopped && !live.State.Running {
		t.Phase, t.Reached, t.Note = "stopped", true, restorable.Why
		return t
	}
	switch running := live.State.Running; {
	case running && !f.Own.OK:
		t.Phase, t.Note = "foreign", f.ForeignWords()
	case running && live.AgentsPaused:
		t.Phase, t.Reached = "paused", state == v1beta2.BackupStatePaused
	case running && len(f.Outstanding) > 0:
		t.Phase, t.Note = "differs", strings.Join(f.Outstanding, "; ")
	case running && restorable.OK:
		t.Phase, t.Reached = "running", state == v1beta2.BackupStateRunning
	case running && restorable.Move != nil:
		t.Phase, t.Note = "moving", restorable.Why
	case running:
		t.Phase, t.Note = "starting", "it is not restorable until its first snapshot is written"
	case f.IsComplete():
		t.Phase, t.Reached = BackupComplete, live.AgentsPaused == (state == v1beta2.BackupStatePaused)
	default:
		t.Phase, t.Note = "stopped", restorable.Why
	}
	return t
}

// BackupComplete is the phase of a one-time backup that has ended with its first snapshot.
const BackupComplete = "complete"

// CoordinatorsMoved is the progress of a change of coordinators: it is reached once they are
// valid and none is on the process groups to avoid.
func CoordinatorsMoved(f inspect.Facts, away []v1beta2.ProcessGroupID) inspect.Target {
	t := inspect.Target{ID: "coordinators", Phase: "unknown"}
	if !f.Database.Available() {
		t.Note = f.Database.Why()
		return t
	}
	verdict := safety.JudgeCoordinators(f.Snapshot, away...)
	t.Phase, t.Note, t.Reached = "misplaced", strings.Join(verdict.Problems, "; "), verdict.Valid()
	if t.Reached {
		t.Phase = "placed"
	}
	return t
}

// ConnectionStringsSynced returns the places that hold the connection string, and whether each
// has the one in force. Reached is true once the status and the ConfigMap have it. The files in
// pods belong to their fdbserver processes; pods whose file differs are returned by name.
func ConnectionStringsSynced(f inspect.Facts, files plan.ClusterFiles) (targets []inspect.Target, reached bool, differ []string) {
	if files.Live.IsZero() {
		return []inspect.Target{{ID: "live", Phase: "unknown", Note: files.LiveUnknown}}, false, nil
	}
	v := lists.NewConnectionStringDriftView(inspect.Metadata{}, f, files)
	reached = true
	for _, s := range v.Items {
		if s.Source == string(inspect.SourceLive) {
			continue
		}
		t := target(s)
		targets = append(targets, t)
		pod, ofPod := strings.CutPrefix(s.Source, "pod/")
		switch {
		case !ofPod:
			reached = reached && t.Reached
		case t.Phase == "differs":
			differ = append(differ, pod)
		}
	}
	return targets, reached, differ
}

func target(s lists.ConnectionSpot) inspect.Target {
	t := inspect.Target{ID: s.Source}
	switch {
	case s.Waiting:
		t.Phase, t.Note = "not-running", s.Unreadable
	case s.Matches == nil:
		t.Phase, t.Note = "unknown", s.Unreadable
	case *s.Matches:
		t.Phase, t.Reached = "matches", true
	default:
		t.Phase, t.Note = "differs", inspect.OneLine(s.Text)
	}
	return t
}

// SeedDiffers reports whether the spec's seed names other coordinators than those in force. The
// seed is used only when the status was lost, and then a stale one reaches no database.
func SeedDiffers(seed string, inForce fdb.ConnectionString) bool {
	if seed == "" {
		return false
	}
	found, err := fdb.ParseConnectionString(seed)
	return err != nil || found.ID != inForce.ID || !found.SameCoordinators(inForce.Coordinators)
}

// PrimaryRegion is the progress of a failover: it is reached once the region of this data center serves, and
// has the highest priority in the database.
func PrimaryRegion(f inspect.Facts, dc string) inspect.Target {
	t := inspect.Target{ID: dc, Phase: "unknown"}
	status := f.Database.Status
	if !f.Database.Available() || status.Cluster.Configuration == nil {
		t.Note = f.Database.Why()
		return t
	}
	primary, _ := status.Cluster.Configuration.Primary()
	main, _ := primary.Main()
	serves := status.Cluster.ActivePrimaryDC
	t.Phase, t.Note = "secondary", fmt.Sprintf("%s serves, %s has the highest priority", phrase.Or(serves, phrase.Unknown), main.ID)
	if serves == dc && main.ID == dc {
		t.Phase, t.Reached = "primary", true
	}
	return t
}

// RestoreAborted returns the progress of an abort; own is what the database reports of the
// restore, nil for nothing. The note also has the state of the database: whether it is still
// locked is read, and not assumed.
func RestoreAborted(s plan.Snapshot, own *fdb.RestoreStatus) inspect.Target {
	t := inspect.Target{ID: s.Restore.Name, Phase: "unknown"}
	switch {
	case s.RestoreStatus.Why() != "":
		t.Note = s.RestoreStatus.Why()
		return t
	case own == nil && s.Restore.Status.State == fdb.RestoreAborted:
		t.Phase, t.Reached, t.Note = fdb.RestoreAborted, true, "by the status; another restore has replaced it in the database's list"
		return t
	case own == nil:
		t.Note = "the database does not list it"
		return t
	}
	t.Phase, t.Reached = own.State, own.State == fdb.RestoreAborted
	if t.Reached {
		t.Note = inspect.LeftBehind(*own) + "; " + lockWords(s.Database, *own)
	}
	return t
}

// RestoreDone is the phase of a completed restore.
const RestoreDone = fdb.RestoreCompleted

// RestoreStarted returns the progress of a restore that is to run; own is what the database
// reports of it, nil for nothing.
func RestoreStarted(s plan.Snapshot, own *fdb.RestoreStatus) inspect.Target {
	t := RestoreCompleted(s, own)
	t.Reached = t.Reached || s.RestoreStatus.Why() == "" && own != nil && own.Active()
	return t
}

// RestoreCompleted returns the progress of a restore that is to complete.
func RestoreCompleted(s plan.Snapshot, own *fdb.RestoreStatus) inspect.Target {
	t := inspect.Target{ID: s.Restore.Name, Phase: "unknown"}
	switch {
	case s.RestoreStatus.Why() != "":
		t.Note = s.RestoreStatus.Why()
	case own == nil && s.Restore.Status.State == fdb.RestoreCompleted:
		t.Phase, t.Reached, t.Note = RestoreDone, true, "by the status"
	case own == nil:
		t.Phase, t.Note = "not-started", "the database does not list it"
	case own.State == fdb.RestoreCompleted:
		t.Phase, t.Reached, t.Note = RestoreDone, true, fmt.Sprintf("%s written, as of version %d", phrase.Bytes(own.BytesWritten), own.Version)
	case own.Active():
		t.Phase = own.State
		t.Note = fmt.Sprintf("%s, as of version %d; the database is locked until it completes", phrase.CountOf(own.BlocksDone, own.BlocksTotal, "block"), own.Version)
	default:
		t.Phase, t.Note = own.State, inspect.LeftBehind(*own)
	}
	return t
}

// lockWords returns whether the database is locked after the abort of a restore. A restore
// locks it under its own UID.
func lockWords(d plan.DatabaseFacts, own fdb.RestoreStatus) string {
	if d.Status == nil {
		return "cannot determine whether the database is still locked: " + d.Why()
	}
	switch locked, uid, known := d.Status.Locked(); {
	case !known:
		return "cannot determine whether the database is still locked: it does not report that"
	case !locked:
		return "the database is not locked: clients can read and write it"
	case uid == own.UID:
		return "the database is still locked by this restore"
	default:
		return "the database is still locked by " + phrase.Or(uid, "an unknown UID") + ", which is not this restore; find its owner before the lock is removed"
	}
}
