package fdb

import (
	"errors"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// RegionStep is one configuration on the way from some regions to others.
type RegionStep struct {
	// Configuration is the one before with one thing changed; see Part.
	Configuration Configuration
	// Part is OnlyRegions or OnlyUsableRegions: FoundationDB refuses most changes of
	// both at once, and what it accepts has no way back.
	Part Part
	// Does says what the step is for, as a verb with its object.
	Does string
}

// mostRegionSteps is more than any two sets of regions are apart. Measured: 14, from
// two equal regions in use to two others.
const mostRegionSteps = 16

// errUnserved refuses regions in which a data center could become primary that was
// never given a copy of the data.
var errUnserved = errors.New("two regions have a priority of 0 or more, but usable_regions is 1, so one of them " +
	"could be asked to serve without having the data: make both usable, or give one a negative priority")

// RegionSteps are the configurations to send one after the other until the regions
// are the wanted ones; none when they are. What c has besides regions stays as it is.
// home is the data center that serves now; "" when several or none of them do.
//
// The order is made of changes that FoundationDB was seen to carry out cleanly. A
// region joins with a negative priority, is filled, may then serve, becomes the
// primary one, and only then the other one may leave, in the same steps backwards:
// a single jump of priorities ends in an error half a minute later, and is in force
// all the same.
func (c Configuration) RegionSteps(wanted Configuration, home string) ([]RegionStep, error) {
	if sameRegions(c, wanted) {
		return nil, nil
	}
	if max(wanted.UsableRegions, 1) == 1 && len(serving(wanted.Regions)) > 1 {
		return nil, errUnserved
	}
	if len(c.Regions) > mostRegions {
		return nil, fmt.Errorf("the database reports %s, of which there can be %d", phrase.Count(len(c.Regions), "region"), mostRegions)
	}
	var steps []RegionStep
	for now := c; len(steps) < mostRegionSteps; {
		step, found := (regionChange{have: now.Regions, usable: max(now.UsableRegions, 1), want: wanted.Regions, wantUsable: max(wanted.UsableRegions, 1), home: home}).next()
		if !found {
			return steps, nil
		}
		steps = append(steps, now.with(step))
		now = steps[len(steps)-1].Configuration
	}
	return nil, fmt.Errorf("no way from these regions to the wanted ones in %s", phrase.Count(mostRegionSteps, "step"))
}

// sameRegions compares what RegionSteps changes.
func sameRegions(a, b Configuration) bool {
	return max(a.UsableRegions, 1) == max(b.UsableRegions, 1) && regionsAlike(a.Regions, b.Regions)
}

// with is the step that makes c what the move asks for.
func (c Configuration) with(m regionMove) RegionStep {
	step := RegionStep{Configuration: c, Part: OnlyRegions, Does: m.does}
	if m.usable != 0 {
		step.Part = OnlyUsableRegions
		step.Configuration.UsableRegions = m.usable
		return step
	}
	step.Configuration.Regions = normalizedRegions(m.regions)
	return step
}
