//go:build fdb_native && cgo

package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	bindings "github.com/apple/foundationdb/bindings/go/src/fdb"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// nativeAPIVersion is the oldest one in use, so that client libraries of all supported
// versions are accepted.
const nativeAPIVersion = 710

// statusKey has the status document, even of an unavailable database.
var statusKey = []byte("\xff\xff/status/json")

// Native reads and writes through FoundationDB's own client library, which must reach
// the processes. It is for runs inside the cluster's network. FDBCLI does everything
// else: see NativeAdmin.
type Native struct {
	db    bindings.Database
	clock clock.Clock
}

var _ KV = (*Native)(nil)

// OpenNative connects with a cluster file. The library can be started once per
// process.
func OpenNative(clusterFile string) (*Native, error) {
	if !bindings.IsAPIVersionSelected() {
		if err := bindings.APIVersion(nativeAPIVersion); err != nil {
			return nil, fmt.Errorf("selecting API version %d: %w", nativeAPIVersion, err)
		}
	}
	db, err := bindings.OpenDatabase(clusterFile)
	if err != nil {
		return nil, fmt.Errorf("opening the database of %s: %w", clusterFile, err)
	}
	return &Native{db: db, clock: clock.RealClock{}}, nil
}

// NativeAdmin is an Admin whose reads of the status document, and whose transactions,
// go through the client library, and everything else through another Admin.
type NativeAdmin struct {
	Admin
	*Native
}

var (
	_ Admin = NativeAdmin{}
	_ KV    = NativeAdmin{}
)

// Status reads the document with the client library.
func (n NativeAdmin) Status(ctx context.Context) (*fdb.Status, error) { return n.Native.Status(ctx) }

// Status returns the status document.
func (n *Native) Status(ctx context.Context) (*fdb.Status, error) {
	const doing = "reading status"
	var document []byte
	err := n.within(ctx, doing, func(t bindings.Transaction) error {
		var err error
		document, err = t.Get(bindings.Key(statusKey)).Get()
		return err
	})
	if err != nil {
		return nil, err
	}
	s, err := fdb.ParseStatus(document)
	if err != nil {
		return nil, &Error{Kind: KindUnparsed, Doing: doing, Err: err}
	}
	return s, nil
}

// Txn runs a transaction; see KV.
func (n *Native) Txn(ctx context.Context, reads []Read, decide func(View) ([]Mutation, error)) (int64, error) {
	pause := func(d time.Duration) error { return pauseOn(ctx, n.clock, wait.Jitter(d, 1)) }
	return retryConflicts(pause, func() (int64, error) { return n.attempt(ctx, reads, decide) })
}

func (n *Native) attempt(ctx context.Context, reads []Read, decide func(View) ([]Mutation, error)) (version int64, err error) {
	err = n.within(ctx, transacting, func(t bindings.Transaction) error {
		view, err := readNative(t, reads)
		if err != nil {
			return err
		}
		mutations, err := decide(view)
		if err != nil || len(mutations) == 0 {
			return err
		}
		if err := mutateNative(t, mutations); err != nil {
			return err
		}
		version, err = commitNative(t)
		return err
	})
	return version, err
}

// commitNative commits. An error that does not exclude that the transaction was
// committed, a timeout or a cancellation among them, is an unknown result.
func commitNative(t bindings.Transaction) (int64, error) {
	if err := nativeError(transacting, t.Commit().Get()); err != nil {
		if definitelyNotCommitted(KindOf(err)) {
			return 0, err
		}
		return 0, &Error{Kind: KindUnknownResult, Doing: transacting, Err: err}
	}
	version, err := t.GetCommittedVersion()
	if err != nil {
		return 0, &Error{Kind: KindUnknownResult, Doing: transacting, Err: err}
	}
	return version, nil
}

// within runs use in a fresh transaction that ends with ctx.
func (n *Native) within(ctx context.Context, doing string, use func(bindings.Transaction) error) error {
	t, err := n.db.CreateTransaction()
	if err != nil {
		return nativeError(doing, err)
	}
	options := t.Options()
	limit := statusLimit.Milliseconds()
	if err := errors.Join(options.SetAccessSystemKeys(), options.SetLockAware(), options.SetTimeout(limit)); err != nil {
		return nativeError(doing, err)
	}
	stop := context.AfterFunc(ctx, t.Cancel)
	defer stop()
	return nativeError(doing, use(t))
}

func readNative(t bindings.Transaction, reads []Read) (View, error) {
	var pairs []Pair
	for _, r := range reads {
		found, err := r.native(t)
		if err != nil {
			return View{}, err
		}
		pairs = append(pairs, found...)
	}
	return NewView(pairs), nil
}

func (r Read) native(t bindings.Transaction) ([]Pair, error) {
	if !r.isRange() {
		value, err := t.Get(bindings.Key(r.Begin)).Get()
		if err != nil || value == nil {
			return nil, err
		}
		return []Pair{{Key: r.Begin, Value: value}}, nil
	}
	within := bindings.KeyRange{Begin: bindings.Key(r.Begin), End: bindings.Key(r.End)}
	rows, err := t.GetRange(within, bindings.RangeOptions{Limit: maxRangeRows}).GetSliceWithError()
	if err != nil {
		return nil, err
	}
	if len(rows) >= maxRangeRows {
		return nil, &Error{Kind: KindUnparsed, Doing: transacting, Detail: "a range has more rows than are read"}
	}
	pairs := make([]Pair, len(rows))
	for i, row := range rows {
		pairs[i] = Pair{Key: row.Key, Value: row.Value}
	}
	return pairs, nil
}

func mutateNative(t bindings.Transaction, mutations []Mutation) error {
	for _, m := range mutations {
		if err := m.check(); err != nil {
			return &Error{Kind: KindBadInput, Doing: transacting, Detail: printable(m.Key), Err: err}
		}
	}
	for _, m := range mutations {
		switch {
		case m.Value != nil:
			t.Set(bindings.Key(m.Key), m.Value)
		case m.End != nil:
			t.ClearRange(bindings.KeyRange{Begin: bindings.Key(m.Key), End: bindings.Key(m.End)})
		default:
			t.Clear(bindings.Key(m.Key))
		}
	}
	return nil
}

// nativeError gives an error of the library its kind; others pass.
func nativeError(doing string, err error) error {
	code, ok := errors.AsType[bindings.Error](err)
	if !ok {
		return err
	}
	kind, known := codeKinds[code.Code]
	if !known {
		kind = KindRefused
	}
	return &Error{Kind: kind, Doing: doing, Code: code.Code, Err: err}
}
