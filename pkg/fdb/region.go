package fdb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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

// regionMove is one change of regions: of the regions themselves, or of how many of
// them are usable.
type regionMove struct {
	regions []Region
	// usable is 0 if it does not change.
	usable int
	does   string
}

// regionChange is the current and the desired state of regions.
type regionChange struct {
	have, want         []Region
	usable, wantUsable int
	home               string
}

// next returns the first move that is due, and false when the regions match the
// desired ones.
func (c regionChange) next() (regionMove, bool) {
	for _, rule := range []func() (regionMove, bool){c.begin, c.shape, c.retire, c.handOver, c.settle} {
		if move, due := rule(); due {
			return move, true
		}
	}
	return regionMove{}, false
}

// begin configures regions for a database that has none. The data center that
// serves now stays primary regardless of the desired regions: no other has the
// data.
func (c regionChange) begin() (regionMove, bool) {
	if len(c.have) > 0 || len(c.want) == 0 {
		return regionMove{}, false
	}
	home := c.home
	if home == "" {
		home = best(c.want).id()
	}
	first, desired := regionOf(c.want, home)
	if !desired {
		first = Region{DataCenters: []DataCenter{{ID: home, Priority: 1}}}
	}
	regions := joined([]Region{first.ranked(max(first.priority(), 0))}, c.want)
	return regionMove{regions: regions, does: "start with " + rankings(regions)}, true
}

// shape sets the desired satellites of existing regions, and adds a desired
// region if the maximum allows it. A new region may not serve yet: it has no
// data.
func (c regionChange) shape() (regionMove, bool) {
	if len(c.have) == 0 || len(c.want) == 0 {
		return regionMove{}, false
	}
	kept := slices.Clone(c.have)
	for i, r := range kept {
		if desired, ok := regionOf(c.want, r.id()); ok {
			kept[i] = desired.ranked(r.priority())
		}
	}
	regions := joined(kept, c.want)
	switch {
	case len(regions) > len(c.have):
		return regionMove{regions: regions, does: fmt.Sprintf("add region %s with priority %d", regions[len(regions)-1].id(), unusedPriority)}, true
	case !regionsAlike(regions, c.have):
		return regionMove{regions: regions, does: "set the desired satellites"}, true
	}
	return regionMove{}, false
}

// retire removes a region that is neither desired nor primary: first it may no longer
// serve, then it gets no more data, then it is dropped. Without desired regions the
// primary one is dropped too, last and with the rest.
func (c regionChange) retire() (regionMove, bool) {
	primary := c.primary()
	for _, r := range c.have {
		_, desired := regionOf(c.want, r.id())
		switch {
		case desired || r.id() == primary.id():
		case r.MayServe():
			return c.lowered(r), true
		case c.usable > 1:
			return regionMove{usable: 1, does: "make one region usable, so that " + r.id() + " drops its data"}, true
		case len(c.want) > 0:
			return regionMove{regions: without(c.have, r), does: "drop region " + r.id()}, true
		}
	}
	if len(c.want) == 0 && len(c.have) > 0 {
		return regionMove{does: "drop all regions"}, true
	}
	return regionMove{}, false
}

// handOver makes the other region primary when the current one should not be. The
// other region gets a full copy first, then may serve, then becomes primary.
func (c regionChange) handOver() (regionMove, bool) {
	primary := c.primary()
	if len(c.have) < maxRegions || c.mayStayPrimary(primary) {
		return regionMove{}, false
	}
	other := without(c.have, primary)[0]
	switch {
	case c.usable < maxRegions:
		return c.filled(other), true
	case !other.MayServe():
		regions := []Region{primary.ranked(max(primary.priority(), 1)), other.ranked(0)}
		return regionMove{regions: regions, does: fmt.Sprintf("let region %s serve: %s", other.id(), rankings(regions))}, true
	default:
		regions := []Region{primary.ranked(0), other.ranked(1)}
		return regionMove{regions: regions, does: fmt.Sprintf("make region %s primary: %s", other.id(), rankings(regions))}, true
	}
}

func (c regionChange) mayStayPrimary(primary Region) bool {
	desired, ok := regionOf(c.want, primary.id())
	return ok && desired.priority() == best(c.want).priority()
}

// settle is for the desired regions with the right primary: only numbers remain.
func (c regionChange) settle() (regionMove, bool) {
	numbers := regionMove{regions: c.want, does: "set the desired priorities: " + rankings(c.want)}
	differ := !regionsAlike(c.have, c.want)
	switch {
	case c.usable < c.wantUsable:
		return c.filled(without(c.have, c.primary())[0]), true
	case c.usable > c.wantUsable && len(serving(c.have)) > 1:
		return numbers, true // usable_regions changes only while one region may serve
	case c.usable > c.wantUsable:
		return regionMove{usable: c.wantUsable, does: "make one region usable"}, true
	}
	return numbers, differ
}

// filled raises usable_regions so that a region gets a copy of the data. FoundationDB
// does that only while one region may serve.
func (c regionChange) filled(other Region) regionMove {
	if other.MayServe() {
		return c.lowered(other)
	}
	return regionMove{usable: maxRegions, does: fmt.Sprintf("make %s usable, so that %s gets a copy of the data", phrase.Count(maxRegions, "region"), other.id())}
}

// lowered gives a region a negative priority.
func (c regionChange) lowered(r Region) regionMove {
	regions := slices.Clone(c.have)
	for i := range regions {
		if regions[i].id() == r.id() {
			regions[i] = r.ranked(unusedPriority)
		}
	}
	return regionMove{regions: regions, does: fmt.Sprintf("keep region %s from serving: %s", r.id(), rankings(regions))}
}

// primary returns the region with the highest priority; among equals, the one that
// serves.
func (c regionChange) primary() Region {
	if home, ok := regionOf(c.have, c.home); ok && home.priority() == best(c.have).priority() {
		return home
	}
	return best(c.have)
}
