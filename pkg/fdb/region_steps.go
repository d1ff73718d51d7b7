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
	// Part is OnlyRegions or OnlyUsableRegions: FoundationDB rejects most changes of
	// both at once, and those it accepts cannot be reverted.
	Part Part
	// Does describes the step, as a verb with its object.
	Does string
}

// maxRegionSteps is more than the steps between any two sets of regions. Measured:
// 14, from two equal regions in use to two others.
const maxRegionSteps = 16

// errUnserved rejects regions in which a data center without a copy of the data
// could become primary.
var errUnserved = errors.New("two regions have a priority of 0 or more, but usable_regions is 1, so one of them " +
	"could become primary without the data: make both usable, or give one a negative priority")

// RegionSteps returns the configurations to send one after the other until the
// regions match the desired ones; none when they do. Everything in c besides regions
// is unchanged. home is the data center that serves now; "" if several or none do.
//
// The order consists of changes that FoundationDB was observed to make without
// errors. A region is added with a negative priority, is filled, may then serve,
// becomes primary, and only then the other one is removed, in reverse order:
// changing priorities at once ends in an error half a minute later, and takes
// effect nevertheless.
func (c Configuration) RegionSteps(desired Configuration, home string) ([]RegionStep, error) {
	if sameRegions(c, desired) {
		return nil, nil
	}
	if max(desired.UsableRegions, 1) == 1 && len(serving(desired.Regions)) > 1 {
		return nil, errUnserved
	}
	if len(c.Regions) > maxRegions {
		return nil, fmt.Errorf("the database reports %s, the maximum is %d", phrase.Count(len(c.Regions), "region"), maxRegions)
	}
	var steps []RegionStep
	for now := c; len(steps) < maxRegionSteps; {
		step, found := (regionChange{have: now.Regions, usable: max(now.UsableRegions, 1), want: desired.Regions, wantUsable: max(desired.UsableRegions, 1), home: home}).next()
		if !found {
			return steps, nil
		}
		steps = append(steps, now.with(step))
		now = steps[len(steps)-1].Configuration
	}
	return nil, fmt.Errorf("cannot change these regions to the desired ones in %s", phrase.Count(maxRegionSteps, "step"))
}

// sameRegions compares what RegionSteps changes.
func sameRegions(a, b Configuration) bool {
	return max(a.UsableRegions, 1) == max(b.UsableRegions, 1) && regionsAlike(a.Regions, b.Regions)
}

// with returns the step that applies the move to c.
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
