// Package wire is the protocol between programs in containers and the sandbox,
// over a unix socket: one JSON message after the other, in both
// directions. A connection is one run of one program, and ends with it.
package wire

import (
	"encoding/json"
	"fmt"
	"net"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
)

// Socket is where programs in a container find the sandbox.
const Socket = box.RunDir + "/tools.sock"

// FromProgram is a message of a program. The first message carries Run or
// Watch.
type FromProgram struct {
	Run      *Run              `json:",omitempty"` // run a FoundationDB program in its place
	Watch    bool              `json:",omitempty"` // send the pod's facts now and when they change
	Annotate map[string]string `json:",omitempty"` // set annotations of the pod
	Stdin    []byte            `json:",omitempty"`
	StdinEnd bool              `json:",omitempty"`
	File     *FileAnswer       `json:",omitempty"`
}

// ToProgram is a message of the sandbox.
type ToProgram struct {
	Stdout    []byte        `json:",omitempty"`
	Stderr    []byte        `json:",omitempty"`
	Ask       *FileQuestion `json:",omitempty"`
	Facts     *PodFacts     `json:",omitempty"`
	Annotated *Outcome      `json:",omitempty"` // answers Annotate
	Exit      *int          `json:",omitempty"` // the program ends with this code
}

// PodFacts are what a program may know of its pod.
type PodFacts struct {
	Annotations map[string]string
	NodeLabels  map[string]string
}

// Run is a FoundationDB program as it was started.
type Run struct {
	Version string
	Argv    []string // argv[0] first
	Env     map[string]string
}

// Outcome is an error's text, empty for success.
type Outcome struct{ Error string }

// FileQuestion asks the program about a file as its container sees it.
type FileQuestion struct {
	ID      int
	Do      FileVerb
	Name    string
	Content []byte `json:",omitempty"`
}

// FileVerb is what to do with a file.
type FileVerb string

// The file verbs.
const (
	Read     FileVerb = "read"
	Write    FileVerb = "write"
	Writable FileVerb = "writable"
)

// FileAnswer answers a question. NotFound distinguishes a missing file from other
// errors.
type FileAnswer struct {
	ID       int
	Content  []byte `json:",omitempty"`
	Yes      bool   `json:",omitempty"`
	Error    string `json:",omitempty"`
	NotFound bool   `json:",omitempty"`
}

// Conn is one end of a connection. Send can be called from anywhere, Receive
// from one place at a time.
type Conn struct {
	conn net.Conn
	in   *json.Decoder

	mu  sync.Mutex
	out *json.Encoder
}

// NewConn returns a connection over c.
func NewConn(c net.Conn) *Conn {
	return &Conn{conn: c, in: json.NewDecoder(c), out: json.NewEncoder(c)}
}

// Send sends one message.
func (c *Conn) Send(message any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.out.Encode(message); err != nil {
		return fmt.Errorf("send to the other side: %w", err)
	}
	return nil
}

// Receive waits for the next message.
func (c *Conn) Receive(message any) error { return c.in.Decode(message) }

// Close ends the connection.
func (c *Conn) Close() error { return c.conn.Close() }
