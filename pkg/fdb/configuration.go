package fdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Configuration is the configuration of a database, reported or desired. A zero
// role count is not reported, or not set.
type Configuration struct {
	// RedundancyMode is absent from the status document of a database with
	// custom replication policies.
	RedundancyMode string `json:"redundancy_mode,omitempty"`
	StorageEngine  string `json:"storage_engine,omitempty"`
	UsableRegions  int    `json:"usable_regions,omitempty"`
	// Regions are in no particular order.
	Regions []Region `json:"regions,omitempty"`

	Logs          int `json:"logs,omitempty"`
	Proxies       int `json:"proxies,omitempty"`
	CommitProxies int `json:"commit_proxies,omitempty"`
	GrvProxies    int `json:"grv_proxies,omitempty"`
	Resolvers     int `json:"resolvers,omitempty"`
	// LogRouters and RemoteLogs are -1 when left to the database.
	LogRouters int `json:"log_routers,omitempty"`
	RemoteLogs int `json:"remote_logs,omitempty"`

	LogSpill   int `json:"log_spill,omitempty"`
	LogVersion int `json:"log_version,omitempty"`

	// The next four are left alone when nil.
	StorageMigrationType           *string `json:"storage_migration_type,omitempty"`
	PerpetualStorageWiggle         *int    `json:"perpetual_storage_wiggle,omitempty"`
	PerpetualStorageWiggleLocality *string `json:"perpetual_storage_wiggle_locality,omitempty"`
	PerpetualStorageWiggleEngine   *string `json:"perpetual_storage_wiggle_engine,omitempty"`

	// The following fields are reported and never configured from here.

	ExcludedServers []ExcludedServer `json:"excluded_servers,omitempty"`
	// StorageReplicas and LogReplicas are reported only for custom policies, which have
	// no mode.
	StorageReplicas int `json:"storage_replicas,omitempty"`
	LogReplicas     int `json:"log_replicas,omitempty"`
	// CoordinatorsCount is nil when not reported.
	CoordinatorsCount *int `json:"coordinators_count,omitempty"`
	// The next three are features that FoundationDB 8.0 removes. TenantMode and
	// EncryptionAtRestMode are "disabled", or absent, while the feature is off;
	// BlobGranulesEnabled is 1 while it is on.
	TenantMode           string `json:"tenant_mode,omitempty"`
	EncryptionAtRestMode string `json:"encryption_at_rest_mode,omitempty"`
	BlobGranulesEnabled  int    `json:"blob_granules_enabled,omitempty"`
}

// Region is a main data center, its satellites, and how satellites are used.
type Region struct {
	DataCenters             []DataCenter `json:"datacenters,omitempty"`
	SatelliteLogs           int          `json:"satellite_logs,omitempty"`
	SatelliteRedundancyMode string       `json:"satellite_redundancy_mode,omitempty"`
}

// DataCenter is one data center of a region.
type DataCenter struct {
	// ID equals the dcid locality of the data center's processes.
	ID string `json:"id,omitempty"`
	// Priority decides which main data center becomes primary: the higher one;
	// never a negative one.
	Priority int `json:"priority"`
	// Satellite is 1 for a satellite, 0 for the main data center.
	Satellite int `json:"satellite,omitempty"`
}

// ExcludedServer is one exclusion: by address, or by locality.
type ExcludedServer struct {
	Address  string `json:"address,omitempty"`
	Locality string `json:"locality,omitempty"`
}

// Target returns the exclusion as an argument of the exclude command.
func (e ExcludedServer) Target() string {
	if e.Locality != "" {
		return e.Locality
	}
	return e.Address
}

// Tokens returns the arguments of the configure command, unescaped. It
// returns an error for a configuration that fails Check.
func (c Configuration) Tokens() ([]string, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("check configuration: %w", err)
	}
	regions, err := regionsJSON(c.Regions)
	if err != nil {
		return nil, err
	}
	tokens := []string{c.RedundancyMode, c.StorageEngine}
	tokens = append(tokens, c.countTokens()...)
	tokens = append(tokens, "regions="+regions)
	return append(tokens, c.migrationTokens()...), nil
}

func (c Configuration) countTokens() []string {
	tokens := []string{
		number("usable_regions=", c.UsableRegions),
		number("logs=", c.Logs),
		number("resolvers=", c.Resolvers),
		number("log_routers=", c.LogRouters),
		number("remote_logs=", c.RemoteLogs),
	}
	if c.SeparateProxies() {
		tokens = append(tokens, number("commit_proxies=", c.CommitProxies), number("grv_proxies=", c.GrvProxies))
	} else {
		tokens = append(tokens, number("proxies=", c.Proxies))
	}
	if c.LogSpill != 0 {
		tokens = append(tokens, number("log_spill:=", c.LogSpill))
	}
	if c.LogVersion != 0 {
		tokens = append(tokens, number("log_version:=", c.LogVersion))
	}
	return tokens
}

func (c Configuration) migrationTokens() []string {
	var tokens []string
	if c.StorageMigrationType != nil {
		tokens = append(tokens, "storage_migration_type="+*c.StorageMigrationType)
	}
	if c.PerpetualStorageWiggle != nil {
		tokens = append(tokens, number("perpetual_storage_wiggle=", *c.PerpetualStorageWiggle))
	}
	if c.PerpetualStorageWiggleLocality != nil {
		tokens = append(tokens, "perpetual_storage_wiggle_locality="+*c.PerpetualStorageWiggleLocality)
	}
	if c.PerpetualStorageWiggleEngine != nil {
		tokens = append(tokens, "perpetual_storage_wiggle_engine="+*c.PerpetualStorageWiggleEngine)
	}
	return tokens
}

func number(key string, n int) string { return key + strconv.Itoa(n) }

// SeparateProxies reports whether commit and GRV proxies are counted
// separately.
func (c Configuration) SeparateProxies() bool { return c.CommitProxies > 0 || c.GrvProxies > 0 }

// regionsJSON returns the value of regions=; "[]" for none.
func regionsJSON(regions []Region) (string, error) {
	if len(regions) == 0 {
		return "[]", nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(regions); err != nil {
		return "", fmt.Errorf("encode regions: %w", err)
	}
	return string(bytes.TrimSpace(out.Bytes())), nil
}

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
