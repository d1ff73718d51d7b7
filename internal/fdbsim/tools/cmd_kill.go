package tools

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/status"
)

const (
	// listTimeout is how long the list of workers waits for one that does not
	// answer.
	listTimeout = 10 * time.Second
	// unnoticed is for how long a connection to a dead process looks alive.
	unnoticed = 700 * time.Millisecond
	// killFlush is how long a kill of some processes waits for its requests to
	// go out.
	killFlush = 3 * time.Second
)

// rebooting is what kill, suspend and expensive_data_check have in common.
type rebooting struct {
	verb, past string // "kill", "kill" or "suspend"
	flush      time.Duration
	end        func(w *model.Simulation, s *model.Process)
}

func killCommand(args []string, c *cli) error {
	return c.reboot(args, rebooting{verb: "kill", past: "kill", flush: killFlush, end: func(w *model.Simulation, s *model.Process) { w.EndProcess(s, exitOK) }})
}

func (c *cli) kill(args []string) error { return killCommand(args, c) }

func (c *cli) expensiveCheck(args []string) error {
	return c.reboot(args, rebooting{
		verb: "expensive_data_check", past: "kill and check", end: func(w *model.Simulation, s *model.Process) { w.EndProcess(s, exitOK) },
	})
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
	return c.reboot(args[1:], rebooting{verb: "suspend", past: "suspend", end: func(w *model.Simulation, s *model.Process) {
		s.Frozen = true
		w.MembershipChanged(s)
		w.After(time.Duration(seconds*float64(time.Second)), func() { w.EndProcess(s, exitOK) })
	}})
}

func (c *cli) reboot(args []string, r rebooting) error {
	switch {
	case len(args) == 0:
		return c.listWorkers(rebootable(r.verb))
	case args[0] == "list":
		c.listAddresses(c.targets, rebootable(r.verb))
		return nil
	case args[0] == "all":
		if len(c.targets) == 0 {
			return c.refuse("no processes to %s. You must run the `%s’ command before running `%s all’.", r.verb, r.verb, r.verb)
		}
		r.flush = 0
		args = c.targets
	}
	for _, a := range args {
		if !slices.Contains(c.targets, a) {
			return c.refuse("process `%s' not recognized.", a)
		}
	}
	return c.rebootAll(args, r)
}

// rebootAll reaches every process first; one that cannot be reached saves all of
// them.
func (c *cli) rebootAll(addresses []string, r rebooting) error {
	sent, err := c.sendReboot(addresses, r.end)
	if err != nil {
		return err
	}
	if !sent {
		return c.refuse("failed to send requests to %s processes `%s', please run the `%s’ command again to fetch latest addresses.",
			r.verb, strings.Join(addresses, ","), r.verb)
	}
	if c.dropping {
		return endError{model.ExitKilled}
	}
	if err := c.pause(r.flush); err != nil {
		return err
	}
	c.printf("Attempted to %s %d processes\n", r.past, len(addresses))
	return nil
}

// sendReboot ends the processes at all addresses, or none if one of them cannot be
// reached.
func (c *cli) sendReboot(addresses []string, end func(*model.Simulation, *model.Process)) (sent bool, err error) {
	db, err := c.database(func(db *model.Database) bool { return db.Roles.Controller.Taken() })
	if err != nil {
		return false, err
	}
	var servers []*model.Process
	lost := false
	for _, a := range addresses {
		s := db.Member(a)
		if s == nil {
			lost = true
			continue
		}
		if !slices.Contains(servers, s) {
			servers = append(servers, s)
		}
	}
	if lost {
		return false, c.pause(listTimeout)
	}
	for _, s := range servers {
		end(c.w, s)
	}
	c.w.Wake()
	return true, nil
}

// listWorkers prints, and remembers, which processes can be addressed.
func (c *cli) listWorkers(what listed) error {
	db, err := c.database(func(db *model.Database) bool { return db.Roles.Controller.Taken() })
	if err != nil {
		return err
	}
	c.targets = db.WorkerAddresses()
	if removed := status.Unreachable(db); len(removed) > 0 {
		if db.Simulation.Now.Sub(db.LastDeath) < unnoticed {
			c.targets = slices.Sorted(slices.Values(append(c.targets, removed...)))
		} else if err := c.pause(listTimeout); err != nil {
			return err
		}
	}
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
