package fdb

import "slices"

// MinimumVersion is the oldest supported FoundationDB version. Its own
// release candidates are not supported. Source: the operator, release 2.33.0.
var MinimumVersion = Version{Major: 7, Minor: 1}

// Supported reports whether clusters of this version are supported.
func (v Version) Supported() bool { return v.AtLeast(MinimumVersion) }

// HasSidecarIsPresent reports whether the split image's sidecar serves
// /is_present; older ones only serve /check_hash. From 7.1.4.
func (v Version) HasSidecarIsPresent() bool { return v.AtLeast(Version{Major: 7, Minor: 1, Patch: 4}) }

// HasRecoveryAge reports whether the status document reports reliably how long
// ago the last recovery was. From 7.1.22.
func (v Version) HasRecoveryAge() bool { return v.AtLeast(Version{Major: 7, Minor: 1, Patch: 22}) }

// SupportsLocalityExclusion reports whether processes can be excluded by locality
// reliably: from 7.1.42 within 7.1, otherwise from 7.3.26. Candidates of 7.1 cannot.
func (v Version) SupportsLocalityExclusion() bool {
	if v.Major == 7 && v.Minor == 1 {
		return v.ReleaseCandidate == 0 && v.Patch >= 42
	}
	return v.AtLeast(Version{Major: 7, Minor: 3, Patch: 26})
}

// ForgetsDeadTesters reports whether dead tester processes disappear from the
// status document without an action: from 7.3.35 within 7.3, otherwise from
// 7.1.55.
func (v Version) ForgetsDeadTesters() bool {
	if v.Major == 7 && v.Minor == 3 {
		return v.AtLeast(Version{Major: 7, Minor: 3, Patch: 35})
	}
	return v.AtLeast(Version{Major: 7, Minor: 1, Patch: 55})
}

// SupportsBackupEncryption reports whether fdbbackup and fdbrestore accept an
// encryption key: from 7.3.73 within 7.3, otherwise from 7.4.6.
func (v Version) SupportsBackupEncryption() bool {
	if v.Major == 7 && v.Minor == 3 {
		return v.AtLeast(Version{Major: 7, Minor: 3, Patch: 73})
	}
	return v.AtLeast(Version{Major: 7, Minor: 4, Patch: 6})
}

// ReportsMissingDatabase reports whether a status document ends for a database that was never
// created. 7.3 and 7.4 read a key of it without a limit, until 7.3.78 and 7.4.7 brought a
// deadline: before, fdbcli gives up after 30 s, with a document that has no recovery state. Source:
// fdbclient/IdempotencyId.actor.cpp and fdbserver/Status.actor.cpp; run with 7.4.6.
func (v Version) ReportsMissingDatabase() bool {
	switch {
	case v.Major == 7 && v.Minor == 3:
		return v.AtLeast(Version{Major: 7, Minor: 3, Patch: 78})
	case v.Major == 7 && v.Minor == 4:
		return v.AtLeast(Version{Major: 7, Minor: 4, Patch: 7})
	default:
		return true
	}
}

// HasMutationLogType reports whether fdbbackup has --mutation-log-type in place
// of --partitioned-log-experimental. From 7.4.7.
func (v Version) HasMutationLogType() bool { return v.AtLeast(Version{Major: 7, Minor: 4, Patch: 7}) }

// engineSince are the first versions with an engine, where that is later than the
// oldest supported version. Source: the operator's checks.
var engineSince = map[string]Version{
	EngineShardedRocksDB: {Major: 7, Minor: 2},
	EngineRedwood:        {Major: 7, Minor: 3},
}

// StorageEngineSince returns the first supported version with the engine; known is false
// for an engine that cannot be configured.
func StorageEngineSince(engine string) (since Version, known bool) {
	if since, later := engineSince[engine]; later {
		return since, true
	}
	return MinimumVersion, slices.Contains(storageEngines, engine)
}

// SupportsStorageEngine reports whether the engine can be configured for a
// cluster of this version: sharded RocksDB from 7.2.0, released Redwood from
// 7.3.0.
func (v Version) SupportsStorageEngine(engine string) bool {
	since, known := StorageEngineSince(engine)
	return known && v.AtLeast(since)
}
