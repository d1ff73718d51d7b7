package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/console"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/texts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// cli is one run of fdbcli. Its commands run with the [Simulation]'s lock held,
// except while they wait and while what they printed is delivered.
type cli struct {
	w       *model.Simulation
	ctx     context.Context //nolint:containedctx // it is the life of the simulated process
	tool    Tool
	version fdb.Version
	opts    cliOptions
	out     *console.Stdout
	err     *console.Stderr
	in      *console.Lines

	conn      fdb.ConnectionString
	limit     time.Time // of --timeout; zero for none
	slow      slowCommand
	writeMode bool
	options   model.TransactionOptions
	enabled   []string        // names of options, as they were given
	unfit     map[string]bool // whether the value of an option is out of range
	txn       *model.Transaction
	targets   []string // addresses that the last kill, suspend, … listed
	quiet     bool     // the running command is status
	// dropping is whether the running command takes effect and is then cut off.
	dropping bool
	port     int // of the client, once the cluster has seen it
}

// Ends of a command other than success. A [model.ClientError] is the third.
var (
	// errFailed means that the command printed its error itself.
	errFailed = errors.New("command failed")
	// errExit ends the session.
	errExit = errors.New("exit")
)

// endError ends the whole process with an exit code.
type endError struct{ code int }

func (e endError) Error() string { return fmt.Sprintf("process ends with code %d", e.code) }

// runCLI is fdbcli's main.
func runCLI(ctx context.Context, w *model.Simulation, t Tool) int {
	version, err := fdb.ParseVersion(t.Version)
	if err != nil {
		fmt.Fprintf(t.Stderr, "ERROR: %v\n", err)
		return exitFailed
	}
	c := &cli{
		w: w, ctx: ctx, tool: t, version: version, unfit: map[string]bool{},
		out: console.NewStdout(t.Stdout, console.Blockwise), err: console.NewStderr(t.Stderr), in: console.NewLines(t.Stdin),
	}
	w.Lock()
	code := c.main()
	w.Unlock()
	if ctx.Err() != nil && code == model.ExitKilled {
		return model.ExitKilled
	}
	c.finish()
	return code
}

// finish delivers what is left. A closed reader does not concern a process
// that ends.
func (c *cli) finish() {
	if err := c.err.Deliver(); err != nil {
		return
	}
	if err := c.out.Flush(); err != nil {
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
		c.limit = c.w.Now.Add(c.opts.timeout)
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

// usageOf refuses a command that is called in another way than its help has it.
func (c *cli) usageOf(command string) error {
	text, _ := texts.CommandUsage(command)
	return c.usage(text)
}

// unlocked runs f without the [Simulation]'s lock.
func (c *cli) unlocked(f func()) {
	c.w.Unlock()
	defer c.w.Lock()
	f()
}

// deliver hands over what was printed so far, as far as a pipe would get it.
func (c *cli) deliver() {
	c.unlocked(func() {
		if err := c.err.Deliver(); err != nil {
			return
		}
		if err := c.out.Deliver(); err != nil {
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
		program, v.Major, v.Minor, version, model.SourceVersion(version), model.ProtocolText(v))
}

// locate asks the coordinators for the database, following them to a new
// connection string. Nil when there is none to talk to.
func (c *cli) locate() *model.Database {
	found := c.w.Find(c.conn, c.version)
	if found.Conn.String() != c.conn.String() {
		c.conn = found.Conn
		if c.tool.Files.Writable(c.opts.clusterFile) {
			c.rewriteClusterFile()
		}
	}
	if found.Db != nil {
		c.introduce(found.Db)
	}
	return found.Db
}

// introduce has the database know this client.
func (c *cli) introduce(db *model.Database) {
	if c.port == 0 {
		c.port = c.w.NewClientPort()
	}
	db.Clients.Seen(model.Client{Host: cmp.Or(c.tool.Host, "127.0.0.1"), Port: c.port, Version: c.tool.Version, At: c.w.Now})
}

// rewriteClusterFile stores the connection string in use. The tool goes on with
// it in memory when that fails.
func (c *cli) rewriteClusterFile() {
	if err := c.tool.Files.WriteFile(c.opts.clusterFile, []byte(model.ClusterFileText(c.conn))); err != nil {
		return
	}
}

func (c *cli) environment(name string) (string, bool) {
	v, ok := maps.Clone(c.tool.Env)[name]
	return v, ok
}
