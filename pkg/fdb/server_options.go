package fdb

import (
	"slices"
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
