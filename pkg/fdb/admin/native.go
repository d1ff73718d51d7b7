//go:build fdb_native && cgo

package admin

// #cgo LDFLAGS: -lfdb_c
// #define FDB_API_VERSION 730
// #include <foundationdb/fdb_c.h>
import "C"

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	bindings "github.com/apple/foundationdb/bindings/go/src/fdb"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// NativeAvailable is whether this build has the native transport.
const NativeAvailable = true

// nativeAPIVersion is the oldest one in use, so that client libraries of all supported
// versions are accepted.
const nativeAPIVersion = 710

// codeUnknownResult is commit_unknown_result.
const codeUnknownResult = 1021

// OpenNative connects with a cluster file through FoundationDB's client library, which
// follows the database and rewrites the file. A second call with the same file returns the
// same connection.
func OpenNative(clusterFile string) (*LibraryClient, error) {
	const operation = "opening the database"
	if err := bindings.APIVersion(nativeAPIVersion); err != nil {
		return nil, &Error{Kind: KindBinaryMissing, Operation: operation, Detail: fmt.Sprintf("API version %d", nativeAPIVersion), Err: err}
	}
	db, err := bindings.OpenDatabase(clusterFile)
	if err != nil {
		return nil, libraryError(context.Background(), operation+" of "+clusterFile, nativeError(err))
	}
	return NewLibraryClient(nativeLibrary{db}, nil), nil
}

// nativeLibrary is Library with FoundationDB's Go bindings.
type nativeLibrary struct{ db bindings.Database }

// Begin implements Library.
func (l nativeLibrary) Begin(ctx context.Context, limit time.Duration) (LibraryTransaction, error) {
	t, err := l.db.CreateTransaction()
	if err != nil {
		return nil, nativeError(err)
	}
	options := t.Options()
	if err := errors.Join(options.SetAccessSystemKeys(), options.SetLockAware(), options.SetTimeout(limit.Milliseconds())); err != nil {
		return nil, nativeError(err)
	}
	return nativeTransaction{t, context.AfterFunc(ctx, t.Cancel)}, nil
}

// Reboot implements Library. The bindings cannot cancel a call, which ends within seconds.
func (l nativeLibrary) Reboot(ctx context.Context, addresses []string) (sent bool, err error) {
	ended := make(chan error, 1)
	go func() { ended <- l.db.RebootWorker(strings.Join(addresses, ","), false, 0) }()
	select {
	case err := <-ended:
		if _, failed := errors.AsType[bindings.Error](err); failed {
			return false, nativeError(err)
		}
		return err == nil, nil // any other error of the bindings means that nothing was sent
	case <-ctx.Done():
		return false, &LibraryError{Code: codeUnknownResult, Err: ctx.Err()}
	}
}

// Version implements Library.
func (nativeLibrary) Version() (fdb.Version, error) {
	version, _, _ := strings.Cut(C.GoString(C.fdb_get_client_version()), ",") // source and protocol follow
	return fdb.ParseVersion(version)
}

// nativeTransaction is LibraryTransaction with FoundationDB's Go bindings.
type nativeTransaction struct {
	t    bindings.Transaction
	stop func() bool
}

func (n nativeTransaction) EnableSpecialWrites() error {
	return nativeError(n.t.Options().SetSpecialKeySpaceEnableWrites())
}

func (n nativeTransaction) Get(key []byte) (value []byte, found bool, err error) {
	value, err = n.t.Get(bindings.Key(key)).Get()
	return value, value != nil, nativeError(err)
}

func (n nativeTransaction) GetRange(begin, end []byte, limit int) ([]Pair, error) {
	within := bindings.KeyRange{Begin: bindings.Key(begin), End: bindings.Key(end)}
	rows, err := n.t.GetRange(within, bindings.RangeOptions{Limit: limit}).GetSliceWithError()
	if err != nil {
		return nil, nativeError(err)
	}
	pairs := make([]Pair, len(rows))
	for i, row := range rows {
		pairs[i] = Pair{Key: row.Key, Value: row.Value}
	}
	return pairs, nil
}

func (n nativeTransaction) Apply(m Mutation) {
	switch {
	case m.Value != nil:
		n.t.Set(bindings.Key(m.Key), m.Value)
	case m.End != nil:
		n.t.ClearRange(bindings.KeyRange{Begin: bindings.Key(m.Key), End: bindings.Key(m.End)})
	default:
		n.t.Clear(bindings.Key(m.Key))
	}
}

func (n nativeTransaction) Commit() (int64, error) {
	if err := n.t.Commit().Get(); err != nil {
		return 0, nativeError(err)
	}
	version, err := n.t.GetCommittedVersion()
	if err != nil {
		return 0, &LibraryError{Code: codeUnknownResult, Err: err}
	}
	return version, nil
}

func (n nativeTransaction) Close() { n.stop() }

// nativeError returns an error of the bindings as one of Library.
func nativeError(err error) error {
	if code, ok := errors.AsType[bindings.Error](err); ok {
		return &LibraryError{Code: code.Code, Err: err}
	}
	return err
}
