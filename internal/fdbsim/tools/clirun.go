package tools

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/status"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/syntax"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/texts"
)

const (
	// connectTimeout is how long fdbcli tries to reach the database before it
	// runs its first command anyway.
	connectTimeout = 3 * time.Second
	// longDelay is when a command counts as slow; longStatus is the same for
	// status.
	longDelay  = 5 * time.Second
	longStatus = 7 * time.Second
)

// slowCommand is what fdbcli prints by itself about a line of commands that
// takes long: first that it does, then what the database is like.
type slowCommand struct {
	warnAt, answerAt time.Time
	answer           string
}

// next is when to print something; zero for never.
func (s slowCommand) next() time.Time { return earliest(s.warnAt, s.answerAt) }

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

// startup is what a run of fdbcli takes at least.
const startup = 50 * time.Millisecond

// connect tries to reach the database.
func (c *cli) connect() error {
	if err := c.pause(startup); err != nil {
		return err
	}
	_, err := c.wait(c.w.Now.Add(connectTimeout), func() bool {
		db := c.locate()
		return db != nil && db.Available()
	})
	return err
}

// wait blocks the running command until cond holds or the clock reads until
// (zero: never), and reports whether cond held. It fails when the whole process
// has to end.
func (c *cli) wait(until time.Time, cond func() bool) (bool, error) {
	if cond != nil && cond() {
		return true, nil
	}
	for {
		c.deliver()
		if c.w.Wait(c.ctx, earliest(until, c.limit, c.slow.next()), cond) {
			return true, nil
		}
		now := c.w.Now
		switch {
		case c.ctx.Err() != nil:
			return false, endError{model.ExitKilled}
		case reached(c.limit, now):
			c.errorf("Specified timeout reached -- exiting...")
			return false, endError{exitFailed}
		case reached(c.slow.next(), now):
			c.saySlow()
		case reached(until, now):
			return false, nil
		}
	}
}

func reached(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// pause blocks the running command for d.
func (c *cli) pause(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	_, err := c.wait(c.w.Now.Add(d), nil)
	return err
}

func (c *cli) saySlow() {
	if reached(c.slow.warnAt, c.w.Now) {
		c.slow.warnAt = time.Time{}
		c.errorf("\nWARNING: Long delay (Ctrl-C to interrupt)")
		if !c.quiet {
			c.slow.answer, _ = status.Minimal(c.statusDocument())
			c.slow.answerAt = c.w.Now.Add(c.statusDelay())
		}
		return
	}
	c.slow.answerAt = time.Time{}
	c.printf("\n%s\n\n", c.slow.answer)
}

// database waits until the database is ready for the running command.
func (c *cli) database(ready func(*model.Database) bool) (*model.Database, error) {
	var db *model.Database
	_, err := c.wait(time.Time{}, func() bool {
		db = c.locate()
		return db != nil && ready(db)
	})
	return db, err
}

// runLine runs the commands of a line. The first that fails ends it.
func (c *cli) runLine(line string) error {
	parsed := syntax.ParseLine(line)
	if parsed.Flaw != "" {
		c.printf("ERROR: %s\n", parsed.Flaw)
		c.errorf("ERROR: Command failed to completely parse.")
	}
	last := len(parsed.Commands) - 1
	c.slow = slowCommand{warnAt: c.w.Now.Add(slowAfter(parsed))}
	defer func() { c.slow = slowCommand{} }()
	for i, words := range parsed.Commands {
		if i == last && parsed.Flaw != "" {
			return c.refusePartial(words)
		}
		if len(words) == 0 {
			continue
		}
		if last > 0 {
			c.echo(words)
		}
		err := c.runCommand(words)
		if errors.Is(err, errFailed) && i < last {
			c.print("WARNING: the previous command failed, the remaining commands will not be executed.\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// slowAfter is when a line counts as slow.
func slowAfter(parsed syntax.Line) time.Duration {
	if first := parsed.Commands[0]; len(parsed.Commands) == 1 && len(first) > 0 && first[0] == "status" {
		return longStatus
	}
	return longDelay
}

func (c *cli) refusePartial(words []string) error {
	fmt.Fprint(c.err, "ERROR: Not running partial or malformed command:")
	for _, word := range words {
		c.printf(" %s", syntax.Printable(word))
	}
	c.print("\n")
	return errFailed
}

func (c *cli) echo(words []string) {
	escaped := make([]string, len(words))
	for i, word := range words {
		escaped[i] = syntax.Echoed(word)
	}
	c.printf(">>> %s\n", strings.Join(escaped, " "))
}

// runCommand runs one command and returns what it threw.
func (c *cli) runCommand(words []string) error {
	command, known := commands[words[0]]
	if !known {
		return c.unlisted(words)
	}
	c.quiet = words[0] == "status"
	err := c.faultDelay(words[0])
	if err == nil {
		err = command(c, words[1:])
	}
	thrown, ok := model.AsClientError(err)
	if !ok {
		return err
	}
	c.errorf("ERROR: %s", thrown)
	if c.txn != nil {
		c.print("Rolling back current transaction\n")
		c.txn = nil
	}
	return thrown
}

// unlisted runs a command that the model does not have.
func (c *cli) unlisted(words []string) error {
	if _, documented := texts.CommandUsage(words[0]); !documented && !undocumented[words[0]] {
		return c.refuse("Unknown command `%s'. Try `help'?", syntax.Printable(words[0]))
	}
	return c.answer(strings.Join(words, " "))
}

// undocumented are commands of fdbcli without help that the model does not have.
var undocumented = model.Set("createtenant", "deletetenant", "listtenants", "gettenant", "configuretenant", "renametenant",
	"clearknob", "getlocation", "getall", "checkall", "blobrange", "blobkey", "blobrestore", "changefeed", "snapshot")

// faultDelay applies the faults that hold for every command.
func (c *cli) faultDelay(name string) error {
	db := c.locate()
	if db == nil {
		return nil
	}
	if err := c.pause(db.Faults.Delay); err != nil {
		return err
	}
	if changing[name] && db.Faults.TakeDrop() {
		return c.dropped(db)
	}
	return nil
}

// changing are the commands that [Faults.DropCommands] counts.
var changing = model.Set("configure", "exclude", "include", "coordinators", "kill", "maintenance", "commit", "set", "clear", "clearrange")

// dropped ends the process without a word, with or without the command's
// effect.
func (c *cli) dropped(db *model.Database) error {
	if db.Faults.ApplyUnknown {
		c.dropping = true
		return nil
	}
	return endError{model.ExitKilled}
}

type commandFunc func(c *cli, args []string) error

// commands are fdbcli's commands by name.
var commands map[string]commandFunc

func asCommands(groups ...map[string]commandFunc) map[string]commandFunc {
	all := map[string]commandFunc{}
	for _, g := range groups {
		maps.Copy(all, g)
	}
	return all
}
