package plan

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Configure changes the database's configuration, or creates the database.
type Configure struct {
	// New is true for a database that was never configured.
	New           bool              `json:"new,omitempty"`
	Configuration fdb.Configuration `json:"configuration"`
	// Part is which part of the configuration is sent; by default all of it.
	Part fdb.Part `json:"part,omitempty"`
	// Command is the configure command as text for users.
	Command string `json:"command" fingerprint:"-"`
}

// Describe implements Action.
func (a Configure) Describe() string { return "run " + a.Command }

// Subject implements Action.
func (Configure) Subject() string { return "database" }

// A new database has no other control-plane instance yet, so only a change needs the lock.
func (a Configure) effect() Effect {
	return Effect{Stale: Database | Coordination, Locked: !a.New, Impact: Recovery}
}

// ChangeCoordinators moves the coordinators and stores the connection string
// that results. The two are one action: a status without the new connection
// string cannot find its database.
type ChangeCoordinators struct {
	Coordinators []fdb.Address `json:"coordinators"`
}

// Describe implements Action.
func (a ChangeCoordinators) Describe() string {
	words := make([]string, len(a.Coordinators))
	for i, c := range a.Coordinators {
		words[i] = c.String()
	}
	return fmt.Sprintf("change coordinators to %s and store the new connection string", strings.Join(words, " "))
}

// Hosts returns the hosts of the coordinators; of DNS names the first part, which is that of the pod.
func (a ChangeCoordinators) Hosts() []string {
	hosts := make([]string, len(a.Coordinators))
	for i, c := range a.Coordinators {
		hosts[i] = c.Host
		if !c.IsIP() {
			hosts[i], _, _ = strings.Cut(c.Host, ".")
		}
	}
	return hosts
}

// Subject implements Action.
func (ChangeCoordinators) Subject() string { return "coordinators" }

func (ChangeCoordinators) effect() Effect {
	return Effect{Stale: ClusterResource | Database | Coordination, Locked: true, Impact: Recovery}
}
