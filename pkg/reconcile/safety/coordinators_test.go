package safety

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// coordinated is a double cluster of five log processes, the first three of which are
// its coordinators, named by IP address.
func coordinated(t *testing.T) plan.Snapshot {
	t.Helper()
	c := &v1beta2.FoundationDBCluster{Spec: v1beta2.FoundationDBClusterSpec{Version: "7.3.79"}}
	c.Spec.Routing.UseDNSInClusterFile = new(bool)
	status := &fdb.Status{}
	status.Cluster.Processes = map[string]fdb.Process{}
	for n := 1; n <= 5; n++ {
		address := fdb.Address{Host: fmt.Sprintf("10.0.0.%d", n), Port: 4501}
		id := fmt.Sprintf("log-%d", n)
		status.Cluster.Processes[id] = fdb.Process{
			ID: id, Address: address, ClassType: "log", Version: "7.3.79", CommandLine: "fdbserver --public_address=" + address.String(),
			Locality: map[string]string{fdb.LocalityInstanceID: id, fdb.LocalityZoneID: fmt.Sprintf("z%d", n), fdb.LocalityDNSName: id + ".example"},
		}
		c.Status.ProcessGroups = append(c.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{ProcessGroupID: v1beta2.ProcessGroupID(id), ProcessClass: v1beta2.ProcessClassLog})
		if n <= 3 {
			status.Client.Coordinators.Coordinators = append(status.Client.Coordinators.Coordinators, fdb.CoordinatorStatus{Address: address, Reachable: true})
		}
	}
	return plan.Snapshot{Now: evening, Cluster: c, Database: plan.DatabaseFacts{Status: status, AsOf: evening}}
}

func logProcess(id string, edit func(*fdb.Process)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		p := s.Database.Status.Cluster.Processes[id]
		edit(&p)
		s.Database.Status.Cluster.Processes[id] = p
	}
}

func byName(s *plan.Snapshot) {
	s.Cluster.Spec.Routing.UseDNSInClusterFile = nil
	for i := range s.Database.Status.Client.Coordinators.Coordinators {
		s.Database.Status.Client.Coordinators.Coordinators[i].Address = fdb.Address{Host: fmt.Sprintf("log-%d.example", i+1), Port: 4501}
	}
}

func TestWhichCoordinatorProblemsAreReported(t *testing.T) {
	tests := map[string]struct {
		given func(*plan.Snapshot)
		// problem is a part of the only problem; empty for none.
		problem     string
		missing     bool
		undecidable string
	}{
		"all is well":                            {given: func(*plan.Snapshot) {}},
		"all is well when they are named by DNS": {given: byName},
		"one does not report":                    {given: func(s *plan.Snapshot) { delete(s.Database.Status.Cluster.Processes, "log-1") }, problem: "10.0.0.1:4501 does not report", missing: true},
		"one reports in part":                    {given: logProcess("log-1", func(p *fdb.Process) { p.Version = "" }), problem: "does not report", missing: true},
		"one is excluded":                        {given: logProcess("log-2", func(p *fdb.Process) { p.Excluded = new(true) }), problem: "coordinator log-2 is excluded"},
		"one is marked for removal":              {given: func(s *plan.Snapshot) { s.Groups()[1].MarkForRemoval(evening) }, problem: "coordinator log-2 is marked for removal"},
		"one has a class that may hold none":     {given: logProcess("log-1", func(p *fdb.Process) { p.ClassType = "stateless" }), problem: "has class stateless"},
		"two share a fault domain":               {given: logProcess("log-1", func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "z2" }), problem: "3 coordinators in 2 fault domains"},
		"there are too few":                      {given: func(s *plan.Snapshot) { cut(s, 2) }, problem: "2 coordinators, 3 desired"},
		"there are none":                         {given: func(s *plan.Snapshot) { cut(s, 0) }, problem: "0 coordinators, 3 desired"},
		"one is named by DNS and should not be": {
			given: func(s *plan.Snapshot) {
				s.Database.Status.Client.Coordinators.Coordinators[0].Address.FromHostname = true
			}, problem: "must be named by IP address",
		},
		"one is named by IP address and should not be": {given: func(s *plan.Snapshot) {
			byName(s)
			s.Database.Status.Client.Coordinators.Coordinators[0].Address = fdb.Address{Host: "10.0.0.1", Port: 4501}
		}, problem: "must be named by DNS name"},
		"one that has no DNS name stays named by IP address": {given: func(s *plan.Snapshot) {
			byName(s)
			s.Database.Status.Client.Coordinators.Coordinators[0].Address = fdb.Address{Host: "10.0.0.1", Port: 4501}
			logProcess("log-1", func(p *fdb.Process) { delete(p.Locality, fdb.LocalityDNSName) })(s)
		}},
		"one has TLS too early": {given: func(s *plan.Snapshot) {
			s.Cluster.Spec.MainContainer.EnableTLS = true
			for id := range s.Database.Status.Cluster.Processes {
				logProcess(id, func(p *fdb.Process) {
					p.CommandLine = fmt.Sprintf("fdbserver --public_address=%s,%s:4500:tls", p.Address, p.Address.Host)
				})(s)
			}
			for i := range s.Database.Status.Client.Coordinators.Coordinators[1:] {
				s.Database.Status.Client.Coordinators.Coordinators[i+1].Address = fdb.Address{Host: fmt.Sprintf("10.0.0.%d", i+2), Port: 4500, TLS: true}
			}
		}, problem: "10.0.0.1:4501 does not have the desired TLS setting"},
		"one cannot have TLS yet": {given: func(s *plan.Snapshot) {
			s.Cluster.Spec.MainContainer.EnableTLS = true
			cut(s, 3)
		}, problem: "does not have the desired TLS setting", undecidable: "no address with the desired TLS setting yet"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := coordinated(t)
			tc.given(&s)
			got := JudgeCoordinators(s)
			if got.Valid() != (tc.problem == "") || !strings.Contains(strings.Join(got.Problems, "; "), tc.problem) {
				t.Errorf("problems %v, want %q", got.Problems, tc.problem)
			}
			if (len(got.Missing) > 0) != tc.missing || !strings.Contains(got.Undecidable, tc.undecidable) || (got.Undecidable == "") != (tc.undecidable == "") {
				t.Errorf("missing %v, undecidable %q", got.Missing, got.Undecidable)
			}
		})
	}
}

func cut(s *plan.Snapshot, n int) {
	s.Database.Status.Client.Coordinators.Coordinators = s.Database.Status.Client.Coordinators.Coordinators[:n]
}

func TestCoordinatorsAreSpreadOverHallsAndDataCenters(t *testing.T) {
	threeHalls := func(hall func(n int) string) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeThreeDataHall
			s.Database.Status.Client.Coordinators.Coordinators = nil
			for n := 1; n <= 9; n++ {
				address := fdb.Address{Host: fmt.Sprintf("10.0.1.%d", n), Port: 4501}
				s.Database.Status.Cluster.Processes[fmt.Sprintf("x-%d", n)] = fdb.Process{
					Address: address, ClassType: "log", Version: "7.3.79", CommandLine: "fdbserver",
					Locality: map[string]string{fdb.LocalityInstanceID: fmt.Sprintf("x-%d", n), fdb.LocalityZoneID: fmt.Sprintf("x%d", n), fdb.LocalityDataHall: hall(n)},
				}
				s.Database.Status.Client.Coordinators.Coordinators = append(s.Database.Status.Client.Coordinators.Coordinators, fdb.CoordinatorStatus{Address: address, Reachable: true})
			}
		}
	}
	tests := map[string]struct {
		given   func(*plan.Snapshot)
		problem string
	}{
		"three in each of three halls are right": {threeHalls(func(n int) string { return fmt.Sprintf("h%d", n%3) }), ""},
		"four in one hall are not":               {threeHalls(func(n int) string { return fmt.Sprintf("h%d", min(n/4, 2)) }), "4 coordinators with data_hall"},
		"unknown halls are not":                  {threeHalls(func(int) string { return "" }), "9 coordinators with data_hall"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := coordinated(t)
			tc.given(&s)
			got := strings.Join(JudgeCoordinators(s).Problems, "; ")
			if !strings.Contains(got, tc.problem) || (got == "") != (tc.problem == "") {
				t.Errorf("problems %q, want %q", got, tc.problem)
			}
		})
	}
}

func TestCoordinatorLimits(t *testing.T) {
	regions := func(c *v1beta2.FoundationDBCluster) {
		c.Spec.DatabaseConfiguration.UsableRegions = 2
		c.Spec.DatabaseConfiguration.Regions = []v1beta2.Region{
			{Datacenters: []v1beta2.DataCenter{{ID: "dc1", Priority: 1}, {ID: "sat1", Satellite: 1}}},
			{Datacenters: []v1beta2.DataCenter{{ID: "dc2"}, {ID: "sat2", Satellite: 1}}},
		}
	}
	tests := map[string]struct {
		edit func(*v1beta2.FoundationDBCluster)
		want map[string]int
	}{
		"one per fault domain": {func(*v1beta2.FoundationDBCluster) {}, map[string]int{fdb.LocalityZoneID: 1}},
		"three per data hall of three_data_hall": {func(c *v1beta2.FoundationDBCluster) {
			c.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeThreeDataHall
		}, map[string]int{fdb.LocalityZoneID: 1, fdb.LocalityDataHall: 3}},
		"five of nine, a majority, in each of two data centers: no choice has fewer": {func(c *v1beta2.FoundationDBCluster) {
			c.Spec.DatabaseConfiguration.UsableRegions = 2
			c.Spec.DatabaseConfiguration.Regions = []v1beta2.Region{{Datacenters: []v1beta2.DataCenter{{ID: "dc1", Priority: 1}}}, {Datacenters: []v1beta2.DataCenter{{ID: "dc2"}}}}
		}, map[string]int{fdb.LocalityZoneID: 1, fdb.LocalityDCID: 5}},
		"an equal share per data center of several regions": {regions, map[string]int{fdb.LocalityZoneID: 1, fdb.LocalityDCID: 3}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.FoundationDBCluster{Spec: v1beta2.FoundationDBClusterSpec{Version: "7.3.79"}}
			tc.edit(c)
			if diff := cmp.Diff(tc.want, CoordinatorLimits(c)); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCoordinatorAddress(t *testing.T) {
	p := fdb.Process{
		CommandLine: "fdbserver --public_address=10.0.0.1:4500:tls,10.0.0.1:4501 --listen_address=public",
		Locality:    map[string]string{fdb.LocalityInstanceID: "log-1", fdb.LocalityDNSName: "log-1.example"},
	}
	tests := map[string]struct {
		dns, tls bool
		process  func(*fdb.Process)
		want     string
	}{
		"by IP address":                           {want: "10.0.0.1:4501"},
		"by IP address with TLS":                  {tls: true, want: "10.0.0.1:4500:tls"},
		"by name":                                 {dns: true, want: "log-1.example:4501"},
		"by name with TLS":                        {dns: true, tls: true, want: "log-1.example:4500:tls"},
		"by IP address for want of a name":        {dns: true, process: func(p *fdb.Process) { p.Locality = nil }, want: "10.0.0.1:4501"},
		"not without a listener of that kind":     {tls: true, process: func(p *fdb.Process) { p.CommandLine = "fdbserver --public_address=10.0.0.1:4501" }},
		"not without a command line":              {process: func(p *fdb.Process) { p.CommandLine = "" }},
		"not from an address that makes no sense": {process: func(p *fdb.Process) { p.CommandLine = "fdbserver --public_address=auto:$ID" }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.FoundationDBCluster{Spec: v1beta2.FoundationDBClusterSpec{Version: "7.3.79"}}
			c.Spec.Routing.UseDNSInClusterFile = &tc.dns
			c.Spec.MainContainer.EnableTLS = tc.tls
			process := p
			if tc.process != nil {
				tc.process(&process)
			}
			got, err := CoordinatorAddress(c, process)
			if (err == nil) != (tc.want != "") || err == nil && got.String() != tc.want {
				t.Errorf("got %s and %v, want %q", got, err, tc.want)
			}
		})
	}
}
