package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
)

// dialog is a session with fdbcli. fdbcli's stdout arrives in blocks of 4096 bytes,
// so output may be delayed until enough follows it; its stderr arrives at once.
type dialog struct {
	session *Session
	news    chan struct{} // one pending notice of new output

	mu       sync.Mutex
	stdout   []byte
	stderr   []byte
	searched int // how much of stdout is known not to have the header
	open     int // streams that have not ended
}

var errEnded = errors.New("fdbcli ended")

// newDialogue starts to read all output continuously: fdbcli blocks if its output
// is not read. Close it.
func newDialogue(s *Session) *dialog {
	d := &dialog{session: s, news: make(chan struct{}, 1), open: 2}
	go d.listen(s.Stdout, &d.stdout)
	go d.listen(s.Stderr, &d.stderr)
	return d
}

// close kills fdbcli if it still runs.
func (d *dialog) close() { d.session.Close() }

func (d *dialog) listen(from io.Reader, into *[]byte) {
	const block = 4096
	data := make([]byte, block)
	for {
		n, err := from.Read(data)
		d.mu.Lock()
		*into = append(*into, data[:n]...)
		excess := len(*into) > limit.Output
		if err != nil || excess {
			d.open--
		}
		d.mu.Unlock()
		if excess { // nothing that fdbcli prints may fill the memory
			d.close()
			err = io.ErrShortBuffer
		}
		select {
		case d.news <- struct{}{}:
		default: // a notice is pending already
		}
		if err != nil {
			return
		}
	}
}

// received returns all output so far.
func (d *dialog) received() (output transcript, ended bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return transcript{stdout: slices.Clone(d.stdout), stderr: slices.Clone(d.stderr)}, d.open == 0
}

// send writes lines, each with its end: fdbcli runs a truncated last line.
func (d *dialog) send(lines ...string) error {
	_, err := io.WriteString(d.session.Stdin, strings.Join(lines, "\n")+"\n")
	return err
}

// until reads until the output is enough. It returns errEnded when fdbcli ended
// first.
func (d *dialog) until(ctx context.Context, enough func(transcript) bool) (transcript, error) {
	for {
		output, ended := d.received()
		switch {
		case enough(output):
			return output, nil
		case ended:
			return output, errEnded
		}
		select {
		case <-d.news:
		case <-ctx.Done():
			return output, ctx.Err()
		}
	}
}

// take waits for the output of everything sent before marker n and "help options", and returns what is new of
// it since the last time.
func (d *dialog) take(ctx context.Context, n int) (transcript, error) {
	for {
		output, whole, ended := d.cut(n)
		switch {
		case whole:
			return output, nil
		case ended:
			return transcript{}, errEnded
		}
		select {
		case <-d.news:
		case <-ctx.Done():
			return transcript{}, ctx.Err()
		}
	}
}

// cut removes the output up to the header of the options and up to marker n, once both have arrived. It searches
// only what is new: a document of megabytes arrives in blocks.
func (d *dialog) cut(n int) (output transcript, whole, ended bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	stderr, rest, marked := bytes.Cut(d.stderr, markerComplaint(n))
	stdout, help, flushed := bytes.Cut(d.stdout[d.searched:], []byte(optionsHeader))
	if !marked || !flushed {
		if !flushed {
			d.searched = max(0, len(d.stdout)-len(optionsHeader))
		}
		return transcript{}, false, d.open == 0
	}
	output = transcript{stdout: d.stdout[:d.searched+len(stdout)], stderr: stderr}
	d.stdout, d.stderr, d.searched = slices.Clone(help), slices.Clone(rest), 0
	return output, true, false
}

// untilEnd reads until fdbcli has ended.
func (d *dialog) untilEnd(ctx context.Context) (transcript, error) {
	output, err := d.until(ctx, func(transcript) bool { return false })
	if errors.Is(err, errEnded) {
		err = nil
	}
	return output, err
}

// transcript is what fdbcli printed in a session.
type transcript struct{ stdout, stderr []byte }

// optionsHeader starts the text of "help options", which is long enough to push out
// everything that fdbcli printed before it. No value can contain it, because line
// breaks in values are escaped.
const optionsHeader = "\nThe following options are available to be set using the `option' command:"

// flushed reports whether the output of everything sent before "help options" has
// arrived.
func (t transcript) flushed() bool { return bytes.Contains(t.stdout, []byte(optionsHeader)) }

// answers returns the lines printed before the text of "help options".
func (t transcript) answers() []string {
	before, _, _ := bytes.Cut(t.stdout, []byte(optionsHeader))
	return answerLines(before)
}

// marker returns an unknown command, for which fdbcli prints an error on stderr once
// it has run everything before it.
func marker(n int) string { return fmt.Sprintf("sync_%d", n) }

// reached reports whether fdbcli has reached marker n.
func (t transcript) reached(n int) bool {
	return bytes.Contains(t.stderr, markerComplaint(n))
}

// errorsBefore returns the errors that fdbcli reported between marker n-1 and
// marker n.
func (t transcript) errorsBefore(n int) []string {
	before, _, _ := bytes.Cut(t.stderr, markerComplaint(n))
	if _, after, found := bytes.Cut(before, markerComplaint(n-1)); found {
		before = after
	}
	return errorLines(before)
}

func markerComplaint(n int) []byte {
	return []byte("ERROR: Unknown command `" + marker(n) + "'. Try `help'?\n")
}
