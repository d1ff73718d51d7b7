package fdb

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// unset is how FoundationDB reports a count that is not configured.
const unset = -1

// ResolvedStorageEngine returns the name that a database of this version reports
// after it was configured with engine. For the zero version only aliases with the
// same meaning in all versions are resolved.
func ResolvedStorageEngine(engine string, v Version) string {
	switch engine {
	case "", "ssd":
		return EngineSSD
	case "memory":
		return EngineMemory
	case "ssd-redwood-1-experimental":
		if v.AtLeast(Version{Major: 7, Minor: 3}) {
			return EngineRedwood
		}
	case "memory-radixtree-beta":
		if v.AtLeast(Version{Major: 7, Minor: 4}) {
			return "memory-radixtree"
		}
	}
	return engine
}

// Normalized fills in defaults, sorts regions, resolves engine names and drops
// settings that are only reported or not set in the desired configuration, so that
// the two can be compared. Normalize the desired configuration with itself.
// Settings that it does not set are therefore never reset.
func (c Configuration) Normalized(desired Configuration, v Version) Configuration {
	n := Configuration{
		RedundancyMode: cmp.Or(c.RedundancyMode, RedundancyDouble),
		StorageEngine:  ResolvedStorageEngine(c.StorageEngine, v),
		UsableRegions:  max(c.UsableRegions, 1),
		Regions:        normalizedRegions(c.Regions),
		Logs:           c.Logs,
		Resolvers:      c.Resolvers,
		LogRouters:     cmp.Or(c.LogRouters, unset),
		RemoteLogs:     cmp.Or(c.RemoteLogs, unset),
	}
	if desired.SeparateProxies() {
		n.CommitProxies, n.GrvProxies = c.CommitProxies, c.GrvProxies
	} else {
		n.Proxies = c.Proxies
	}
	if desired.LogSpill != 0 {
		n.LogSpill = c.LogSpill
	}
	if desired.LogVersion != 0 {
		n.LogVersion = c.LogVersion
	}
	n.copyMigration(c, desired, v)
	return n
}

func (c *Configuration) copyMigration(from, desired Configuration, v Version) {
	if desired.StorageMigrationType != nil {
		c.StorageMigrationType = from.StorageMigrationType
	}
	if desired.PerpetualStorageWiggle != nil {
		c.PerpetualStorageWiggle = from.PerpetualStorageWiggle
	}
	if desired.PerpetualStorageWiggleLocality != nil {
		c.PerpetualStorageWiggleLocality = from.PerpetualStorageWiggleLocality
	}
	if desired.PerpetualStorageWiggleEngine != nil && from.PerpetualStorageWiggleEngine != nil {
		engine := *from.PerpetualStorageWiggleEngine
		if engine != "none" && engine != "" {
			engine = ResolvedStorageEngine(engine, v)
		}
		c.PerpetualStorageWiggleEngine = &engine
	}
}

func normalizedRegions(regions []Region) []Region {
	if len(regions) == 0 {
		return nil
	}
	sorted := slices.Clone(regions)
	for i := range sorted {
		sorted[i].DataCenters = slices.SortedFunc(slices.Values(sorted[i].DataCenters), mainThenPriority)
	}
	stable.Sort(sorted, func(a, b Region) int {
		mainA, _ := a.Main()
		mainB, _ := b.Main()
		return mainThenPriority(mainA, mainB)
	})
	return sorted
}

func mainThenPriority(a, b DataCenter) int {
	return cmp.Or(
		cmp.Compare(a.Satellite, b.Satellite),
		cmp.Compare(b.Priority, a.Priority),
		cmp.Compare(a.ID, b.ID),
	)
}

// Equal reports whether a database in configuration c matches the desired one.
func (c Configuration) Equal(desired Configuration, v Version) bool {
	return len(c.Differences(desired, v)) == 0
}

// Difference is one setting that differs from the desired one. Values are as
// in the configure command, "unset" for an absent one.
type Difference struct {
	Setting, Current, Desired string
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: %s, desired %s", d.Setting, d.Current, d.Desired)
}

// Differences returns the settings in which c differs from the desired
// configuration, in the order of the configure command.
func (c Configuration) Differences(desired Configuration, v Version) []Difference {
	have, want := c.Settings(desired, v), desired.Settings(desired, v)
	var different []Difference
	for i := range want {
		if have[i] != want[i] {
			different = append(different, Difference{want[i].Name, have[i].Value, want[i].Value})
		}
	}
	return different
}

// Setting is one comparable setting. Its value is as in the configure command, "unset"
// for an absent one.
type Setting struct{ Name, Value string }

// Settings returns all settings that can be compared with the desired ones, always the
// same ones in the order of the configure command.
func (c Configuration) Settings(desired Configuration, v Version) []Setting {
	return c.Normalized(desired, v).settings()
}

func (c Configuration) settings() []Setting {
	regions, err := regionsJSON(c.Regions)
	if err != nil {
		regions = err.Error() // differs from every encodable value
	}
	return []Setting{
		{"redundancy_mode", c.RedundancyMode},
		{"storage_engine", c.StorageEngine},
		{"usable_regions", number("", c.UsableRegions)},
		{"logs", number("", c.Logs)},
		{"resolvers", number("", c.Resolvers)},
		{"log_routers", number("", c.LogRouters)},
		{"remote_logs", number("", c.RemoteLogs)},
		{"proxies", number("", c.Proxies)},
		{"commit_proxies", number("", c.CommitProxies)},
		{"grv_proxies", number("", c.GrvProxies)},
		{"log_spill", number("", c.LogSpill)},
		{"log_version", number("", c.LogVersion)},
		{"regions", regions},
		{"storage_migration_type", optional(c.StorageMigrationType)},
		{"perpetual_storage_wiggle", optional(c.PerpetualStorageWiggle)},
		{"perpetual_storage_wiggle_locality", optional(c.PerpetualStorageWiggleLocality)},
		{"perpetual_storage_wiggle_engine", optional(c.PerpetualStorageWiggleEngine)},
	}
}

func optional[T any](value *T) string {
	if value == nil {
		return "unset"
	}
	return fmt.Sprint(reflect.ValueOf(value).Elem())
}
