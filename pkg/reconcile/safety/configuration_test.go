package safety

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// reporting is a database with one process of each class in each of so many zones.
func reporting(zones int, classes ...string) plan.DatabaseFacts {
	status := &fdb.Status{}
	status.Cluster.Processes = map[string]fdb.Process{}
	for zone := range zones {
		for _, class := range classes {
			id := fmt.Sprintf("%s-%d", class, zone)
			status.Cluster.Processes[id] = fdb.Process{
				ID: id, ClassType: class, CommandLine: "fdbserver", Version: "7.3.79",
				Locality: map[string]string{fdb.LocalityZoneID: fmt.Sprintf("z%d", zone), fdb.LocalityDataHall: fmt.Sprintf("h%d", zone)},
			}
		}
	}
	return plan.DatabaseFacts{Status: status}
}

func eachProcess(d plan.DatabaseFacts, edit func(*fdb.Process)) plan.DatabaseFacts {
	for id, p := range d.Status.Cluster.Processes {
		edit(&p)
		d.Status.Cluster.Processes[id] = p
	}
	return d
}

func TestAConfigurationNeedsEnoughFaultDomains(t *testing.T) {
	both := []string{"storage", "log"}
	in := func(class string, edit func(*fdb.Process)) plan.DatabaseFacts {
		return eachProcess(reporting(2, both...), func(p *fdb.Process) {
			if p.ID == class+"-1" {
				edit(p)
			}
		})
	}
	tests := map[string]struct {
		facts plan.DatabaseFacts
		mode  string
		ok    bool
		says  string
	}{
		"single holds in one":                        {reporting(1, both...), fdb.RedundancySingle, true, "storage processes in 1 fault domain, log processes in 1"},
		"single does not hold in none":               {reporting(0), fdb.RedundancySingle, false, "storage processes in 0 fault domains, 1 required"},
		"double holds in two":                        {reporting(2, both...), fdb.RedundancyDouble, true, "storage processes in 2"},
		"double does not hold in one":                {reporting(1, both...), fdb.RedundancyDouble, false, "in 1 fault domain, 2 required"},
		"triple does not hold in two":                {reporting(2, both...), fdb.RedundancyTriple, false, "3 required"},
		"triple holds in three":                      {reporting(3, both...), fdb.RedundancyTriple, true, "log processes in 3"},
		"logs count for themselves":                  {reporting(2, "storage"), fdb.RedundancyDouble, false, "log processes in 0 fault domains"},
		"processes of class transaction keep logs":   {reporting(2, "storage", "transaction"), fdb.RedundancyDouble, true, "log processes in 2"},
		"stateless processes hold nothing":           {reporting(3, "stateless"), fdb.RedundancySingle, false, "storage processes in 0"},
		"excluded processes do not count":            {in("storage", func(p *fdb.Process) { p.Excluded = new(true) }), fdb.RedundancyDouble, false, "storage processes in 1"},
		"processes without a zone do not count":      {in("log", func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "" }), fdb.RedundancyDouble, false, "log processes in 1"},
		"processes that report in part do not count": {in("storage", func(p *fdb.Process) { p.Version = "" }), fdb.RedundancyDouble, false, "storage processes in 1"},
		"three_data_hall needs three halls": {
			eachProcess(reporting(4, both...), func(p *fdb.Process) { p.Locality[fdb.LocalityDataHall] = "h1" }), fdb.RedundancyThreeDataHall, false, "data hall, 3 required",
		},
		"three_data_hall does not hold without halls": {
			eachProcess(reporting(4, both...), func(p *fdb.Process) { delete(p.Locality, fdb.LocalityDataHall) }), fdb.RedundancyThreeDataHall, false, "0 data halls, 3 required",
		},
		"three_data_hall holds in three halls": {reporting(4, both...), fdb.RedundancyThreeDataHall, true, "4 data halls"},
		"nothing holds without an answer":      {plan.DatabaseFacts{Unreachable: "timed out"}, fdb.RedundancySingle, false, "no database status: timed out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := CanHold(tc.facts, fdb.Configuration{RedundancyMode: tc.mode})
			if c.OK != tc.ok || !strings.Contains(c.Evidence, tc.says) || c.Gate != plan.GateConfig {
				t.Errorf("got %+v, want %t, %q", c, tc.ok, tc.says)
			}
		})
	}
}

// An unknown mode must not pass for one that needs nothing.
func TestCanHoldRefusesAnUnknownRedundancyMode(t *testing.T) {
	if c := CanHold(reporting(0), fdb.Configuration{RedundancyMode: "quadruple"}); c.OK {
		t.Errorf("got %+v", c)
	}
}
