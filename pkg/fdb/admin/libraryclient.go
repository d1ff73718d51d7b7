package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// statusKey has the status document, even of an unavailable database.
var statusKey = []byte("\xff\xff/status/json")

// LibraryClient is Admin and KV through FoundationDB's client library in this process,
// which must reach the processes of the database. It reads and changes what special keys
// offer. What they do not offer, configurations and restarts in another version, is
// KindUnsupported; package direct uses fdbcli for that.
type LibraryClient struct {
	library Library
	clock   clock.Clock
}

var _ Client = (*LibraryClient)(nil)

// NewLibraryClient returns a client that uses the library. The clock paces retries and
// read-backs; nil is the real one.
func NewLibraryClient(l Library, c clock.Clock) *LibraryClient {
	if c == nil {
		c = clock.RealClock{}
	}
	return &LibraryClient{library: l, clock: c}
}

// Status returns the status document. If the processes use another protocol than the
// library, which makes the document that of an unavailable database, it is
// KindWrongProtocol.
func (c *LibraryClient) Status(ctx context.Context) (*fdb.Status, error) {
	const operation = "reading status"
	view, err := c.read(ctx, operation, statusLimit, ReadKey(statusKey))
	if err != nil {
		return nil, err
	}
	document, _ := view.Value(statusKey) // an absent document is not valid either
	s, err := fdb.ParseStatus(document)
	if err != nil {
		return nil, &Error{Kind: KindUnparsed, Operation: operation, Err: err}
	}
	if s.Available() {
		return s, nil
	}
	own, err := c.Version(ctx)
	if err != nil {
		return nil, err
	}
	return s, protocolDiffers(operation, s, "the client library", own)
}

// Version returns the library's version.
func (c *LibraryClient) Version(context.Context) (fdb.Version, error) {
	v, err := c.library.Version()
	if err != nil {
		return fdb.Version{}, &Error{Kind: KindUnparsed, Operation: "reading the version of the client library", Err: err}
	}
	return v, nil
}

// ConnectionString returns the connection string in force. It is what the library knows:
// after a change elsewhere it can be the old one until the next contact with the database.
func (c *LibraryClient) ConnectionString(ctx context.Context) (fdb.ConnectionString, error) {
	const operation = "reading the connection string"
	view, err := c.read(ctx, operation, readLimit, ReadKey(connectionStringKey))
	if err != nil {
		return fdb.ConnectionString{}, err
	}
	value, _ := view.Value(connectionStringKey) // an absent one is not valid either
	s, err := fdb.ParseConnectionString(string(value))
	if err != nil {
		return fdb.ConnectionString{}, &Error{Kind: KindUnparsed, Operation: operation, Err: err}
	}
	return s, nil
}

// Txn runs a transaction; see KV.
func (c *LibraryClient) Txn(ctx context.Context, reads []Read, decide func(View) ([]Mutation, error)) (version int64, err error) {
	return c.retry(ctx, func() (version int64, err error) {
		err = c.within(ctx, transacting, sessionLimit, func(t LibraryTransaction) error {
			view, err := readAll(t, transacting, maxRangeRows, reads)
			if err != nil {
				return err
			}
			mutations, err := decide(view)
			if err != nil || len(mutations) == 0 {
				return err
			}
			if err := apply(t, mutations); err != nil {
				return err
			}
			version, err = t.Commit()
			return commitError(ctx, transacting, err)
		})
		return version, err
	})
}

// retry retries while transactions conflict.
func (c *LibraryClient) retry(ctx context.Context, attempt func() (int64, error)) (int64, error) {
	return retryConflicts(func(d time.Duration) error { return pauseOn(ctx, c.clock, wait.Jitter(d, 1)) }, attempt)
}

// within runs use in a transaction of its own.
func (c *LibraryClient) within(ctx context.Context, operation string, limit time.Duration, use func(LibraryTransaction) error) error {
	t, err := c.library.Begin(ctx, limit)
	if err != nil {
		return libraryError(ctx, operation, err)
	}
	defer t.Close()
	return libraryError(ctx, operation, use(t))
}

// read reads in one transaction.
func (c *LibraryClient) read(ctx context.Context, operation string, limit time.Duration, reads ...Read) (View, error) {
	var view View
	_, err := c.retry(ctx, func() (int64, error) {
		return 0, c.within(ctx, operation, limit, func(t LibraryTransaction) error {
			var err error
			view, err = readAll(t, operation, maxRows, reads)
			return err
		})
	})
	return view, err
}

func readAll(t LibraryTransaction, operation string, limit int, reads []Read) (View, error) {
	var pairs []Pair
	for _, r := range reads {
		found, err := r.through(t, limit)
		if err != nil {
			return View{}, err
		}
		if len(found) >= limit {
			return View{}, &Error{Kind: KindUnparsed, Operation: operation, Detail: "a range has more rows than are read"}
		}
		pairs = append(pairs, found...)
	}
	return NewView(pairs), nil
}

func (r Read) through(t LibraryTransaction, limit int) ([]Pair, error) {
	if r.isRange() {
		return t.GetRange(r.Begin, r.End, limit)
	}
	value, found, err := t.Get(r.Begin)
	if err != nil || !found {
		return nil, err
	}
	return []Pair{{Key: r.Begin, Value: value}}, nil
}

// apply adds mutations to a transaction, or none if one of them is invalid.
func apply(t LibraryTransaction, mutations []Mutation) error {
	for _, m := range mutations {
		if err := m.check(); err != nil {
			return &Error{Kind: KindBadInput, Operation: transacting, Detail: printable(m.Key), Err: err}
		}
	}
	for _, m := range mutations {
		t.Apply(m)
	}
	return nil
}

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
