package admin

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// DeleteData deletes all data of a backup at a destination, within the limit. It reports
// whether the destination is empty, which the tools only report for one without any data.
func (b *Backups) DeleteData(ctx context.Context, url string, limit time.Duration) (removed bool, err error) {
	const operation = "deleting the data of the backup"
	_, err = b.send(ctx, operation, Command{Argv: []string{"fdbbackup", "delete", "-d", url}, Limit: limit, Tied: true})
	switch {
	case isMissing(err):
		return true, nil
	case wasCutOff(err):
		return false, unfinished(ctx, operation, limit, err)
	default:
		return false, err
	}
}

// Expiry is a deletion of a backup's data before a version.
type Expiry struct {
	URL    string // the destination
	Before int64  // the version
	Force  bool   // even if nothing is restorable afterwards
	Limit  time.Duration
}

// Expire deletes a backup's data. Unless forced, the tools refuse if nothing would be restorable
// afterwards. They record the deletion once it is complete.
func (b *Backups) Expire(ctx context.Context, e Expiry) error {
	argv := []string{"fdbbackup", "expire", "-d", e.URL, "--expire-before-version", strconv.FormatInt(e.Before, 10)}
	if e.Force {
		argv = append(argv, "--force")
	}
	m := mutation{operation: "expiring the backup", succeeded: printed("has been deleted."), mustRead: true}
	m.inForce = func(ctx context.Context) (bool, error) {
		d, err := b.Describe(ctx, e.URL)
		return err == nil && d != nil && d.ExpiredEnd != nil && d.ExpiredEnd.Version >= e.Before, err
	}
	r, ended := b.send(ctx, m.operation, Command{Argv: argv, Limit: e.Limit, Tied: true})
	err := m.conclude(ctx, r, ended)
	if err != nil && wasCutOff(ended) {
		return unfinished(ctx, m.operation, e.Limit, ended)
	}
	return err
}

// wasCutOff reports whether a tool may have started, and certainly did not finish.
func wasCutOff(err error) bool {
	switch KindOf(err) {
	case KindTimeout:
		return true
	case KindTransport:
		return !neverRan(err)
	default:
		return false
	}
}

// unfinished returns the error of an interrupted deletion. It does not wrap the cause: the
// store did respond, and what was deleted so far stays deleted.
func unfinished(ctx context.Context, operation string, limit time.Duration, err error) *Error {
	why := err.Error()
	switch {
	case ctx.Err() != nil:
		why = context.Cause(ctx).Error()
	case KindOf(err) == KindTimeout:
		why = fmt.Sprintf("it takes longer than %s", limit)
	}
	return &Error{Kind: KindUnfinished, Operation: operation, Detail: "not finished (" + why +
		"): part of it may be deleted; run the same command again to delete the rest"}
}

// StoreAnswers returns an error if a store does not respond; nil if it does, with any
// response. The tools do not report an unresponsive store, so long deletions check it first.
func (b *Backups) StoreAnswers(ctx context.Context, url string) error {
	base, err := fdb.BackupBase(url)
	if err != nil {
		return nil //nolint:nilerr // the tools report such a destination themselves
	}
	const operation = "checking the store before data is deleted"
	_, err = b.read(ctx, operation, []string{"fdbbackup", "list", "-b", base}, backupChangeLimit)
	if KindOf(err) == KindTimeout && ctx.Err() == nil {
		return storeTimeout(mutation{operation: operation, store: url}, backupChangeLimit)
	}
	return nil
}
