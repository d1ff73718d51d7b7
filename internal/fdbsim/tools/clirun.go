package tools

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/status"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/syntax"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/texts"
)

const (
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
func (s slowCommand) next() time.Time {
	if !s.warnAt.IsZero() {
		return s.warnAt
	}
	return s.answerAt
}

// Waits implements client.Attendant.
func (c *cli) Waits() { c.deliver() }

// Due implements client.Attendant.
func (c *cli) Due() time.Time { return c.slow.next() }

// Remark implements client.Attendant.
func (c *cli) Remark() { c.saySlow() }

func (c *cli) saySlow() {
	if !c.slow.warnAt.IsZero() {
		c.slow.warnAt = time.Time{}
		c.errorf("\nWARNING: Long delay (Ctrl-C to interrupt)")
		if !c.quiet {
			c.slow.answer, _ = status.Minimal(c.statusDocument())
			c.slow.answerAt = c.Simulation.Now.Add(c.statusDelay())
		}
		return
	}
	c.slow.answerAt = time.Time{}
	c.printf("\n%s\n\n", c.slow.answer)
}

// runLine runs the commands of a line. The first that fails ends it.
func (c *cli) runLine(line string) error {
	parsed := syntax.ParseLine(line)
	if parsed.Flaw != "" {
		c.printf("ERROR: %s\n", parsed.Flaw)
		c.errorf("ERROR: Command failed to completely parse.")
	}
	last := len(parsed.Commands) - 1
	c.slow = slowCommand{warnAt: c.Simulation.Now.Add(slowAfter(parsed))}
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
	err := c.Begin(effectOf(words[0]))
	if err == nil {
		err = command(c, words[1:])
	}
	if refused, is := errors.AsType[client.RefusedError](err); is {
		return c.refuse("%s", refused)
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

// changing are the commands that [Faults.DropCommands] counts.
var changing = model.Set("configure", "exclude", "include", "coordinators", "kill", "maintenance", "commit", "set", "clear", "clearrange")

func effectOf(command string) client.Effect {
	if changing[command] {
		return client.Changes
	}
	return client.Reads
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
