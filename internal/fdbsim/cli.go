package fdbsim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// cli is one run of fdbcli. Its commands run with the world's lock held, except
// while they wait and while what they printed is delivered.
type cli struct {
	w       *World
	ctx     context.Context //nolint:containedctx // it is the life of the simulated process
	tool    Tool
	version fdb.Version
	opts    cliOptions
	out     *blockWriter
	err     *directWriter
	in      *lineReader

	conn      fdb.ConnectionString
	limit     time.Time // of --timeout; zero for none
	slow      slowCommand
	writeMode bool
	options   txnOptions
	enabled   []string // names of options, as they were given
	txn       *txn
	targets   []string // addresses that the last kill, suspend, … listed
	quiet     bool     // the running command is status
	// dropping says that the running command takes effect and is then cut off.
	dropping bool
	port     int // of the client, once the cluster has seen it
}

// Ends of a command other than success. A thrown clientError is the third.
var (
	// errFailed means that the command said what was wrong itself.
	errFailed = errors.New("command failed")
	// errExit ends the session.
	errExit = errors.New("exit")
)

// endError ends the whole process with an exit code.
type endError struct{ code int }

func (e endError) Error() string { return fmt.Sprintf("process ends with code %d", e.code) }

// runCLI is fdbcli's main.
func (w *World) runCLI(ctx context.Context, t Tool) int {
	version, err := fdb.ParseVersion(t.Version)
	if err != nil {
		fmt.Fprintf(t.Stderr, "ERROR: %v\n", err)
		return exitFailed
	}
	c := &cli{
		w: w, ctx: ctx, tool: t, version: version,
		out: &blockWriter{to: t.Stdout}, err: &directWriter{to: t.Stderr}, in: &lineReader{from: t.Stdin},
	}
	w.mu.Lock()
	code := c.main()
	w.mu.Unlock()
	if ctx.Err() != nil && code == exitKilled {
		return exitKilled
	}
	c.finish()
	return code
}

// finish delivers what is left. A reader that is gone is no concern of a
// process that ends.
func (c *cli) finish() {
	if err := c.err.deliver(); err != nil {
		return
	}
	if err := c.out.flush(); err != nil {
		return
	}
}

func (c *cli) main() int {
	code, done := c.parseArgs()
	if done {
		return code
	}
	if !c.readClusterFile() {
		return exitFailed
	}
	if code, stopped := c.checkTLS(); stopped {
		return code
	}
	if c.opts.timeout > 0 {
		c.limit = c.w.now.Add(c.opts.timeout)
	}
	if !c.opts.execGiven {
		return c.session()
	}
	err := c.connect()
	if err == nil {
		err = c.runLine(c.opts.exec)
	}
	return exitCode(err)
}

func exitCode(err error) int {
	var end endError
	switch {
	case err == nil || errors.Is(err, errExit):
		return exitOK
	case errors.As(err, &end):
		return end.code
	default:
		return exitFailed
	}
}

func (c *cli) printf(format string, args ...any) { fmt.Fprintf(c.out, format, args...) }
func (c *cli) errorf(format string, args ...any) { fmt.Fprintf(c.err, format+"\n", args...) }
func (c *cli) print(text string)                 { fmt.Fprint(c.out, text) }
func (c *cli) refuse(format string, a ...any) error {
	c.errorf("ERROR: "+format, a...)
	return errFailed
}

func (c *cli) usage(text string) error {
	c.printf("Usage: %s\n", text)
	return errFailed
}

// unlocked runs f without the world's lock.
func (c *cli) unlocked(f func()) {
	c.w.mu.Unlock()
	defer c.w.mu.Lock()
	f()
}

// deliver hands over what was printed so far, as far as a pipe would get it.
func (c *cli) deliver() {
	c.unlocked(func() {
		if err := c.err.deliver(); err != nil {
			return
		}
		if err := c.out.deliver(); err != nil {
			return
		}
	})
}

// versionText is what --version prints.
func versionText(program, version string) string {
	v, err := fdb.ParseVersion(version)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d.%d (v%s)\nsource version %s\nprotocol %s\n",
		program, v.Major, v.Minor, version, sourceVersion(version), protocolText(v))
}

// recordedSource is the source version of the binaries that were recorded.
const recordedSource = "0074653ee0113fc39da0fa088b056c7210ab3191"

// sourceVersion identifies the source of a binary.
func sourceVersion(version string) string {
	if version == "7.3.79" {
		return recordedSource
	}
	sum := sha256.Sum256([]byte(version))
	return hex.EncodeToString(sum[:20])
}

// protocolText is a protocol version without leading zeros.
func protocolText(v fdb.Version) string {
	p, ok := v.Protocol()
	if !ok {
		return fmt.Sprintf("fdb00b0%d%d000000", v.Major, v.Minor)
	}
	return fmt.Sprintf("%x", uint64(p))
}

// locate asks the coordinators for the database, following them to a new
// connection string. Nil when there is none to talk to.
func (c *cli) locate() *database {
	found := c.w.find(c.conn, c.version)
	if found.conn.String() != c.conn.String() {
		c.conn = found.conn
		if c.tool.Files.Writable(c.opts.clusterFile) {
			c.rewriteClusterFile()
		}
	}
	if found.db != nil {
		found.db.clients.seen(c)
	}
	return found.db
}

// rewriteClusterFile stores the connection string in use. The tool goes on with
// it in memory when that fails.
func (c *cli) rewriteClusterFile() {
	if err := c.tool.Files.WriteFile(c.opts.clusterFile, []byte(clusterFileText(c.conn))); err != nil {
		return
	}
}

func (c *cli) environment(name string) (string, bool) {
	v, ok := maps.Clone(c.tool.Env)[name]
	return v, ok
}
