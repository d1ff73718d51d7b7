package fdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// BackupDescription is the output of `fdbbackup describe --json` for a
// destination.
type BackupDescription struct {
	// URL can hold credentials: see WithoutSecrets.
	URL        string `json:"URL"`
	Restorable bool   `json:"Restorable"`
	// Encrypted is nil in versions that cannot encrypt.
	Encrypted     *bool               `json:"FileLevelEncryption"`
	Snapshots     []DescribedSnapshot `json:"Snapshots"`
	SnapshotBytes int64               `json:"TotalSnapshotBytes"`
	// Versions are nil if absent. Everything before ExpiredEnd was deleted; the log has no
	// gap from MinLogBegin to ContiguousLogEnd.
	ExpiredEnd       *DescribedVersion `json:"ExpiredEnd"`
	MinLogBegin      *DescribedVersion `json:"MinLogBegin"`
	ContiguousLogEnd *DescribedVersion `json:"ContiguousLogEnd"`
	MaxLogEnd        *DescribedVersion `json:"MaxLogEnd"`
	MinRestorable    *DescribedVersion `json:"MinRestorablePoint"`
	MaxRestorable    *DescribedVersion `json:"MaxRestorablePoint"`
}

// DescribedVersion is a version, and the estimate of its time by the database that the tools
// use: nil unless it was requested, and where that database has none.
type DescribedVersion struct {
	Version      int64  `json:"Version"`
	EpochSeconds *int64 `json:"EpochSeconds"`
}

// DescribedSnapshot is one snapshot at a destination.
type DescribedSnapshot struct {
	Start             DescribedVersion `json:"Start"`
	End               DescribedVersion `json:"End"`
	Restorable        bool             `json:"Restorable"`
	Bytes             int64            `json:"TotalBytes"`
	PercentageExpired float64          `json:"PercentageExpired"`
}

// ParseBackupDescription parses the document. A truncated document, another schema version
// or a missing mandatory field is an error.
func ParseBackupDescription(text []byte) (*BackupDescription, error) {
	const format = "read the description of a backup: %w"
	var shape struct {
		SchemaVersion *string
		URL           *string              `json:"URL"`
		Restorable    *bool                `json:"Restorable"`
		Snapshots     *[]DescribedSnapshot `json:"Snapshots"`
	}
	if err := json.Unmarshal(text, &shape); err != nil {
		return nil, fmt.Errorf(format, err)
	}
	if shape.SchemaVersion == nil || shape.URL == nil || shape.Restorable == nil || shape.Snapshots == nil {
		return nil, fmt.Errorf(format, errors.New("SchemaVersion, URL, Snapshots or Restorable is missing"))
	}
	if *shape.SchemaVersion != "1.0.0" {
		return nil, fmt.Errorf(format, fmt.Errorf("SchemaVersion must be 1.0.0, is %q", *shape.SchemaVersion))
	}
	d := &BackupDescription{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf(format, err)
	}
	return d, nil
}

// versionsPerSecond is the rate at which versions increase.
const versionsPerSecond = 1_000_000

// VersionsIn returns approximately how many versions there are in a duration.
func VersionsIn(d time.Duration) int64 { return int64(d.Seconds() * versionsPerSecond) }

// TimeOf returns the approximate duration of a number of versions.
func TimeOf(versions int64) time.Duration {
	return time.Duration(versions) * (time.Second / versionsPerSecond)
}

// KeepsRestorable returns the first restorable version once everything before a version
// is deleted, and false if there is none: a restore requires a complete snapshot, with
// the log from its begin.
func (d *BackupDescription) KeepsRestorable(before int64) (from int64, ok bool) {
	for _, s := range d.Snapshots {
		if s.Restorable && s.Start.Version >= before && (!ok || s.End.Version < from) {
			from, ok = s.End.Version, true
		}
	}
	return from, ok
}

// Before returns the snapshots that begin before a version, which are deleted with
// it.
func (d *BackupDescription) Before(version int64) []DescribedSnapshot {
	var all []DescribedSnapshot
	for _, s := range d.Snapshots {
		if s.Start.Version < version {
			all = append(all, s)
		}
	}
	return all
}

// Newest returns the newest version of any part; 0 if there is none.
func (d *BackupDescription) Newest() (newest int64) {
	for _, end := range []*DescribedVersion{d.ContiguousLogEnd, d.MaxLogEnd} {
		if end != nil {
			newest = max(newest, end.Version)
		}
	}
	for _, s := range d.Snapshots {
		newest = max(newest, s.End.Version)
	}
	return newest
}
