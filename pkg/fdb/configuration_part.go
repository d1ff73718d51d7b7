package fdb

import (
	"fmt"
	"slices"
)

// Part names what of a configuration one configure command sets. Regions change by
// themselves, so that a command carries nothing that was only read back: a redundancy
// mode without a name, say, or proxies that the database counted for itself.
type Part string

// The parts of a configuration. A setting's name is the name of its part.
const (
	// Whole is every setting.
	Whole Part = ""
	// OnlyRegions are the regions with their priorities and satellites.
	OnlyRegions Part = "regions"
	// OnlyUsableRegions is how many regions hold a full copy.
	OnlyUsableRegions Part = "usable_regions"
)

// TokensOf are the words of the configure command that sets one part, unescaped. It
// refuses what fails Check as far as the part is concerned.
func (c Configuration) TokensOf(p Part) ([]string, error) {
	if p == Whole {
		return c.Tokens()
	}
	if err := c.checkRegions(); err != nil {
		return nil, fmt.Errorf("checking regions: %w", err)
	}
	if p == OnlyUsableRegions {
		return []string{number("usable_regions=", max(c.UsableRegions, 1))}, nil
	}
	regions, err := regionsJSON(c.Regions)
	if err != nil {
		return nil, err
	}
	return []string{"regions=" + regions}, nil
}

// EqualIn reports whether a database in configuration c is what wanted asks for, as
// far as one part is concerned.
func (c Configuration) EqualIn(p Part, wanted Configuration, v Version) bool {
	return !slices.ContainsFunc(c.Differences(wanted, v), func(d Difference) bool {
		return p == Whole || d.Setting == string(p)
	})
}
