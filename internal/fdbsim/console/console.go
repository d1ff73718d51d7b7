// Package console is what a tool reads and prints through: pipes that are
// filled while the model is locked, and delivered when it is not.
package console

import (
	"bytes"
	"io"
)

// Block is the size of the blocks in which a tool writes to a pipe.
const Block = 4096

// Stdout is stdout of a tool on a pipe: whole blocks go out as they fill,
// the rest when the tool ends. A command that holds the [Simulation]'s lock only
// fills it; delivery happens without the lock.
type Stdout struct {
	to      io.Writer
	pending []byte
	// unbuffered is a tool that writes at once, whole blocks or not.
	unbuffered bool
}

// NewStdout returns the stdout of a tool: it writes whole blocks to a pipe, or everything at once when it is
// unbuffered.
func NewStdout(to io.Writer, buffering Buffering) *Stdout {
	return &Stdout{to: to, unbuffered: buffering == Unbuffered}
}

// Buffering is how a tool writes to stdout.
type Buffering int

// The ways of fdbcli, and of the backup tools.
const (
	Blockwise Buffering = iota
	Unbuffered
)

// Write keeps what is printed until it is delivered.
func (b *Stdout) Write(p []byte) (int, error) {
	b.pending = append(b.pending, p...)
	return len(p), nil
}

// Deliver writes the whole blocks.
func (b *Stdout) Deliver() error {
	if b.unbuffered {
		return b.Flush()
	}
	n := len(b.pending) / Block * Block
	return b.send(n)
}

// Flush writes everything.
func (b *Stdout) Flush() error { return b.send(len(b.pending)) }

func (b *Stdout) send(n int) error {
	if n == 0 {
		return nil
	}
	out := b.pending[:n]
	b.pending = append([]byte(nil), b.pending[n:]...)
	_, err := b.to.Write(out)
	return err
}

// Stderr is stderr of a tool: it is not buffered, except that a command
// that holds the [Simulation]'s lock cannot write yet.
type Stderr struct {
	to      io.Writer
	pending []byte
}

// NewStderr writes to a pipe.
func NewStderr(to io.Writer) *Stderr { return &Stderr{to: to} }

// Write keeps what is printed until it is delivered.
func (d *Stderr) Write(p []byte) (int, error) {
	d.pending = append(d.pending, p...)
	return len(p), nil
}

// Deliver writes everything.
func (d *Stderr) Deliver() error {
	if len(d.pending) == 0 {
		return nil
	}
	out := d.pending
	d.pending = nil
	_, err := d.to.Write(out)
	return err
}

// Lines reads lines of any length. The last one counts even without a
// newline.
type Lines struct {
	from   io.Reader
	buffer []byte
	ended  bool
}

// NewLines reads from a pipe; nil is one without content.
func NewLines(from io.Reader) *Lines { return &Lines{from: from} }

// Next is the next line without its newline; false at the end of the input.
func (r *Lines) Next() (string, bool) {
	for {
		if i := bytes.IndexByte(r.buffer, '\n'); i >= 0 {
			line := string(r.buffer[:i])
			r.buffer = r.buffer[i+1:]
			return line, true
		}
		if r.ended {
			line := string(r.buffer)
			r.buffer = nil
			return line, line != ""
		}
		r.fill()
	}
}

func (r *Lines) fill() {
	if r.from == nil {
		r.ended = true
		return
	}
	chunk := make([]byte, Block)
	n, err := r.from.Read(chunk)
	r.buffer = append(r.buffer, chunk[:n]...)
	r.ended = err != nil
}
