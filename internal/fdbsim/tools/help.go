package tools

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/syntax"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/texts"
)

// help prints a topic. The list of options is long enough to push everything
// printed before it through the pipe.
func (c *cli) help(args []string) error {
	topic := texts.Overview
	switch {
	case len(args) > 1:
		c.print("Usage: help [topic]\n")
		return nil
	case len(args) == 1 && args[0] != "help":
		topic = args[0]
	}
	text, ok := texts.Help(topic)
	if !ok {
		c.printf("I don't know anything about `%s'\n", syntax.Printable(topic))
		return nil
	}
	c.print(text)
	return nil
}

// answer runs a command about something that the model lacks, if what fdbcli prints about it on a
// database that does not use that is known.
func (c *cli) answer(line string) error {
	a, ok := texts.AnswerTo(line)
	if !ok {
		return c.refuse("`%s' is not part of the simulated fdbcli", line)
	}
	if a.Asks {
		if _, err := c.reach((*model.Database).Readable); err != nil {
			return err
		}
	}
	c.print(a.Stdout)
	fmt.Fprint(c.err, a.Stderr)
	if a.Exit != exitOK {
		return errFailed
	}
	return nil
}
