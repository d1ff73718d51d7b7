package fdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// BackupDescription is what `fdbbackup describe --json` finds at a place.
type BackupDescription struct {
	// URL can hold credentials: see WithoutSecrets.
	URL        string `json:"URL"`
	Restorable bool   `json:"Restorable"`
	// Encrypted is nil in versions that cannot encrypt.
	Encrypted     *bool               `json:"FileLevelEncryption"`
	Snapshots     []DescribedSnapshot `json:"Snapshots"`
	SnapshotBytes int64               `json:"TotalSnapshotBytes"`
	// All versions are nil where there is none of the kind. Before ExpiredEnd everything was
	// deleted; the log is without a gap from MinLogBegin to ContiguousLogEnd.
	ExpiredEnd       *DescribedVersion `json:"ExpiredEnd"`
	MinLogBegin      *DescribedVersion `json:"MinLogBegin"`
	ContiguousLogEnd *DescribedVersion `json:"ContiguousLogEnd"`
	MaxLogEnd        *DescribedVersion `json:"MaxLogEnd"`
	MinRestorable    *DescribedVersion `json:"MinRestorablePoint"`
	MaxRestorable    *DescribedVersion `json:"MaxRestorablePoint"`
}

// DescribedVersion is a version, and nothing of when it was: of that there are estimates.
type DescribedVersion struct {
	Version int64 `json:"Version"`
}

// DescribedSnapshot is one snapshot at a place.
type DescribedSnapshot struct {
	Start             DescribedVersion `json:"Start"`
	End               DescribedVersion `json:"End"`
	Restorable        bool             `json:"Restorable"`
	Bytes             int64            `json:"TotalBytes"`
	PercentageExpired float64          `json:"PercentageExpired"`
}

// ParseBackupDescription reads the document. One that was cut short, is of another version
// or lacks what every version has is an error.
func ParseBackupDescription(text []byte) (*BackupDescription, error) {
	const doing = "reading the description of a backup: %w"
	var shape struct {
		SchemaVersion *string
		URL           *string              `json:"URL"`
		Restorable    *bool                `json:"Restorable"`
		Snapshots     *[]DescribedSnapshot `json:"Snapshots"`
	}
	if err := json.Unmarshal(text, &shape); err != nil {
		return nil, fmt.Errorf(doing, err)
	}
	if shape.SchemaVersion == nil || shape.URL == nil || shape.Restorable == nil || shape.Snapshots == nil {
		return nil, fmt.Errorf(doing, errors.New("it lacks its version, its URL, its snapshots, or whether it can be restored"))
	}
	if *shape.SchemaVersion != "1.0.0" {
		return nil, fmt.Errorf(doing, fmt.Errorf("its version is %q, not 1.0.0", *shape.SchemaVersion))
	}
	d := &BackupDescription{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf(doing, err)
	}
	return d, nil
}

// versionsPerSecond is how fast versions go up.
const versionsPerSecond = 1_000_000

// VersionsIn is about how many versions there are in a time.
func VersionsIn(d time.Duration) int64 { return int64(d.Seconds() * versionsPerSecond) }

// TimeOf is about how long some versions take.
func TimeOf(versions int64) time.Duration {
	return time.Duration(versions) * (time.Second / versionsPerSecond)
}

// KeepsRestorable is the first version that could be restored once everything before a
// version is deleted; false where none could: a restore needs a whole snapshot, with the
// log from its begin on.
func (d *BackupDescription) KeepsRestorable(before int64) (from int64, ok bool) {
	for _, s := range d.Snapshots {
		if s.Restorable && s.Start.Version >= before && (!ok || s.End.Version < from) {
			from, ok = s.End.Version, true
		}
	}
	return from, ok
}

// Before are the snapshots that begin before a version: they go with what is deleted.
func (d *BackupDescription) Before(version int64) []DescribedSnapshot {
	var all []DescribedSnapshot
	for _, s := range d.Snapshots {
		if s.Start.Version < version {
			all = append(all, s)
		}
	}
	return all
}

// Newest is the newest version of anything that is there; 0 where nothing has one.
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
