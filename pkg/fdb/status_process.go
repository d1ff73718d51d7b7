package fdb

import (
	"math"
	"slices"
	"time"
)

// Process is one fdbserver process. Just after its start and for some seconds after
// its death an entry lacks most fields; see Reporting.
type Process struct {
	// ID is the key of the entry: FoundationDB's own random process ID.
	ID string `json:"-"`

	Address     Address           `json:"address,omitzero"`
	Locality    map[string]string `json:"locality,omitempty"`
	ClassType   string            `json:"class_type,omitempty"`
	ClassSource string            `json:"class_source,omitempty"`
	CommandLine string            `json:"command_line,omitempty"`
	// Version may carry the suffix "-PRERELEASE".
	Version string `json:"version,omitempty"`
	// UptimeSeconds moves in steps of 5 and is absent for some seconds after a start.
	UptimeSeconds    *float64  `json:"uptime_seconds,omitempty"`
	Roles            []Role    `json:"roles,omitempty"`
	Excluded         *bool     `json:"excluded,omitempty"`
	UnderMaintenance *bool     `json:"under_maintenance,omitempty"`
	Degraded         *bool     `json:"degraded,omitempty"`
	FaultDomain      string    `json:"fault_domain,omitempty"`
	MachineID        string    `json:"machine_id,omitempty"`
	Messages         []Message `json:"messages,omitempty"`
	RunLoopBusy      *float64  `json:"run_loop_busy,omitempty"`

	CPU     *ProcessCPU     `json:"cpu,omitempty"`
	Memory  *ProcessMemory  `json:"memory,omitempty"`
	Disk    *ProcessDisk    `json:"disk,omitempty"`
	Network *ProcessNetwork `json:"network,omitempty"`
}

// ProcessCPU is a process' use of processors.
type ProcessCPU struct {
	UsageCores *float64 `json:"usage_cores,omitempty"`
}

// ProcessMemory is a process' memory.
type ProcessMemory struct {
	AvailableBytes *int64 `json:"available_bytes,omitempty"`
	LimitBytes     *int64 `json:"limit_bytes,omitempty"`
	UsedBytes      *int64 `json:"used_bytes,omitempty"`
	RSSBytes       *int64 `json:"rss_bytes,omitempty"`
}

// ProcessDisk is the disk under a process' data directory.
type ProcessDisk struct {
	Busy       *float64 `json:"busy,omitempty"`
	FreeBytes  *int64   `json:"free_bytes,omitempty"`
	TotalBytes *int64   `json:"total_bytes,omitempty"`
	Reads      *Rate    `json:"reads,omitempty"`
	Writes     *Rate    `json:"writes,omitempty"`
}

// ProcessNetwork is a process' network use.
type ProcessNetwork struct {
	CurrentConnections *int64 `json:"current_connections,omitempty"`
	MegabitsReceived   *Rate  `json:"megabits_received,omitempty"`
	MegabitsSent       *Rate  `json:"megabits_sent,omitempty"`
}

// Roles that decisions depend on.
const (
	RoleCoordinator       = "coordinator"
	RoleClusterController = "cluster_controller"
	RoleMaster            = "master"
	RoleStorage           = "storage"
	// RoleLog is also held for an old generation.
	RoleLog         = "log"
	RoleCommitProxy = "commit_proxy"
	RoleGRVProxy    = "grv_proxy"
	RoleResolver    = "resolver"
)

// Role is one role of a process. The byte counts are those of storage and log roles.
type Role struct {
	Role                  string           `json:"role"`
	ID                    string           `json:"id,omitempty"`
	StoredBytes           *int64           `json:"stored_bytes,omitempty"`
	KVStoreUsedBytes      *int64           `json:"kvstore_used_bytes,omitempty"`
	KVStoreFreeBytes      *int64           `json:"kvstore_free_bytes,omitempty"`
	KVStoreAvailableBytes *int64           `json:"kvstore_available_bytes,omitempty"`
	KVStoreTotalBytes     *int64           `json:"kvstore_total_bytes,omitempty"`
	QueueDiskUsedBytes    *int64           `json:"queue_disk_used_bytes,omitempty"`
	QueueDiskFreeBytes    *int64           `json:"queue_disk_free_bytes,omitempty"`
	DataLag               *Lag             `json:"data_lag,omitempty"`
	DurabilityLag         *Lag             `json:"durability_lag,omitempty"`
	DataVersion           *int64           `json:"data_version,omitempty"`
	DurableVersion        *int64           `json:"durable_version,omitempty"`
	StorageMetadata       *StorageMetadata `json:"storage_metadata,omitempty"`
	TSS                   *bool            `json:"tss,omitempty"`

	QueueDiskAvailableBytes *int64 `json:"queue_disk_available_bytes,omitempty"`
	QueueDiskTotalBytes     *int64 `json:"queue_disk_total_bytes,omitempty"`
	// InputBytes came in, DurableBytes of them are on disk; see QueueBytes.
	InputBytes   *Counter `json:"input_bytes,omitempty"`
	DurableBytes *Counter `json:"durable_bytes,omitempty"`

	// The following are those of storage roles.
	FinishedQueries *Rate  `json:"finished_queries,omitempty"`
	BytesQueried    *Rate  `json:"bytes_queried,omitempty"`
	Mutations       *Rate  `json:"mutations,omitempty"`
	MutationBytes   *Rate  `json:"mutation_bytes,omitempty"`
	QueryQueueMax   *int64 `json:"query_queue_max,omitempty"`
	// LocalRate is the percentage of reads that the role serves: below 100 while its durability
	// lag exceeds a limit.
	LocalRate *float64 `json:"local_rate,omitempty"`
}

// QueueBytes returns what a storage or log role holds in memory and not on disk yet, as ratekeeper
// computes it; nil when not reported.
func (r Role) QueueBytes() *int64 {
	if r.InputBytes == nil || r.DurableBytes == nil || r.InputBytes.Counter == nil || r.DurableBytes.Counter == nil {
		return nil
	}
	return new(max(0, *r.InputBytes.Counter-*r.DurableBytes.Counter))
}

// StorageMetadata is what a storage server was created with, reported from 7.3.
// During a migration it has the actual engine while the configuration already has
// the new one.
type StorageMetadata struct {
	StorageEngine   string `json:"storage_engine,omitempty"`
	CreatedTimeText string `json:"created_time_datetime,omitempty"`
}

// InstanceID returns the process group's ID.
func (p Process) InstanceID() string { return p.Locality[LocalityInstanceID] }

// ListensAt reports whether a coordinator's address, as a connection string has it, is the
// process's: the same IP and port, or its DNS name.
func (p Process) ListensAt(c Address) bool {
	if c.Port != p.Address.Port {
		return false
	}
	return (c.Host == p.Address.Host && c.IsIP()) || (c.Host == p.Locality[LocalityDNSName] && !c.IsIP())
}

// Zone returns the fault domain; empty when not reported.
func (p Process) Zone() string { return p.Locality[LocalityZoneID] }

// DC returns the data center; empty when not reported or not set.
func (p Process) DC() string { return p.Locality[LocalityDCID] }

// Reporting reports whether the entry is complete enough for decisions. An
// incomplete one belongs to a process that just started or just died.
func (p Process) Reporting() bool {
	return p.CommandLine != "" && p.Version != "" && len(p.Locality) > 0
}

// IsExcluded reports whether an exclusion matches the process. An entry that does
// not report it is not excluded.
func (p Process) IsExcluded() bool { return p.Excluded != nil && *p.Excluded }

// IsUnderMaintenance reports whether the process' zone is under maintenance.
func (p Process) IsUnderMaintenance() bool { return p.UnderMaintenance != nil && *p.UnderMaintenance }

// IsDegraded reports whether the cluster controller reports the process as
// slow.
func (p Process) IsDegraded() bool { return p.Degraded != nil && *p.Degraded }

// HasRole reports whether the process has the role.
func (p Process) HasRole(role string) bool {
	return slices.ContainsFunc(p.Roles, func(r Role) bool { return r.Role == role })
}

// Uptime returns how long the process has been running; ok is false when not
// reported.
func (p Process) Uptime() (uptime time.Duration, ok bool) {
	return seconds(p.UptimeSeconds)
}

// seconds returns a reported duration; a negative one means unknown. It is limited to
// the maximum Duration, which maintenance can exceed.
func seconds(n *float64) (d time.Duration, ok bool) {
	if n == nil || *n < 0 {
		return 0, false
	}
	if nanoseconds := *n * float64(time.Second); nanoseconds < math.MaxInt64 {
		return time.Duration(nanoseconds), true
	}
	return math.MaxInt64, true
}

// SpaceUsed returns the share of its disk, from 0 to 1, that is not available to the role: that of the fuller one where
// it has two. Nil where it keeps no data, or does not report it.
func (r Role) SpaceUsed() *float64 {
	var worst *float64
	for _, disk := range [][2]*int64{{r.KVStoreAvailableBytes, r.KVStoreTotalBytes}, {r.QueueDiskAvailableBytes, r.QueueDiskTotalBytes}} {
		if disk[0] == nil || disk[1] == nil || *disk[1] <= 0 {
			continue
		}
		if used := 1 - float64(*disk[0])/float64(*disk[1]); worst == nil || used > *worst {
			worst = &used
		}
	}
	return worst
}

// Locality keys of a process.
const (
	// LocalityInstanceID is the process group's ID.
	LocalityInstanceID = "instance_id"
	// LocalityProcessID is "<process group ID>-<n>"; only set when a pod can run
	// several processes.
	LocalityProcessID = "process_id"
	// LocalityZoneID is the fault domain that replicas are spread over.
	LocalityZoneID = "zoneid"
	// LocalityMachineID is the machine.
	LocalityMachineID = "machineid"
	// LocalityDCID is the data center.
	LocalityDCID = "dcid"
	// LocalityDataHall is the data hall, for three_data_hall.
	LocalityDataHall = "data_hall"
	// LocalityDNSName is the name that a cluster file uses for the process.
	LocalityDNSName = "dns_name"
	// LocalityFDBProcessID is FoundationDB's own random ID, kept in the data directory.
	LocalityFDBProcessID = "processid"
)

// LocalityExclusion returns the exclude target for every process whose locality
// key has this value, running or not.
func LocalityExclusion(key, value string) string { return "locality_" + key + ":" + value }
