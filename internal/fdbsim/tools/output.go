package tools

import "io"

// StdoutBlock is the size of the blocks in which a tool writes to a pipe.
const StdoutBlock = 4096

// blockWriter is stdout of a tool on a pipe: whole blocks go out as they fill,
// the rest when the tool ends. A command that holds the [World]'s lock only
// fills it; delivery happens without the lock.
type blockWriter struct {
	to      io.Writer
	pending []byte
	// unbuffered is a tool that writes at once, whole blocks or not.
	unbuffered bool
}

func (b *blockWriter) Write(p []byte) (int, error) {
	b.pending = append(b.pending, p...)
	return len(p), nil
}

// deliver writes the whole blocks.
func (b *blockWriter) deliver() error {
	if b.unbuffered {
		return b.flush()
	}
	n := len(b.pending) / StdoutBlock * StdoutBlock
	return b.send(n)
}

// flush writes everything.
func (b *blockWriter) flush() error { return b.send(len(b.pending)) }

func (b *blockWriter) send(n int) error {
	if n == 0 {
		return nil
	}
	out := b.pending[:n]
	b.pending = append([]byte(nil), b.pending[n:]...)
	_, err := b.to.Write(out)
	return err
}

// directWriter is stderr of a tool: it is not buffered, except that a command
// that holds the [World]'s lock cannot write yet.
type directWriter struct {
	to      io.Writer
	pending []byte
}

func (d *directWriter) Write(p []byte) (int, error) {
	d.pending = append(d.pending, p...)
	return len(p), nil
}

func (d *directWriter) deliver() error {
	if len(d.pending) == 0 {
		return nil
	}
	out := d.pending
	d.pending = nil
	_, err := d.to.Write(out)
	return err
}
