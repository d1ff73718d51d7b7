package tools

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/console"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// ClientTransaction is a transaction of a program that uses FoundationDB's client library
// itself. It may be used by one goroutine at a time. Its errors are of type
// [model.ClientError].
type ClientTransaction struct {
	c *cli
	// flaw is the first error of a write, which the commit reports.
	flaw error
	// message is what \xff\xff/error_message has.
	message []byte
}

// Codes of the client library for errors that fdbcli prints in words of its own.
var (
	errCancelled = model.ClientError{Text: "Operation was canceled", Code: 1025}
	errBadOption = model.ClientError{Text: "Option not valid in this context", Code: 2007}
)

// BeginClient begins a transaction of a client of some version on the database of a
// cluster file. It is canceled when ctx ends.
func BeginClient(ctx context.Context, w *model.Simulation, version string, files FileSystem, clusterFile string) (*ClientTransaction, error) {
	c, err := newCLI(ctx, w, Tool{Version: version, Files: files, Stdout: io.Discard, Stderr: io.Discard}, console.Blockwise)
	if err != nil {
		return nil, err
	}
	c.ClusterFile = clusterFile
	if err := c.ReadClusterFile(); err != nil {
		return nil, err
	}
	t := &ClientTransaction{c: c}
	t.Reset()
	return t, nil
}

// Reset forgets everything that was read or written. Options stay.
func (t *ClientTransaction) Reset() {
	t.c.Simulation.Lock()
	defer t.c.Simulation.Unlock()
	options := t.c.options
	if t.c.txn != nil {
		options = t.c.txn.Options
	}
	t.c.txn, t.flaw = (*model.Database)(nil).Begin(options), nil
}

// Enable sets an option by its name in fdbcli; limit is the value of TIMEOUT.
func (t *ClientTransaction) Enable(name string, limit time.Duration) error {
	t.c.Simulation.Lock()
	defer t.c.Simulation.Unlock()
	if name == "TIMEOUT" {
		t.c.Limit = t.c.Simulation.Now.Add(limit)
		return nil
	}
	flag := optionFlag(&t.c.txn.Options, name)
	if flag == nil {
		return errBadOption
	}
	*flag = true
	return nil
}

// Get reads a key.
func (t *ClientTransaction) Get(key string) (value []byte, found bool, err error) {
	if key == specialPrefix+"error_message" {
		return t.message, t.message != nil, nil
	}
	err = t.do(func() error {
		value, found, err = t.c.read(key)
		return err
	})
	return value, found, err
}

// Range reads up to limit keys from begin up to, but without, end.
func (t *ClientTransaction) Range(begin, end string, limit int) (pairs []keyspace.Pair, err error) {
	err = t.do(func() error {
		pairs, err = t.c.readRange(begin, end, limit)
		return err
	})
	return pairs, err
}

// Set writes a key at the commit.
func (t *ClientTransaction) Set(key string, value []byte) {
	if strings.HasPrefix(key, specialPrefix) {
		t.write(t.c.txn.SpecialWrite(keyspace.Mutation{Key: key, Value: value}))
		return
	}
	t.write(t.c.txn.Set(key, value))
}

// Clear removes the keys of a range at the commit.
func (t *ClientTransaction) Clear(r keyspace.Range) {
	if strings.HasPrefix(r.Begin, specialPrefix) {
		t.write(t.c.txn.SpecialWrite(keyspace.Mutation{Clear: &r}))
		return
	}
	t.write(t.c.txn.Clear(r))
}

func (t *ClientTransaction) write(err error) {
	if t.flaw == nil {
		t.flaw = err
	}
}

// Commit commits and returns the version; -1 if there was nothing to write. A change of
// coordinators that was made has an unknown result, as it has in the client library.
func (t *ClientTransaction) Commit() (version int64, err error) {
	if t.flaw != nil {
		return 0, t.flaw
	}
	writes := t.c.txn
	if len(writes.Writes) == 0 && len(writes.Special) == 0 {
		return -1, nil
	}
	err = t.do(func() error {
		if err := t.c.Begin(client.Changes); err != nil {
			return err
		}
		db, err := t.c.reach((*model.Database).Available)
		if err != nil {
			return err
		}
		writes.Db = db
		version, err = t.c.commitAll(writes)
		if err == nil && t.c.Dropping {
			return model.ErrUnknownResult
		}
		return err
	})
	for _, m := range writes.Special {
		if err == nil && m.Key == specialCoordinators+"processes" {
			return 0, model.ErrUnknownResult
		}
	}
	return version, err
}

// Reboot ends the processes at all addresses and reports true, or ends none.
func (t *ClientTransaction) Reboot(addresses []string) (sent bool, err error) {
	err = t.do(func() error {
		sent, err = t.c.SendEnding(addresses, client.Kill())
		return err
	})
	return sent, err
}

// do runs one operation with the lock held and returns its error as one of the
// client library.
func (t *ClientTransaction) do(operation func() error) error {
	t.c.Simulation.Lock()
	defer t.c.Simulation.Unlock()
	err := operation()
	if failure, is := errors.AsType[specialKeyError](err); is {
		t.message, err = json.Marshal(failure)
		if err == nil {
			err = model.ErrSpecialAPI
		}
	}
	switch {
	case errors.Is(err, client.ErrTimeLimit):
		return model.ErrTimedOut
	case !errors.Is(err, client.ErrKilled):
		return err
	case t.c.Context.Err() == nil:
		return model.ErrUnknownResult // a fault cut it off
	default:
		return errCancelled
	}
}
