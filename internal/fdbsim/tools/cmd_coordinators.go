package tools

import (
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// coordinators shows the coordinators, or changes them.
func (c *cli) coordinators(args []string) error {
	if len(args) == 0 {
		return c.listCoordinators()
	}
	r, ok := c.parseCoordinators(args)
	if !ok {
		return nil // as recorded: exit code 0
	}
	db, err := c.Coordinated()
	if err != nil {
		return err
	}
	if len(r.Addresses) == 0 && !r.Auto && r.Description == "" {
		c.errorf("Assertion false failed @ fdbcli/CoordinatorsCommand.actor.cpp 154:\n  addr2line -e fdbcli.debug -p -C -f -i 0x0")
		return model.ClientError{Text: "An internal error occurred", Code: 4100} // a commit of nothing succeeds
	}
	changed, err := c.MoveCoordinators(db, r)
	switch {
	case err != nil:
		return err
	case changed:
		c.print("Coordination state changed\n")
	default:
		c.print(sameCoordinators + "\n")
	}
	return nil
}

// sameCoordinators is the answer to a change that changes nothing.
const sameCoordinators = "No change (existing configuration satisfies request)"

func (c *cli) listCoordinators() error {
	c.Locate()
	texts := make([]string, len(c.Conn.Coordinators))
	for i, a := range c.Conn.Coordinators {
		texts[i] = a.Coordinator()
	}
	slices.Sort(texts)
	c.printf("Cluster description: %s\nCluster coordinators (%d): %s\nType `help coordinators' to learn how to change this information.\n",
		c.Conn.Description, len(texts), strings.Join(texts, ","))
	return nil
}

func (c *cli) parseCoordinators(args []string) (client.Coordination, bool) {
	var r client.Coordination
	desired := slices.DeleteFunc(slices.Clone(args), func(word string) bool {
		d, describes := strings.CutPrefix(word, "description=")
		if describes {
			r.Description, r.Described = d, true
		}
		return describes || word == "--no-config-db"
	})
	if slices.Equal(desired, []string{"auto"}) { // beside others it is taken for an address
		r.Auto = true
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
		r.Addresses = append(r.Addresses, a)
	}
	return r, true
}

func coordinatorList(addresses []fdb.Address) string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = a.Coordinator()
	}
	return strings.Join(texts, ",")
}
