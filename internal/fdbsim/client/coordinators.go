package client

import (
	"cmp"
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

// Coordination is what coordinators are to be.
type Coordination struct {
	// Auto has the client choose them; else they are those at Addresses, or stay.
	Auto      bool
	Addresses []fdb.Address
	// Description is the new description of the cluster, where Described is true.
	Description string
	Described   bool
}

// The refusals of coordinators.
const (
	ErrUnreachableCoordinator RefusedError = "One of the specified coordinators is unreachable"
	errBadDescription         RefusedError = "Cluster description must match [A-Za-z0-9_]+"
)

var descriptionFits = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// Coordinated waits until the coordinators of the database can be changed.
func (c *Client) Coordinated() (*model.Database, error) {
	return c.Database(func(db *model.Database) bool { return db.Writable() && !db.IsLocked() })
}

// ChangeCoordinators changes the coordinators, and reports whether they were others before.
func (c *Client) ChangeCoordinators(to Coordination) (changed bool, err error) {
	db, err := c.Coordinated()
	if err != nil {
		return false, err
	}
	return c.MoveCoordinators(db, to)
}

// MoveCoordinators does the same in a database that was reached before.
func (c *Client) MoveCoordinators(db *model.Database, to Coordination) (changed bool, err error) {
	if to.Described && !descriptionFits.MatchString(to.Description) {
		return false, errBadDescription
	}
	next := to.next(db)
	if next.Description == db.Connection.Description && next.SameCoordinators(db.Connection.Coordinators) {
		return false, nil
	}
	if err := c.reachCoordinators(next.Coordinators); err != nil {
		return false, err
	}
	took := coordinatorChange
	if slices.ContainsFunc(db.Connection.Coordinators, c.absent) {
		took = slowCoordinatorChange
	}
	if err := c.Pause(took); err != nil {
		return false, err
	}
	next.ID = c.Simulation.Letters(32, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
	db.MoveCoordination(next)
	if err := c.ended(); err != nil {
		return true, err
	}
	c.Locate()
	return true, nil
}

// next is the connection string of a database after a change, but for its ID.
func (to Coordination) next(db *model.Database) fdb.ConnectionString {
	next := db.Connection
	if to.Described {
		next.Description = to.Description
	}
	switch {
	case to.Auto:
		next.Coordinators = db.AutoCoordinators()
	case len(to.Addresses) > 0:
		next.Coordinators = to.Addresses
	}
	next.Coordinators = SortedCoordinators(next.Coordinators)
	return next
}

// absent reports whether no coordinator answers at an address.
func (c *Client) absent(a fdb.Address) bool { return c.Simulation.CoordinatorAt(a) == nil }

// reachCoordinators refuses coordinators that do not answer.
func (c *Client) reachCoordinators(addresses []fdb.Address) error {
	for _, a := range addresses {
		if len(c.Simulation.Lookup(a.Host)) == 0 {
			return ErrUnreachableCoordinator
		}
	}
	if !slices.ContainsFunc(addresses, c.absent) {
		return nil
	}
	if err := c.Pause(unreachableAfter); err != nil {
		return err
	}
	return ErrUnreachableCoordinator
}

// SortedCoordinators are IP addresses in numeric order, then host names.
func SortedCoordinators(addresses []fdb.Address) []fdb.Address {
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
