package v1beta2

import (
	"slices"
	"strings"
)

// ProcessClass is the kind of roles a process is meant for. Classes keep
// their underscores everywhere but in the names of Kubernetes objects.
type ProcessClass string

// The process classes. ProcessClassGeneral is not a class of processes: it is
// the key of the settings that apply to all.
const (
	ProcessClassUnset             ProcessClass = "unset"
	ProcessClassStorage           ProcessClass = "storage"
	ProcessClassTransaction       ProcessClass = "transaction"
	ProcessClassResolution        ProcessClass = "resolution"
	ProcessClassTester            ProcessClass = "tester"
	ProcessClassTest              ProcessClass = "test"
	ProcessClassProxy             ProcessClass = "proxy"
	ProcessClassCommitProxy       ProcessClass = "commit_proxy"
	ProcessClassGrvProxy          ProcessClass = "grv_proxy"
	ProcessClassMaster            ProcessClass = "master"
	ProcessClassStateless         ProcessClass = "stateless"
	ProcessClassLog               ProcessClass = "log"
	ProcessClassClusterController ProcessClass = "cluster_controller"
	ProcessClassRouter            ProcessClass = "router"
	ProcessClassFastRestore       ProcessClass = "fast_restore"
	ProcessClassDataDistributor   ProcessClass = "data_distributor"
	ProcessClassCoordinator       ProcessClass = "coordinator"
	ProcessClassRatekeeper        ProcessClass = "ratekeeper"
	ProcessClassStorageCache      ProcessClass = "storage_cache"
	ProcessClassBackup            ProcessClass = "backup"
	ProcessClassGeneral           ProcessClass = "general"
)

// ProcessClasses are the classes that process groups can have, in the order in
// which they are added and removed. The caller owns the slice.
func ProcessClasses() []ProcessClass {
	return []ProcessClass{
		ProcessClassUnset, ProcessClassStorage, ProcessClassTransaction, ProcessClassResolution,
		ProcessClassTester, ProcessClassTest, ProcessClassProxy, ProcessClassCommitProxy,
		ProcessClassGrvProxy, ProcessClassMaster, ProcessClassStateless, ProcessClassLog,
		ProcessClassClusterController, ProcessClassRouter, ProcessClassFastRestore,
		ProcessClassDataDistributor, ProcessClassCoordinator, ProcessClassRatekeeper,
		ProcessClassStorageCache, ProcessClassBackup,
	}
}

// IsKnown reports whether process groups can have the class.
func (p ProcessClass) IsKnown() bool { return slices.Contains(ProcessClasses(), p) }

// IsStateful reports whether processes of the class keep data: they get a
// volume and may hold a coordinator.
func (p ProcessClass) IsStateful() bool {
	return p.IsLog() || p == ProcessClassStorage || p == ProcessClassCoordinator
}

// IsLog reports whether processes of the class run transaction logs.
func (p ProcessClass) IsLog() bool {
	return p == ProcessClassLog || p == ProcessClassTransaction
}

// IsTransactionSystem reports whether pods of the class are replaced rather
// than recreated by the strategy ReplaceTransactionSystem: all but storage.
func (p ProcessClass) IsTransactionSystem() bool {
	return p != ProcessClassStorage && p != ProcessClassGeneral
}

// IsTester reports whether processes of the class do not serve data: they are
// neither excluded nor restarted nor waited for. The deprecated class tester
// is not among them.
func (p ProcessClass) IsTester() bool { return p == ProcessClassTest }

// IsAffectedByMaintenance reports whether the database's maintenance mode
// affects processes of the class.
func (p ProcessClass) IsAffectedByMaintenance() bool { return p == ProcessClassStorage }

// ForNames returns the class as it is in names of Kubernetes objects.
func (p ProcessClass) ForNames() string { return strings.ReplaceAll(string(p), "_", "-") }

// ServersPerPodVariable is the environment variable with the number of
// processes that a pod of the class runs.
func (p ProcessClass) ServersPerPodVariable() string {
	return strings.ToUpper(string(p)) + "_SERVERS_PER_POD"
}
