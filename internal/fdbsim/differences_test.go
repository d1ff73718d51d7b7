package fdbsim

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// knownDifferences are the steps whose output differs, and why. The comparison
// fails for a difference that is not here, and for an entry that has become
// wrong. docs/fdbsim.md tells of each.
var knownDifferences = map[string]string{
	"01-unconfigured-and-configure-new/24": "status for people has the same figures in fewer lines",
	"01-unconfigured-and-configure-new/25": "status for people has the same figures in fewer lines",
	"01b-small-unconfigured/1":             "the recorded availability line arrived in the same instant as the limit",
	"02a-session-lock-protocol/3":          "the help texts are our own",
	"02c-exec-lexer-and-errors/59":         "the usage text is our own",
	"05-coordinators/22":                   "recorded while storage servers lagged; the model's never do",
	"05-coordinators/37":                   "the recorded availability line won a race of some milliseconds",
	"07b-configure-wedges-the-database/2":  "status for people has the same figures in fewer lines",
	"07c-regions-malformed/9":              "recorded while processes were registering again; the model refuses for good reason only",
	"08-database-unavailable/18":           "status for people has the same figures in fewer lines",
	"08b-all-storage-down/15":              "status for people has the same figures in fewer lines",
	"09-degraded-states/10":                "status for people has the same figures in fewer lines",
	"10-cluster-file-errors/26":            "the model writes no trace files",
	"10-cluster-file-errors/27":            "the model has no external client libraries",
	"10-cluster-file-errors/6":             "a cluster file without a description is refused, as everywhere in this project",
	"13-tls/1":                             "the recorded creation happened to take longer",
	"13-tls/20":                            "the recorded change of coordinators happened to take longer",
	"32-regions/64":                        "status for people has the same figures in fewer lines",
	"32-regions/65":                        "status for people has the same figures in fewer lines",
	"32-regions/93":                        "recorded while data was still leaving another data centre",
	"33-three-data-hall/13":                "which processes `coordinators auto` picks is chance",
	"33-three-data-hall/19":                "which processes `coordinators auto` picks is chance",
	"33-three-data-hall/25":                "status for people has the same figures in fewer lines",
	"33-three-data-hall/3":                 "status for people has the same figures in fewer lines",
	"33-three-data-hall/6":                 "status for people has the same figures in fewer lines",
	"36-regions-new-and-dc-loss/1":         "the recorded creation happened to take longer",
	"36-regions-new-and-dc-loss/14":        "status for people has the same figures in fewer lines",
	"36-regions-new-and-dc-loss/15":        "the recorded database had other keys in it",
}

// differentDocuments are the status documents whose fields differ: why, and
// which fields only the model ("has") or only the recording ("lacks") has.
var differentDocuments = map[string]struct {
	why    string
	fields []string
}{
	"01-unconfigured-and-configure-new/19": {"new proxies hear of their clients a little later", []string{
		"lacks .cluster.clients.supported_versions",
	}},
	"01-unconfigured-and-configure-new/20": {"new proxies hear of their clients a little later", []string{
		"lacks .cluster.clients.supported_versions",
	}},
	"01b-small-unconfigured/8": {"new proxies hear of their clients a little later", []string{
		"lacks .cluster.clients.supported_versions",
	}},
	"03a-exclude-basic/43": {"the recorded exclude returned before the old generation was drained; the model waits for that", []string{
		"has .cluster.data.average_partition_size_bytes",
		"has .cluster.data.moving_data",
		"has .cluster.data.partitions_count",
		"has .cluster.data.state.healthy",
		"has .cluster.data.state.min_replicas_remaining",
		"has .cluster.data.system_kv_size_bytes",
		"has .cluster.data.team_trackers",
		"has .cluster.data.total_kv_size_bytes",
		"lacks .cluster.bounce_impact.reason",
		"lacks .cluster.data.state.description",
		"lacks .cluster.logs[].end_version",
	}},
	"03b-exclude-in-progress/33": {"data distribution was recorded to move to another process; the model keeps it", []string{
		"has .cluster.data.average_partition_size_bytes",
		"has .cluster.data.moving_data",
		"has .cluster.data.partitions_count",
		"has .cluster.data.state.healthy",
		"has .cluster.data.state.min_replicas_remaining",
		"has .cluster.data.system_kv_size_bytes",
		"has .cluster.data.team_trackers",
		"has .cluster.data.total_kv_size_bytes",
		"lacks .cluster.clients.supported_versions",
	}},
	"03c-exclude-dead-process/29": {"the model still rebalances", []string{
		"has .cluster.data.state.description",
		"has .cluster.data.team_trackers[].state.description",
	}},
	"04-kill/12": {"recorded while data was being rebalanced", []string{
		"lacks .cluster.data.state.description",
		"lacks .cluster.data.team_trackers[].state.description",
	}},
	"04-kill/23": {"new proxies hear of their clients a little later", []string{
		"lacks .cluster.clients.supported_versions",
	}},
	"05-coordinators/20": {"recorded while storage servers lagged; the model's never do", []string{
		"lacks .cluster.processes.*.messages[].description",
		"lacks .cluster.processes.*.messages[].name",
		"lacks .cluster.qos.batch_performance_limited_by.reason_server_id",
	}},
	"05-coordinators/24": {"recorded while storage servers lagged; the model's never do", []string{
		"lacks .cluster.processes.*.messages[].description",
		"lacks .cluster.processes.*.messages[].name",
		"lacks .cluster.qos.batch_performance_limited_by.reason_server_id",
	}},
	"05-coordinators/34": {"data distribution was recorded to move to another process; the model keeps it", []string{
		"has .cluster.data.average_partition_size_bytes",
		"has .cluster.data.least_operating_space_bytes_log_server",
		"has .cluster.data.least_operating_space_bytes_storage_server",
		"has .cluster.data.moving_data",
		"has .cluster.data.partitions_count",
		"has .cluster.data.state",
		"has .cluster.data.system_kv_size_bytes",
		"has .cluster.data.team_trackers[].in_flight_bytes",
		"has .cluster.data.team_trackers[].primary",
		"has .cluster.data.team_trackers[].state",
		"has .cluster.data.team_trackers[].unhealthy_servers",
		"has .cluster.data.total_disk_used_bytes",
		"has .cluster.data.total_kv_size_bytes",
		"has .cluster.qos",
		"lacks .cluster.clients.supported_versions",
	}},
	"07-configure/15": {"recorded in the first moments of a recovery", []string{
		"has .cluster.data.least_operating_space_bytes_log_server",
		"has .cluster.data.least_operating_space_bytes_storage_server",
		"has .cluster.data.total_disk_used_bytes",
		"has .cluster.qos",
		"lacks .cluster.messages[].description",
		"lacks .cluster.messages[].name",
		"lacks .cluster.messages[].reasons",
		"lacks .cluster.processes.*.messages[].description",
		"lacks .cluster.processes.*.messages[].name",
	}},
	"07-configure/73": {"recorded after processes had been given data halls by another scenario", []string{
		"lacks .cluster.machines.*.locality.data_hall",
		"lacks .cluster.processes.*.locality.data_hall",
	}},
	"07b-configure-wedges-the-database/1": {"the recorded attempts to recruit left log roles behind", []string{
		"lacks .cluster.processes.*.roles[log].id",
		"lacks .cluster.processes.*.roles[log].role",
	}},
	"07b-configure-wedges-the-database/16": {"recorded in the first moments of a recovery, after a raw key was set by another scenario", []string{
		"has .cluster.data.average_partition_size_bytes",
		"has .cluster.data.moving_data",
		"has .cluster.data.partitions_count",
		"has .cluster.data.state",
		"has .cluster.data.system_kv_size_bytes",
		"has .cluster.data.team_trackers[].in_flight_bytes",
		"has .cluster.data.team_trackers[].primary",
		"has .cluster.data.team_trackers[].state",
		"has .cluster.data.team_trackers[].unhealthy_servers",
		"has .cluster.data.total_kv_size_bytes",
		"lacks .cluster.clients.supported_versions",
		"lacks .cluster.configuration.log_version",
	}},
	"07b-configure-wedges-the-database/6": {"recorded while storage servers lagged; the model's never do", []string{
		"lacks .cluster.clients.supported_versions",
		"lacks .cluster.processes.*.messages[].description",
		"lacks .cluster.processes.*.messages[].name",
	}},
	"08-database-unavailable/1": {"the dead processes were recorded to vanish sooner than elsewhere", []string{
		"has .cluster.messages[].unreachable_processes",
	}},
	"09-degraded-states/17": {"the dead process was recorded to vanish sooner than elsewhere", []string{
		"has .cluster.clients.supported_versions",
		"has .cluster.messages[].description",
		"has .cluster.messages[].name",
		"has .cluster.messages[].reasons",
		"has .cluster.messages[].unreachable_processes",
	}},
	"09-degraded-states/18": {"the model drains an old log generation at its own pace", []string{
		"lacks .cluster.bounce_impact.reason",
		"lacks .cluster.logs[].end_version",
	}},
	"09-degraded-states/20": {"the recovery that the restarted process causes comes later in the model", []string{
		"has .cluster.page_cache",
		"lacks .cluster.bounce_impact.reason",
		"lacks .cluster.logs[].end_version",
	}},
	"09-degraded-states/8": {"little data heals sooner in the model", []string{
		"lacks .cluster.data.state.description",
		"lacks .cluster.data.team_trackers[].state.description",
	}},
	"09c-one-storage-dead-not-yet-noticed/1": {"recorded while data was being rebalanced", []string{
		"lacks .cluster.data.state.description",
		"lacks .cluster.data.team_trackers[].state.description",
	}},
	"09c-one-storage-dead-not-yet-noticed/2": {"recorded while data was being rebalanced", []string{
		"lacks .cluster.data.state.description",
		"lacks .cluster.data.team_trackers[].state.description",
	}},
	"09c-one-storage-dead-not-yet-noticed/3": {"recorded while data was being rebalanced", []string{
		"lacks .cluster.data.state.description",
		"lacks .cluster.data.team_trackers[].state.description",
	}},
	"09c-one-storage-dead-not-yet-noticed/4": {"recorded while data was being rebalanced", []string{
		"lacks .cluster.data.state.description",
		"lacks .cluster.data.team_trackers[].state.description",
	}},
	"09c-one-storage-dead-not-yet-noticed/5": {"recorded while data was being rebalanced", []string{
		"lacks .cluster.data.state.description",
		"lacks .cluster.data.team_trackers[].state.description",
	}},
	"09c-one-storage-dead-not-yet-noticed/6": {"recorded while data was being rebalanced", []string{
		"lacks .cluster.data.state.description",
		"lacks .cluster.data.team_trackers[].state.description",
	}},
	"09c-one-storage-dead-not-yet-noticed/7": {"recorded while data was being rebalanced", []string{
		"lacks .cluster.data.state.description",
		"lacks .cluster.data.team_trackers[].state.description",
	}},
	"09c-one-storage-dead-not-yet-noticed/8": {"recorded while data was being rebalanced", []string{
		"lacks .cluster.data.state.description",
		"lacks .cluster.data.team_trackers[].state.description",
	}},
	"11-extras/52": {"data distribution initialises for another reason in the recording", []string{
		"has .cluster.bounce_impact.reason",
		"has .cluster.data.average_partition_size_bytes",
		"has .cluster.data.moving_data",
		"has .cluster.data.partitions_count",
		"has .cluster.data.state.healthy",
		"has .cluster.data.state.min_replicas_remaining",
		"has .cluster.data.system_kv_size_bytes",
		"has .cluster.data.team_trackers",
		"has .cluster.data.total_kv_size_bytes",
		"has .cluster.logs[].end_version",
	}},
	"12b-dead-log-blocking-exclude/10": {"recorded while storage servers lagged; the model's never do", []string{
		"has .cluster.clients.supported_versions",
		"has .cluster.data.average_partition_size_bytes",
		"has .cluster.data.moving_data",
		"has .cluster.data.partitions_count",
		"has .cluster.data.state.healthy",
		"has .cluster.data.state.min_replicas_remaining",
		"has .cluster.data.system_kv_size_bytes",
		"has .cluster.data.team_trackers",
		"has .cluster.data.total_kv_size_bytes",
		"lacks .cluster.data.state.description",
		"lacks .cluster.processes.*.messages[].description",
		"lacks .cluster.processes.*.messages[].name",
	}},
	"13-tls/15": {"the model drains an old log generation at its own pace", []string{
		"has .cluster.bounce_impact.reason",
		"has .cluster.data.average_partition_size_bytes",
		"has .cluster.data.moving_data",
		"has .cluster.data.partitions_count",
		"has .cluster.data.state.healthy",
		"has .cluster.data.state.min_replicas_remaining",
		"has .cluster.data.system_kv_size_bytes",
		"has .cluster.data.team_trackers",
		"has .cluster.data.total_kv_size_bytes",
		"has .cluster.logs[].end_version",
		"lacks .cluster.data.state.description",
	}},
	"32-regions/10": {"recorded with a storage server that did not report its queue", []string{
		"has .cluster.data.least_operating_space_bytes_storage_server",
		"has .cluster.qos.limiting_data_lag_storage_server",
		"has .cluster.qos.limiting_durability_lag_storage_server",
		"has .cluster.qos.limiting_queue_bytes_storage_server",
		"has .cluster.qos.worst_data_lag_storage_server",
		"has .cluster.qos.worst_durability_lag_storage_server",
		"has .cluster.qos.worst_queue_bytes_storage_server",
	}},
	"32-regions/12": {"recorded with a storage server that did not report its queue", []string{
		"has .cluster.data.least_operating_space_bytes_storage_server",
		"has .cluster.qos.limiting_data_lag_storage_server",
		"has .cluster.qos.limiting_durability_lag_storage_server",
		"has .cluster.qos.limiting_queue_bytes_storage_server",
		"has .cluster.qos.worst_data_lag_storage_server",
		"has .cluster.qos.worst_durability_lag_storage_server",
		"has .cluster.qos.worst_queue_bytes_storage_server",
	}},
	"32-regions/19": {"recorded with a storage server that did not report its queue", []string{
		"has .cluster.data.least_operating_space_bytes_storage_server",
		"has .cluster.data.state.description",
		"has .cluster.qos.limiting_data_lag_storage_server",
		"has .cluster.qos.limiting_durability_lag_storage_server",
		"has .cluster.qos.limiting_queue_bytes_storage_server",
		"has .cluster.qos.worst_data_lag_storage_server",
		"has .cluster.qos.worst_durability_lag_storage_server",
		"has .cluster.qos.worst_queue_bytes_storage_server",
		"lacks .cluster.data.average_partition_size_bytes",
		"lacks .cluster.data.moving_data",
		"lacks .cluster.data.partitions_count",
		"lacks .cluster.data.state.healthy",
		"lacks .cluster.data.state.min_replicas_remaining",
		"lacks .cluster.data.system_kv_size_bytes",
		"lacks .cluster.data.team_trackers",
		"lacks .cluster.data.total_kv_size_bytes",
	}},
	"32-regions/21": {"recorded with a storage server that did not report its queue", []string{
		"has .cluster.data.least_operating_space_bytes_storage_server",
		"has .cluster.data.state.description",
		"has .cluster.qos.limiting_data_lag_storage_server",
		"has .cluster.qos.limiting_durability_lag_storage_server",
		"has .cluster.qos.limiting_queue_bytes_storage_server",
		"has .cluster.qos.worst_data_lag_storage_server",
		"has .cluster.qos.worst_durability_lag_storage_server",
		"has .cluster.qos.worst_queue_bytes_storage_server",
		"lacks .cluster.data.average_partition_size_bytes",
		"lacks .cluster.data.moving_data",
		"lacks .cluster.data.partitions_count",
		"lacks .cluster.data.state.healthy",
		"lacks .cluster.data.state.min_replicas_remaining",
		"lacks .cluster.data.system_kv_size_bytes",
		"lacks .cluster.data.team_trackers",
		"lacks .cluster.data.total_kv_size_bytes",
	}},
	"32-regions/24": {"recorded while storage servers lagged; the model's never do", []string{
		"has .cluster.data.state",
		"lacks .cluster.data.team_trackers",
		"lacks .cluster.processes.*.messages[].description",
		"lacks .cluster.processes.*.messages[].name",
	}},
	"32-regions/27": {"recorded while storage servers lagged; the model's never do", []string{
		"has .cluster.data.state",
		"lacks .cluster.data.team_trackers",
		"lacks .cluster.processes.*.messages[].description",
		"lacks .cluster.processes.*.messages[].name",
	}},
	"32-regions/30": {"recorded in the first moments of a recovery", []string{
		"has .cluster.data.state",
		"lacks .cluster.data.team_trackers",
	}},
	"32-regions/33": {"recorded while storage servers lagged; the model's never do", []string{
		"has .cluster.data.state",
		"lacks .cluster.data.team_trackers",
		"lacks .cluster.processes.*.messages[].description",
		"lacks .cluster.processes.*.messages[].name",
	}},
	"32-regions/37": {"recorded while storage servers lagged; the model's never do", []string{
		"has .cluster.data.state",
		"lacks .cluster.data.team_trackers",
		"lacks .cluster.processes.*.messages[].description",
		"lacks .cluster.processes.*.messages[].name",
	}},
	"32-regions/39": {"recorded while storage servers lagged; the model's never do", []string{
		"has .cluster.data.state",
		"lacks .cluster.data.team_trackers",
		"lacks .cluster.processes.*.messages[].description",
		"lacks .cluster.processes.*.messages[].name",
	}},
	"32-regions/41": {"recorded while storage servers lagged; the model's never do", []string{
		"has .cluster.data.state",
		"lacks .cluster.data.team_trackers",
		"lacks .cluster.processes.*.messages[].description",
		"lacks .cluster.processes.*.messages[].name",
		"lacks .cluster.qos.batch_performance_limited_by.reason_server_id",
		"lacks .cluster.qos.performance_limited_by.reason_server_id",
	}},
	"32-regions/45": {"new proxies hear of their clients at another moment", []string{
		"has .cluster.clients.supported_versions",
	}},
	"32-regions/50": {"new proxies hear of their clients at another moment", []string{
		"lacks .cluster.clients.supported_versions",
	}},
	"32-regions/57": {"recorded in the first moments of a recovery", []string{
		"has .cluster.clients.supported_versions",
		"has .cluster.data.state.description",
		"lacks .cluster.data.average_partition_size_bytes",
		"lacks .cluster.data.moving_data",
		"lacks .cluster.data.partitions_count",
		"lacks .cluster.data.state.healthy",
		"lacks .cluster.data.state.min_replicas_remaining",
		"lacks .cluster.data.system_kv_size_bytes",
		"lacks .cluster.data.team_trackers",
		"lacks .cluster.data.total_kv_size_bytes",
	}},
	"32-regions/58": {"new proxies hear of their clients at another moment", []string{
		"has .cluster.clients.supported_versions",
	}},
	"32-regions/63": {"recorded in the first moments of a recovery", []string{
		"lacks .cluster.data.state.description",
		"lacks .cluster.data.team_trackers[].state.description",
	}},
	"32-regions/69": {"recorded in the first moments of a recovery", []string{
		"has .cluster.data.team_trackers",
		"has .cluster.messages[].description",
		"has .cluster.messages[].name",
		"has .cluster.messages[].reasons",
		"lacks .cluster.data.least_operating_space_bytes_log_server",
		"lacks .cluster.data.least_operating_space_bytes_storage_server",
		"lacks .cluster.data.state",
		"lacks .cluster.data.total_disk_used_bytes",
		"lacks .cluster.qos",
	}},
	"32-regions/74": {"recorded in the first moments of a recovery", []string{
		"has .cluster.data.state",
		"has .cluster.processes.*.roles[coordinator].role",
		"lacks .cluster.data.team_trackers",
	}},
	"32-regions/82": {"new proxies hear of their clients at another moment", []string{
		"has .cluster.clients.supported_versions",
	}},
	"32-regions/94": {"recorded while data was still leaving another data centre", []string{
		"has .cluster.data.state",
		"has .cluster.logs[].remote_log_fault_tolerance",
		"has .cluster.logs[].remote_log_replication_factor",
		"has .cluster.logs[].satellite_log_fault_tolerance",
		"has .cluster.logs[].satellite_log_replication_factor",
		"has .cluster.logs[].satellite_log_write_anti_quorum",
		"has .cluster.processes.*.roles[router].id",
		"has .cluster.processes.*.roles[router].role",
		"lacks .cluster.clients.supported_versions",
		"lacks .cluster.data.team_trackers",
	}},
	"33-three-data-hall/2": {"new proxies hear of their clients at another moment", []string{
		"has .cluster.clients.supported_versions",
	}},
	"36-regions-new-and-dc-loss/10": {"the fail-over was recorded in other stages", []string{
		"has .cluster.messages[].unreachable_processes",
	}},
	"36-regions-new-and-dc-loss/11": {"the fail-over was recorded in other stages", []string{
		"has .cluster.active_primary_dc",
		"has .cluster.active_tss_count",
		"has .cluster.bounce_impact",
		"has .cluster.clients",
		"has .cluster.cluster_controller_timestamp",
		"has .cluster.configuration",
		"has .cluster.connection_string",
		"has .cluster.data",
		"has .cluster.database_available",
		"has .cluster.database_lock_state",
		"has .cluster.datacenter_lag",
		"has .cluster.degraded_processes",
		"has .cluster.fault_tolerance",
		"has .cluster.full_replication",
		"has .cluster.generation",
		"has .cluster.idempotency_ids",
		"has .cluster.incompatible_connections",
		"has .cluster.latency_probe",
		"has .cluster.logs",
		"has .cluster.lowest_compatible_protocol_version",
		"has .cluster.machines",
		"has .cluster.messages",
		"has .cluster.newest_protocol_version",
		"has .cluster.page_cache",
		"has .cluster.processes",
		"has .cluster.protocol_version",
		"has .cluster.recovery_state",
		"has .cluster.version_epoch",
		"has .cluster.workload",
		"lacks .client.messages[].description",
		"lacks .client.messages[].name",
	}},
	"36-regions-new-and-dc-loss/12": {"the fail-over was recorded in other stages", []string{
		"has .cluster.data.least_operating_space_bytes_log_server",
		"has .cluster.data.least_operating_space_bytes_storage_server",
		"has .cluster.data.state",
		"has .cluster.data.total_disk_used_bytes",
		"has .cluster.processes.*.roles[storage].bytes_queried",
		"has .cluster.processes.*.roles[storage].data_lag",
		"has .cluster.processes.*.roles[storage].data_version",
		"has .cluster.processes.*.roles[storage].durability_lag",
		"has .cluster.processes.*.roles[storage].durable_bytes",
		"has .cluster.processes.*.roles[storage].durable_version",
		"has .cluster.processes.*.roles[storage].fetched_versions",
		"has .cluster.processes.*.roles[storage].fetches_from_logs",
		"has .cluster.processes.*.roles[storage].finished_queries",
		"has .cluster.processes.*.roles[storage].id",
		"has .cluster.processes.*.roles[storage].input_bytes",
		"has .cluster.processes.*.roles[storage].keys_queried",
		"has .cluster.processes.*.roles[storage].kvstore_available_bytes",
		"has .cluster.processes.*.roles[storage].kvstore_free_bytes",
		"has .cluster.processes.*.roles[storage].kvstore_inline_keys",
		"has .cluster.processes.*.roles[storage].kvstore_total_bytes",
		"has .cluster.processes.*.roles[storage].kvstore_total_nodes",
		"has .cluster.processes.*.roles[storage].kvstore_total_size",
		"has .cluster.processes.*.roles[storage].kvstore_used_bytes",
		"has .cluster.processes.*.roles[storage].local_rate",
		"has .cluster.processes.*.roles[storage].low_priority_queries",
		"has .cluster.processes.*.roles[storage].mutation_bytes",
		"has .cluster.processes.*.roles[storage].mutations",
		"has .cluster.processes.*.roles[storage].query_queue_max",
		"has .cluster.processes.*.roles[storage].role",
		"has .cluster.processes.*.roles[storage].storage_metadata",
		"has .cluster.processes.*.roles[storage].stored_bytes",
		"has .cluster.processes.*.roles[storage].total_queries",
		"has .cluster.processes.*.roles[storage].tss",
		"has .cluster.qos",
		"lacks .cluster.data.team_trackers",
		"lacks .cluster.messages[].description",
		"lacks .cluster.messages[].name",
		"lacks .cluster.messages[].reasons",
		"lacks .cluster.processes.*.roles[router].id",
		"lacks .cluster.processes.*.roles[router].role",
	}},
	"36-regions-new-and-dc-loss/13": {"the fail-over was recorded in other stages", []string{
		"lacks .cluster.processes.*.roles[router].id",
		"lacks .cluster.processes.*.roles[router].role",
	}},
	"36-regions-new-and-dc-loss/16": {"the fail-over was recorded in other stages", []string{
		"lacks .cluster.processes.*.roles[router].id",
		"lacks .cluster.processes.*.roles[router].role",
	}},
	"36-regions-new-and-dc-loss/19": {"the fail-over was recorded in other stages", []string{
		"lacks .cluster.processes.*.roles[router].id",
		"lacks .cluster.processes.*.roles[router].role",
	}},
	"36-regions-new-and-dc-loss/21": {"the fail-over was recorded in other stages", []string{
		"has .cluster.data.average_partition_size_bytes",
		"has .cluster.data.moving_data",
		"has .cluster.data.partitions_count",
		"has .cluster.data.state.healthy",
		"has .cluster.data.state.min_replicas_remaining",
		"has .cluster.data.system_kv_size_bytes",
		"has .cluster.data.team_trackers",
		"has .cluster.data.total_kv_size_bytes",
		"lacks .cluster.data.state.description",
		"lacks .cluster.processes.*.roles[router].id",
		"lacks .cluster.processes.*.roles[router].role",
	}},
	"36-regions-new-and-dc-loss/25": {"the fail-over was recorded in other stages", []string{
		"has .cluster.data.average_partition_size_bytes",
		"has .cluster.data.moving_data",
		"has .cluster.data.partitions_count",
		"has .cluster.data.state.healthy",
		"has .cluster.data.state.min_replicas_remaining",
		"has .cluster.data.system_kv_size_bytes",
		"has .cluster.data.team_trackers",
		"has .cluster.data.total_kv_size_bytes",
		"lacks .cluster.data.state.description",
		"lacks .cluster.processes.*.roles[router].id",
		"lacks .cluster.processes.*.roles[router].role",
	}},
}

// generallyDifferent reports whether a field belongs to what the model leaves
// out of every document: statistics of latencies, which appear after a minute.
func generallyDifferent(path string) bool {
	for _, left := range []string{
		".read_latency_statistics", ".commit_latency_statistics", ".grv_latency_statistics", ".commit_batching_window_size",
	} {
		if strings.HasSuffix(path, left) {
			return true
		}
	}
	return false
}

func TestDocumentationTellsEveryDifference(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "fdbsim.md"))
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	maps.Copy(reasons, knownDifferences)
	for key, d := range differentDocuments {
		reasons[key] = d.why
	}
	for key, why := range reasons {
		scenario, step, _ := strings.Cut(key, "/")
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(why) + ` \|.*` + regexp.QuoteMeta(scenario) + `:[^;|]*\b` + step + `\b.*\|$`)
		if !row.Match(content) {
			t.Errorf("docs/fdbsim.md does not tell of %s: %s", key, why)
		}
	}
}
