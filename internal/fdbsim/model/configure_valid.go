package model

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Invalid reports whether FoundationDB would refuse the settings outright.
func (c Configuration) Invalid() bool {
	return c.StoragePolicy == nil || c.UsableRegions < 1 || c.UsableRegions > 2 || c.Logs < 1 || c.CommitProxies < 1 ||
		c.GrvProxies < 1 || c.Resolvers < 1 || c.invalidRegions()
}

func (c Configuration) invalidRegions() bool {
	if c.UsableRegions > 1 && len(c.Regions) < 2 {
		return true
	}
	if len(c.Regions) == 0 {
		return false
	}
	seen, usable := map[string]bool{}, false
	for _, r := range c.Regions {
		main := r.Main()
		if main.ID == "" || seen[main.ID] {
			return true
		}
		seen[main.ID] = true
		usable = usable || main.Priority >= 0
	}
	return !usable || spansDataCenters(c.StoragePolicy)
}

func spansDataCenters(p Policy) bool {
	for _, l := range p {
		if l.locality == fdb.LocalityDCID {
			return true
		}
	}
	return false
}
