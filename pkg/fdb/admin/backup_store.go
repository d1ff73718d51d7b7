package admin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// describeLimit is for what goes through all files of a backup.
const describeLimit = 90 * time.Second

// missingBackup is how the tools say that nothing is at a place.
const missingBackup = "Backup does not exist"

// Describe is what is at a place; nil when nothing is.
func (b *Backups) Describe(ctx context.Context, url string) (*fdb.BackupDescription, error) {
	const doing = "describing the backup"
	r, err := b.read(ctx, doing, []string{"fdbbackup", "describe", "-d", url, "--json"}, describeLimit)
	if isMissing(err) {
		return nil, nil //nolint:nilnil // that nothing is there is an answer
	}
	if err != nil {
		return nil, err
	}
	d, err := fdb.ParseBackupDescription(r.Stdout)
	if err == nil && !fdb.SharesBackupPlace(d.URL, url) {
		err = errors.New("it is the description of another place")
	}
	if err != nil {
		return nil, &Error{Kind: KindUnparsed, Doing: doing, Err: err}
	}
	return d, nil
}

func isMissing(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && failure.Kind == KindRefused && strings.HasPrefix(failure.Detail, missingBackup)
}

// Found are the places of backups below a base URL, without secrets: the tools print those
// that the files of an agent have.
func (b *Backups) Found(ctx context.Context, base string) ([]string, error) {
	r, err := b.read(ctx, "listing what is in the store", []string{"fdbbackup", "list", "-b", base}, describeLimit)
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(string(r.Stdout)) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, fdb.WithoutSecrets(line))
		}
	}
	return all, nil
}

// Tags are those that ever had a backup.
func (b *Backups) Tags(ctx context.Context) ([]string, error) {
	r, err := b.read(ctx, "listing the tags of backups", []string{"fdbbackup", "tags"}, backupReadLimit)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(string(r.Stdout), "\n"), func(tag string) bool { return tag == "" }), nil
}
