package tools

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/status"
)

// status shows the state of the cluster.
func (c *cli) status(args []string) error {
	level := "normal"
	if len(args) > 0 {
		level = args[0]
	}
	if len(args) > 1 || !slices.Contains([]string{"normal", "minimal", "details", "json"}, level) {
		return c.usageOf("status")
	}
	printed := c.printedStatus()
	document, delay := printed.Document(), printed.Delay()
	if err := c.Pause(delay); err != nil {
		return err
	}
	if c.StatusReader().Incompatible() {
		c.errorf("WARNING: One or more of the processes in the cluster is incompatible with this version of fdbcli.\n")
	}
	if !c.opts.execGiven { // a session sets it off by empty lines
		c.print("\n")
		defer c.print("\n")
	}
	switch level {
	case "json":
		c.print(status.Pretty(document))
	case "minimal":
		text, outdated := status.Minimal(document)
		c.print(text + "\n")
		if outdated {
			c.errorf("WARNING: The cluster file is not up to date. Type 'status' for more information.")
		}
	case "details":
		c.print(status.Details(document, c.ClusterFile, c.Simulation.Now))
	default:
		c.print(status.Text(document, c.ClusterFile, c.Simulation.Now))
	}
	return nil
}

// printedStatus is this run as one that prints a document.
func (c *cli) printedStatus() status.Client {
	c.Locate()
	reader := c.StatusReader()
	reader.Prints = true
	return reader
}

// statusDocument is the whole document of `status json`.
func (c *cli) statusDocument() status.Object { return c.printedStatus().Document() }

// statusDelay is how long a status takes now.
func (c *cli) statusDelay() time.Duration { return c.StatusReader().Delay() }
