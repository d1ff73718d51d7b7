package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// dialLimit bounds the wait for the sandbox to answer.
const dialLimit = 10 * time.Second

// Dial connects a program to its sandbox.
func Dial(ctx context.Context) (*Conn, error) {
	c, err := (&net.Dialer{Timeout: dialLimit}).DialContext(ctx, "unix", Socket)
	if err != nil {
		return nil, fmt.Errorf("reach the sandbox: %w", err)
	}
	return NewConn(c), nil
}

// Streams are a program's own.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// RunProgram makes the sandbox run a program instead of this one and returns its
// exit code.
func RunProgram(ctx context.Context, run Run, s Streams) (int, error) {
	c, err := Dial(ctx)
	if err != nil {
		return 0, err
	}
	return RunOver(c, run, s)
}

// RunOver is RunProgram over an open connection, which it closes.
func RunOver(c *Conn, run Run, s Streams) (int, error) {
	defer func() { _ = c.Close() }()
	if err := c.Send(FromProgram{Run: &run}); err != nil {
		return 0, err
	}
	go sendInput(c, s.In)
	for {
		var m ToProgram
		if err := c.Receive(&m); err != nil {
			return 0, fmt.Errorf("the sandbox has ended: %w", err)
		}
		var err error
		switch {
		case m.Exit != nil:
			return *m.Exit, nil
		case m.Ask != nil:
			answer := AnswerFile(*m.Ask)
			err = c.Send(FromProgram{File: &answer})
		case m.Stdout != nil:
			_, err = s.Out.Write(m.Stdout)
		case m.Stderr != nil:
			_, err = s.Err.Write(m.Stderr)
		}
		if err != nil {
			return 0, err
		}
	}
}

// inputChunk is how much input one message carries.
const inputChunk = 32 << 10

func sendInput(c *Conn, in io.Reader) {
	buffer := make([]byte, inputChunk)
	for {
		n, err := in.Read(buffer)
		if n > 0 && c.Send(FromProgram{Stdin: buffer[:n]}) != nil {
			return
		}
		if err != nil {
			c.Send(FromProgram{StdinEnd: true}) // a sandbox that has ended ends the program
			return
		}
	}
}

// AnswerFile does what a question asks, with the files of this program.
func AnswerFile(q FileQuestion) FileAnswer {
	a := FileAnswer{ID: q.ID}
	var err error
	switch q.Do {
	case Read:
		a.Content, err = os.ReadFile(q.Name)
	case Write:
		err = replaceFile(q.Name, q.Content)
	case Writable:
		a.Yes = writable(q.Name)
	default:
		err = fmt.Errorf("unknown file verb %q", q.Do)
	}
	if err != nil {
		a.Error, a.NotFound = err.Error(), errors.Is(err, fs.ErrNotExist)
	}
	return a
}

// replaceFile writes beside the file and renames, as FoundationDB does, and creates the directory of
// the file, as it creates its data directory.
func replaceFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	next := name + ".tmp"
	if err := os.WriteFile(next, content, 0o644); err != nil {
		return err
	}
	return os.Rename(next, name)
}

// writable reports whether a file could be replaced.
func writable(name string) bool {
	if unix.Access(filepath.Dir(name), unix.W_OK) != nil {
		return false
	}
	err := unix.Access(name, unix.W_OK)
	return err == nil || errors.Is(err, unix.ENOENT)
}

// Environment is the program's variables as a map.
func Environment(list []string) map[string]string {
	env := map[string]string{}
	for _, entry := range list {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	return env
}
