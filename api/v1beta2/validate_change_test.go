package v1beta2

import (
	"strings"
	"testing"
)

func TestContradictoryRegionSettingsAreRejected(t *testing.T) {
	type change = func(*FoundationDBCluster)
	at := func(id string, priority int) Region {
		return Region{Datacenters: []DataCenter{{ID: id, Priority: priority}}}
	}
	regions := func(usable int, regions ...Region) change {
		return func(c *FoundationDBCluster) {
			c.Spec.DatabaseConfiguration.UsableRegions, c.Spec.DatabaseConfiguration.Regions = usable, regions
		}
	}
	inForce := func(c *FoundationDBCluster) {
		c.Status.Configured, c.Status.DatabaseConfiguration = true, *c.Spec.DatabaseConfiguration.DeepCopy()
	}
	both := regions(1, at("dc1", 1), at("dc2", 0))
	tests := map[string]struct {
		given []change
		want  []string
	}{
		"no regions":                             {nil, nil},
		"one region":                             {[]change{regions(1, at("dc1", 1))}, nil},
		"two usable regions":                     {[]change{regions(2, at("dc1", 1), at("dc2", 0))}, nil},
		"one that may not serve":                 {[]change{regions(1, at("dc1", 1), at("dc2", -1))}, nil},
		"two that may serve, and one is usable":  {[]change{both}, []string{"spec.databaseConfiguration.usable_regions", "Invalid value: 1", "dc1 and dc2", "give one a negative priority"}},
		"the same, with usable_regions left out": {[]change{regions(0, at("dc1", 1), at("dc2", 0))}, []string{"usable_regions", "Invalid value: 0"}},
		"none that may serve":                    {[]change{regions(1, at("dc1", -1))}, []string{"spec.databaseConfiguration.regions", "priority of 0 or more"}},
		"three regions":                          {[]change{regions(2, at("dc1", 1), at("dc2", 0), at("dc3", -1))}, []string{"spec.databaseConfiguration.regions", "at most 2"}},
		"what is in force already":               {[]change{both, inForce}, nil},
		"what is in force in another order": {[]change{both, inForce, func(c *FoundationDBCluster) {
			c.Status.DatabaseConfiguration.Regions = []Region{at("dc2", 0), at("dc1", 1)}
		}}, nil},
		"what is in force with other priorities": {[]change{both, inForce, func(c *FoundationDBCluster) {
			c.Status.DatabaseConfiguration.Regions = []Region{at("dc1", 1), at("dc2", -1)}
		}}, []string{"usable_regions"}},
		"what is not configured from here": {[]change{both, func(c *FoundationDBCluster) {
			c.Spec.AutomationOptions.ConfigureDatabase = new(false)
		}}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			expectRefusal(t, cluster(tc.given...), (*FoundationDBCluster).ValidateRegions, tc.want)
		})
	}
}

// expectRefusal asks for a refusal with all of the words, or for none; the cluster can be
// read in any case.
func expectRefusal(t *testing.T, c *FoundationDBCluster, validate func(*FoundationDBCluster) error, want []string) {
	t.Helper()
	if _, err := c.Normalized(); err != nil {
		t.Errorf("cannot be read: %v", err)
	}
	err := validate(c)
	if (err != nil) != (len(want) > 0) {
		t.Fatalf("got %v, want %q", err, want)
	}
	for _, words := range want {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want %q", err, words)
		}
	}
}

func TestAMinTraceSeverityKnobAboveTenIsInvalid(t *testing.T) {
	tests := map[string]struct {
		parameter string
		suppress  bool
	}{
		"above 10":                        {"knob_min_trace_severity=20", true},
		"just above 10":                   {"knob_min_trace_severity=11", true},
		"10 is the severity of the facts": {"knob_min_trace_severity=10", false},
		"below 10":                        {"knob_min_trace_severity=5", false},
		"in another base":                 {"knob_min_trace_severity=0x14", true},
		"with dashes":                     {"knob-min-trace-severity = 40", true},
		"in capitals":                     {"knob_MIN_TRACE_SEVERITY=20", true},
		"no number":                       {"knob_min_trace_severity=high", true},
		"another knob":                    {"knob_max_trace_severity=20", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster(func(c *FoundationDBCluster) {
				c.Spec.Processes = map[ProcessClass]ProcessSettings{ProcessClassLog: {CustomParameters: FoundationDBCustomParameters{"knob_a=1", FoundationDBCustomParameter(tc.parameter)}}}
			})
			var want []string
			if tc.suppress {
				want = []string{"spec.processes[log].customParameters[1]", tc.parameter, "must be at most 10", "remove the parameter"}
			}
			expectRefusal(t, c, (*FoundationDBCluster).ValidateKnobs, want)
			if got := SuppressesTraceEvents("--" + tc.parameter); got != tc.suppress {
				t.Errorf("on a command line: %t", got)
			}
		})
	}
}
