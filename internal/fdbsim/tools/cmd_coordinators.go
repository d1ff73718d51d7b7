package tools

import (
	"cmp"
	"errors"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

const (
	// unreachableAfter is how long new coordinators may take to answer.
	unreachableAfter = 5050 * time.Millisecond
	// coordinatorChange is how long a change takes; with a dead old
	// coordinator it takes slowCoordinatorChange.
	coordinatorChange     = 1200 * time.Millisecond
	slowCoordinatorChange = 5150 * time.Millisecond
)

// coordinatorsRequest is what the words of a coordinators command ask for.
type coordinatorsRequest struct {
	auto        bool
	addresses   []fdb.Address
	description string
	described   bool
}

var descriptionFits = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// coordinators shows the coordinators, or changes them.
func (c *cli) coordinators(args []string) error {
	if len(args) == 0 {
		return c.listCoordinators()
	}
	r, ok := c.parseCoordinators(args)
	if !ok {
		return nil // as recorded: exit code 0
	}
	db, err := c.database(func(db *model.Database) bool { return db.Writable() && !db.IsLocked() })
	if err != nil {
		return err
	}
	if len(r.addresses) == 0 && !r.auto && r.description == "" {
		c.errorf("Assertion false failed @ fdbcli/CoordinatorsCommand.actor.cpp 154:\n  addr2line -e fdbcli.debug -p -C -f -i 0x0")
		return model.ClientError{Text: "An internal error occurred", Code: 4100} // a commit of nothing succeeds
	}
	if r.described && !descriptionFits.MatchString(r.description) {
		return c.refuse("Cluster description must match [A-Za-z0-9_]+")
	}
	text, err := c.changeCoordinators(db, r)
	if refused, ok := errors.AsType[refusal](err); ok {
		return c.refuse("%s", refused)
	}
	if err != nil {
		return err
	}
	c.print(text + "\n")
	return nil
}

func (c *cli) listCoordinators() error {
	c.locate()
	texts := make([]string, len(c.conn.Coordinators))
	for i, a := range c.conn.Coordinators {
		texts[i] = a.Coordinator()
	}
	slices.Sort(texts)
	c.printf("Cluster description: %s\nCluster coordinators (%d): %s\nType `help coordinators' to learn how to change this information.\n",
		c.conn.Description, len(texts), strings.Join(texts, ","))
	return nil
}

func (c *cli) parseCoordinators(args []string) (coordinatorsRequest, bool) {
	var r coordinatorsRequest
	desired := slices.DeleteFunc(slices.Clone(args), func(word string) bool {
		d, describes := strings.CutPrefix(word, "description=")
		if describes {
			r.description, r.described = d, true
		}
		return describes || word == "--no-config-db"
	})
	if slices.Equal(desired, []string{"auto"}) { // beside others it is taken for an address
		r.auto = true
		return r, true
	}
	seen := map[string]bool{}
	for _, word := range desired {
		a, err := fdb.ParseAddress(word)
		if err != nil || a.FromHostname {
			c.errorf("ERROR: '%s' is not a valid network endpoint address", word)
			return r, false
		}
		if seen[a.HostPort()] {
			c.errorf("ERROR: passed redundant coordinators: `%s'", word)
			return r, false
		}
		seen[a.HostPort()] = true
		r.addresses = append(r.addresses, a)
	}
	return r, true
}

// changeCoordinators carries out the request and returns what to print about
// it.
func (c *cli) changeCoordinators(db *model.Database, r coordinatorsRequest) (string, error) {
	next := db.Connection
	if r.described {
		next.Description = r.description
	}
	switch {
	case r.auto:
		next.Coordinators = db.AutoCoordinators()
	case len(r.addresses) > 0:
		next.Coordinators = r.addresses
	}
	next.Coordinators = sortedCoordinators(next.Coordinators)
	if next.Description == db.Connection.Description && next.SameCoordinators(db.Connection.Coordinators) {
		return "No change (existing configuration satisfies request)", nil
	}
	if err := c.reachCoordinators(next.Coordinators); err != nil {
		return "", err
	}
	took := coordinatorChange
	if slices.ContainsFunc(db.Connection.Coordinators, func(a fdb.Address) bool { return c.w.CoordinatorAt(a) == nil }) {
		took = slowCoordinatorChange
	}
	if err := c.pause(took); err != nil {
		return "", err
	}
	next.ID = c.w.Letters(32, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
	db.MoveCoordination(next)
	if c.dropping {
		return "", endError{model.ExitKilled}
	}
	c.locate()
	return "Coordination state changed", nil
}

// refusal is why something was not done.
type refusal string

func (r refusal) Error() string { return string(r) }

const errUnreachableCoordinator refusal = "One of the specified coordinators is unreachable"

// reachCoordinators refuses coordinators that do not answer.
func (c *cli) reachCoordinators(addresses []fdb.Address) error {
	for _, a := range addresses {
		if len(c.w.Lookup(a.Host)) == 0 {
			return errUnreachableCoordinator
		}
	}
	if !slices.ContainsFunc(addresses, func(a fdb.Address) bool { return c.w.CoordinatorAt(a) == nil }) {
		return nil
	}
	if err := c.pause(unreachableAfter); err != nil {
		return err
	}
	return errUnreachableCoordinator
}

func coordinatorList(addresses []fdb.Address) string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = a.Coordinator()
	}
	return strings.Join(texts, ",")
}

// sortedCoordinators are IP addresses in numeric order, then host names.
func sortedCoordinators(addresses []fdb.Address) []fdb.Address {
	return slices.SortedFunc(slices.Values(addresses), func(a, b fdb.Address) int {
		ipA, errA := netip.ParseAddr(a.Host)
		ipB, errB := netip.ParseAddr(b.Host)
		switch {
		case errA == nil && errB == nil:
			return cmp.Or(ipA.Compare(ipB), cmp.Compare(a.Port, b.Port))
		case errA == nil:
			return -1
		case errB == nil:
			return 1
		default:
			return strings.Compare(a.HostPort(), b.HostPort())
		}
	})
}
