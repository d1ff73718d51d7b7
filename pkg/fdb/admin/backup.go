package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Backups runs FoundationDB's backup tools. They must run in a pod of backup agents:
// only there are the files with the credentials of the store.
type Backups struct {
	transport  Transport
	parameters []string
}

// NewBackups returns Backups that run the tools through t, with these parameters
// of the agents.
func NewBackups(t Transport, parameters []string) *Backups { return &Backups{t, parameters} }

// Limits of the backup tools, which have none of their own: they wait forever, without
// any output, for a store or a database that does not respond. A start takes 5 s if no
// agent responds. Deletions get their limit as an argument: it depends on the amount of
// data.
const (
	backupReadLimit   = 20 * time.Second
	backupChangeLimit = 45 * time.Second
)

// toolDirectory is the directory of the tools in every image.
const toolDirectory = "/usr/bin/"

// run runs one of the tools.
func (b *Backups) run(ctx context.Context, operation string, argv []string, limit time.Duration) (Result, error) {
	return b.send(ctx, operation, Command{Argv: argv, Limit: limit})
}

// read is run for commands that change nothing. No second pod runs the command meanwhile: a
// slow store would be queried twice.
func (b *Backups) read(ctx context.Context, operation string, argv []string, limit time.Duration) (Result, error) {
	return b.send(ctx, operation, Command{Argv: argv, Limit: limit, Reads: true})
}

// send runs the command of a tool in a pod of agents. A secret in an argument is
// rejected before it leaves this process, and secrets of others are removed from the
// output.
func (b *Backups) send(ctx context.Context, operation string, c Command) (Result, error) {
	for _, argument := range c.Argv {
		if fdb.WithoutSecrets(argument) != argument {
			return Result{}, &Error{Kind: KindBadInput, Operation: operation, Err: fdb.ErrSecretInAccount}
		}
	}
	c.Argv = fdb.WithKnobs(slices.Clone(c.Argv), b.parameters)
	c.Argv[0] = toolDirectory + c.Argv[0]
	ctx, cancel := context.WithTimeout(ctx, c.Limit+clientGrace)
	defer cancel()
	r, err := b.transport.Run(ctx, c)
	if err != nil {
		return r, transportError(operation, err)
	}
	if failure := backupFailure(operation, r); failure != nil {
		return r, failure
	}
	return r, nil
}

// backupFailure returns the error in the output of a backup tool; nil if there
// is none, which is no proof of success.
func backupFailure(operation string, r Result) *Error {
	detail := advised(fdb.WithoutSecrets(backupErrors(r.Stderr)))
	switch {
	case r.ExitCode == exitTimedOut || r.ExitCode == exitKilled:
		return &Error{Kind: KindTimeout, Operation: operation, Detail: "timed out without a response from the database or the store"}
	case r.ExitCode == exitCannotRun || r.ExitCode == exitNotFound:
		return &Error{Kind: KindBinaryMissing, Operation: operation, Detail: firstLine(string(r.Stderr))}
	case strings.Contains(detail, unreadableFile), strings.Contains(detail, invalidFile):
		return &Error{Kind: KindBadClusterFile, Operation: operation, Detail: detail}
	case strings.Contains(detail, "unknown option"), strings.Contains(detail, "invalid argument"):
		return &Error{Kind: KindBadInput, Operation: operation, Detail: detail}
	case r.ExitCode != 0 && isRefusal(detail):
		return &Error{Kind: KindRefused, Operation: operation, Detail: detail}
	case r.ExitCode != 0 && detail != "":
		return &Error{Kind: KindUnparsed, Operation: operation, Detail: detail}
	case r.ExitCode != 0:
		return &Error{Kind: KindUnparsed, Operation: operation, Detail: failureOfExit(operation, r).Detail}
	}
	return nil
}

// refusals are the messages of the tools for commands that changed nothing. All other
// failures may occur after a change: a lost connection, a store that did not respond,
// a retried transaction that conflicts with its own first attempt.
var refusals = []string{
	"A backup is already running on tag", "A backup was not running on tag", "A backup in not running on tag",
	"is already discontinued", "No backup exists on tag", "Cannot modify aborted backup", "is not runnable",
	"No changes were specified", missingBackup, "Requested expiration would be unsafe",
	"non-empty destination database", "Invalid restore version", "is not restorable to any version", "Invalid key range", "URL invalid",
}

func isRefusal(detail string) bool {
	return slices.ContainsFunc(refusals, func(text string) bool { return strings.Contains(detail, text) })
}

// backupErrors are the errors on stderr in one line. The tools print some twice, and
// hints and warnings that are not relevant here.
func backupErrors(stderr []byte) string {
	var lines []string
	for line := range bytes.Lines(stderr) {
		text := strings.TrimSpace(string(line))
		text = strings.TrimPrefix(strings.TrimPrefix(text, "ERROR: "), "Fatal Error: ")
		noise := text == "" || strings.HasPrefix(text, "Try `") || strings.HasPrefix(text, "WARNING: ") || strings.HasPrefix(text, traceNoise)
		if !noise && !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "; ")
}

// Status returns the status of a tag's backup.
func (b *Backups) Status(ctx context.Context, tag string) (*fdb.BackupStatus, error) {
	const operation = "reading the status of the backup"
	r, err := b.read(ctx, operation, []string{"fdbbackup", "status", "--json", "-t", tag}, backupReadLimit)
	if err != nil {
		return nil, err
	}
	status, err := fdb.ParseBackupStatus(r.Stdout)
	if err == nil && status.Tag != tag {
		err = errors.New("the output is the status of another tag")
	}
	if err != nil {
		return nil, &Error{Kind: KindUnparsed, Operation: operation, Err: err}
	}
	return status, nil
}

// Errors returns the recent errors of agents on a tag.
func (b *Backups) Errors(ctx context.Context, tag string) ([]string, error) {
	r, err := b.read(ctx, "reading the errors of the backup", []string{"fdbbackup", "status", "-t", tag}, backupReadLimit)
	if err != nil {
		return nil, err
	}
	return fdb.ParseBackupErrors(r.Stdout), nil
}

// Start starts a backup. It fails if one runs on the tag. A new one with another destination
// was started by another user.
func (b *Backups) Start(ctx context.Context, start fdb.BackupStart, v fdb.Version) error {
	operation := "starting a backup on tag " + start.Tag
	before, err := b.Status(ctx, start.Tag)
	if err != nil {
		return err
	}
	if before.State.Running {
		return &Error{Kind: KindRefused, Operation: operation, Detail: "a backup is already running on this tag"}
	}
	return b.change(ctx, start.Command(v), start.Tag, mutation{
		operation: operation, store: start.URL, succeeded: printed("was successfully submitted"),
	}, func(s *fdb.BackupStatus) bool {
		return s.Known() && s.UID != before.UID && fdb.SameBackupURL(s.URL, start.URL)
	})
}

// Discontinue ends a backup once it is restorable.
func (b *Backups) Discontinue(ctx context.Context, tag string) error {
	return b.change(ctx, []string{"fdbbackup", "discontinue", "-t", tag}, tag, mutation{
		operation: "ending the backup on tag " + tag, succeeded: printed("was successfully discontinued"),
	}, func(s *fdb.BackupStatus) bool {
		return !s.State.Running || s.StopAfterSnapshot != nil && *s.StopAfterSnapshot
	})
}

// Abort ends a backup immediately, restorable or not.
func (b *Backups) Abort(ctx context.Context, tag string) error {
	m := mutation{operation: "aborting the backup on tag " + tag, succeeded: printed("was successfully aborted")}
	return b.change(ctx, []string{"fdbbackup", "abort", "-t", tag}, tag, m, func(s *fdb.BackupStatus) bool { return !s.State.Running })
}

// Pause pauses all agents of the database. The tag is only used to read the status.
func (b *Backups) Pause(ctx context.Context, tag string) error {
	m := mutation{operation: "pausing the backup agents", succeeded: printed("All backup agents have been paused.")}
	return b.change(ctx, []string{"fdbbackup", "pause"}, tag, m, func(s *fdb.BackupStatus) bool { return s.AgentsPaused })
}

// Resume resumes all agents of the database. The tag is only used to read the status.
func (b *Backups) Resume(ctx context.Context, tag string) error {
	m := mutation{operation: "resuming the backup agents", succeeded: printed("All backup agents have been resumed.")}
	return b.change(ctx, []string{"fdbbackup", "resume"}, tag, m, func(s *fdb.BackupStatus) bool { return !s.AgentsPaused })
}

// errPeriodUnknown means that no agent has started a backup yet.
var errPeriodUnknown = errors.New("the database does not report the snapshot period yet")

// Modify changes a running backup. A period that the database does not report is no
// proof.
func (b *Backups) Modify(ctx context.Context, change fdb.BackupChange) error {
	m := mutation{operation: "changing the backup on tag " + change.Tag, store: change.URL}
	m.inForce = func(ctx context.Context) (bool, error) {
		s, err := b.Status(ctx, change.Tag)
		if err != nil {
			return false, err
		}
		period, reported := s.SnapshotPeriod()
		if !reported {
			return false, errPeriodUnknown
		}
		return period == change.Period && (change.URL == "" || fdb.SameBackupURL(s.URL, change.URL)), nil
	}
	return b.runMutation(ctx, change.Command(), m)
}

// change runs a mutation and reads the tag after it.
func (b *Backups) change(ctx context.Context, argv []string, tag string, m mutation, inForce func(*fdb.BackupStatus) bool) error {
	m.inForce = func(ctx context.Context) (bool, error) {
		s, err := b.Status(ctx, tag)
		return err == nil && inForce(s), err
	}
	return b.runMutation(ctx, argv, m)
}

func (b *Backups) runMutation(ctx context.Context, argv []string, m mutation) error {
	m.mustRead, m.limit = true, backupChangeLimit
	r, err := b.run(ctx, m.operation, argv, m.limit)
	return m.conclude(ctx, r, err)
}

func printed(text string) func(Result) bool {
	return func(r Result) bool { return strings.Contains(string(r.Stdout), text) }
}

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
