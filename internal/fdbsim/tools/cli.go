package tools

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/console"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/texts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// cli is one run of fdbcli. Its commands run with the [Simulation]'s lock held,
// except while they wait and while what they printed is delivered.
type cli struct {
	*client.Client
	tool Tool
	opts cliOptions
	out  *console.Stdout
	err  *console.Stderr
	in   *console.Lines

	slow      slowCommand
	writeMode bool
	options   model.TransactionOptions
	enabled   []string        // names of options, as they were given
	unfit     map[string]bool // whether the value of an option is out of range
	txn       *model.Transaction
	targets   []string // addresses that the last kill, suspend, … listed
	quiet     bool     // the running command is status
}

// newCLI prepares a run of a tool.
func newCLI(ctx context.Context, w *model.Simulation, t Tool, buffering console.Buffering) (*cli, error) {
	reader, err := client.New(ctx, w, client.Program{Version: t.Version, Host: t.Host, Files: t.Files})
	if err != nil {
		return nil, err
	}
	c := &cli{
		Client: reader, tool: t, unfit: map[string]bool{},
		out: console.NewStdout(t.Stdout, buffering), err: console.NewStderr(t.Stderr), in: console.NewLines(t.Stdin),
	}
	c.Attendant = c
	return c, nil
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
	c, err := newCLI(ctx, w, t, console.Blockwise)
	if err != nil {
		fmt.Fprintf(t.Stderr, "ERROR: %v\n", err)
		return exitFailed
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
		c.Limit = c.Simulation.Now.Add(c.opts.timeout)
	}
	if !c.opts.execGiven {
		return c.session()
	}
	err := c.Connect()
	if err == nil {
		err = c.runLine(c.opts.exec)
	}
	return c.exitCode(err)
}

// exitCode is the exit code of a program that ends with an error.
func (c *cli) exitCode(err error) int {
	var end endError
	switch {
	case err == nil || errors.Is(err, errExit):
		return exitOK
	case errors.Is(err, client.ErrKilled):
		return model.ExitKilled
	case errors.Is(err, client.ErrTimeLimit):
		c.errorf("Specified timeout reached -- exiting...")
		return exitFailed
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
	c.Simulation.Unlock()
	defer c.Simulation.Lock()
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

func (c *cli) environment(name string) (string, bool) {
	v, ok := maps.Clone(c.tool.Env)[name]
	return v, ok
}
