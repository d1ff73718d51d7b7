package fdb

// QoS is the load of the database.
type QoS struct {
	WorstDataLagStorageServer       *Lag   `json:"worst_data_lag_storage_server,omitempty"`
	WorstDurabilityLagStorageServer *Lag   `json:"worst_durability_lag_storage_server,omitempty"`
	WorstQueueBytesLogServer        *int64 `json:"worst_queue_bytes_log_server,omitempty"`
	WorstQueueBytesStorageServer    *int64 `json:"worst_queue_bytes_storage_server,omitempty"`
	LimitingDataLagStorageServer    *Lag   `json:"limiting_data_lag_storage_server,omitempty"`
	// The limiting figures leave out the storage servers that ratekeeper ignores: those of one
	// fault domain.
	LimitingDurabilityLagStorageServer *Lag   `json:"limiting_durability_lag_storage_server,omitempty"`
	LimitingQueueBytesStorageServer    *int64 `json:"limiting_queue_bytes_storage_server,omitempty"`

	PerformanceLimitedBy               *Limit         `json:"performance_limited_by,omitempty"`
	BatchPerformanceLimitedBy          *Limit         `json:"batch_performance_limited_by,omitempty"`
	TransactionsPerSecondLimit         *float64       `json:"transactions_per_second_limit,omitempty"`
	ReleasedTransactionsPerSecond      *float64       `json:"released_transactions_per_second,omitempty"`
	BatchTransactionsPerSecondLimit    *float64       `json:"batch_transactions_per_second_limit,omitempty"`
	BatchReleasedTransactionsPerSecond *float64       `json:"batch_released_transactions_per_second,omitempty"`
	ThrottledTags                      *ThrottledTags `json:"throttled_tags,omitempty"`
}

// ThrottledTags are the transaction tags whose transactions ratekeeper limits.
type ThrottledTags struct {
	Auto   *TagCount `json:"auto,omitempty"`
	Manual *TagCount `json:"manual,omitempty"`
}

// TagCount counts throttled tags.
type TagCount struct {
	Count *int `json:"count,omitempty"`
}

// LimitWorkload is the name of [QoS.PerformanceLimitedBy] while the database is not saturated: the
// released transactions are at most 0.8 of the limit.
const LimitWorkload = "workload"

// Limit is the limiting factor of the database.
type Limit struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	ReasonID    *int   `json:"reason_id,omitempty"`
	// ReasonServerID is the ID of the log or storage role that limits the database.
	ReasonServerID string `json:"reason_server_id,omitempty"`
}

// Lag is how far a role is behind.
type Lag struct {
	Seconds  *float64 `json:"seconds,omitempty"`
	Versions *int64   `json:"versions,omitempty"`
}

// LatencyProbe is what the cluster controller measured with small transactions, in
// seconds.
type LatencyProbe struct {
	TransactionStartSeconds *float64 `json:"transaction_start_seconds,omitempty"`
	ReadSeconds             *float64 `json:"read_seconds,omitempty"`
	CommitSeconds           *float64 `json:"commit_seconds,omitempty"`
}

// Workload counts the operations of clients.
type Workload struct {
	Operations   WorkloadOperations   `json:"operations"`
	Transactions WorkloadTransactions `json:"transactions"`
	Bytes        WorkloadBytes        `json:"bytes"`
}

// WorkloadOperations counts single operations.
type WorkloadOperations struct {
	Reads  *Rate `json:"reads,omitempty"`
	Writes *Rate `json:"writes,omitempty"`
}

// WorkloadTransactions counts transactions.
type WorkloadTransactions struct {
	Started    *Rate `json:"started,omitempty"`
	Committed  *Rate `json:"committed,omitempty"`
	Conflicted *Rate `json:"conflicted,omitempty"`
	// RejectedQueuedTooLong are those that ended while they waited for a read version.
	RejectedQueuedTooLong *Rate `json:"rejected_for_queued_too_long,omitempty"`
}

// WorkloadBytes counts payload.
type WorkloadBytes struct {
	Read    *Rate `json:"read,omitempty"`
	Written *Rate `json:"written,omitempty"`
}

// Rate is a counter's change per second.
type Rate struct {
	Hz *float64 `json:"hz,omitempty"`
}

// PerSecond returns the rate; nil when not reported.
func (r *Rate) PerSecond() *float64 {
	if r == nil {
		return nil
	}
	return r.Hz
}

// Counter is a counter since the start of its role, and its change per second.
type Counter struct {
	Counter *int64 `json:"counter,omitempty"`
	Rate
}

// StorageWiggler is the state of the perpetual storage wiggle.
type StorageWiggler struct {
	Error     string         `json:"error,omitempty"`
	Addresses []string       `json:"wiggle_server_addresses,omitempty"`
	IDs       []string       `json:"wiggle_server_ids,omitempty"`
	Primary   *WiggleMetrics `json:"primary,omitempty"`
	Remote    *WiggleMetrics `json:"remote,omitempty"`
}

// WiggleMetrics is the progress of one region's wiggle.
type WiggleMetrics struct {
	// State is known from 7.3.
	State          string `json:"state,omitempty"`
	FinishedRound  *int64 `json:"finished_round,omitempty"`
	FinishedWiggle *int64 `json:"finished_wiggle,omitempty"`
}

// ClientsStatus describes connected clients.
type ClientsStatus struct {
	Count *int `json:"count,omitempty"`
	// SupportedVersions hold samples of clients, not all of them.
	SupportedVersions []SupportedVersion `json:"supported_versions,omitempty"`
}

// SupportedVersion is a client version that some clients can use.
type SupportedVersion struct {
	ClientVersion   string `json:"client_version"`
	ProtocolVersion string `json:"protocol_version"`
	SourceVersion   string `json:"source_version,omitempty"`
	Count           *int   `json:"count,omitempty"`
	MaxProtocol     *int   `json:"max_protocol_count,omitempty"`
	// ConnectedClients can use this version.
	ConnectedClients []ConnectedClient `json:"connected_clients,omitempty"`
	// MaxProtocolClients can use no newer protocol than this version's.
	MaxProtocolClients []ConnectedClient `json:"max_protocol_clients,omitempty"`
}

// ConnectedClient is one client connection.
type ConnectedClient struct {
	Address  string `json:"address"`
	LogGroup string `json:"log_group,omitempty"`
}

// Layers is what layers above the database report through it.
type Layers struct {
	Valid *bool `json:"_valid,omitempty"`
	// Error does not show whether the database was ever configured, regardless of
	// its text; see NeverConfigured.
	Error  string       `json:"_error,omitempty"`
	Backup *BackupLayer `json:"backup,omitempty"`
}

// BackupLayer is what backup agents report, some 30 to 40 s late.
type BackupLayer struct {
	InstancesRunning *int                 `json:"instances_running,omitempty"`
	LastUpdated      *float64             `json:"last_updated,omitempty"`
	Paused           *bool                `json:"paused,omitempty"`
	TotalWorkers     *int                 `json:"total_workers,omitempty"`
	Tags             map[string]BackupTag `json:"tags,omitempty"`
}

// BackupTag is one backup.
type BackupTag struct {
	CurrentContainer            string   `json:"current_container,omitempty"`
	CurrentStatus               string   `json:"current_status,omitempty"`
	RunningBackup               *bool    `json:"running_backup,omitempty"`
	RunningBackupIsRestorable   *bool    `json:"running_backup_is_restorable,omitempty"`
	LastRestorableVersion       *int64   `json:"last_restorable_version,omitempty"`
	LastRestorableSecondsBehind *float64 `json:"last_restorable_seconds_behind,omitempty"`
	RangeBytesWritten           *int64   `json:"range_bytes_written,omitempty"`
	MutationLogBytesWritten     *int64   `json:"mutation_log_bytes_written,omitempty"`
	FileLevelEncryption         *bool    `json:"file_level_encryption,omitempty"`
}
