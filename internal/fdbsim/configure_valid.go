package fdbsim

import (
	"maps"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// with returns the settings after a change.
func withValues(values, changes map[string]string) map[string]string {
	next := maps.Clone(values)
	maps.Copy(next, changes)
	return next
}

// invalid reports whether FoundationDB would refuse the settings outright.
func (c configuration) invalid() bool {
	return c.storagePolicy == nil || c.usableRegions < 1 || c.usableRegions > 2 || c.logs < 1 || c.commitProxies < 1 ||
		c.grvProxies < 1 || c.resolvers < 1 || c.invalidRegions()
}

func (c configuration) invalidRegions() bool {
	if c.usableRegions > 1 && len(c.regions) < 2 {
		return true
	}
	if len(c.regions) == 0 {
		return false
	}
	seen, usable := map[string]bool{}, false
	for _, r := range c.regions {
		main := r.main()
		if main.ID == "" || seen[main.ID] {
			return true
		}
		seen[main.ID] = true
		usable = usable || main.Priority >= 0
	}
	return !usable || spansDataCenters(c.storagePolicy)
}

func spansDataCenters(p policy) bool {
	for _, l := range p {
		if l.locality == fdb.LocalityDCID {
			return true
		}
	}
	return false
}
