package tools

import (
	"errors"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/status"
)

// readLine reads a line without the [Simulation]'s lock. Time the process spends
// reading is not the model's.
func (c *cli) readLine() (line string, ok bool) {
	c.deliver()
	if c.txn == nil && c.tool.Waits != nil {
		defer c.tool.Waits()()
	}
	type answer struct {
		line string
		ok   bool
	}
	read := make(chan answer, 1) // an abandoned reader ends as well
	c.unlocked(func() {
		go func() {
			line, ok := c.in.Next()
			read <- answer{line, ok}
		}()
		select {
		case got := <-read:
			line, ok = got.line, got.ok
		case <-c.Context.Done():
		}
	})
	return line, ok
}

// session is fdbcli without --exec: it runs the lines of stdin, whatever fails,
// and ends with 0.
func (c *cli) session() int {
	c.printf("Using cluster file `%s'.\n", c.ClusterFile)
	if err := c.greet(); err != nil {
		return c.exitCode(err)
	}
	c.print("\nWelcome to the fdbcli. For help, type `help'.\n")
	for {
		line, ok := c.readLine()
		if c.Context.Err() != nil {
			return model.ExitKilled
		}
		if !ok {
			c.print("\n")
			return exitOK
		}
		err := c.runLine(line)
		var end endError
		if errors.Is(err, errExit) || errors.Is(err, client.ErrKilled) || errors.As(err, &end) {
			return c.exitCode(err)
		}
	}
}

// greet connects to the database and, unless turned off, prints its state.
func (c *cli) greet() error {
	if c.opts.noStatus {
		return nil
	}
	c.quiet = true
	c.slow = slowCommand{warnAt: c.Simulation.Now.Add(sessionTimeout)}
	if err := c.Connect(); err != nil {
		return err
	}
	if err := c.Pause(c.statusDelay()); err != nil {
		return err
	}
	c.slow = slowCommand{}
	text, _ := status.Minimal(c.statusDocument())
	c.printf("\n%s\n", text)
	return nil
}

// sessionTimeout is when the status at the start of a session is called slow.
const sessionTimeout = 40 * time.Second
