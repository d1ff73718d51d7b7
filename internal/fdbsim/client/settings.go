package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// ConfigureRequest is what a configure command asks for.
type ConfigureRequest struct {
	// New creates the database.
	New bool
	// Force leaves out what fdbcli checks about the change.
	Force bool
	// Locked locks the new database.
	Locked bool
	// Settings are the settings to write, by their name below \xff/conf/.
	Settings map[string]string
	// Notes is what fdbcli prints about the words.
	Notes string
}

// ErrUsage means that the words of a command are not those that it takes.
var ErrUsage = errors.New("invalid arguments")

// ParseConfigure reads the words of a configure command: what is to be set, and before it FORCE and new.
func ParseConfigure(words []string) (ConfigureRequest, error) {
	r := ConfigureRequest{Settings: map[string]string{}}
	words = r.takePrefix(words)
	if len(words) == 0 {
		return r, ErrUsage
	}
	for _, word := range words {
		values, err := r.word(word)
		if err != nil {
			return r, err
		}
		for name, value := range values {
			if _, twice := r.Settings[name]; twice {
				return r, ErrUsage
			}
			r.Settings[name] = value
		}
	}
	if r.New && !r.complete() {
		return r, ErrUsage
	}
	return r, nil
}

func (r *ConfigureRequest) takePrefix(words []string) []string {
	if len(words) > 0 && words[0] == "FORCE" {
		r.Force = true
		words = words[1:]
	}
	if len(words) > 0 && words[0] == "new" {
		r.New = true
		words = words[1:]
	}
	return words
}

// complete reports whether a new database knows how to keep its data.
func (r *ConfigureRequest) complete() bool {
	_, mode := r.Settings["storage_replicas"]
	_, engine := r.Settings["storage_engine"]
	return mode && engine
}

// word is what one word sets.
func (r *ConfigureRequest) word(word string) (map[string]string, error) {
	if word == "locked" {
		r.Locked = true
		return nil, nil
	}
	if values, ok := modeValues[word]; ok {
		return values, nil
	}
	if values, ok := engineValues(word); ok {
		return values, nil
	}
	if name, value, raw := strings.Cut(word, ":="); raw {
		return map[string]string{name: value}, nil
	}
	name, value, found := strings.Cut(word, "=")
	if !found {
		return nil, ErrUsage
	}
	return r.setting(name, value)
}

// modeValues are the settings of the redundancy modes.
var modeValues = makeModeValues()

func makeModeValues() map[string]map[string]string {
	modes := map[string]map[string]string{}
	for mode, p := range model.RedundancyModes {
		modes[mode] = map[string]string{
			"storage_replicas":           strconv.Itoa(p.Storage.Replicas()),
			"log_replicas":               strconv.Itoa(p.Log.Replicas()),
			"log_anti_quorum":            "0",
			"storage_replication_policy": p.Storage.Encode(),
			"log_replication_policy":     p.Log.Encode(),
		}
	}
	remote := func(mode string, n int) {
		modes[mode] = map[string]string{
			"remote_log_replicas": strconv.Itoa(n), "remote_log_policy": model.AcrossZones(n).Encode(),
		}
	}
	remote("remote_single", 1)
	remote("remote_double", 2)
	remote("remote_triple", 3)
	modes["remote_default"] = map[string]string{"remote_log_replicas": "0", "remote_log_policy": ""}
	return modes
}

// engineSpellings are the engines by the words that choose them: storage
// engine and log engine.
var engineSpellings = map[string][2]int{
	"ssd": {2, 2}, "ssd-2": {2, 2}, "ssd-1": {0, 0}, "memory": {1, 2}, "memory-2": {1, 2}, "memory-1": {1, 1},
	"ssd-redwood-1": {3, 2}, "ssd-redwood-1-experimental": {3, 2}, "memory-radixtree-beta": {4, 2}, "memory-radixtree": {4, 2},
	"ssd-rocksdb-v1": {5, 2}, "ssd-sharded-rocksdb": {6, 2},
}

func engineValues(word string) (map[string]string, bool) {
	e, ok := engineSpellings[word]
	if !ok {
		return nil, false
	}
	return map[string]string{"storage_engine": strconv.Itoa(e[0]), "log_engine": strconv.Itoa(e[1])}, true
}

// plainNumbers are the settings that take a number.
var plainNumbers = model.Set("logs", "commit_proxies", "grv_proxies", "resolvers", "remote_logs", "log_routers", "usable_regions",
	"repopulate_anti_quorum")

func (r *ConfigureRequest) setting(name, value string) (map[string]string, error) {
	switch {
	case plainNumbers[name]:
		if _, err := strconv.Atoi(value); err != nil {
			return nil, ErrUsage
		}
		return map[string]string{name: value}, nil
	case name == "count":
		return map[string]string{"tss_count": value}, nil
	case name == "proxies":
		return r.proxies(value)
	case name == "regions":
		return regionValues(value)
	case name == "storage_engine" || name == "log_engine":
		e, ok := engineSpellings[value]
		if !ok {
			return nil, ErrUsage
		}
		return map[string]string{name: strconv.Itoa(e[0])}, nil
	default:
		return r.choice(name, value)
	}
}

func (r *ConfigureRequest) choice(name, value string) (map[string]string, error) {
	if c, ok := model.Choices[name]; ok {
		stored, valid := c.Stored[value]
		if !valid {
			r.Notes += choiceError(name, value, c.Valid)
			return nil, ErrUsage
		}
		return map[string]string{name: stored}, nil
	}
	switch name {
	case "perpetual_storage_wiggle_engine":
		return wiggleEngine(value)
	case "perpetual_storage_wiggle_locality":
		if value != "0" && !strings.Contains(value, ":") {
			r.Notes += "Error: perpetual_storage_wiggle_locality should be in <locality_key>:<locality_value> format or enter 0 to disable the locality match for wiggling.\n"
			return nil, ErrUsage
		}
		return map[string]string{name: value}, nil
	default:
		return nil, ErrUsage
	}
}

func choiceError(name, value, valid string) string {
	switch name {
	case "perpetual_storage_wiggle":
		if _, err := strconv.Atoi(value); err != nil {
			return ""
		}
		return "Error: Only 0 and 1 are valid values of perpetual_storage_wiggle at present.\n"
	case "blob_granules_enabled":
		return "Error: Only 0 or 1 are valid values for blob_granules_enabled. 1 enables blob granules and 0 disables them.\n"
	default:
		return fmt.Sprintf("Error: Only %s are valid for %s.\n", valid, name)
	}
}

func wiggleEngine(value string) (map[string]string, error) {
	if value == "none" {
		return map[string]string{"perpetual_storage_wiggle_engine": "7"}, nil
	}
	e, ok := engineSpellings[value]
	if !ok {
		return nil, ErrUsage
	}
	return map[string]string{"perpetual_storage_wiggle_engine": strconv.Itoa(e[0])}, nil
}

// proxies splits a count of proxies into the two kinds.
func (r *ConfigureRequest) proxies(value string) (map[string]string, error) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return nil, ErrUsage
	}
	r.Notes += "Warning: Proxy role is being split into GRV Proxy and Commit Proxy, now prefer configuring 'grv_proxies' and " +
		"'commit_proxies' separately. Generally we should follow that 'commit_proxies' is three times of 'grv_proxies' count and " +
		"'grv_proxies' should be not more than 4.\n"
	if n < 2 {
		r.Notes += "Error: At least 2 proxies (1 GRV proxy and 1 Commit proxy) are required.\n"
		return nil, ErrUsage
	}
	grv := max(1, min(4, n/4))
	r.Notes += fmt.Sprintf("%d proxies are automatically converted into %d GRV proxies and %d Commit proxies.\n", n, grv, n-grv)
	return map[string]string{"grv_proxies": strconv.Itoa(grv), "commit_proxies": strconv.Itoa(n - grv)}, nil
}

// regionValues stores the JSON of regions=, which FoundationDB reads as far as
// it goes and never refuses for being broken.
func regionValues(text string) (map[string]string, error) {
	parsed := lenientJSON(text)
	if hasTextPriority(parsed) {
		return nil, model.ErrUnknown
	}
	document, err := json.Marshal(map[string]any{"regions": parsed})
	if err != nil {
		return nil, model.ErrUnknown
	}
	return map[string]string{"regions": model.EncodeRegions(string(document))}, nil
}

func hasTextPriority(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, hasTextPriority)
	case map[string]any:
		if _, text := v["priority"].(string); text {
			return true
		}
		return hasTextPriority(v["datacenters"])
	}
	return false
}
