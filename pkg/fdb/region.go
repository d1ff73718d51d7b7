package fdb

import (
	"fmt"
	"slices"
	"strings"
)

// unusedPriority is the priority of a region that may not serve.
const unusedPriority = -1

// Primary returns the region that should serve: the one with the highest priority,
// and false without regions.
func (c Configuration) Primary() (Region, bool) {
	return best(c.Regions), len(c.Regions) > 0
}

// ServingRegions returns how many regions may be primary.
func (c Configuration) ServingRegions() int { return len(serving(c.Regions)) }

// best returns the region with the highest priority, by ID among equals; zero for
// none.
func best(regions []Region) Region {
	sorted := normalizedRegions(regions)
	if len(sorted) == 0 {
		return Region{}
	}
	return sorted[0]
}

// serving returns the regions that may be primary.
func serving(regions []Region) []Region {
	return slices.DeleteFunc(slices.Clone(regions), func(r Region) bool { return !r.MayServe() })
}

func regionOf(regions []Region, dc string) (Region, bool) {
	i := slices.IndexFunc(regions, func(r Region) bool { return r.id() == dc })
	if i < 0 {
		return Region{}, false
	}
	return regions[i], true
}

func without(regions []Region, removed Region) []Region {
	return slices.DeleteFunc(slices.Clone(regions), func(r Region) bool { return r.id() == removed.id() })
}

// joined adds missing desired regions by descending priority, with a priority that
// does not allow them to serve, up to the maximum number of regions.
func joined(regions, desired []Region) []Region {
	for _, w := range normalizedRegions(desired) {
		if _, there := regionOf(regions, w.id()); !there && len(regions) < maxRegions {
			regions = append(regions, w.ranked(unusedPriority))
		}
	}
	return regions
}

func regionsAlike(a, b []Region) bool {
	return slices.EqualFunc(normalizedRegions(a), normalizedRegions(b), func(a, b Region) bool {
		return slices.Equal(a.DataCenters, b.DataCenters) && a.SatelliteLogs == b.SatelliteLogs && a.SatelliteRedundancyMode == b.SatelliteRedundancyMode
	})
}

// id returns the ID of a region's main data center.
func (r Region) id() string {
	main, _ := r.Main()
	return main.ID
}

func (r Region) priority() int {
	main, _ := r.Main()
	return main.Priority
}

// ranked returns the region with another priority of its main data center.
func (r Region) ranked(priority int) Region {
	r.DataCenters = slices.Clone(r.DataCenters)
	for i := range r.DataCenters {
		if r.DataCenters[i].Satellite == 0 {
			r.DataCenters[i].Priority = priority
		}
	}
	return r
}

// rankings describes the regions with their priorities.
func rankings(regions []Region) string {
	var words []string
	for _, r := range normalizedRegions(regions) {
		words = append(words, fmt.Sprintf("%s %d", r.id(), r.priority()))
	}
	return strings.Join(words, ", ")
}
