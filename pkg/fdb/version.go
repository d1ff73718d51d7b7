package fdb

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// Version is a FoundationDB version. The zero value means unknown.
type Version struct {
	Major, Minor, Patch int
	// ReleaseCandidate is the number after "-rc"; 0 for a release.
	ReleaseCandidate int
}

var versionPattern = regexp.MustCompile(`(\d+)\.(\d+)\.(\d+)(?:-rc(\d+))?`)

// ParseVersion parses the first version found in text, so that "7.3.79",
// "FoundationDB CLI 7.3 (v7.3.79)" and "7.3.79-PRERELEASE" are all accepted.
func ParseVersion(text string) (Version, error) {
	return parseVersion(versionPattern, text)
}

// exactVersionPattern is a version with nothing before or after it.
var exactVersionPattern = regexp.MustCompile(`^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:-rc(\d{1,6}))?$`)

// ParseExactVersion parses text that is exactly a version, as the spec of a resource
// requires it.
func ParseExactVersion(text string) (Version, error) { return parseVersion(exactVersionPattern, text) }

func parseVersion(pattern *regexp.Regexp, text string) (Version, error) {
	parts := pattern.FindStringSubmatch(text)
	if parts == nil {
		return Version{}, fmt.Errorf("parse version %q: must be MAJOR.MINOR.PATCH", text)
	}
	var v Version
	for i, into := range []*int{&v.Major, &v.Minor, &v.Patch, &v.ReleaseCandidate} {
		if parts[i+1] == "" {
			continue
		}
		n, err := strconv.Atoi(parts[i+1])
		if err != nil {
			return Version{}, fmt.Errorf("parse version %q: %w", text, err)
		}
		*into = n
	}
	return v, nil
}

// String returns the version as FoundationDB prints it; empty for the zero
// value.
func (v Version) String() string {
	if v.IsZero() {
		return ""
	}
	if v.ReleaseCandidate > 0 {
		return fmt.Sprintf("%d.%d.%d-rc%d", v.Major, v.Minor, v.Patch, v.ReleaseCandidate)
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// IsZero reports whether the version is unknown.
func (v Version) IsZero() bool { return v == Version{} }

// Compare orders versions; a release candidate comes before its release.
func (v Version) Compare(other Version) int {
	return cmp.Or(
		cmp.Compare(v.Major, other.Major),
		cmp.Compare(v.Minor, other.Minor),
		cmp.Compare(v.Patch, other.Patch),
		cmp.Compare(v.candidateRank(), other.candidateRank()),
	)
}

// candidateRank returns a number by which a release sorts after all of its
// candidates.
func (v Version) candidateRank() int {
	if v.ReleaseCandidate == 0 {
		return int(^uint(0) >> 1)
	}
	return v.ReleaseCandidate
}

// AtLeast reports whether v is other or newer.
func (v Version) AtLeast(other Version) bool { return v.Compare(other) >= 0 }

// ProtocolCompatible reports whether processes and clients of both versions can
// communicate: the same major and minor, and the same release candidate.
func (v Version) ProtocolCompatible(other Version) bool {
	return v.Major == other.Major && v.Minor == other.Minor && v.ReleaseCandidate == other.ReleaseCandidate
}

// CanChangeTo reports whether a running cluster may change to target:
// protocol compatible in either direction, or not lower.
func (v Version) CanChangeTo(target Version) bool {
	return v.ProtocolCompatible(target) || target.AtLeast(v)
}

// Protocol returns the wire protocol of the version's line, as in the status
// document; ok is false for an unknown line.
func (v Version) Protocol() (protocol Protocol, ok bool) {
	protocol, ok = protocols[[2]int{v.Major, v.Minor}]
	return protocol, ok
}

// protocols lists the wire protocol of each supported line. Source: the protocol
// versions printed by fdbserver 7.1.67, 7.3.79 and 7.4.6.
var protocols = map[[2]int]Protocol{
	{7, 1}: 0x0FDB00B071010000,
	{7, 3}: 0x0FDB00B073000000,
	{7, 4}: 0x0FDB00B074000000,
}

// Protocol is a FoundationDB wire protocol version.
type Protocol uint64

// ParseProtocol parses hexadecimal digits. Coordinators report 16 of them and
// the cluster 15, without the leading zero; both mean the same.
func ParseProtocol(text string) (Protocol, error) {
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("parse protocol version %q: %w", text, err)
	}
	return Protocol(n), nil
}

// String returns the protocol as 16 hexadecimal digits.
func (p Protocol) String() string { return fmt.Sprintf("%016x", uint64(p)) }

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

// HasBlankCoordination reports whether coordination files show that a database was never created: the name of the
// database is in them, and no state. Run with 7.3.79 and 7.4.6, and read in the sources of 7.3 and 7.4; files of other
// minor versions were not compared.
func (v Version) HasBlankCoordination() bool { return v.Major == 7 && (v.Minor == 3 || v.Minor == 4) }

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
