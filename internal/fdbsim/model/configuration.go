package model

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

const confPrefix = "\xff/conf/"

// Region is one region of the configuration.
type Region struct {
	DataCenters   []DataCenter `json:"datacenters"`
	SatelliteMode string       `json:"satellite_redundancy_mode,omitempty"`
	SatelliteLogs int          `json:"satellite_logs,omitempty"`
}

// DataCenter is one data center of a region.
type DataCenter struct {
	ID        string `json:"id"`
	Priority  int    `json:"priority"`
	Satellite int    `json:"satellite,omitempty"`
}

// Main is the data center that holds the region's data.
func (r Region) Main() DataCenter {
	for _, dc := range r.DataCenters {
		if dc.Satellite == 0 {
			return dc
		}
	}
	return DataCenter{}
}

// satellites are the IDs of the region's satellite data centers, by priority.
func (r Region) satellites() []string {
	var ids []string
	for _, dc := range r.DataCenters {
		if dc.Satellite != 0 {
			ids = append(ids, dc.ID)
		}
	}
	return ids
}

// satelliteReplicas is how many copies of the log each satellite mode keeps, and
// in how many data centers.
var satelliteReplicas = map[string]struct{ replicas, dcs int }{
	"one_satellite_single": {1, 1},
	"one_satellite_double": {2, 1},
	"one_satellite_triple": {3, 1},
	"two_satellite_safe":   {4, 2},
	"two_satellite_fast":   {4, 2},
}

// Configuration is what the keys below \xff/conf/ mean.
type Configuration struct {
	Redundancy    string
	StoragePolicy Policy
	logPolicy     Policy
	antiQuorum    int
	Logs          int
	CommitProxies int
	GrvProxies    int
	Resolvers     int
	routers       int
	remoteLogs    int
	UsableRegions int
	Regions       []Region
	Values        map[string]string
}

// redundancyMode is where a mode puts replicas of data and of logs.
type redundancyMode struct{ Storage, Log Policy }

// RedundancyModes are the modes by the name that status gives them.
var RedundancyModes = map[string]redundancyMode{
	"single":          {AcrossZones(1), AcrossZones(1)},
	"double":          {AcrossZones(2), AcrossZones(2)},
	"triple":          {AcrossZones(3), AcrossZones(3)},
	"three_data_hall": {Policy{{fdb.LocalityDataHall, 3}}, Policy{{fdb.LocalityDataHall, 2}, {fdb.LocalityZoneID, 2}}},
	"three_data_hall_fallback": {
		Policy{{fdb.LocalityDataHall, 2}, {fdb.LocalityZoneID, 1}}, Policy{{fdb.LocalityDataHall, 2}, {fdb.LocalityZoneID, 2}},
	},
	"three_datacenter":          {Policy{{fdb.LocalityDCID, 3}, {fdb.LocalityZoneID, 2}}, Policy{{fdb.LocalityDCID, 2}, {fdb.LocalityZoneID, 2}}},
	"three_datacenter_fallback": {Policy{{fdb.LocalityDCID, 2}, {fdb.LocalityZoneID, 2}}, Policy{{fdb.LocalityDCID, 2}, {fdb.LocalityZoneID, 2}}},
}

// modeOrder is the order in which stored values are matched to a mode.
var modeOrder = []string{
	"single", "double", "triple", "three_data_hall", "three_data_hall_fallback", "three_datacenter", "three_datacenter_fallback",
}

// Counts of roles that apply when the configuration does not name them.
const (
	defaultLogs          = 3
	defaultCommitProxies = 3
	defaultGrvProxies    = 1
	defaultResolvers     = 1
)

// Configuration returns the configuration in force. Callers must not change
// its lists and maps.
func (db *Database) Configuration() Configuration {
	db.system.refresh(db)
	return db.system.configuration
}

// confValues are the settings below \xff/conf/, exclusions left out.
func (db *Database) confValues() map[string]string {
	values := map[string]string{}
	for _, p := range db.Keys.LatestRange(confPrefix, "\xff/conf0") {
		name := strings.TrimPrefix(p.Key, confPrefix)
		if isSetting(name) {
			values[name] = string(p.Value)
		}
	}
	return values
}

func isSetting(name string) bool {
	return !strings.HasPrefix(name, "excluded") && !strings.HasPrefix(name, "failed")
}

// ConfigurationOf reads a configuration from its stored settings.
func ConfigurationOf(values map[string]string) Configuration {
	c := Configuration{
		Logs:          Number(values, "logs", defaultLogs),
		CommitProxies: Number(values, "commit_proxies", defaultCommitProxies),
		GrvProxies:    Number(values, "grv_proxies", defaultGrvProxies),
		Resolvers:     Number(values, "resolvers", defaultResolvers),
		routers:       Number(values, "log_routers", -1),
		remoteLogs:    Number(values, "remote_logs", -1),
		UsableRegions: Number(values, "usable_regions", 1),
		antiQuorum:    Number(values, "log_anti_quorum", 0),
		Regions:       effectiveRegions(values["regions"]),
		Values:        values,
	}
	c.Redundancy = redundancyOf(values)
	mode := RedundancyModes[c.Redundancy]
	c.StoragePolicy, c.logPolicy = mode.Storage, mode.Log
	return c
}

// Number is a stored number; -1 asks for the default.
func Number(values map[string]string, name string, byDefault int) int {
	n, err := strconv.Atoi(values[name])
	if err != nil || (n == -1 && byDefault > 0) {
		return byDefault
	}
	return n
}

// redundancyOf names the mode of the stored values, "" when it has no name.
func redundancyOf(values map[string]string) string {
	for _, mode := range modeOrder {
		if values["storage_replication_policy"] == RedundancyModes[mode].Storage.Encode() &&
			values["log_replication_policy"] == RedundancyModes[mode].Log.Encode() {
			return mode
		}
	}
	return ""
}

// versionedPrefix starts every stored object: the flag and the protocol of the
// writer.
const versionedPrefix = "\x01\x00\x01b\xb0\x00\xdb\x0f"

// Encode is the policy as it is stored: Across(n, locality, …) around One.
func (p Policy) Encode() string {
	return versionedPrefix + p.encodeBare()
}

func (p Policy) encodeBare() string {
	if len(p) == 0 || (len(p) == 1 && p[0].count == 1) {
		return littleString("One")
	}
	return littleString("Across") + littleString(p[0].locality) + little32(p[0].count) + p[1:].encodeBare()
}

func little32(n int) string {
	return string([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}) //nolint:gosec // the four bytes of a small number
}

func littleString(s string) string { return little32(len(s)) + s }

// EncodeRegions wraps the JSON of regions= as it is stored.
func EncodeRegions(text string) string { return versionedPrefix + littleString(text) }

// effectiveRegions are the regions that the stored value results in: none when
// any of them cannot be used.
func effectiveRegions(stored string) []Region {
	if len(stored) < len(versionedPrefix)+4 {
		return nil
	}
	var document struct {
		Regions []Region `json:"regions"`
	}
	if err := json.Unmarshal([]byte(stored[len(versionedPrefix)+4:]), &document); err != nil {
		return nil
	}
	for _, r := range document.Regions {
		if len(r.DataCenters) == 0 {
			return nil
		}
		if _, known := satelliteReplicas[r.SatelliteMode]; r.SatelliteMode != "" && !known {
			return nil
		}
	}
	stable.Sort(document.Regions, func(a, b Region) int { return b.Main().Priority - a.Main().Priority })
	return document.Regions
}

// engineNames are the storage engines by their stored number.
var engineNames = []string{
	"ssd-1", "memory", "ssd-2", "ssd-redwood-1", "memory-radixtree-beta", "ssd-rocksdb-v1", "ssd-sharded-rocksdb", "none",
}

// EngineName is the name of a storage engine by the number under which it is stored.
func EngineName(number int) string {
	if number < 0 || number >= len(engineNames) {
		return fmt.Sprintf("unknown-%d", number)
	}
	return engineNames[number]
}

// StorageEngine is the name of the configured engine as status gives it.
func (c Configuration) StorageEngine() string {
	return EngineName(Number(c.Values, "storage_engine", EngineSSD2))
}

// EngineSSD2 is the stored number of the engine ssd-2.
const EngineSSD2 = 2
