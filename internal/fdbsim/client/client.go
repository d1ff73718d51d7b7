// Package client is a program with a cluster file: it finds the database, waits for it, and reads and changes it, by
// the rules that fdbcli has. Package tools reads lines and prints answers around it.
//
// The lock of the [model.Simulation] must be held; a client that waits for its clock releases it.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// FileSystem is the files that a program sees.
type FileSystem interface {
	ReadFile(name string) ([]byte, error)
	WriteFile(name string, content []byte) error
	// Writable reports whether a file can be replaced, which needs its
	// directory to be writable.
	Writable(name string) bool
}

// Program is what a client runs in.
type Program struct {
	// Version is the full version of the binary.
	Version string
	// Host is the IP that servers see the program come from. Default 127.0.0.1.
	Host  string
	Files FileSystem
	// ClusterFile is the path of its cluster file.
	ClusterFile string
	TLS         TLSFiles
	// Timeout ends the program; 0 never does.
	Timeout time.Duration
}

// Attendant is what a program does beside its client while that waits.
type Attendant interface {
	// Waits is called before each wait.
	Waits()
	// Due is when Remark is called during a wait; the zero time for never.
	Due() time.Time
	Remark()
}

// Client is a program with a cluster file.
type Client struct {
	Program
	Simulation *model.Simulation
	Context    context.Context //nolint:containedctx // it is the life of the simulated process
	// Release is the parsed version of the program.
	Release fdb.Version
	// Conn is the connection string in use.
	Conn fdb.ConnectionString
	// Limit is when the program is ended; the zero time for never.
	Limit time.Time
	// Attendant may be nil.
	Attendant Attendant
	// Dropping is whether the running command takes effect and is then cut off.
	Dropping bool

	port int // once the cluster has seen it
}

// Ends of a command that end the whole program.
var (
	// ErrKilled means that the program was killed, or cut off by a fault.
	ErrKilled = errors.New("the program was killed")
	// ErrTimeLimit means that the limit of the program has passed.
	ErrTimeLimit = errors.New("specified timeout reached")
)

// The errors of a cluster file.
var (
	ErrNoClusterFile  = model.ClientError{Text: "No cluster file found", Code: 1515}
	ErrBadClusterFile = model.ClientError{Text: "Connection string invalid", Code: 2104}
)

// RefusedError is why a client does not do something, in the words of fdbcli.
type RefusedError string

// Error implements error.
func (r RefusedError) Error() string { return string(r) }

// Effect is whether a command changes the database.
type Effect int

// The effects of commands.
const (
	Reads Effect = iota
	Changes
)

// New returns a client that has read no cluster file yet.
func New(ctx context.Context, w *model.Simulation, p Program) (*Client, error) {
	release, err := fdb.ParseVersion(p.Version)
	if err != nil {
		return nil, err
	}
	return &Client{Program: p, Simulation: w, Context: ctx, Release: release}, nil
}

// Open returns a client that has tried to reach its database.
func Open(ctx context.Context, w *model.Simulation, p Program) (*Client, error) {
	c, err := New(ctx, w, p)
	if err != nil {
		return nil, err
	}
	if err := c.ReadClusterFile(); err != nil {
		return nil, fmt.Errorf("read cluster file %s: %w", p.ClusterFile, err)
	}
	if err := c.CheckTLS(); err != nil {
		return nil, err
	}
	if p.Timeout > 0 {
		c.Limit = w.Now.Add(p.Timeout)
	}
	return c, c.Connect()
}

// ReadClusterFile reads the connection string to begin with.
func (c *Client) ReadClusterFile() error {
	content, err := c.Files.ReadFile(c.ClusterFile)
	if err != nil {
		return ErrNoClusterFile
	}
	connection, err := fdb.ParseClusterFile(string(content))
	if err != nil {
		return ErrBadClusterFile
	}
	c.Conn = connection
	return nil
}

// Locate asks the coordinators for the database, following them to a new
// connection string. Nil when there is none to talk to.
func (c *Client) Locate() *model.Database {
	found := c.Simulation.Find(c.Conn, c.Release)
	if found.Conn.String() != c.Conn.String() {
		c.Conn = found.Conn
		if c.Files.Writable(c.ClusterFile) {
			c.rewriteClusterFile()
		}
	}
	if found.Db != nil {
		c.introduce(found.Db)
	}
	return found.Db
}

// introduce has the database know this client.
func (c *Client) introduce(db *model.Database) {
	if c.port == 0 {
		c.port = c.Simulation.NewClientPort()
	}
	db.Clients.Seen(model.Client{Host: cmp.Or(c.Host, "127.0.0.1"), Port: c.port, Version: c.Version, At: c.Simulation.Now})
}

// rewriteClusterFile stores the connection string in use. The client goes on with
// it in memory when that fails.
func (c *Client) rewriteClusterFile() {
	if err := c.Files.WriteFile(c.ClusterFile, []byte(model.ClusterFileText(c.Conn))); err != nil {
		return
	}
}

const (
	// Startup is what a run of a program takes at least.
	Startup = 50 * time.Millisecond
	// connectTimeout is how long a client tries to reach the database before it
	// goes on anyway.
	connectTimeout = 3 * time.Second
)

// Connect tries to reach the database.
func (c *Client) Connect() error {
	if err := c.Pause(Startup); err != nil {
		return err
	}
	_, err := c.Wait(c.Simulation.Now.Add(connectTimeout), func() bool {
		db := c.Locate()
		return db != nil && db.Available()
	})
	return err
}

// Begin applies the faults that hold for every command. One that changes something may be cut off, with
// or without its effect.
func (c *Client) Begin(e Effect) error {
	db := c.Locate()
	if db == nil {
		return nil
	}
	if err := c.Pause(db.Faults.Delay); err != nil {
		return err
	}
	if e != Changes || !db.Faults.TakeDrop() {
		return nil
	}
	if db.Faults.ApplyUnknown {
		c.Dropping = true
		return nil
	}
	return ErrKilled
}

// ended is the error of a command that took effect: one that is cut off does not get further.
func (c *Client) ended() error {
	if c.Dropping {
		return ErrKilled
	}
	return nil
}

// Wait blocks the running command until cond holds or the clock reads until
// (zero: never), and reports whether cond held. It fails when the whole program
// has to end.
func (c *Client) Wait(until time.Time, cond func() bool) (bool, error) {
	if cond != nil && cond() {
		return true, nil
	}
	for {
		due := c.attended()
		if c.Simulation.Wait(c.Context, earliest(until, c.Limit, due), cond) {
			return true, nil
		}
		now := c.Simulation.Now
		switch {
		case c.Context.Err() != nil:
			return false, ErrKilled
		case reached(c.Limit, now):
			return false, ErrTimeLimit
		case reached(due, now):
			c.Attendant.Remark()
		case reached(until, now):
			return false, nil
		}
	}
}

// attended is when the attendant has something to do during the wait that begins.
func (c *Client) attended() time.Time {
	if c.Attendant == nil {
		return time.Time{}
	}
	c.Attendant.Waits()
	return c.Attendant.Due()
}

// earliest is the first of the times that are not zero.
func earliest(times ...time.Time) time.Time {
	var first time.Time
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

func reached(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// Pause blocks the running command for d.
func (c *Client) Pause(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	_, err := c.Wait(c.Simulation.Now.Add(d), nil)
	return err
}

// sleepOverhead is by how much sleep oversleeps.
const sleepOverhead = 100 * time.Millisecond

// Sleep does nothing for d.
func (c *Client) Sleep(d time.Duration) error { return c.Pause(d + sleepOverhead) }

// Database waits until the database is ready for the running command.
func (c *Client) Database(ready func(*model.Database) bool) (*model.Database, error) {
	var db *model.Database
	_, err := c.Wait(time.Time{}, func() bool {
		db = c.Locate()
		return db != nil && ready(db)
	})
	return db, err
}

// governed reports whether a database has a cluster controller.
func governed(db *model.Database) bool { return db.Roles.Controller.Taken() }
