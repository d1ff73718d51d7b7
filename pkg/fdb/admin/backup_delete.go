package admin

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// DeleteData deletes all that a backup wrote to a place, for the limit at most. It reports
// whether nothing is there any more: the tools say that of a place alone that has nothing.
func (b *Backups) DeleteData(ctx context.Context, url string, limit time.Duration) (gone bool, err error) {
	const doing = "deleting the data of the backup"
	_, err = b.send(ctx, doing, Command{Argv: []string{"fdbbackup", "delete", "-d", url}, Limit: limit, Tied: true})
	switch {
	case isMissing(err):
		return true, nil
	case wasCutOff(err):
		return false, unfinished(ctx, doing, limit, err)
	default:
		return false, err
	}
}

// Expire deletes what a backup has of before a version, for the limit at most. The tools
// refuse where nothing could be restored after it, unless they are forced. They note that
// all of it is gone once it is.
func (b *Backups) Expire(ctx context.Context, url string, before int64, force bool, limit time.Duration) error {
	argv := []string{"fdbbackup", "expire", "-d", url, "--expire-before-version", strconv.FormatInt(before, 10)}
	if force {
		argv = append(argv, "--force")
	}
	m := mutation{
		doing: "expiring the backup", succeeded: says("has been deleted."), mustRead: true,
		inForce: func(ctx context.Context) (bool, error) {
			d, err := b.Describe(ctx, url)
			return err == nil && d != nil && d.ExpiredEnd != nil && d.ExpiredEnd.Version >= before, err
		},
	}
	r, ended := b.send(ctx, m.doing, Command{Argv: argv, Limit: limit, Tied: true})
	err := m.conclude(ctx, r, ended)
	if err != nil && wasCutOff(ended) {
		return unfinished(ctx, m.doing, limit, ended)
	}
	return err
}

// wasCutOff reports whether a tool may have begun, and certainly was not let finish.
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

// unfinished is a deletion that was cut off. It is none of the errors that cut it off: the
// store did answer, and what was done so far stays done.
func unfinished(ctx context.Context, doing string, limit time.Duration, err error) *Error {
	why := err.Error()
	switch {
	case ctx.Err() != nil:
		why = context.Cause(ctx).Error()
	case KindOf(err) == KindTimeout:
		why = fmt.Sprintf("it takes longer than %s", limit)
	}
	return &Error{Kind: KindUnfinished, Doing: doing, Detail: "not finished (" + why +
		"): part of it may be deleted; run the same command again, it goes on with what is left"}
}

// StoreAnswers is why a store does not answer; nil when it does, whatever it says. The tools
// say nothing of a store that is silent, so who deletes for long asks first.
func (b *Backups) StoreAnswers(ctx context.Context, url string) error {
	base, err := fdb.BackupBase(url)
	if err != nil {
		return nil //nolint:nilerr // the tools have their own words for such a place
	}
	const doing = "asking the store before data is deleted"
	_, err = b.read(ctx, doing, []string{"fdbbackup", "list", "-b", base}, backupChangeLimit)
	if KindOf(err) == KindTimeout && ctx.Err() == nil {
		return silentStore(mutation{doing: doing, store: url}, backupChangeLimit)
	}
	return nil
}
