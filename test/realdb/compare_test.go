package realdb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// facts are what one side reports of a database, by name.
type facts map[string]string

// facts are those of the real fdbcli.
func (d document) facts() facts {
	reachable := 0
	for _, c := range d.Client.Coordinators.Coordinators {
		if c.Reachable {
			reachable++
		}
	}
	return facts{
		"available":       strconv.FormatBool(d.Client.DatabaseStatus.Available),
		"quorum":          strconv.FormatBool(d.Client.Coordinators.QuorumReachable),
		"coordinators":    fmt.Sprintf("%d of %d", reachable, len(d.Client.Coordinators.Coordinators)),
		"recovery":        d.Cluster.RecoveryState.Name,
		"processes":       strconv.Itoa(len(d.Cluster.Processes)),
		"data":            d.Cluster.Data.State.Name,
		"replicas":        optional(d.Cluster.Data.State.MinReplicasRemaining),
		"maintenanceZone": d.Cluster.MaintenanceZone,
		"redundancy":      d.Cluster.Configuration.RedundancyMode,
	}
}

func optional(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// claim is what `kubectl fdb status -o json` reports.
type claim struct {
	State    string
	Database struct {
		Available         *bool
		RecoveryState     string
		DataState         string
		Replicas          *int
		ProcessesReported *int
		MaintenanceZone   string
	}
	Coordinators struct {
		Reachable       *int
		QuorumReachable *bool
		Items           []struct{ Address string }
	}
	Configuration struct {
		Live *struct {
			RedundancyMode string `json:"redundancy_mode"`
		}
	}
}

func (c claim) facts() facts {
	f := facts{
		"available":       flag(c.Database.Available),
		"quorum":          flag(c.Coordinators.QuorumReachable),
		"coordinators":    fmt.Sprintf("%s of %d", optional(c.Coordinators.Reachable), len(c.Coordinators.Items)),
		"recovery":        c.Database.RecoveryState,
		"processes":       optional(c.Database.ProcessesReported),
		"data":            c.Database.DataState,
		"replicas":        optional(c.Database.Replicas),
		"maintenanceZone": c.Database.MaintenanceZone,
	}
	if c.Configuration.Live != nil {
		f["redundancy"] = c.Configuration.Live.RedundancyMode
	}
	return f
}

func flag(b *bool) string {
	if b == nil {
		return "unknown"
	}
	return strconv.FormatBool(*b)
}

func (c *cluster) claims(t *test) claim {
	t.Helper()
	r := c.fdb(t, "status", "-o", "json")
	if r.code != 0 && r.code != 1 {
		t.Fatalf("status: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	return decode[claim](t, r.stdout)
}

// attempts bounds how often a changing database is compared.
const attempts = 6

// agrees compares `kubectl fdb status` with the real status, read before and after it. A fact
// that was the same before and after has to be the plugin's, too; a difference counts when it
// shows twice in a row, because a value can change and change back in between. The test fails
// as well if a fact never stood still, because then nothing was compared.
func (c *cluster) agrees(t *test) {
	t.Helper()
	open := c.status(t).facts()
	differed := facts{}
	for range attempts {
		before := c.status(t).facts()
		claimed := c.claims(t).facts()
		after := c.status(t).facts()
		for name := range open {
			if before[name] != after[name] {
				continue
			}
			difference := fmt.Sprintf("status reports %s %q, fdbcli %q", name, claimed[name], after[name])
			switch {
			case claimed[name] == after[name]:
				delete(open, name)
			case differed[name] == difference:
				t.Error(difference)
				delete(open, name)
			default:
				differed[name] = difference
			}
		}
		if len(open) == 0 {
			return
		}
	}
	for name := range open {
		t.Errorf("%s was never the same before and after: not compared", name)
	}
}

// groupsAgree compares the addresses, the number of processes, the class and which are coordinators and excluded
// of `get process-groups` with the processes of the real status.
func (c *cluster) groupsAgree(t *test) {
	t.Helper()
	eventually(t, time.Minute, func() string {
		groups, actual := c.groups(t), c.status(t)
		var wrong []string
		for _, g := range groups {
			processes := actual.of(g.ID)
			if optional(g.Processes) != strconv.Itoa(len(processes)) {
				wrong = append(wrong, fmt.Sprintf("%s: %s processes reported, fdbcli has %d", g.ID, optional(g.Processes), len(processes)))
			}
			if coordinates := slices.ContainsFunc(processes, actual.coordinates); len(processes) > 0 && flag(g.Coordinator) != strconv.FormatBool(coordinates) {
				wrong = append(wrong, fmt.Sprintf("%s: coordinator %s, fdbcli has %t", g.ID, flag(g.Coordinator), coordinates))
			}
			for _, p := range processes {
				if host, _, _ := strings.Cut(p.Address, ":"); !slices.ContainsFunc(g.Addresses, func(a string) bool { return strings.Contains(a, host) }) {
					wrong = append(wrong, fmt.Sprintf("%s: addresses %v, fdbcli has %s", g.ID, g.Addresses, p.Address))
				}
				if p.ClassType != g.Class {
					wrong = append(wrong, fmt.Sprintf("%s: class %s, fdbcli has %s", g.ID, g.Class, p.ClassType))
				}
				if excluded := g.Exclusion != "none"; excluded != p.Excluded {
					wrong = append(wrong, fmt.Sprintf("%s: exclusion %q, fdbcli has %t", g.ID, g.Exclusion, p.Excluded))
				}
			}
		}
		return strings.Join(wrong, "; ")
	})
}

// drained is the state of one process of `exclusion status`.
type drained struct {
	ID, State, Reason string
}

// exclusions are what `exclusion status` reports, also when the rest is unknown, as during a recovery.
func (c *cluster) exclusions(t *test) []drained {
	t.Helper()
	r := c.fdb(t, "exclusion status", "-o", "json")
	if r.code != 0 && r.code != 1 && r.code != 8 {
		t.Fatalf("exclusion status: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	return decode[struct{ Items []drained }](t, r.stdout).Items
}

// provenByTheDatabase fails the test if a process that the plugin calls safe to remove has
// data or a role of the log or storage in the real status, or is not excluded there. It returns
// the process groups that are called safe.
func (c *cluster) provenByTheDatabase(t *test) (safe []string) {
	t.Helper()
	states := c.exclusions(t)
	excluded, actual := c.fdbcli(t, "exclude"), c.status(t)
	for _, s := range states {
		if s.State != "safe" {
			continue
		}
		safe = append(safe, s.ID)
		if !strings.Contains(excluded, "locality_instance_id:"+s.ID) {
			t.Errorf("%s is called safe, and not excluded:\n%s", s.ID, excluded)
		}
		for _, p := range actual.of(s.ID) {
			for _, role := range p.Roles {
				if role.Role == "log" || role.Role == "storage" {
					t.Errorf("%s is called safe, and still has the role %s at %s", s.ID, role.Role, p.Address)
				}
			}
		}
	}
	return safe
}

// settled fails the test unless the plugin reports that nothing is left to do, the database
// confirms it, and all markers have their values.
func (c *cluster) settled(t *test) {
	t.Helper()
	c.must(t, "wait", "--for=healthy,reconciled", "--timeout", "5m")
	c.agrees(t)
	c.groupsAgree(t)
	// After each recovery the database is available before its recovery has fully ended and
	// data distribution has started; status calls it healthy meanwhile.
	if actual := c.status(t); !actual.Client.DatabaseStatus.Available {
		t.Errorf("wait ended, and fdbcli has: %v", actual.facts())
	}
	eventually(t, 2*time.Minute, func() string {
		if actual := c.status(t); !actual.whole() {
			return fmt.Sprintf("wait ended, and fdbcli has: %v", actual.facts())
		}
		return ""
	})
	// For a minute after a recovery the list of processes proves nothing, and what has to be removed waits.
	eventually(t, 2*time.Minute, func() string {
		if r := c.fdb(t, "plan"); r.code != 0 {
			return fmt.Sprintf("plan ends with %d:\n%s%s", r.code, r.stdout, r.stderr)
		}
		return ""
	})
	c.verify(t)
}

// whole reports whether the database is available and recovered, and its data healthy.
func (d document) whole() bool {
	return d.Client.DatabaseStatus.Available && d.Cluster.RecoveryState.Name == "fully_recovered" && d.Cluster.Data.State.Healthy
}
