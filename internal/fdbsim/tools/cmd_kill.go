package tools

import (
	"strconv"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

func (c *cli) kill(args []string) error { return c.reboot(args, client.Kill(), "kill") }

func (c *cli) expensiveCheck(args []string) error {
	check := client.Kill()
	check.Verb, check.Flush = "expensive_data_check", 0
	return c.reboot(args, check, "kill and check")
}

// suspend makes processes sleep and then exit.
func (c *cli) suspend(args []string) error {
	if len(args) == 0 {
		return c.listWorkers(rebootable("suspend"))
	}
	seconds, err := strconv.ParseFloat(args[0], 64)
	if err != nil || len(args) < 2 {
		return c.usageOf("suspend")
	}
	return c.reboot(args[1:], client.Ending{Verb: "suspend", End: func(w *model.Simulation, s *model.Process) {
		s.Frozen = true
		w.MembershipChanged(s)
		w.After(time.Duration(seconds*float64(time.Second)), func() { w.EndProcess(s, exitOK) })
	}}, "suspend")
}

// reboot ends processes, and prints what was attempted.
func (c *cli) reboot(args []string, r client.Ending, attempted string) error {
	switch {
	case len(args) == 0:
		return c.listWorkers(rebootable(r.Verb))
	case args[0] == "list":
		c.listAddresses(c.targets, rebootable(r.Verb))
		return nil
	case args[0] == "all":
		if len(c.targets) == 0 {
			return c.refuse("no processes to %s. You must run the `%s’ command before running `%s all’.", r.Verb, r.Verb, r.Verb)
		}
		r.Flush = 0
		args = c.targets
	}
	if err := c.End(c.targets, args, r); err != nil {
		return err
	}
	c.printf("Attempted to %s %d processes\n", attempted, len(args))
	return nil
}

// listWorkers prints, and remembers, which processes can be addressed.
func (c *cli) listWorkers(what listed) error {
	workers, err := c.Workers()
	if err != nil {
		return err
	}
	c.targets = workers
	c.listAddresses(c.targets, what)
	return nil
}

// listed is what a list of addresses is about.
type listed struct{ none, one, many string }

// rebootable is the list of what a command ends.
func rebootable(verb string) listed {
	past := map[string]string{"kill": "killed", "expensive_data_check": "checked", "suspend": "suspended"}[verb]
	return listed{"No addresses can be " + past + ".", "address can be " + past, "addresses can be " + past}
}

// storageServers is the list of hotrange.
var storageServers = listed{"No storage servers can be queried.", "storage server can be queried", "storage servers can be queried"}

func (c *cli) listAddresses(addresses []string, what listed) {
	switch len(addresses) {
	case 0:
		c.printf("\n%s\n", what.none)
	case 1:
		c.printf("\nThe following %s:\n", what.one)
	default:
		c.printf("\nThe following %d %s:\n", len(addresses), what.many)
	}
	for _, a := range addresses {
		c.printf("%s\n", a)
	}
	c.print("\n")
}
