package admin

import (
	"context"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Restores returns all restores that the database lists, of all tags, including
// completed ones.
func (b *Backups) Restores(ctx context.Context) ([]fdb.RestoreStatus, error) {
	const operation = "reading the status of restores"
	r, err := b.read(ctx, operation, []string{"fdbrestore", "status", "--dest_cluster_file", fdb.BackupClusterFile}, backupReadLimit)
	if err != nil {
		return nil, err
	}
	all, err := fdb.ParseRestoreStatus(r.Stdout)
	if err != nil {
		return nil, &Error{Kind: KindUnparsed, Operation: operation, Err: err}
	}
	return all, nil
}

// StartRestore starts a restore into the database, which must be empty. It fails while
// another one runs: the tools would wait for it forever, or mix the two. It calls note after
// these checks, right before anything is sent, and stops if note fails.
func (b *Backups) StartRestore(ctx context.Context, start fdb.RestoreStart, note func() error) error {
	const operation = "starting a restore"
	before, err := b.Restores(ctx)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(before, fdb.RestoreStatus.Active); i >= 0 {
		return &Error{Kind: KindRefused, Operation: operation, Detail: "the restore of tag " + before[i].Tag + " is " + before[i].State}
	}
	if err := note(); err != nil {
		return err
	}
	m := mutation{
		operation: operation, store: start.URL, succeeded: printed("Restoring backup to version: "),
		inForce: func(ctx context.Context) (bool, error) {
			after, err := b.Restores(ctx)
			return slices.ContainsFunc(after, func(r fdb.RestoreStatus) bool { return isNew(r, before) && comesOf(start, r) }), err
		},
	}
	return b.runMutation(ctx, start.Command(), m)
}

// startTag is the tag of restores that are started without one.
const startTag = "default"

// comesOf reports whether a restore matches a start: another user may have started
// one in between.
func comesOf(start fdb.RestoreStart, r fdb.RestoreStatus) bool {
	return r.Tag == startTag && fdb.SameBackupURL(r.URL, start.URL) &&
		(start.Version == nil || uint64(r.Version) == *start.Version) //nolint:gosec // versions are not negative
}

func isNew(r fdb.RestoreStatus, before []fdb.RestoreStatus) bool {
	return !slices.ContainsFunc(before, func(o fdb.RestoreStatus) bool { return o.UID == r.UID })
}

// AbortRestore ends a running restore, and no other one on its tag. An aborted restore is
// not an error; a completed one is.
func (b *Backups) AbortRestore(ctx context.Context, tag, uid string) error {
	operation := "aborting the restore of tag " + tag
	before, err := b.Restores(ctx)
	if err != nil {
		return err
	}
	switch own := restoreWith(before, uid); {
	case own == nil || own.Tag != tag:
		return &Error{Kind: KindRefused, Operation: operation, Detail: "the database no longer lists the restore " + uid + ""}
	case own.State == fdb.RestoreAborted:
		return nil
	case !own.Active():
		return &Error{Kind: KindRefused, Operation: operation, Detail: "the restore is " + own.State}
	}
	m := mutation{
		operation: operation, succeeded: printed("RESTORE_ABORT Tag: " + tag + "  State: "),
		inForce: func(ctx context.Context) (bool, error) {
			after, err := b.Restores(ctx)
			own := restoreWith(after, uid)
			return err == nil && own != nil && !own.Active(), err
		},
	}
	return b.runMutation(ctx, []string{"fdbrestore", "abort", "--dest_cluster_file", fdb.BackupClusterFile, "-t", tag}, m)
}

func restoreWith(all []fdb.RestoreStatus, uid string) *fdb.RestoreStatus {
	if i := slices.IndexFunc(all, func(r fdb.RestoreStatus) bool { return r.UID == uid }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Database returns the status document of the database, read in a pod of
// agents.
func (b *Backups) Database(ctx context.Context) (*fdb.Status, error) {
	return NewFDBCLI(b.transport, FDBCLIOptions{ClusterFiles: []string{fdb.BackupClusterFile}}).Status(ctx)
}
