package safety

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Coordinators is the assessment of the current coordinators.
type Coordinators struct {
	// Problems are clauses, one per problem; empty when the coordinators match the spec.
	Problems []string
	// Missing are the coordinators that do not report as a process: they must be replaced
	// soon, but a process that just restarted looks the same. See StaysAway.
	Missing []fdb.Address
	// Undecidable is why they cannot be assessed: while listeners change, some processes do
	// not have an address with the desired TLS setting yet. Empty when they can.
	Undecidable string
	// Tolerance is what may be lost now; coordinators with a problem of their own count as
	// lost.
	Tolerance CoordinatorTolerance
}

// Valid reports whether the coordinators can stay.
func (c Coordinators) Valid() bool { return len(c.Problems) == 0 }

// CoordinatorsKnown checks whether the status document reports any coordinators. A database has at
// least one, so that none are to be replaced because a document lacks them.
func CoordinatorsKnown(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckCoordinatorsKnown, Question: "does the status document report the coordinators?", Gate: plan.GateCoord}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	n := len(d.Status.Coordinators())
	c.OK, c.Evidence = n > 0, phrase.Count(n, "coordinator")
	if !c.OK {
		c.Evidence = unreportedCoordinators
	}
	return c
}

// JudgeCoordinators compares the coordinators with the spec: the desired number, each in a
// fault domain of its own, all alive, none excluded, of an eligible class, and named in the
// cluster file as the spec requires. The process groups in away must not be coordinators for
// another reason.
func JudgeCoordinators(s plan.Snapshot, away ...v1beta2.ProcessGroupID) Coordinators {
	current := s.Database.Status.Coordinators()
	listening := s.Database.Status.ProcessesThat(func(p fdb.Process) bool { return listensAt(p, current...) })
	j := judge{s: s, away: away, processes: listening, zones: map[string]bool{}, byField: map[string]map[string]int{}}
	for _, address := range current {
		j.add(address)
	}
	if want := s.Cluster.DesiredCoordinators(); len(current) != want {
		j.problem("%s, %d desired", phrase.Count(len(current), "coordinator"), want)
	}
	if len(j.verdict.Problems) == 0 && len(j.zones) != len(current) {
		j.problem("%s in %s", phrase.Count(len(current), "coordinator"), phrase.Count(len(j.zones), "fault domain"))
	}
	for field, most := range CoordinatorLimits(s.Cluster) {
		for value, n := range j.byField[field] {
			if n > most {
				j.problem("%s with %s %q, at most %d allowed", phrase.Count(n, "coordinator"), field, value, most)
			}
		}
	}
	slices.Sort(j.verdict.Problems)
	j.verdict.Tolerance = ToleranceOfCoordinators(s.Cluster, len(current), j.sound)
	return j.verdict
}

type judge struct {
	s         plan.Snapshot
	away      []v1beta2.ProcessGroupID
	processes []fdb.Process
	zones     map[string]bool
	byField   map[string]map[string]int
	// sound are the localities of the coordinators without a problem of their own.
	sound   []map[string]string
	verdict Coordinators
}

func (j *judge) problem(format string, args ...any) {
	j.verdict.Problems = append(j.verdict.Problems, fmt.Sprintf(format, args...))
}

func (j *judge) add(address fdb.Address) {
	before := len(j.verdict.Problems)
	p, found := processAt(j.processes, address)
	switch {
	case !found:
		j.verdict.Missing = append(j.verdict.Missing, address)
		j.problem("coordinator %s does not report", coordinatorName(j.s, address))
		return
	case p.IsExcluded():
		j.problem("coordinator %s is excluded", phrase.Or(p.InstanceID(), address.String()))
	case markedForRemoval(j.s, p.InstanceID()):
		j.problem("coordinator %s is marked for removal", phrase.Or(p.InstanceID(), address.String()))
	case slices.Contains(j.away, v1beta2.ProcessGroupID(p.InstanceID())):
		j.problem("coordinator %s must not be a coordinator", phrase.Or(p.InstanceID(), address.String()))
	}
	if _, eligible := j.s.Cluster.CoordinatorPriority(v1beta2.ProcessClass(p.ClassType)); !eligible {
		j.problem("coordinator %s has class %s, which is not eligible", address, p.ClassType)
	}
	j.checkAddress(address, p)
	if len(j.verdict.Problems) == before {
		j.sound = append(j.sound, p.Locality)
	}
	j.zones[p.Zone()] = true
	for _, field := range []string{fdb.LocalityDCID, fdb.LocalityDataHall} {
		if j.byField[field] == nil {
			j.byField[field] = map[string]int{}
		}
		j.byField[field][p.Locality[field]]++
	}
}

// coordinatorName returns the ID of the process group that has, or had, an address; the address of any other
// process, as of another control-plane instance. DNS names have more than 60 characters.
func coordinatorName(s plan.Snapshot, address fdb.Address) string {
	if g := groupAt(s, address); g != nil {
		return string(g.ProcessGroupID)
	}
	return address.String()
}

// checkAddress checks that the cluster file names the coordinator as the spec requires: by
// DNS name, and with TLS.
func (j *judge) checkAddress(address fdb.Address, p fdb.Process) {
	c := j.s.Cluster
	if address.TLS != c.Spec.MainContainer.EnableTLS {
		if _, err := CoordinatorAddress(c, p); err != nil {
			j.verdict.Undecidable = fmt.Sprintf("%s has no address with the desired TLS setting yet", p.InstanceID())
		}
		j.problem("coordinator %s does not have the desired TLS setting", address)
	}
	if named := namedByDNS(j.s, address); named != (c.UseDNSInClusterFile() && p.Locality[fdb.LocalityDNSName] != "") {
		j.problem("coordinator %s must be named %s", address, map[bool]string{true: "by IP address", false: "by DNS name"}[named])
	}
}

// namedByDNS reports whether the cluster file has a host name for the coordinator:
// the status document has the name itself, or the resolved IP address with from_hostname.
func namedByDNS(s plan.Snapshot, address fdb.Address) bool {
	if !address.IsIP() {
		return true
	}
	return slices.ContainsFunc(s.Database.Status.Client.Coordinators.Coordinators, func(c fdb.CoordinatorStatus) bool {
		return c.Address.HostPort() == address.HostPort() && c.Address.FromHostname
	})
}

// processAt finds the process that listens at a coordinator's address, by IP
// address or by DNS name.
func processAt(processes []fdb.Process, address fdb.Address) (fdb.Process, bool) {
	for _, p := range processes {
		if !p.Reporting() {
			continue
		}
		if listensAt(p, address) {
			return p, true
		}
	}
	return fdb.Process{}, false
}

// listensAt reports whether a process listens at any of the addresses.
func listensAt(p fdb.Process, addresses ...fdb.Address) bool {
	listeners, name := append([]fdb.Address{p.Address}, announced(p)...), p.Locality[fdb.LocalityDNSName]
	return slices.ContainsFunc(addresses, func(a fdb.Address) bool {
		named := a.Host == name && !a.IsIP()
		return slices.ContainsFunc(listeners, func(l fdb.Address) bool {
			return l.Port == a.Port && (named || (l.Host == a.Host && a.IsIP()))
		})
	})
}

// announced are the addresses that a process publishes on its command line; none where it
// publishes none that can be parsed.
func announced(p fdb.Process) []fdb.Address {
	addresses, err := fdb.PublicAddresses(p.CommandLine)
	if err != nil {
		return nil
	}
	return addresses
}

// CoordinatorAddress is how a cluster file must name a process: by its DNS name where the spec
// requires it and the process has one, with the desired TLS setting.
// It returns an error when the process has no listener with that setting.
func CoordinatorAddress(c *v1beta2.FoundationDBCluster, p fdb.Process) (fdb.Address, error) {
	for _, a := range announced(p) {
		if a.TLS != c.Spec.MainContainer.EnableTLS {
			continue
		}
		if name := p.Locality[fdb.LocalityDNSName]; name != "" && c.UseDNSInClusterFile() {
			a.Host = name
		}
		return a, nil
	}
	return fdb.Address{}, fmt.Errorf("process %s announces no address with TLS %t", p.InstanceID(), c.Spec.MainContainer.EnableTLS)
}

// CoordinatorLimits returns how many coordinators may share a value of a locality.
func CoordinatorLimits(c *v1beta2.FoundationDBCluster) map[string]int {
	limits := map[string]int{fdb.LocalityZoneID: 1}
	switch {
	case c.Spec.DatabaseConfiguration.UsableRegions > 1:
		if dcs := len(DataCenters(c)); dcs > 0 {
			limits[fdb.LocalityDCID] = (c.DesiredCoordinators() + dcs - 1) / dcs
		}
	case c.Spec.DatabaseConfiguration.RedundancyMode == v1beta2.RedundancyModeThreeDataHall:
		limits[fdb.LocalityDataHall] = 3
	}
	return limits
}

func markedForRemoval(s plan.Snapshot, id string) bool {
	return slices.ContainsFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
		return string(g.ProcessGroupID) == id && g.IsMarkedForRemoval()
	})
}

// DataCenters are the IDs of all data centers that the spec's regions name,
// satellites included.
func DataCenters(c *v1beta2.FoundationDBCluster) map[string]bool {
	ids := map[string]bool{}
	for _, region := range c.Spec.DatabaseConfiguration.Regions {
		for _, dc := range region.Datacenters {
			ids[dc.ID] = true
		}
	}
	return ids
}

// Coordinates reports whether a process group is a coordinator, alive or not: one of
// its processes has the role, or a coordinator's address or name is the group's. An
// address that another group's process reports from is not: the IPs of pods are used again.
func Coordinates(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	status := s.Database.Status
	if status == nil {
		return false
	}
	if slices.ContainsFunc(status.ProcessesOf(string(g.ProcessGroupID)), status.IsCoordinator) {
		return true
	}
	named := status.Coordinators()
	if c, err := fdb.ParseConnectionString(status.Cluster.ConnectionString); err == nil {
		named = append(named, c.Coordinators...)
	}
	return slices.ContainsFunc(named, func(a fdb.Address) bool {
		return (slices.Contains(g.Addresses, a.Host) && !isOthers(status, g, a.Host)) || a.Host == g.DNSName(s.Cluster)
	})
}

// isOthers reports whether a process with the ID of another group reports from an address.
func isOthers(status *fdb.Status, g *v1beta2.ProcessGroupStatus, host string) bool {
	others := status.ProcessesThat(func(p fdb.Process) bool {
		return p.Reporting() && p.Address.Host == host && p.InstanceID() != "" && p.InstanceID() != string(g.ProcessGroupID)
	})
	return len(others) > 0
}
