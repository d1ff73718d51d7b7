package check

import (
	"slices"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// restores returns the rules about restores into the cluster.
func restores() []Rule {
	return []Rule{
		{
			Code: "RESTORE-001", Severity: Error, Title: "Every finished restore is complete",
			Why:  "The database holds only a part of the data. A restore is started once: clear the database, then delete and recreate the resource; if the data is no longer needed, only delete the resource.",
			Find: eachRestore(incomplete),
		},
		{
			Code: "RESTORE-002", Severity: Warning, Title: "No restore encounters errors",
			Why:  "Agents retry. If the store has lost data or denies access, retries do not help, and the database stays locked.",
			Find: eachRestore(encountersErrors),
		},
		{
			Code: "RESTORE-003", Severity: Error, Title: "No finished restore left the database locked",
			Why:  "It is not unlocked automatically: requests of applications fail until a user, who has to know that the data is complete, unlocks it.",
			Find: leftLocked,
		},
	}
}

// eachRestore returns a function that evaluates find on every restore that was started.
func eachRestore(find func(f Facts, v inspect.RestoreStatusView) []Finding) func(Facts) ([]Finding, string) {
	return func(f Facts) ([]Finding, string) {
		if f.Backups.Unread != "" {
			return nil, "restores could not be read: " + f.Backups.Unread
		}
		var found []Finding
		var unread reasons
		for _, r := range f.Backups.Restores {
			switch {
			case r.View == nil:
				unread.add(restore(r.Resource.Name), r.Unread)
			case r.View.UnknownReason != "" && isOver(r.View.RecordedState):
				found = append(found, find(f, *r.View)...) // a finished restore stays as it was recorded
			case r.View.UnknownReason != "" && r.View.RecordedState != "":
				unread.add(restore(r.Resource.Name), r.View.UnknownReason)
			default:
				found = append(found, find(f, *r.View)...)
			}
		}
		return found, unread.String()
	}
}

// restore returns a FoundationDBRestore as a subject.
func restore(name string) string { return "foundationdbrestore/" + name }

func isOver(state string) bool { return state == fdb.RestoreCompleted || state == fdb.RestoreAborted }

func incomplete(_ Facts, v inspect.RestoreStatusView) []Finding {
	fix := []string{"fdb", "restore", "status", v.Name}
	switch {
	case v.UnknownReason != "" && v.RecordedState == fdb.RestoreAborted:
		return one(restore(v.Name), "it was aborted, as its status records", fix...)
	case v.UnknownReason == "" && v.Over && !ptr.Deref(v.Done, false):
		return one(restore(v.Name), v.Summary, fix...)
	}
	return nil
}

func encountersErrors(_ Facts, v inspect.RestoreStatusView) []Finding {
	if v.LastError == "" || v.Over {
		return nil
	}
	return one(restore(v.Name), "it is "+*v.State+"; last error: "+v.LastError, "fdb", "restore", "status", v.Name)
}

// leftLocked reports a database whose lock has the UID of a finished restore.
func leftLocked(f Facts) ([]Finding, string) {
	switch {
	case f.Backups.Unread != "":
		return nil, "restores could not be read: " + f.Backups.Unread
	case len(f.Backups.Restores) == 0:
		return nil, ""
	case f.Database.Status == nil:
		return nil, inspect.NoAnswer(f.Database)
	}
	locked, uid, known := f.Database.Status.Locked()
	switch {
	case !known:
		return nil, "whether the database is locked is unknown"
	case !locked:
		return nil, ""
	}
	i := slices.IndexFunc(f.Backups.Restores, func(r inspect.SeenRestore) bool {
		return r.View != nil && r.View.UID != "" && r.View.UID == uid && r.View.Over
	})
	if i < 0 {
		return nil, ""
	}
	v := f.Backups.Restores[i].View
	finding := Finding{Subjects: []string{restore(v.Name), database}, Message: "it is finished, and the database is locked with its UID " + uid, Fix: []string{"fdb", "restore", "status", v.Name}}
	return finding.IfAny(), ""
}
