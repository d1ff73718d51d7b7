package fdb

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// regioned is a configuration with regions written as "dc1 1+dc3, dc2 -1": main data
// center, priority, satellites.
func regioned(usable int, regions string) Configuration {
	c := desired()
	c.UsableRegions = usable
	for text := range strings.SplitSeq(regions, ", ") {
		var dc DataCenter
		place, satellites, _ := strings.Cut(text, "+")
		if _, err := fmt.Sscanf(place, "%s %d", &dc.ID, &dc.Priority); err != nil {
			continue // no regions
		}
		region := Region{DataCenters: []DataCenter{dc}}
		if satellites != "" {
			region.DataCenters = append(region.DataCenters, DataCenter{ID: satellites, Priority: 1, Satellite: 1})
			region.SatelliteLogs, region.SatelliteRedundancyMode = 2, "one_satellite_double"
		}
		c.Regions = append(c.Regions, region)
	}
	return c
}

// shown is a configuration as regioned reads it.
func shown(c Configuration) string {
	var words []string
	for _, r := range normalizedRegions(c.Regions) {
		text := fmt.Sprintf("%s %d", r.id(), r.priority())
		for _, dc := range r.DataCenters[1:] {
			text += "+" + dc.ID
		}
		words = append(words, text)
	}
	return fmt.Sprintf("%d: %s", c.UsableRegions, strings.Join(words, ", "))
}

func TestRegionChangesAreSplitIntoSteps(t *testing.T) {
	cases := map[string]struct {
		from, to Configuration
		home     string
		steps    []string
	}{
		"nothing to change": {from: regioned(2, "dc1 1, dc2 0"), to: regioned(2, "dc2 0, dc1 1")},
		"a second region for a database without regions": {
			from: regioned(1, ""), to: regioned(2, "dc1 1, dc2 0"), home: "dc1",
			steps: []string{"1: dc1 1, dc2 -1", "2: dc1 1, dc2 -1", "2: dc1 1, dc2 0"},
		},
		"a second region": {
			from: regioned(1, "dc1 1+dc3"), to: regioned(2, "dc1 1+dc3, dc2 0+dc3"),
			steps: []string{"1: dc1 1+dc3, dc2 -1+dc3", "2: dc1 1+dc3, dc2 -1+dc3", "2: dc1 1+dc3, dc2 0+dc3"},
		},
		"the remote region goes": {
			from: regioned(2, "dc1 1, dc2 0"), to: regioned(1, "dc1 1"),
			steps: []string{"2: dc1 1, dc2 -1", "1: dc1 1, dc2 -1", "1: dc1 1"},
		},
		"a remote region that is still being filled goes": {
			from: regioned(2, "dc1 1, dc2 -1"), to: regioned(1, "dc1 1"),
			steps: []string{"1: dc1 1, dc2 -1", "1: dc1 1"},
		},
		"the only region moves": {
			from: regioned(1, "dc1 1"), to: regioned(1, "dc2 1"),
			steps: []string{
				"1: dc1 1, dc2 -1", "2: dc1 1, dc2 -1", "2: dc1 1, dc2 0", "2: dc2 1, dc1 0", "2: dc2 1, dc1 -1", "1: dc2 1, dc1 -1", "1: dc2 1",
			},
		},
		"the primary of two regions changes": {
			from: regioned(2, "dc1 1, dc2 0"), to: regioned(2, "dc2 1, dc1 0"), steps: []string{"2: dc2 1, dc1 0"},
		},
		"the primary of two regions changes and the old one stops serving": {
			from: regioned(2, "dc1 1, dc2 -1"), to: regioned(2, "dc2 1, dc1 -1"),
			steps: []string{"2: dc1 1, dc2 0", "2: dc2 1, dc1 0", "2: dc2 1, dc1 -1"},
		},
		"the primary of two regions gives way to a new data center": {
			from: regioned(2, "dc1 1, dc2 0"), to: regioned(2, "dc3 1, dc2 0"),
			steps: []string{
				"2: dc2 1, dc1 0", "2: dc2 1, dc1 -1", "1: dc2 1, dc1 -1", "1: dc2 1", "1: dc2 1, dc3 -1",
				"2: dc2 1, dc3 -1", "2: dc2 1, dc3 0", "2: dc3 1, dc2 0",
			},
		},
		"both data centers are replaced": {
			from: regioned(2, "dc1 1, dc2 0"), to: regioned(2, "dc3 1, dc4 0"),
			steps: []string{
				"2: dc1 1, dc2 -1", "1: dc1 1, dc2 -1", "1: dc1 1", "1: dc1 1, dc3 -1", "2: dc1 1, dc3 -1", "2: dc1 1, dc3 0", "2: dc3 1, dc1 0",
				"2: dc3 1, dc1 -1", "1: dc3 1, dc1 -1", "1: dc3 1", "1: dc3 1, dc4 -1", "2: dc3 1, dc4 -1", "2: dc3 1, dc4 0",
			},
		},
		"all regions go": {
			from: regioned(2, "dc1 1, dc2 0"), to: regioned(1, ""),
			steps: []string{"2: dc1 1, dc2 -1", "1: dc1 1, dc2 -1", "1: "},
		},
		"satellites come": {
			from: regioned(2, "dc1 1, dc2 0"), to: regioned(2, "dc1 1+dc3, dc2 0+dc3"), steps: []string{"2: dc1 1+dc3, dc2 0+dc3"},
		},
		"satellites go": {
			from: regioned(1, "dc1 1+dc3"), to: regioned(1, "dc1 1"), steps: []string{"1: dc1 1"},
		},
		"a region that leaves keeps its satellites to the end": {
			from: regioned(1, "dc1 1+dc3"), to: regioned(1, "dc2 1"),
			steps: []string{
				"1: dc1 1+dc3, dc2 -1", "2: dc1 1+dc3, dc2 -1", "2: dc1 1+dc3, dc2 0", "2: dc2 1, dc1 0+dc3", "2: dc2 1, dc1 -1+dc3", "1: dc2 1, dc1 -1+dc3", "1: dc2 1",
			},
		},
		"the data center that serves stays primary when regions begin": {
			from: regioned(1, ""), to: regioned(1, "dc2 1"), home: "dc1",
			steps: []string{
				"1: dc1 1, dc2 -1", "2: dc1 1, dc2 -1", "2: dc1 1, dc2 0", "2: dc2 1, dc1 0", "2: dc2 1, dc1 -1", "1: dc2 1, dc1 -1", "1: dc2 1",
			},
		},
		"of two regions with one priority the one that serves is primary": {
			from: regioned(2, "dc1 1, dc2 1"), to: regioned(1, "dc2 1"), home: "dc2",
			steps: []string{"2: dc2 1, dc1 -1", "1: dc2 1, dc1 -1", "1: dc2 1"},
		},
		"regions that may both serve are not both usable yet": {
			from: regioned(1, "dc1 1, dc2 0"), to: regioned(2, "dc1 1, dc2 0"),
			steps: []string{"1: dc1 1, dc2 -1", "2: dc1 1, dc2 -1", "2: dc1 1, dc2 0"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			steps, err := c.from.RegionSteps(c.to, c.home)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range steps {
				got = append(got, shown(s.Configuration))
			}
			if diff := cmp.Diff(c.steps, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRegionStepsChangeNoOtherSettings(t *testing.T) {
	from, to := regioned(1, "dc1 1"), regioned(2, "dc1 1, dc2 0")
	from.RedundancyMode = "" // custom policies have no name
	to.Logs, to.StorageEngine = 7, EngineRedwood
	steps, err := from.RegionSteps(to, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		s.Configuration.Regions, s.Configuration.UsableRegions = from.Regions, from.UsableRegions
		if diff := cmp.Diff(from, s.Configuration); diff != "" {
			t.Errorf("%s changes more than regions:\n%s", s.Does, diff)
		}
	}
}

func TestARegionStepConfiguresOnlyItsOwnSetting(t *testing.T) {
	custom := regioned(2, "dc1 1, dc2 0")
	custom.RedundancyMode = "" // custom policies have no name, and stay
	for part, want := range map[Part][]string{
		OnlyUsableRegions: {"usable_regions=2"},
		OnlyRegions:       {`regions=[{"datacenters":[{"id":"dc1","priority":1}]},{"datacenters":[{"id":"dc2","priority":0}]}]`},
	} {
		got, err := custom.TokensOf(part)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", part, diff)
		}
	}
	if _, err := custom.TokensOf(Whole); err == nil {
		t.Error("the whole configuration is sent without a redundancy mode")
	}
	if _, err := regioned(1, "dc1 -1").TokensOf(OnlyRegions); err == nil {
		t.Error("regions of which none may serve are sent")
	}
}

func TestConfigurationPartsAreComparedSeparately(t *testing.T) {
	now, then := regioned(2, "dc1 1, dc2 0"), regioned(2, "dc2 1, dc1 0")
	now.Logs = 9
	if !now.EqualIn(OnlyUsableRegions, then, Version{}) || now.EqualIn(OnlyRegions, then, Version{}) || now.EqualIn(Whole, now.with(regionMove{usable: 1}).Configuration, Version{}) {
		t.Error("parts are not distinguished")
	}
}

func TestARegionWithoutDataNeverBecomesPrimary(t *testing.T) {
	if steps, err := regioned(1, "dc1 1").RegionSteps(regioned(1, "dc1 1, dc2 0"), ""); err == nil {
		t.Errorf("got %v", steps)
	}
}

func TestMoreThanTwoRegionsAreNotChanged(t *testing.T) {
	if steps, err := regioned(1, "dc1 1, dc2 -1, dc3 -1").RegionSteps(regioned(1, "dc1 1"), ""); err == nil {
		t.Errorf("got %v", steps)
	}
}

// For any current and desired regions: every chain ends there, in changes that
// FoundationDB takes, and none leaves the data without a home on the way.
func TestEveryRegionChangeSequenceIsSafeAndEnds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	longest := 0
	for range 20000 {
		from, to, home := anyRegions(random), anyRegions(random), []string{"", "dc1", "dc4"}[random.IntN(3)]
		steps, err := from.RegionSteps(to, home)
		if to.UsableRegions == 1 && len(serving(to.Regions)) > 1 {
			if err == nil && len(steps) > 0 {
				t.Fatalf("%s to %s: no error", shown(from), shown(to))
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s to %s: %v", shown(from), shown(to), err)
		}
		now := from
		for _, s := range steps {
			if problem := unsafeStep(now, s); problem != "" {
				t.Fatalf("%s to %s, home %q: %s, then %s (%s): %s", shown(from), shown(to), home, shown(now), shown(s.Configuration), s.Does, problem)
			}
			now = s.Configuration
		}
		if !sameRegions(now, to) {
			t.Fatalf("%s to %s ends at %s", shown(from), shown(to), shown(now))
		}
		longest = max(longest, len(steps))
	}
	if longest != 14 {
		t.Errorf("the longest chain has %d steps", longest)
	}
}

func anyRegions(random *rand.Rand) Configuration {
	c := desired()
	dcs := []string{"dc1", "dc2", "dc3", "dc4"}
	random.Shuffle(len(dcs), func(i, j int) { dcs[i], dcs[j] = dcs[j], dcs[i] })
	for i := range random.IntN(maxRegions + 1) {
		r := regioned(1, dcs[i]+" 0"+[]string{"", "+dc5", "+dc6"}[random.IntN(3)]).Regions[0]
		c.Regions = append(c.Regions, r.ranked(random.IntN(4)-1))
	}
	if len(serving(c.Regions)) == 0 && len(c.Regions) > 0 {
		c.Regions[0] = c.Regions[0].ranked(random.IntN(3))
	}
	c.UsableRegions = 1 + random.IntN(max(1, len(c.Regions)))
	return c
}

// unsafeStep returns what is wrong with a step from one configuration to the
// next.
func unsafeStep(before Configuration, s RegionStep) string {
	after := s.Configuration
	regionsChange, usableChanges := !regionsAlike(before.Regions, after.Regions), before.UsableRegions != after.UsableRegions
	switch {
	case after.Check() != nil:
		return after.Check().Error()
	case after.UsableRegions > max(1, len(after.Regions)):
		return "more usable regions than regions"
	case regionsChange == usableChanges:
		return "not exactly one of regions and usable_regions changes"
	case regionsChange != (s.Part == OnlyRegions):
		return "it is described as changing something else"
	case usableChanges && len(serving(after.Regions)) != 1:
		return "usable_regions changes while not exactly one region may serve"
	case len(after.Regions) > 0 && len(serving(after.Regions)) == 0:
		return "no region may serve"
	case len(before.Regions) == 0 || len(after.Regions) == 0:
		return ""
	}
	return unsafeRanks(before, after)
}

// unsafeRanks looks at regions that were there before: who goes, and who becomes
// primary in whose place.
func unsafeRanks(before, after Configuration) string {
	for _, r := range before.Regions {
		if _, kept := regionOf(after.Regions, r.id()); !kept && (r.MayServe() || before.UsableRegions > 1) {
			return "drops " + r.id() + ", which may serve or holds a copy that counts"
		}
	}
	for _, r := range serving(after.Regions) {
		if old, there := regionOf(before.Regions, r.id()); (!there || !old.MayServe()) && before.UsableRegions < maxRegions {
			return r.id() + " may serve without a copy of the data"
		}
	}
	old, now := leader(before), leader(after)
	if old == "" || now == "" || old == now {
		return ""
	}
	taker, _ := regionOf(before.Regions, now)
	giver, stays := regionOf(after.Regions, old)
	switch {
	case !taker.MayServe():
		return now + " becomes primary without having been allowed to serve"
	case !stays || !giver.MayServe():
		return old + " loses the right to serve in the step in which the primary changes"
	case before.UsableRegions < maxRegions:
		return now + " becomes primary without a copy of the data"
	}
	return ""
}

// leader is the region that serves by its priority alone; "" among equals.
func leader(c Configuration) string {
	first := best(c.Regions)
	for _, r := range without(c.Regions, first) {
		if r.priority() == first.priority() {
			return ""
		}
	}
	return first.id()
}
