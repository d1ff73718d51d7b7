package client

import (
	"fmt"
	"slices"
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

// Workers are the addresses of the processes that can be ended, and of those that just died.
func (c *Client) Workers() ([]string, error) {
	db, err := c.Database(governed)
	if err != nil {
		return nil, err
	}
	workers := db.WorkerAddresses()
	if removed := status.Unreachable(db); len(removed) > 0 {
		if db.Simulation.Now.Sub(db.LastDeath) >= unnoticed {
			return workers, c.Pause(listTimeout)
		}
		workers = slices.Sorted(slices.Values(append(workers, removed...)))
	}
	return workers, nil
}

// Ending is a way to end processes.
type Ending struct {
	// Verb is what fdbcli calls it.
	Verb string
	// Flush is how long the requests have to go out.
	Flush time.Duration
	End   func(w *model.Simulation, s *model.Process)
}

// Kill has processes exit.
func Kill() Ending {
	return Ending{Verb: "kill", Flush: killFlush, End: func(w *model.Simulation, s *model.Process) { w.EndProcess(s, 0) }}
}

// End ends the processes at all addresses, which have to be among the known ones, or none of them.
func (c *Client) End(known, addresses []string, e Ending) error {
	for _, a := range addresses {
		if !slices.Contains(known, a) {
			return RefusedError(fmt.Sprintf("process `%s' not recognized.", a))
		}
	}
	sent, err := c.SendEnding(addresses, e)
	if err != nil {
		return err
	}
	if !sent {
		return RefusedError(fmt.Sprintf("failed to send requests to %s processes `%s', please run the `%s’ command again to fetch latest addresses.",
			e.Verb, strings.Join(addresses, ","), e.Verb))
	}
	if err := c.ended(); err != nil {
		return err
	}
	return c.Pause(e.Flush)
}

// SendEnding ends the processes at all addresses, or none if one of them cannot be
// reached.
func (c *Client) SendEnding(addresses []string, e Ending) (sent bool, err error) {
	db, err := c.Database(governed)
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
		return false, c.Pause(listTimeout)
	}
	for _, s := range servers {
		e.End(c.Simulation, s)
	}
	c.Simulation.Wake()
	return true, nil
}
