package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Kind is the kind of an error, for code that depends on it.
type Kind string

// Kinds of errors.
const (
	// KindTransport: the tool could not be run at all. Another pod may work.
	KindTransport Kind = "Transport"
	// KindBinaryMissing: fdbcli was not found.
	KindBinaryMissing Kind = "BinaryMissing"
	// KindBadClusterFile: the cluster file is missing or unreadable.
	KindBadClusterFile Kind = "BadClusterFile"
	// KindTLS: certificates are missing or unreadable.
	KindTLS Kind = "TLS"
	// KindTimeout: a read took too long.
	KindTimeout Kind = "Timeout"
	// KindUnavailable: the database reports itself as unavailable.
	KindUnavailable Kind = "Unavailable"
	// KindWrongProtocol: the processes use another protocol than this client.
	KindWrongProtocol Kind = "WrongProtocol"
	// KindConflict: a transaction was not committed and may be retried.
	KindConflict Kind = "Conflict"
	// KindUnknownResult: a mutation may or may not have happened, or may still happen.
	KindUnknownResult Kind = "UnknownResult"
	// KindStoreUnresponsive: the database responds, and the store that a backup tool requires
	// does not. It is unknown whether anything was started.
	KindStoreUnresponsive Kind = "StoreSilent"
	// KindLocked: a restore, disaster recovery or a user locked the database.
	KindLocked Kind = "Locked"
	// KindRefused: the database, or a check before it, refused. Nothing was changed.
	KindRefused Kind = "Refused"
	// KindNotYet: the database refused for a temporary reason. Nothing was changed; the
	// same command may be run again later.
	KindNotYet Kind = "NotYet"
	// KindNotInForce: the database accepted the change, but the read-back does
	// not confirm it.
	KindNotInForce Kind = "NotInForce"
	// KindPartial: some targets were not reached; the others were.
	KindPartial Kind = "Partial"
	// KindUnfinished: a deletion was interrupted. Part of it may be done; the same command
	// deletes the rest.
	KindUnfinished Kind = "Unfinished"
	// KindUnsupported: this way to the database cannot do it. Nothing was sent; another
	// way may be able to.
	KindUnsupported Kind = "Unsupported"
	// KindBadInput: the arguments are invalid.
	KindBadInput Kind = "BadInput"
	// KindUnparsed: the output was unexpected, so the result is unknown.
	KindUnparsed Kind = "Unparsed"
)

// Error is the error of all operations of this package.
type Error struct {
	Kind Kind
	// Operation is the operation, as a gerund with its object.
	Operation string
	// Detail is the database's message, without its hints.
	Detail string
	// Code is FoundationDB's error code; 0 for none.
	Code int
	// Targets are those that a KindPartial did not reach.
	Targets []string
	// Err is the cause, if any.
	Err error
}

func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(e.Operation)
	if e.Detail != "" {
		text.WriteString(": " + e.Detail)
	}
	if e.Code != 0 {
		fmt.Fprintf(&text, " (%d)", e.Code)
	}
	if len(e.Targets) > 0 {
		text.WriteString(": " + strings.Join(e.Targets, ", "))
	}
	if e.Err != nil {
		text.WriteString(": " + e.Err.Error())
	}
	return text.String()
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in err's chain; empty for none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// mutation is one change of the database.
type mutation struct {
	operation string
	script    string
	limit     time.Duration
	// succeeded finds the expected text; nil for a command without output.
	succeeded func(Result) bool
	// inForce reads back whether the change is in force.
	inForce func(context.Context) (bool, error)
	// store is the store that the change accesses besides the database; empty for none.
	store string
	// mustRead accepts a refusal only if the read-back worked as well.
	mustRead bool
}

// change runs a mutation and reads back its effect, after an error too: an
// error does not mean that nothing was changed.
func (c *FDBCLI) change(ctx context.Context, m mutation) error {
	r, err := c.run(ctx, m.operation, m.script, m.limit)
	return m.conclude(ctx, r, err)
}

// conclude returns the outcome of a mutation, from the result of its run and the
// read-back.
func (m mutation) conclude(ctx context.Context, r Result, err error) error {
	if CertainlyNotRun(err) {
		return err
	}
	if err == nil && !m.understood(r) {
		err = unparsed(m.operation, r)
	}
	inForce, readErr := m.inForce(ctx)
	switch {
	case readErr == nil && inForce:
		return nil
	case decided(err) && (readErr == nil || !m.mustRead):
		return err
	case m.store != "" && KindOf(err) == KindTimeout && readErr == nil:
		return storeTimeout(m, m.limit)
	case err == nil && readErr == nil:
		return &Error{Kind: KindNotInForce, Operation: m.operation, Detail: "accepted, but not in force afterwards"}
	default:
		return &Error{Kind: KindUnknownResult, Operation: m.operation, Err: errors.Join(err, readErr)}
	}
}

func (m mutation) understood(r Result) bool {
	if m.succeeded == nil {
		return len(answerLines(r.Stdout)) == 0 && len(errorLines(r.Stderr)) == 0
	}
	return m.succeeded(r)
}

// CertainlyNotRun reports whether the command never reached the database.
func CertainlyNotRun(err error) bool {
	switch KindOf(err) {
	case KindBinaryMissing, KindBadClusterFile, KindTLS, KindBadInput, KindUnsupported:
		return true
	case KindTransport:
		return neverRan(err)
	default:
		return false
	}
}

// decided reports whether the database itself refused the mutation.
func decided(err error) bool {
	switch KindOf(err) {
	case KindRefused, KindNotYet, KindLocked, KindConflict:
		return true
	default:
		return false
	}
}

// advice has what to check for messages of the backup tools.
var advice = []struct{ text, then string }{
	{"Failed to get region", "set it in spec.blobStoreConfiguration.urlParameters, as region=NAME"},
	{"Unknown URL parameter", "spec.blobStoreConfiguration.urlParameters has a name that this version does not support"},
	{"Backup does not exist", "no backup at this destination: check accountName, bucket and backupName in spec.blobStoreConfiguration"},
	{"Invalid restore version", "spec.backupVersion must be a version in the backup, as listed by backup describe; without it the latest one is restored"},
	{"is not restorable to any version", "its first snapshot is not complete, or was deleted: wait until backup status reports it as restorable"},
	{"non-empty destination database", "a restore never overwrites data: restore into an empty cluster, or delete the data first if it is not needed"},
	{"Platform error", "agents cannot write there"},
}

// advised returns the message of the tools, with what to check.
func advised(detail string) string {
	for _, a := range advice {
		if strings.Contains(detail, a.text) {
			return detail + ": " + a.then
		}
	}
	return detail
}

// storeTimeout returns the error of a tool that timed out although the database
// responds. The tools report no errors of a store: they retry forever.
func storeTimeout(m mutation, limit time.Duration) *Error {
	return &Error{Kind: KindStoreUnresponsive, Operation: m.operation, Detail: fmt.Sprintf(
		"no response from the store within %s, while the database responds; %s cannot be reached, has no such bucket, or denies access to the agents: "+
			"check spec.blobStoreConfiguration, and the files that FDB_BLOB_CREDENTIALS names in the pods of agents", limit, fdb.WithoutSecrets(m.store))}
}
