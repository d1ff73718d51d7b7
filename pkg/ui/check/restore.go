package check

import (
	"slices"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// restores are the rules about restores into the cluster.
func restores() []Rule {
	return []Rule{
		{
			Code: "RESTORE-001", Severity: Error, Title: "No restore ended without its data",
			Why:  "The database holds a part of what was to be restored. A restore is started once: empty the database, delete the record and make it anew, or delete the record alone when nobody wants the data any more.",
			find: eachRestore(endedWithout),
		},
		{
			Code: "RESTORE-002", Severity: Warning, Title: "No restore meets errors",
			Why:  "Agents try again. When the store has lost something, or does not let them in, that helps nothing, and the database stays locked.",
			find: eachRestore(meetsErrors),
		},
		{
			Code: "RESTORE-003", Severity: Error, Title: "No restore that is over left the database locked",
			Why:  "Nobody else unlocks it: applications are refused until somebody does, who has to know that the data is whole.",
			find: leftLocked,
		},
	}
}

// eachRestore asks a question about every restore that was started.
func eachRestore(find func(f Facts, v ui.RestoreStatusView) []Finding) func(Facts) ([]Finding, string) {
	return func(f Facts) ([]Finding, string) {
		if f.Backups.Unread != "" {
			return nil, "restores could not be read: " + f.Backups.Unread
		}
		var found []Finding
		var unread reasons
		for _, r := range f.Backups.Restores {
			switch {
			case r.View == nil:
				unread.add(restore(r.Record.Name), r.Unread)
			case r.View.UnknownReason != "" && isOver(r.View.RecordedState):
				found = append(found, find(f, *r.View)...) // what is over stays as it was recorded
			case r.View.UnknownReason != "" && r.View.RecordedState != "":
				unread.add(restore(r.Record.Name), r.View.UnknownReason)
			default:
				found = append(found, find(f, *r.View)...)
			}
		}
		return found, unread.String()
	}
}

// restore is a record of a restore as a subject.
func restore(name string) string { return "foundationdbrestore/" + name }

func isOver(state string) bool { return state == fdb.RestoreCompleted || state == fdb.RestoreAborted }

func endedWithout(_ Facts, v ui.RestoreStatusView) []Finding {
	fix := []string{"fdb", "restore", "status", v.Name}
	switch {
	case v.UnknownReason != "" && v.RecordedState == fdb.RestoreAborted:
		return one(restore(v.Name), "it was aborted, as was recorded", fix...)
	case v.UnknownReason == "" && v.Over && !ptr.Deref(v.Done, false):
		return one(restore(v.Name), v.Summary, fix...)
	}
	return nil
}

func meetsErrors(_ Facts, v ui.RestoreStatusView) []Finding {
	if v.LastError == "" || v.Over {
		return nil
	}
	return one(restore(v.Name), "it is "+*v.State+"; its last error: "+v.LastError, "fdb", "restore", "status", v.Name)
}

// leftLocked is about databases whose lock is the one of a restore that is over: its UID is
// the restore's.
func leftLocked(f Facts) ([]Finding, string) {
	switch {
	case f.Backups.Unread != "":
		return nil, "restores could not be read: " + f.Backups.Unread
	case len(f.Backups.Restores) == 0:
		return nil, ""
	case f.Database.Status == nil:
		return nil, "no answer from the database: " + f.Database.Why()
	}
	locked, uid, told := f.Database.Status.Locked()
	switch {
	case !told:
		return nil, "the database does not tell whether it is locked"
	case !locked:
		return nil, ""
	}
	i := slices.IndexFunc(f.Backups.Restores, func(r ui.SeenRestore) bool {
		return r.View != nil && r.View.UID != "" && r.View.UID == uid && r.View.Over
	})
	if i < 0 {
		return nil, ""
	}
	v := f.Backups.Restores[i].View
	finding := Finding{Subjects: []string{restore(v.Name), database}, Message: "it is over, and the database is locked with its UID " + uid, Fix: []string{"fdb", "restore", "status", v.Name}}
	return finding.some(), ""
}
