package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Client is all that a run needs of one database.
type Client interface {
	Admin
	KV
	// ExclusionLists returns the exclusions that the database reports.
	ExclusionLists(ctx context.Context) (ExclusionLists, error)
}

// Library is FoundationDB's client library in this process, with one database. Its errors
// are *LibraryError.
type Library interface {
	// Begin begins a transaction that may read and write system keys, ignores a locked
	// database, and fails once it has taken as long as limit or ctx has ended.
	Begin(ctx context.Context, limit time.Duration) (LibraryTransaction, error)
	// Reboot restarts the processes at these addresses, which have no flags, all at once.
	// If any of them cannot be reached, none is restarted and sent is false.
	Reboot(ctx context.Context, addresses []string) (sent bool, err error)
	// Version returns the library's own version.
	Version() (fdb.Version, error)
}

// LibraryTransaction is one transaction. Close it.
type LibraryTransaction interface {
	// EnableSpecialWrites lets the transaction write special keys.
	EnableSpecialWrites() error
	Get(key []byte) (value []byte, found bool, err error)
	// GetRange returns up to limit pairs from begin up to, but without, end.
	GetRange(begin, end []byte, limit int) ([]Pair, error)
	// Apply adds a mutation. Its errors are those of Commit.
	Apply(m Mutation)
	// Commit returns the version at which the mutations were committed. After an error,
	// keys of the client itself can still be read.
	Commit() (version int64, err error)
	Close()
}

// ErrNoNative means that this build does not contain FoundationDB's client library.
var ErrNoNative = errors.New("this build has no native transport: build with make build-native")

// LibraryError is an error of the client library.
type LibraryError struct {
	// Code is FoundationDB's error code.
	Code int
	Err  error
}

func (e *LibraryError) Error() string { return fmt.Sprintf("FoundationDB error %d: %v", e.Code, e.Err) }
func (e *LibraryError) Unwrap() error { return e.Err }

// codeSpecialKeys is the code of a refused write of special keys, whose reason is the
// value of errorMessageKey.
const codeSpecialKeys = 2117

// libraryError gives an error of the library its kind; others pass.
func libraryError(ctx context.Context, operation string, err error) error {
	failed, ok := errors.AsType[*LibraryError](err)
	if _, known := errors.AsType[*Error](err); known || !ok {
		return err
	}
	if ctx.Err() != nil {
		return &Error{Kind: KindTimeout, Operation: operation, Err: ctx.Err()}
	}
	kind, known := codeKinds[failed.Code]
	if !known {
		kind = KindRefused
	}
	return &Error{Kind: kind, Operation: operation, Code: failed.Code, Err: failed.Err}
}

// commitError is libraryError for an error of a commit. One that does not exclude that the
// transaction was committed, a timeout or a cancellation among them, is an unknown result.
func commitError(ctx context.Context, operation string, err error) error {
	if err == nil {
		return nil
	}
	kinded := libraryError(ctx, operation, err)
	if definitelyNotCommitted(KindOf(kinded)) {
		return kinded
	}
	return &Error{Kind: KindUnknownResult, Operation: operation, Err: kinded}
}
