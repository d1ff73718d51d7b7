package fdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Status is the used part of the status document. Any part of it may be missing
// at any time, so an optional value is a pointer, an empty string or an empty
// list, and absent never means zero. Fields that are not listed here are
// ignored; the package's tests name them.
type Status struct {
	Client  ClientStatus  `json:"client"`
	Cluster ClusterStatus `json:"cluster"`
}

// ClientStatus is what the tool that fetched the document observed itself. It
// is present even when no process responds.
type ClientStatus struct {
	ClusterFile    ClusterFileStatus  `json:"cluster_file"`
	Coordinators   CoordinatorsStatus `json:"coordinators"`
	DatabaseStatus DatabaseStatus     `json:"database_status"`
	Messages       []Message          `json:"messages"`
	// Timestamp is in Unix seconds.
	Timestamp int64 `json:"timestamp"`
}

// ClusterFileStatus is the state of the tool's cluster file.
type ClusterFileStatus struct {
	Path     string `json:"path"`
	UpToDate *bool  `json:"up_to_date,omitempty"`
}

// CoordinatorsStatus lists the coordinators of the cluster file.
type CoordinatorsStatus struct {
	Coordinators    []CoordinatorStatus `json:"coordinators"`
	QuorumReachable bool                `json:"quorum_reachable"`
}

// CoordinatorStatus is one coordinator.
type CoordinatorStatus struct {
	Address   Address `json:"address"`
	Reachable bool    `json:"reachable"`
	// Protocol is filled even when the versions are incompatible; empty when the
	// coordinator does not respond.
	Protocol string `json:"protocol,omitempty"`
}

// DatabaseStatus summarizes the document.
type DatabaseStatus struct {
	Available bool `json:"available"`
	Healthy   bool `json:"healthy"`
}

// Message is a message of the client, the cluster or a process.
type Message struct {
	Name                 string               `json:"name"`
	Description          string               `json:"description,omitempty"`
	Type                 string               `json:"type,omitempty"`
	RawLogMessage        string               `json:"raw_log_message,omitempty"`
	Time                 *float64             `json:"time,omitempty"`
	UnreachableProcesses []UnreachableProcess `json:"unreachable_processes,omitempty"`
	Reasons              []Reason             `json:"reasons,omitempty"`
	// Issues are those of clients, in the message client_issues.
	Issues []ClientIssue `json:"issues,omitempty"`
}

// ClientIssue is what clients report about themselves, such as incorrect_cluster_file_contents: their cluster
// file has another connection string than they use.
type ClientIssue struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Count       int    `json:"count,omitempty"`
	// Addresses are those of some of the clients.
	Addresses []string `json:"addresses,omitempty"`
}

// UnreachableProcess is one process of a message.
type UnreachableProcess struct {
	Address string `json:"address"`
}

// Reason explains a message.
type Reason struct {
	Description string `json:"description"`
}

var errNoStatus = errors.New("no JSON document")

// ParseStatus parses a status document. Text around the document, which fdbcli
// prints when it is slow or runs several commands, is skipped; a truncated
// document is an error.
func ParseStatus(text []byte) (*Status, error) {
	start := bytes.IndexByte(text, '{')
	if start < 0 {
		return nil, fmt.Errorf("parse status: %w", errNoStatus)
	}
	var document struct {
		Client  *ClientStatus  `json:"client"`
		Cluster *ClusterStatus `json:"cluster"`
	}
	if err := decodeFirst(text[start:], &document); err != nil {
		return nil, fmt.Errorf("parse status: %w", err)
	}
	if document.Client == nil || document.Cluster == nil {
		return nil, fmt.Errorf("parse status: document without client or cluster section")
	}
	return NewStatus(*document.Client, *document.Cluster), nil
}

// NewStatus returns the status of two sections. Its processes have their keys as IDs.
func NewStatus(client ClientStatus, cluster ClusterStatus) *Status {
	for id, p := range cluster.Processes {
		p.ID = id
		cluster.Processes[id] = p
	}
	return &Status{Client: client, Cluster: cluster}
}

// decodeFirst decodes the document that text begins with. A Decoder finds its end
// regardless of what follows, but copies all of the text, megabytes for a large cluster;
// usually nothing with a brace follows, and then the document ends at the last one.
func decodeFirst(text []byte, into any) error {
	if end := bytes.LastIndexByte(text, '}'); json.Unmarshal(text[:end+1], into) == nil {
		return nil
	}
	return json.NewDecoder(bytes.NewReader(text)).Decode(into)
}

// ClusterStatus is what the cluster controller reports.
type ClusterStatus struct {
	ProtocolVersion  string `json:"protocol_version,omitempty"`
	ConnectionString string `json:"connection_string,omitempty"`
	// Generation counts recoveries; one recovery can add several.
	Generation                 *int64         `json:"generation,omitempty"`
	ClusterControllerTimestamp *int64         `json:"cluster_controller_timestamp,omitempty"`
	DatabaseAvailable          *bool          `json:"database_available,omitempty"`
	DatabaseLockState          *LockState     `json:"database_lock_state,omitempty"`
	RecoveryState              *RecoveryState `json:"recovery_state,omitempty"`
	Configuration              *Configuration `json:"configuration,omitempty"`
	FullReplication            *bool          `json:"full_replication,omitempty"`

	Data           *DataStatus     `json:"data,omitempty"`
	Logs           []LogGeneration `json:"logs,omitempty"`
	FaultTolerance *ZoneTolerance  `json:"fault_tolerance,omitempty"`
	QoS            *QoS            `json:"qos,omitempty"`
	DatacenterLag  *Lag            `json:"datacenter_lag,omitempty"`
	LatencyProbe   *LatencyProbe   `json:"latency_probe,omitempty"`
	Workload       *Workload       `json:"workload,omitempty"`
	StorageWiggler *StorageWiggler `json:"storage_wiggler,omitempty"`
	BounceImpact   *BounceImpact   `json:"bounce_impact,omitempty"`
	Layers         Layers          `json:"layers"`
	Clients        *ClientsStatus  `json:"clients,omitempty"`
	Messages       []Message       `json:"messages,omitempty"`

	ActivePrimaryDC   string `json:"active_primary_dc,omitempty"`
	DegradedProcesses *int   `json:"degraded_processes,omitempty"`
	// IncompatibleConnections are addresses of peers with another protocol.
	IncompatibleConnections []string `json:"incompatible_connections,omitempty"`

	// The maintenance fields are present only while a zone is under maintenance.
	MaintenanceZone             string   `json:"maintenance_zone,omitempty"`
	MaintenanceSecondsRemaining *float64 `json:"maintenance_seconds_remaining,omitempty"`

	DataDistributionDisabled              *bool `json:"data_distribution_disabled,omitempty"`
	DataDistributionDisabledForSSFailures *bool `json:"data_distribution_disabled_for_ss_failures,omitempty"`
	DataDistributionDisabledForRebalance  *bool `json:"data_distribution_disabled_for_rebalance,omitempty"`

	// Processes are keyed by FoundationDB's own random process ID.
	Processes map[string]Process `json:"processes,omitempty"`
}

// LockState is whether the database rejects ordinary transactions.
type LockState struct {
	Locked  bool   `json:"locked"`
	LockUID string `json:"lock_uid,omitempty"`
}

// Recovery states that decisions depend on.
const (
	RecoveryNeverCreated     = "configuration_never_created"
	RecoveryAcceptingCommits = "accepting_commits"
	RecoveryAllLogsRecruited = "all_logs_recruited"
	RecoveryStorageRecovered = "storage_recovered"
	RecoveryFullyRecovered   = "fully_recovered"
)

// RecoveryState is the progress of the last recovery.
type RecoveryState struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// SecondsSinceLastRecovered is -1 when unknown.
	SecondsSinceLastRecovered *float64 `json:"seconds_since_last_recovered,omitempty"`
	// ActiveGenerations counts old log generations, but is never below 1: it does
	// not show whether there are none.
	ActiveGenerations *int `json:"active_generations,omitempty"`
	// MissingLogs are IDs of logs that the recovery waits for.
	MissingLogs string `json:"missing_logs,omitempty"`
}

// DataStatus is what data distribution reports.
type DataStatus struct {
	State        *DataState    `json:"state,omitempty"`
	TeamTrackers []TeamTracker `json:"team_trackers,omitempty"`
	MovingData   *MovingData   `json:"moving_data,omitempty"`

	TotalKVSizeBytes          *int64 `json:"total_kv_size_bytes,omitempty"`
	SystemKVSizeBytes         *int64 `json:"system_kv_size_bytes,omitempty"`
	TotalDiskUsedBytes        *int64 `json:"total_disk_used_bytes,omitempty"`
	PartitionsCount           *int64 `json:"partitions_count,omitempty"`
	AveragePartitionSizeBytes *int64 `json:"average_partition_size_bytes,omitempty"`

	LeastOperatingSpaceBytesStorageServer *int64 `json:"least_operating_space_bytes_storage_server,omitempty"`
	LeastOperatingSpaceBytesLogServer     *int64 `json:"least_operating_space_bytes_log_server,omitempty"`
}

// DataState is the state of one set of storage teams.
type DataState struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Healthy is absent while data distribution starts.
	Healthy              *bool `json:"healthy,omitempty"`
	MinReplicasRemaining *int  `json:"min_replicas_remaining,omitempty"`
}

// TeamTracker is the state of the storage teams of one region.
type TeamTracker struct {
	Primary          bool      `json:"primary"`
	InFlightBytes    *int64    `json:"in_flight_bytes,omitempty"`
	UnhealthyServers *int      `json:"unhealthy_servers,omitempty"`
	State            DataState `json:"state"`
}

// MovingData is what data distribution is moving.
type MovingData struct {
	HighestPriority   *int   `json:"highest_priority,omitempty"`
	InFlightBytes     *int64 `json:"in_flight_bytes,omitempty"`
	InQueueBytes      *int64 `json:"in_queue_bytes,omitempty"`
	TotalWrittenBytes *int64 `json:"total_written_bytes,omitempty"`
}

// LogGeneration is one generation of the transaction log, the newest first.
type LogGeneration struct {
	Epoch             *int64         `json:"epoch,omitempty"`
	Current           bool           `json:"current"`
	BeginVersion      *int64         `json:"begin_version,omitempty"`
	EndVersion        *int64         `json:"end_version,omitempty"`
	PossiblyLosing    *bool          `json:"possibly_losing_data,omitempty"`
	LogInterfaces     []LogInterface `json:"log_interfaces,omitempty"`
	ReplicationFactor *int           `json:"log_replication_factor,omitempty"`
	WriteAntiQuorum   *int           `json:"log_write_anti_quorum,omitempty"`
	FaultTolerance    *int           `json:"log_fault_tolerance,omitempty"`

	RemoteReplicationFactor *int `json:"remote_log_replication_factor,omitempty"`
	RemoteFaultTolerance    *int `json:"remote_log_fault_tolerance,omitempty"`

	SatelliteReplicationFactor *int `json:"satellite_log_replication_factor,omitempty"`
	SatelliteWriteAntiQuorum   *int `json:"satellite_log_write_anti_quorum,omitempty"`
	SatelliteFaultTolerance    *int `json:"satellite_log_fault_tolerance,omitempty"`
}

// LogInterface is one log of a generation.
type LogInterface struct {
	ID string `json:"id"`
	// Address is zero when the address of the log is lost.
	Address Address `json:"address,omitzero"`
	Healthy *bool   `json:"healthy,omitempty"`
}

// ZoneTolerance is how many more zones may fail.
type ZoneTolerance struct {
	WithoutLosingData         *int `json:"max_zone_failures_without_losing_data,omitempty"`
	WithoutLosingAvailability *int `json:"max_zone_failures_without_losing_availability,omitempty"`
}

// BounceImpact is whether all processes can be restarted at once.
type BounceImpact struct {
	CanCleanBounce *bool  `json:"can_clean_bounce,omitempty"`
	Reason         string `json:"reason,omitempty"`
}
