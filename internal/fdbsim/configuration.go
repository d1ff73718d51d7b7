package fdbsim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

const confPrefix = "\xff/conf/"

// region is one region of the configuration.
type region struct {
	DataCenters   []regionDC `json:"datacenters"`
	SatelliteMode string     `json:"satellite_redundancy_mode,omitempty"`
	SatelliteLogs int        `json:"satellite_logs,omitempty"`
}

// regionDC is one data centre of a region.
type regionDC struct {
	ID        string `json:"id"`
	Priority  int    `json:"priority"`
	Satellite int    `json:"satellite,omitempty"`
}

// main is the data centre that holds the region's data.
func (r region) main() regionDC {
	for _, dc := range r.DataCenters {
		if dc.Satellite == 0 {
			return dc
		}
	}
	return regionDC{}
}

// satellites are the IDs of the region's satellite data centres, by priority.
func (r region) satellites() []string {
	var ids []string
	for _, dc := range r.DataCenters {
		if dc.Satellite != 0 {
			ids = append(ids, dc.ID)
		}
	}
	return ids
}

// satelliteReplicas is how many copies of the log each satellite mode keeps, and
// in how many data centres.
var satelliteReplicas = map[string]struct{ replicas, dcs int }{
	"one_satellite_single": {1, 1},
	"one_satellite_double": {2, 1},
	"one_satellite_triple": {3, 1},
	"two_satellite_safe":   {4, 2},
	"two_satellite_fast":   {4, 2},
}

// configuration is what the keys below \xff/conf/ mean.
type configuration struct {
	redundancy    string
	storagePolicy policy
	logPolicy     policy
	antiQuorum    int
	logs          int
	commitProxies int
	grvProxies    int
	resolvers     int
	routers       int
	remoteLogs    int
	usableRegions int
	regions       []region
	values        map[string]string
}

// redundancyModes are the modes by the name that status gives them.
var redundancyModes = map[string]struct{ storage, log policy }{
	"single":          {acrossZones(1), acrossZones(1)},
	"double":          {acrossZones(2), acrossZones(2)},
	"triple":          {acrossZones(3), acrossZones(3)},
	"three_data_hall": {policy{{fdb.LocalityDataHall, 3}}, policy{{fdb.LocalityDataHall, 2}, {fdb.LocalityZoneID, 2}}},
	"three_data_hall_fallback": {
		policy{{fdb.LocalityDataHall, 2}, {fdb.LocalityZoneID, 1}}, policy{{fdb.LocalityDataHall, 2}, {fdb.LocalityZoneID, 2}},
	},
	"three_datacenter":          {policy{{fdb.LocalityDCID, 3}, {fdb.LocalityZoneID, 2}}, policy{{fdb.LocalityDCID, 2}, {fdb.LocalityZoneID, 2}}},
	"three_datacenter_fallback": {policy{{fdb.LocalityDCID, 2}, {fdb.LocalityZoneID, 2}}, policy{{fdb.LocalityDCID, 2}, {fdb.LocalityZoneID, 2}}},
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

// configuration is the one in force. Nobody may change its lists and maps.
func (db *database) configuration() configuration {
	db.system.refresh(db)
	return db.system.configuration
}

// confValues are the settings below \xff/conf/, exclusions left out.
func (db *database) confValues() map[string]string {
	values := map[string]string{}
	for _, p := range db.keys.latestRange(confPrefix, "\xff/conf0") {
		name := strings.TrimPrefix(p.key, confPrefix)
		if isSetting(name) {
			values[name] = string(p.value)
		}
	}
	return values
}

func isSetting(name string) bool {
	return !strings.HasPrefix(name, "excluded") && !strings.HasPrefix(name, "failed")
}

func configurationOf(values map[string]string) configuration {
	c := configuration{
		logs:          number(values, "logs", defaultLogs),
		commitProxies: number(values, "commit_proxies", defaultCommitProxies),
		grvProxies:    number(values, "grv_proxies", defaultGrvProxies),
		resolvers:     number(values, "resolvers", defaultResolvers),
		routers:       number(values, "log_routers", -1),
		remoteLogs:    number(values, "remote_logs", -1),
		usableRegions: number(values, "usable_regions", 1),
		antiQuorum:    number(values, "log_anti_quorum", 0),
		regions:       effectiveRegions(values["regions"]),
		values:        values,
	}
	c.redundancy = redundancyOf(values)
	mode := redundancyModes[c.redundancy]
	c.storagePolicy, c.logPolicy = mode.storage, mode.log
	return c
}

// number is a stored number; -1 asks for the default.
func number(values map[string]string, name string, byDefault int) int {
	n, err := strconv.Atoi(values[name])
	if err != nil || (n == -1 && byDefault > 0) {
		return byDefault
	}
	return n
}

// redundancyOf names the mode of the stored values, "" when it has no name.
func redundancyOf(values map[string]string) string {
	for _, mode := range modeOrder {
		if values["storage_replication_policy"] == redundancyModes[mode].storage.encode() &&
			values["log_replication_policy"] == redundancyModes[mode].log.encode() {
			return mode
		}
	}
	return ""
}

// versionedPrefix starts every stored object: the flag and the protocol of the
// writer.
const versionedPrefix = "\x01\x00\x01b\xb0\x00\xdb\x0f"

// encode is the policy as it is stored: Across(n, locality, …) around One.
func (p policy) encode() string {
	return versionedPrefix + p.encodeBare()
}

func (p policy) encodeBare() string {
	if len(p) == 0 || (len(p) == 1 && p[0].count == 1) {
		return littleString("One")
	}
	return littleString("Across") + littleString(p[0].locality) + little32(p[0].count) + p[1:].encodeBare()
}

func little32(n int) string {
	return string([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}) //nolint:gosec // the four bytes of a small number
}

func littleString(s string) string { return little32(len(s)) + s }

// encodeRegions wraps the JSON of regions= as it is stored.
func encodeRegions(text string) string { return versionedPrefix + littleString(text) }

// effectiveRegions are the regions that the stored value results in: none when
// any of them cannot be used.
func effectiveRegions(stored string) []region {
	if len(stored) < len(versionedPrefix)+4 {
		return nil
	}
	var document struct {
		Regions []region `json:"regions"`
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
	slices.SortStableFunc(document.Regions, func(a, b region) int { return b.main().Priority - a.main().Priority })
	return document.Regions
}

// engineNames are the storage engines by their stored number.
var engineNames = []string{
	"ssd-1", "memory", "ssd-2", "ssd-redwood-1", "memory-radixtree-beta", "ssd-rocksdb-v1", "ssd-sharded-rocksdb", "none",
}

func engineName(number int) string {
	if number < 0 || number >= len(engineNames) {
		return fmt.Sprintf("unknown-%d", number)
	}
	return engineNames[number]
}

// storageEngine is the name of the configured engine as status gives it.
func (c configuration) storageEngine() string {
	return engineName(number(c.values, "storage_engine", engineSSD2))
}

const engineSSD2 = 2
