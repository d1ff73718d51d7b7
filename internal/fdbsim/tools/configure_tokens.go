package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/syntax"
)

// configureRequest is what the words of a configure command ask for.
type configureRequest struct {
	create bool
	force  bool
	locked bool
	// values are the settings to write, by their name below \xff/conf/.
	values map[string]string
	// notes is what parsing prints on stdout.
	notes string
}

// configureProblem is what is wrong with the words.
type configureProblem int

const (
	wordsFine configureProblem = iota
	wordsUsage
	wordsUnknownError
)

// parseConfigure reads the words after "configure".
func parseConfigure(words []string) (configureRequest, configureProblem) {
	r := configureRequest{values: map[string]string{}}
	words = r.takePrefix(words)
	if len(words) == 0 {
		return r, wordsUsage
	}
	for _, word := range words {
		values, problem := r.word(word)
		if problem != wordsFine {
			return r, problem
		}
		for name, value := range values {
			if _, twice := r.values[name]; twice {
				return r, wordsUsage
			}
			r.values[name] = value
		}
	}
	if r.create && !r.complete() {
		return r, wordsUsage
	}
	return r, wordsFine
}

func (r *configureRequest) takePrefix(words []string) []string {
	if len(words) > 0 && words[0] == "FORCE" {
		r.force = true
		words = words[1:]
	}
	if len(words) > 0 && words[0] == "new" {
		r.create = true
		words = words[1:]
	}
	return words
}

// complete reports whether a new database knows how to keep its data.
func (r *configureRequest) complete() bool {
	_, mode := r.values["storage_replicas"]
	_, engine := r.values["storage_engine"]
	return mode && engine
}

// word is what one word sets.
func (r *configureRequest) word(word string) (map[string]string, configureProblem) {
	if word == "locked" {
		r.locked = true
		return nil, wordsFine
	}
	if values, ok := modeValues[word]; ok {
		return values, wordsFine
	}
	if values, ok := engineValues(word); ok {
		return values, wordsFine
	}
	if name, value, raw := strings.Cut(word, ":="); raw {
		return map[string]string{name: value}, wordsFine
	}
	name, value, found := strings.Cut(word, "=")
	if !found {
		return nil, wordsUsage
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

func (r *configureRequest) setting(name, value string) (map[string]string, configureProblem) {
	switch {
	case plainNumbers[name]:
		if _, err := strconv.Atoi(value); err != nil {
			return nil, wordsUsage
		}
		return map[string]string{name: value}, wordsFine
	case name == "count":
		return map[string]string{"tss_count": value}, wordsFine
	case name == "proxies":
		return r.proxies(value)
	case name == "regions":
		return regionValues(value)
	case name == "storage_engine" || name == "log_engine":
		e, ok := engineSpellings[value]
		if !ok {
			return nil, wordsUsage
		}
		return map[string]string{name: strconv.Itoa(e[0])}, wordsFine
	default:
		return r.choice(name, value)
	}
}

func (r *configureRequest) choice(name, value string) (map[string]string, configureProblem) {
	if c, ok := model.Choices[name]; ok {
		stored, valid := c.Stored[value]
		if !valid {
			r.notes += choiceError(name, value, c.Valid)
			return nil, wordsUsage
		}
		return map[string]string{name: stored}, wordsFine
	}
	switch name {
	case "perpetual_storage_wiggle_engine":
		return wiggleEngine(value)
	case "perpetual_storage_wiggle_locality":
		if value != "0" && !strings.Contains(value, ":") {
			r.notes += "Error: perpetual_storage_wiggle_locality should be in <locality_key>:<locality_value> format or enter 0 to disable the locality match for wiggling.\n"
			return nil, wordsUsage
		}
		return map[string]string{name: value}, wordsFine
	default:
		return nil, wordsUsage
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

func wiggleEngine(value string) (map[string]string, configureProblem) {
	if value == "none" {
		return map[string]string{"perpetual_storage_wiggle_engine": "7"}, wordsFine
	}
	e, ok := engineSpellings[value]
	if !ok {
		return nil, wordsUsage
	}
	return map[string]string{"perpetual_storage_wiggle_engine": strconv.Itoa(e[0])}, wordsFine
}

// proxies splits a count of proxies into the two kinds.
func (r *configureRequest) proxies(value string) (map[string]string, configureProblem) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return nil, wordsUsage
	}
	r.notes += "Warning: Proxy role is being split into GRV Proxy and Commit Proxy, now prefer configuring 'grv_proxies' and " +
		"'commit_proxies' separately. Generally we should follow that 'commit_proxies' is three times of 'grv_proxies' count and " +
		"'grv_proxies' should be not more than 4.\n"
	if n < 2 {
		r.notes += "Error: At least 2 proxies (1 GRV proxy and 1 Commit proxy) are required.\n"
		return nil, wordsUsage
	}
	grv := max(1, min(4, n/4))
	r.notes += fmt.Sprintf("%d proxies are automatically converted into %d GRV proxies and %d Commit proxies.\n", n, grv, n-grv)
	return map[string]string{"grv_proxies": strconv.Itoa(grv), "commit_proxies": strconv.Itoa(n - grv)}, wordsFine
}

// regionValues stores the JSON of regions=, which FoundationDB reads as far as
// it goes and never refuses for being broken.
func regionValues(text string) (map[string]string, configureProblem) {
	parsed := syntax.LenientJSON(text)
	if hasTextPriority(parsed) {
		return nil, wordsUnknownError
	}
	document, err := json.Marshal(map[string]any{"regions": parsed})
	if err != nil {
		return nil, wordsUnknownError
	}
	return map[string]string{"regions": model.EncodeRegions(string(document))}, wordsFine
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
