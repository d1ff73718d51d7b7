package fdb

import (
	"fmt"
	"slices"
)

// Part names the settings of a configuration that one configure command sets. Regions
// are changed separately, so that a command has no values that were only read back,
// such as a redundancy mode without a name or proxy counts that the database chose.
type Part string

// The parts of a configuration. A setting's name is the name of its part.
const (
	// Whole is every setting.
	Whole Part = ""
	// OnlyRegions are the regions with their priorities and satellites.
	OnlyRegions Part = "regions"
	// OnlyUsableRegions is the number of regions with a full copy.
	OnlyUsableRegions Part = "usable_regions"
)

// TokensOf returns the arguments of the configure command that sets one part,
// unescaped. It returns an error for a part that fails Check.
func (c Configuration) TokensOf(p Part) ([]string, error) {
	if p == Whole {
		return c.Tokens()
	}
	if err := c.checkRegions(); err != nil {
		return nil, fmt.Errorf("check regions: %w", err)
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

// EqualIn reports whether one part of a database in configuration c matches the
// desired one.
func (c Configuration) EqualIn(p Part, desired Configuration, v Version) bool {
	return !slices.ContainsFunc(c.Differences(desired, v), func(d Difference) bool {
		return p == Whole || d.Setting == string(p)
	})
}
