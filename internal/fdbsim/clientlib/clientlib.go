package clientlib

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/tools"
)

// everyRow is the limit of a range that has none.
const everyRow = 1 << 30

// operationFailed is the error of a request that makes no sense.
const operationFailed = 1000

var errRequest = errors.New("malformed request")

// Serve serves one connection until it or ctx ends. The client library has the given
// version and sees files; of returns the simulation of the cluster file that it names.
func Serve(ctx context.Context, of func(clusterFile string) *model.Simulation, version string, files tools.FileSystem, connection io.ReadWriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })() // its end is what ends the reads below
	requests, ended := make(chan [][]byte), make(chan error, 1)
	go func() {
		defer cancel() // a client that disconnected does not wait for a reply
		ended <- receive(ctx, bufio.NewReader(connection), requests)
	}()
	s := session{begin: func(clusterFile string) (*tools.ClientTransaction, error) {
		return tools.BeginClient(ctx, of(clusterFile), version, files, clusterFile)
	}}
	for {
		select {
		case r := <-requests:
			if _, err := connection.Write(s.reply(r)); err != nil && ctx.Err() == nil {
				return fmt.Errorf("send a reply: %w", err)
			}
		case err := <-ended:
			return err
		}
	}
}

// receive reads requests until the connection ends.
func receive(ctx context.Context, from *bufio.Reader, requests chan<- [][]byte) error {
	for {
		r, err := readMessage(from)
		if err != nil {
			return receiveError(ctx, err)
		}
		select {
		case requests <- r:
		case <-ctx.Done():
			return nil
		}
	}
}

// receiveError returns the error of a read, unless it is the end of the connection, or that of ctx,
// which closes it.
func receiveError(ctx context.Context, err error) error {
	if !errors.Is(err, io.EOF) && ctx.Err() == nil {
		return fmt.Errorf("read a request: %w", err)
	}
	return nil
}

// session is the transaction of one connection.
type session struct {
	begin func(clusterFile string) (*tools.ClientTransaction, error)
	t     *tools.ClientTransaction
}

// reply does what a request asks for and returns the bytes of the reply.
func (s *session) reply(request [][]byte) []byte {
	results, err := s.run(request)
	code := 0
	if e, is := model.AsClientError(err); is {
		code = e.Code
	} else if err != nil {
		code = operationFailed
	}
	return message(append([][]byte{[]byte(strconv.Itoa(code))}, results...)...)
}

func (s *session) run(request [][]byte) ([][]byte, error) {
	if len(request) == 0 {
		return nil, errRequest
	}
	name, arguments := string(request[0]), request[1:]
	if name == "begin" && s.t == nil && len(arguments) == 1 {
		var err error
		s.t, err = s.begin(string(arguments[0]))
		return nil, err
	}
	do, known := operations[name]
	if !known || s.t == nil || do.arguments != len(arguments) {
		return nil, errRequest
	}
	return do.run(s.t, arguments)
}

// operation is what can be done with a transaction.
type operation struct {
	arguments int
	run       func(t *tools.ClientTransaction, arguments [][]byte) ([][]byte, error)
}

// operations are all but begin, whose argument is the path of a cluster file.
var operations = map[string]operation{
	"reset": {0, func(t *tools.ClientTransaction, _ [][]byte) ([][]byte, error) {
		t.Reset()
		return nil, nil
	}},
	"option": {2, func(t *tools.ClientTransaction, a [][]byte) ([][]byte, error) {
		return nil, setOption(t, string(a[0]), string(a[1]))
	}},
	"get":   {1, get},
	"range": {3, readRange},
	"set": {2, func(t *tools.ClientTransaction, a [][]byte) ([][]byte, error) {
		t.Set(string(a[0]), a[1])
		return nil, nil
	}},
	"clear": {1, func(t *tools.ClientTransaction, a [][]byte) ([][]byte, error) {
		t.Clear(keyspace.Single(string(a[0])))
		return nil, nil
	}},
	"clearrange": {2, func(t *tools.ClientTransaction, a [][]byte) ([][]byte, error) {
		t.Clear(keyspace.Range{Begin: string(a[0]), End: string(a[1])})
		return nil, nil
	}},
	"commit": {0, func(t *tools.ClientTransaction, _ [][]byte) ([][]byte, error) {
		version, err := t.Commit()
		return [][]byte{[]byte(strconv.FormatInt(version, 10))}, err
	}},
	"reboot": {1, reboot},
}

// optionNames are the transaction options of the client library, by their names in fdbcli.
var optionNames = map[string]string{
	"301": "ACCESS_SYSTEM_KEYS",
	"302": "READ_SYSTEM_KEYS",
	"500": "TIMEOUT",
	"700": "LOCK_AWARE",
	"702": "READ_LOCK_AWARE",
	"714": "SPECIAL_KEY_SPACE_ENABLE_WRITES",
}

// setOption sets the option with a code. The value of TIMEOUT is in milliseconds.
func setOption(t *tools.ClientTransaction, code, value string) error {
	name, known := optionNames[code]
	if !known {
		return errRequest
	}
	milliseconds := 0
	if value != "" {
		var err error
		if milliseconds, err = strconv.Atoi(value); err != nil {
			return errRequest
		}
	}
	return t.Enable(name, time.Duration(milliseconds)*time.Millisecond)
}

func get(t *tools.ClientTransaction, a [][]byte) ([][]byte, error) {
	value, found, err := t.Get(string(a[0]))
	if err != nil || !found {
		return nil, err
	}
	return [][]byte{value}, nil
}

// readRange returns keys and values in turn.
func readRange(t *tools.ClientTransaction, a [][]byte) ([][]byte, error) {
	limit, err := strconv.Atoi(string(a[2]))
	if err != nil {
		return nil, errRequest
	}
	if limit == 0 {
		limit = everyRow
	}
	pairs, err := t.Range(string(a[0]), string(a[1]), limit)
	if err != nil {
		return nil, err
	}
	var rows [][]byte
	for _, p := range pairs {
		rows = append(rows, []byte(p.Key), p.Value)
	}
	return rows, nil
}

// reboot returns 1 once all processes are on their way down, and 0 if none is.
func reboot(t *tools.ClientTransaction, a [][]byte) ([][]byte, error) {
	sent, err := t.Reboot(strings.Split(string(a[0]), ","))
	if err != nil || !sent {
		return [][]byte{[]byte("0")}, err
	}
	return [][]byte{[]byte("1")}, nil
}
