package admin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// describeLimit is for commands that read all files of a backup.
const describeLimit = 90 * time.Second

// missingBackup is the tools' message for a destination without a backup.
const missingBackup = "Backup does not exist"

// Describe returns the backup at a destination; nil if there is none.
func (b *Backups) Describe(ctx context.Context, url string, options ...string) (*fdb.BackupDescription, error) {
	const operation = "describing the backup"
	r, err := b.read(ctx, operation, append([]string{"fdbbackup", "describe", "-d", url, "--json"}, options...), describeLimit)
	if isMissing(err) {
		return nil, nil // no backup is a valid result
	}
	if err != nil {
		return nil, err
	}
	d, err := fdb.ParseBackupDescription(r.Stdout)
	if err == nil && !fdb.SharesBackupPlace(d.URL, url) {
		err = errors.New("the output is the description of another destination")
	}
	if err != nil {
		return nil, &Error{Kind: KindUnparsed, Operation: operation, Err: err}
	}
	return d, nil
}

func isMissing(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && failure.Kind == KindRefused && strings.HasPrefix(failure.Detail, missingBackup)
}

// Found returns the URLs of backups below a base URL, without secrets: the tools print
// those in the files of an agent.
func (b *Backups) Found(ctx context.Context, base string) ([]string, error) {
	r, err := b.read(ctx, "listing the backups in the store", []string{"fdbbackup", "list", "-b", base}, describeLimit)
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(string(r.Stdout)) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case !strings.Contains(line, "://"): // the tool prints nothing but URLs
			return nil, unparsed("listing the backups in the store", r)
		default:
			all = append(all, fdb.WithoutSecrets(line))
		}
	}
	return all, nil
}

// Tags returns the tags that ever had a backup.
func (b *Backups) Tags(ctx context.Context) ([]string, error) {
	r, err := b.read(ctx, "listing the tags of backups", []string{"fdbbackup", "tags"}, backupReadLimit)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(string(r.Stdout), "\n"), func(tag string) bool { return tag == "" }), nil
}
