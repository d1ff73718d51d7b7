package admin

import (
	"context"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Restores are all restores that the database knows, of all tags. Those that are over
// stay.
func (b *Backups) Restores(ctx context.Context) ([]fdb.RestoreStatus, error) {
	const doing = "reading the status of restores"
	r, err := b.run(ctx, doing, []string{"fdbrestore", "status", "--dest_cluster_file", fdb.BackupClusterFile}, backupReadLimit)
	if err != nil {
		return nil, err
	}
	all, err := fdb.ParseRestoreStatus(r.Stdout)
	if err != nil {
		return nil, &Error{Kind: KindUnparsed, Doing: doing, Err: err}
	}
	return all, nil
}

// StartRestore starts a restore into the database, which has to be empty. It refuses
// while another one runs: the tools would wait for it for ever, or mix the two.
func (b *Backups) StartRestore(ctx context.Context, start fdb.RestoreStart) error {
	const doing = "starting a restore"
	before, err := b.Restores(ctx)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(before, fdb.RestoreStatus.Active); i >= 0 {
		return &Error{Kind: KindRefused, Doing: doing, Detail: "the restore of tag " + before[i].Tag + " is " + before[i].State}
	}
	m := mutation{
		doing: doing, store: start.URL, succeeded: says("Restoring backup to version: "),
		inForce: func(ctx context.Context) (bool, error) {
			after, err := b.Restores(ctx)
			return slices.ContainsFunc(after, func(r fdb.RestoreStatus) bool { return isNew(r, before) }), err
		},
	}
	return b.runMutation(ctx, start.Command(), m)
}

func isNew(r fdb.RestoreStatus, before []fdb.RestoreStatus) bool {
	return !slices.ContainsFunc(before, func(o fdb.RestoreStatus) bool { return o.UID == r.UID })
}
