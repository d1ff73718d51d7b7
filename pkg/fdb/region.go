package fdb

import (
	"fmt"
	"slices"
	"strings"
)

// unusedPriority is the priority of a region that may not serve.
const unusedPriority = -1

// Primary is the region that should serve: the one with the highest priority. It is
// false without regions.
func (c Configuration) Primary() (Region, bool) {
	return best(c.Regions), len(c.Regions) > 0
}

// ServingRegions is how many regions may be the primary one.
func (c Configuration) ServingRegions() int { return len(serving(c.Regions)) }

// best is the region with the highest priority, by ID among equals; zero for none.
func best(regions []Region) Region {
	sorted := normalizedRegions(regions)
	if len(sorted) == 0 {
		return Region{}
	}
	return sorted[0]
}

// serving are the regions that may be primary.
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

func without(regions []Region, gone Region) []Region {
	return slices.DeleteFunc(slices.Clone(regions), func(r Region) bool { return r.id() == gone.id() })
}

// joined adds wanted regions that are missing, the most important first, without the
// right to serve, as long as there is room.
func joined(regions, wanted []Region) []Region {
	for _, w := range normalizedRegions(wanted) {
		if _, there := regionOf(regions, w.id()); !there && len(regions) < mostRegions {
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

// id names a region by its main data center.
func (r Region) id() string {
	main, _ := r.Main()
	return main.ID
}

func (r Region) priority() int {
	main, _ := r.Main()
	return main.Priority
}

// ranked is the region with another priority of its main data center.
func (r Region) ranked(priority int) Region {
	r.DataCenters = slices.Clone(r.DataCenters)
	for i := range r.DataCenters {
		if r.DataCenters[i].Satellite == 0 {
			r.DataCenters[i].Priority = priority
		}
	}
	return r
}

// rankings are the regions with their priorities, in words.
func rankings(regions []Region) string {
	var words []string
	for _, r := range normalizedRegions(regions) {
		words = append(words, fmt.Sprintf("%s %d", r.id(), r.priority()))
	}
	return strings.Join(words, ", ")
}
