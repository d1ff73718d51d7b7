package fdb

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Storage engines by the names that releases from 7.3 use.
const (
	EngineSSD            = "ssd-2"
	EngineMemory         = "memory-2"
	EngineRedwood        = "ssd-redwood-1"
	EngineShardedRocksDB = "ssd-sharded-rocksdb"
)

// EngineMemoryRadixTree is the name that the database reports for the engine
// memory-radixtree-beta of resources.
const EngineMemoryRadixTree = "memory-radixtree"

// storageEngines are the names that some supported version accepts. "custom" is
// not one of them: it can be reported but not configured.
var storageEngines = []string{
	"ssd", "ssd-1", EngineSSD,
	"memory", "memory-1", EngineMemory,
	"ssd-rocksdb-v1", EngineShardedRocksDB,
	EngineRedwood, "ssd-redwood-1-experimental",
	EngineMemoryRadixTree, "memory-radixtree-beta",
}

// redundancyModes are the modes that can be configured.
var redundancyModes = []string{
	RedundancySingle, RedundancyDouble, RedundancyTriple, RedundancyThreeDataHall,
}

// satelliteModes are the satellite modes of FoundationDB. It accepts any other
// text and then silently drops all regions.
var satelliteModes = []string{
	"one_satellite_single", "one_satellite_double", "one_satellite_triple",
	"two_satellite_safe", "two_satellite_fast",
}

var migrationTypes = []string{"disabled", "aggressive", "gradual"}

// wiggleLocalityPattern is the form of perpetual_storage_wiggle_locality; 0 means
// no limit.
var wiggleLocalityPattern = regexp.MustCompile(`^([\w.-]+:[\w.-]+|0)$`)

// StorageEngines returns the engines that some supported version accepts.
func StorageEngines() []string { return slices.Clone(storageEngines) }

// RedundancyModes returns the modes that can be configured.
func RedundancyModes() []string { return slices.Clone(redundancyModes) }

// SatelliteModes returns the redundancy modes of satellite logs.
func SatelliteModes() []string { return slices.Clone(satelliteModes) }

// MigrationTypes returns the ways to migrate storage servers to another
// engine.
func MigrationTypes() []string { return slices.Clone(migrationTypes) }

// ValidWiggleLocality reports whether the perpetual wiggle can be limited to the locality.
func ValidWiggleLocality(text string) bool { return wiggleLocalityPattern.MatchString(text) }

// Check returns an error for everything that must not be sent to a database,
// because it would be rejected, or worse, accepted: FoundationDB treats invalid
// regions and unknown modes as "no regions". It considers the configuration only;
// whether there are enough zones or halls depends on the processes.
func (c Configuration) Check() error {
	errs := []error{
		oneOf("redundancy mode", c.RedundancyMode, redundancyModes),
		oneOf("storage engine", c.StorageEngine, storageEngines),
		c.checkCounts(),
		c.checkMigration(),
		c.checkRegions(),
	}
	return errors.Join(errs...)
}

func (c Configuration) checkCounts() error {
	var errs []error
	atLeast := func(what string, n, least int) {
		if n < least {
			errs = append(errs, fmt.Errorf("%s %d: must be at least %d", what, n, least))
		}
	}
	atLeast("usable_regions", c.UsableRegions, 1)
	atLeast("logs", c.Logs, 1)
	atLeast("resolvers", c.Resolvers, 1)
	atLeast("log_routers", c.LogRouters, -1)
	atLeast("remote_logs", c.RemoteLogs, -1)
	atLeast("log_spill", c.LogSpill, 0)
	atLeast("log_version", c.LogVersion, 0)
	if c.SeparateProxies() {
		atLeast("commit_proxies", c.CommitProxies, 1)
		atLeast("grv_proxies", c.GrvProxies, 1)
	} else {
		atLeast("proxies", c.Proxies, 2)
	}
	return errors.Join(errs...)
}

func (c Configuration) checkMigration() error {
	var errs []error
	if c.StorageMigrationType != nil {
		errs = append(errs, oneOf("storage migration type", *c.StorageMigrationType, migrationTypes))
	}
	if w := c.PerpetualStorageWiggle; w != nil && *w != 0 && *w != 1 {
		errs = append(errs, fmt.Errorf("perpetual storage wiggle %d: must be 0 or 1", *w))
	}
	if l := c.PerpetualStorageWiggleLocality; l != nil && !ValidWiggleLocality(*l) {
		errs = append(errs, fmt.Errorf("perpetual storage wiggle locality %q: must be key:value or 0", *l))
	}
	if e := c.PerpetualStorageWiggleEngine; e != nil {
		errs = append(errs, oneOf("perpetual storage wiggle engine", *e, append([]string{"none"}, storageEngines...)))
	}
	return errors.Join(errs...)
}

// maxRegions is how many regions a database can have. Source: FoundationDB calls any
// configuration with more invalid.
const maxRegions = 2

func (c Configuration) checkRegions() error {
	if c.UsableRegions > max(1, len(c.Regions)) {
		return fmt.Errorf("usable_regions %d: there %s %s", c.UsableRegions, phrase.Is(len(c.Regions)), phrase.Count(len(c.Regions), "region"))
	}
	if len(c.Regions) > maxRegions {
		return fmt.Errorf("%s: must be at most %d", phrase.Count(len(c.Regions), "region"), maxRegions)
	}
	var errs []error
	if len(c.Regions) > 0 && !slices.ContainsFunc(c.Regions, Region.MayServe) {
		errs = append(errs, errors.New("no region has a priority of 0 or more, so none may serve"))
	}
	mains := map[string]bool{}
	for i, r := range c.Regions {
		if err := r.check(); err != nil {
			errs = append(errs, fmt.Errorf("region %d: %w", i, err))
			continue
		}
		main, _ := r.Main()
		if mains[main.ID] {
			errs = append(errs, fmt.Errorf("region %d: data center %q is the main data center of another region", i, main.ID))
		}
		mains[main.ID] = true
	}
	return errors.Join(errs...)
}

func (r Region) check() error {
	var errs []error
	mains := 0
	for _, dc := range r.DataCenters {
		if err := checkWord("data center", dc.ID); err != nil {
			errs = append(errs, err)
		}
		if dc.Satellite != 0 && dc.Satellite != 1 {
			errs = append(errs, fmt.Errorf("satellite %d of data center %q: must be 0 or 1", dc.Satellite, dc.ID))
		}
		if dc.Satellite == 0 {
			mains++
		}
	}
	if mains != 1 {
		errs = append(errs, fmt.Errorf("%s: must be 1", phrase.Count(mains, "main data center")))
	}
	if r.SatelliteRedundancyMode != "" {
		errs = append(errs, oneOf("satellite redundancy mode", r.SatelliteRedundancyMode, satelliteModes))
	}
	if r.SatelliteLogs < -1 {
		errs = append(errs, fmt.Errorf("satellite_logs %d: must be at least -1", r.SatelliteLogs))
	}
	return errors.Join(errs...)
}

// Main returns the region's main data center.
func (r Region) Main() (DataCenter, bool) {
	i := slices.IndexFunc(r.DataCenters, func(dc DataCenter) bool { return dc.Satellite == 0 })
	if i < 0 {
		return DataCenter{}, false
	}
	return r.DataCenters[i], true
}

// MayServe reports whether the region may be primary, which a negative priority
// prevents.
func (r Region) MayServe() bool {
	main, ok := r.Main()
	return ok && main.Priority >= 0
}

// checkWord rejects text that could end a command or a JSON string. The encoder
// would escape it, but it is never intended.
func checkWord(what, text string) error {
	if text == "" {
		return fmt.Errorf("%s must have a name", what)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`;"'\`, r) }) {
		return fmt.Errorf("%s %q: must not have control, quote, backslash, semicolon or non-ASCII characters", what, text)
	}
	return nil
}

func oneOf(what, text string, known []string) error {
	if slices.Contains(known, text) {
		return nil
	}
	return fmt.Errorf("%s %q: must be one of %s", what, text, strings.Join(known, ", "))
}

// Redundancy modes that can be configured.
const (
	RedundancySingle        = "single"
	RedundancyDouble        = "double"
	RedundancyTriple        = "triple"
	RedundancyThreeDataHall = "three_data_hall"
)

// coordinatorsOfManyFailureDomains is how many coordinators survive the loss of a
// data center or data hall together with one more zone.
const coordinatorsOfManyFailureDomains = 9

// FaultTolerance returns how many fault domains may fail at once in this mode
// without loss of data. An empty mode means double; an unknown one tolerates
// nothing.
func FaultTolerance(mode string) int {
	domains, known := MinimumFaultDomains(mode)
	if !known {
		return 0
	}
	return domains - 1
}

// MinimumFaultDomains returns how many fault domains hold a replica of each piece of data.
// An empty mode means double. It is unknown for modes that cannot be configured, such as
// three_data_hall_fallback.
func MinimumFaultDomains(mode string) (n int, known bool) {
	switch mode {
	case RedundancySingle:
		return 1, true
	case RedundancyDouble, "":
		return 2, true
	case RedundancyTriple, RedundancyThreeDataHall:
		return 3, true
	default:
		return 0, false
	}
}

// Replicas returns how many replicas of all data a configuration keeps: the reported
// number, otherwise that of its mode. It is unknown without either, and for a mode that
// cannot be configured.
func (c Configuration) Replicas() (n int, known bool) {
	switch {
	case c.StorageReplicas > 0:
		return c.StorageReplicas, true
	case c.RedundancyMode != "":
		return MinimumFaultDomains(c.RedundancyMode)
	default:
		return 0, false
	}
}

// DesiredCoordinators returns how many coordinators a database should have.
func DesiredCoordinators(mode string, usableRegions int) int {
	if usableRegions > 1 || mode == RedundancyThreeDataHall {
		return coordinatorsOfManyFailureDomains
	}
	return 2*FaultTolerance(mode) + 1
}
