package fdb

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// serverOptions are the options of fdbserver that take a value, by their long names. An option that takes none is
// refused with one.
// Source: the table of options in fdbserver.actor.cpp, and that of TLS, 7.1 to 7.4.
var serverOptions = []string{
	"cluster_file", "seed_cluster_file", "seed_connection_string", "role", "public_address", "listen_address",
	"data_filesystem", "rsssize", "datadir", "logdir", "logsize", "maxlogs", "maxlogssize", "loggroup", "parentpid", "tracer",
	"kvfile", "testfile", "seed", "key", "memory", "memory_vsize", "storage_memory", "cache_memory",
	"machine_id", "datacenter_id", "class", "buggify", "network", "traceclock", "num_testers", "code_probes", "testservers",
	"metrics_cluster", "metrics_prefix", "io_trust_seconds", "trace_format", "whitelist_binpath",
	"blob_credential_file", "blob_credentials", "proxy", "config_path", "fault_injection", "process_name", "process_endpoint",
	"new_cluster_key", "authorization_public_key_file", "discover_kms_conn_url_file", "kms_connector_type",
	"kms_conn_validation_token_details", "kms_conn_get_encryption_keys_endpoint",
	"kms_conn_get_latest_encryption_keys_endpoint", "kms_conn_get_blob_metadata_endpoint", "use_future_protocol_version",
	"tls_plugin", "tls_certificate_file", "tls_key_file", "tls_ca_file", "tls_verify_peers", "tls_password",
}

// serverOptionFamilies are how options begin whose names fdbserver does not list.
var serverOptionFamilies = []string{"knob_", "locality_", "test_", "profiler_", "trusted_subnet_"}

// IsServerOption reports whether fdbserver takes an option of this name with a value. Dashes and underscores are the
// same; upper and lower case are not.
func IsServerOption(name string) bool {
	name = strings.ReplaceAll(name, "-", "_")
	return slices.Contains(serverOptions, name) || slices.ContainsFunc(serverOptionFamilies, func(family string) bool {
		return strings.HasPrefix(name, family)
	})
}

// ServerOptionsFor returns the names that a mistyped option may mean: all options, and the name with the beginning of
// each family in place of its first word.
func ServerOptionsFor(typed string) []string {
	meant := slices.Clone(serverOptions)
	_, rest, has := strings.Cut(strings.ReplaceAll(typed, "-", "_"), "_")
	if !has {
		return meant
	}
	for _, family := range serverOptionFamilies {
		meant = append(meant, family+rest)
	}
	return meant
}

// optionValue is what fdbserver takes as the value of an option.
type optionValue struct {
	must string
	ok   func(string) bool
}

// serverOptionValues are the options with whose value fdbserver does not start if it cannot read it. Of other
// options it takes any value, or only prints a warning, as of knobs.
// Source: parseArgsInternal in fdbserver.actor.cpp, 7.1 to 7.4.
var serverOptionValues = map[string]optionValue{
	"memory": memoryValue, "memory_vsize": memoryValue, "storage_memory": memoryValue, "cache_memory": memoryValue,
	"logsize": sizeValue, "maxlogssize": sizeValue,
	"maxlogs": matching("must be a number", `^[0-9]+$`), "rsssize": matching("must be a number of bytes", `^[0-9]+$`),
	"seed":             matching("must be a number", `^(0[xX][0-9a-fA-F]+|[0-9]+)$`),
	"io_trust_seconds": matching("must be a number of seconds", `^[+-]?\.?[0-9]`),
	"num_testers":      matching("must be a number", `^[+-]?[0-9]`),
	"buggify":          choice("on", "off"), "fault_injection": choice("on", "off"),
	"traceclock": choice("now", "realtime"), "network": choice("net2", "net2-threadpool"),
	"role": choice("fdbd"), // with another one it is no server
}

const unitNames = "B, KB, KiB, MB, MiB, GB, GiB, TB or TiB"

var (
	memoryValue = optionValue{must: "must be a number, with a unit unless it is MiB: " + unitNames, ok: func(value string) bool {
		_, err := ParseMemory(value)
		return err == nil
	}}
	sizeValue = matching("must be a number with a unit: "+unitNames, `^[0-9]+(B|[KMGT]i?B)$`)
)

func matching(must, pattern string) optionValue {
	return optionValue{must: must, ok: regexp.MustCompile(pattern).MatchString}
}

func choice(values ...string) optionValue {
	return optionValue{must: "must be " + strings.Join(values, " or "), ok: func(value string) bool { return slices.Contains(values, value) }}
}

// ServerOptionNeeds returns what the value of an option must be, where fdbserver would not start with this one; empty
// where it would. Dashes and underscores of the name are the same.
func ServerOptionNeeds(name, value string) string {
	want, judged := serverOptionValues[strings.ReplaceAll(name, "-", "_")]
	if !judged || want.ok(value) {
		return ""
	}
	return want.must
}

var memoryUnits = map[string]int64{
	"": 1 << 20, "B": 1, "KB": 1e3, "KiB": 1 << 10, "MB": 1e6, "MiB": 1 << 20, "GB": 1e9, "GiB": 1 << 30, "TB": 1e12, "TiB": 1 << 40,
}

// ParseMemory reads the value of fdbserver's option memory, in bytes: a number with a unit, which is MiB where it has
// none. Units are written as fdbserver does, 8GiB where Kubernetes has 8Gi.
// Source: parse_with_suffix in flow.cpp.
func ParseMemory(text string) (bytes int64, err error) {
	digits := strings.TrimRight(text, "BKMGTi")
	unit, known := memoryUnits[text[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !known || n < 0 {
		return 0, fmt.Errorf("parse memory %q: want a number and one of the units %s", text, unitNames)
	}
	return n * unit, nil
}
