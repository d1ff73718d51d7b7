package v1beta2

import "github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"

// DatabaseConfiguration is the configuration of a database, desired or live.
// The names in JSON are those of FoundationDB's own status document.
type DatabaseConfiguration struct {
	// RedundancyMode is the replication mode. Default double.
	// +kubebuilder:validation:Enum=single;double;triple;three_data_hall
	// +optional
	RedundancyMode RedundancyMode `json:"redundancy_mode,omitempty"`

	// StorageEngine is the storage engine. Default ssd-2; ssd and memory are
	// other names for ssd-2 and memory-2.
	// +kubebuilder:validation:Enum=ssd;ssd-1;ssd-2;memory;memory-1;memory-2;ssd-redwood-1-experimental;ssd-redwood-1;ssd-rocksdb-experimental;ssd-rocksdb-v1;ssd-sharded-rocksdb;memory-radixtree-beta;custom
	// +kubebuilder:default=ssd-2
	// +optional
	StorageEngine StorageEngine `json:"storage_engine,omitempty"`

	// UsableRegions is the number of regions that hold a full copy. Default 1
	// when below 1.
	// +optional
	UsableRegions int `json:"usable_regions,omitempty"`

	// Regions are the regions of the database; none means one region that
	// needs no description.
	// +optional
	Regions []Region `json:"regions,omitempty"`

	// ExcludedServers are the exclusions as the database reports them. Input
	// is ignored.
	// +kubebuilder:validation:MaxItems=1024
	// +optional
	ExcludedServers []ExcludedServers `json:"excluded_servers,omitempty"`

	// RoleCounts are the numbers of roles.
	RoleCounts `json:",inline"`

	// VersionFlags are low-level settings.
	VersionFlags `json:",inline"`

	// StorageMigrationType is how data moves to another storage engine. Left
	// alone when nil.
	// +kubebuilder:validation:Enum="";disabled;aggressive;gradual
	// +optional
	StorageMigrationType *StorageMigrationType `json:"storage_migration_type,omitempty"`

	// PerpetualStorageWiggle is the speed at which storage processes are
	// rewritten one after the other, 0 for not at all. Left alone when nil.
	// +optional
	PerpetualStorageWiggle *int `json:"perpetual_storage_wiggle,omitempty"`

	// PerpetualStorageWiggleLocality limits the wiggle to servers with the
	// locality key:value; 0 removes the limit. Left alone when nil.
	// +kubebuilder:validation:Pattern=`^([\w.-]+:[\w.-]+|0)$`
	// +optional
	PerpetualStorageWiggleLocality *string `json:"perpetual_storage_wiggle_locality,omitempty"`

	// PerpetualStorageWiggleEngine is the storage engine the wiggle moves data
	// to. Left alone when nil.
	// +kubebuilder:validation:Enum="";ssd;ssd-1;ssd-2;memory;memory-1;memory-2;ssd-redwood-1-experimental;ssd-redwood-1;ssd-rocksdb-experimental;ssd-rocksdb-v1;ssd-sharded-rocksdb;memory-radixtree-beta;custom;none
	// +optional
	PerpetualStorageWiggleEngine *StorageEngine `json:"perpetual_storage_wiggle_engine,omitempty"`
}

// RoleCounts are numbers of roles in the database. 0 means the default.
type RoleCounts struct {
	// Storage is the number of storage servers the counts of process groups
	// start from. It is never configured in the database. Default 2F+1, F
	// being the fault tolerance.
	// +optional
	Storage int `json:"storage,omitempty"`

	// Logs is the number of transaction logs. Default 3, with three_data_hall 4.
	// +optional
	Logs int `json:"logs,omitempty"`

	// Proxies is the number of combined proxies. Default 3; none when commit
	// or GRV proxies are given.
	// +optional
	Proxies int `json:"proxies,omitempty"`

	// CommitProxies is the number of commit proxies. Default 2 when only GRV
	// proxies are given.
	// +optional
	CommitProxies int `json:"commit_proxies,omitempty"`

	// GrvProxies is the number of proxies that hand out read versions. Default
	// 1 when only commit proxies are given.
	// +optional
	GrvProxies int `json:"grv_proxies,omitempty"`

	// Resolvers is the number of resolvers. Default 1.
	// +optional
	Resolvers int `json:"resolvers,omitempty"`

	// LogRouters is the number of log routers. Default: as many as logs when
	// several regions are usable, otherwise -1, which leaves it to the database.
	// +optional
	LogRouters int `json:"log_routers,omitempty"`

	// RemoteLogs is the number of logs in the remote region. Default: as many
	// as logs when several regions are usable, otherwise -1, which leaves it
	// to the database.
	// +optional
	RemoteLogs int `json:"remote_logs,omitempty"`
}

// VersionFlags are settings of the log system that are rarely touched. 0 means
// not set.
type VersionFlags struct {
	// LogSpill is the spill type of the logs.
	// +optional
	LogSpill int `json:"log_spill,omitempty"`

	// LogVersion is the disk format of the logs.
	// +optional
	LogVersion int `json:"log_version,omitempty"`
}

// Region is one region: its main data center and its satellites.
type Region struct {
	// Datacenters are the data centers of the region, one of them main.
	// +optional
	Datacenters []DataCenter `json:"datacenters,omitempty"`

	// SatelliteLogs is the number of logs recruited in satellites.
	// +optional
	SatelliteLogs int `json:"satellite_logs,omitempty"`

	// SatelliteRedundancyMode is the replication mode of the satellite logs.
	// +optional
	SatelliteRedundancyMode RedundancyMode `json:"satellite_redundancy_mode,omitempty"`
}

// DataCenter is one data center of a region.
type DataCenter struct {
	// ID is the dcid locality of the processes in it.
	// +optional
	ID string `json:"id,omitempty"`

	// Priority is the preference for becoming primary: higher is preferred,
	// negative never becomes primary.
	// +optional
	Priority int `json:"priority,omitempty"`

	// Satellite is 1 for a satellite, 0 for a main data center.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1
	// +optional
	Satellite int `json:"satellite,omitempty"`
}

// ExcludedServers is one exclusion as the database reports it.
type ExcludedServers struct {
	// Address is the excluded address.
	// +kubebuilder:validation:MaxLength=48
	// +optional
	Address string `json:"address,omitempty"`

	// Locality is the excluded locality.
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Locality string `json:"locality,omitempty"`
}

// ConnectionString is a cluster file in parts.
type ConnectionString struct {
	// DatabaseName is the description. Default: the name of the cluster with
	// underscores for dashes.
	// +optional
	DatabaseName string `json:"databaseName,omitempty"`

	// GenerationID is the ID. Default: 32 random letters and digits.
	// +optional
	GenerationID string `json:"generationID,omitempty"`

	// Coordinators are the addresses of the coordinators. They are not read
	// from a partial connection string.
	// +optional
	Coordinators []string `json:"coordinators,omitempty"`
}

// RedundancyMode is a replication mode, of a database or of satellite logs.
//
// +kubebuilder:validation:MaxLength=100
type RedundancyMode string

// The redundancy modes of a database.
const (
	RedundancyModeSingle        RedundancyMode = fdb.RedundancySingle
	RedundancyModeDouble        RedundancyMode = fdb.RedundancyDouble
	RedundancyModeTriple        RedundancyMode = fdb.RedundancyTriple
	RedundancyModeThreeDataHall RedundancyMode = fdb.RedundancyThreeDataHall
)

// The redundancy modes of satellite logs.
const (
	SatelliteModeOneSingle RedundancyMode = "one_satellite_single"
	SatelliteModeOneDouble RedundancyMode = "one_satellite_double"
	SatelliteModeOneTriple RedundancyMode = "one_satellite_triple"
	SatelliteModeTwoSafe   RedundancyMode = "two_satellite_safe"
	SatelliteModeTwoFast   RedundancyMode = "two_satellite_fast"
)

// StorageEngine is a storage engine.
//
// +kubebuilder:validation:MaxLength=100
type StorageEngine string

// The storage engines of the CRD. None is an engine only for the wiggle.
const (
	StorageEngineSSD                 StorageEngine = "ssd"
	StorageEngineSSD1                StorageEngine = "ssd-1"
	StorageEngineSSD2                StorageEngine = fdb.EngineSSD
	StorageEngineMemory              StorageEngine = "memory"
	StorageEngineMemory1             StorageEngine = "memory-1"
	StorageEngineMemory2             StorageEngine = fdb.EngineMemory
	StorageEngineRedwoodExperimental StorageEngine = "ssd-redwood-1-experimental"
	StorageEngineRedwood             StorageEngine = fdb.EngineRedwood
	StorageEngineRocksDBExperimental StorageEngine = "ssd-rocksdb-experimental"
	StorageEngineRocksDB             StorageEngine = "ssd-rocksdb-v1"
	StorageEngineShardedRocksDB      StorageEngine = fdb.EngineShardedRocksDB
	StorageEngineMemoryRadixTree     StorageEngine = "memory-radixtree-beta"
	StorageEngineCustom              StorageEngine = "custom"
	StorageEngineNone                StorageEngine = "none"
)

// StorageMigrationType is how data moves when the storage engine changes.
//
// +kubebuilder:validation:MaxLength=100
type StorageMigrationType string

// The storage migration types.
const (
	StorageMigrationDisabled   StorageMigrationType = "disabled"
	StorageMigrationAggressive StorageMigrationType = "aggressive"
	StorageMigrationGradual    StorageMigrationType = "gradual"
)
