package fdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
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

// errorAge matches the age in front of an error.
var errorAge = regexp.MustCompile(`^\S+ \S+ ago : `)

// ParseBackupErrors returns the recent errors of agents from the text of `fdbbackup status`,
// since its JSON never has any. Each error is returned once, without its age.
func ParseBackupErrors(text []byte) []string {
	_, after, found := strings.Cut(string(text), "\nRecent Errors (")
	if !found {
		return nil
	}
	var errs []string
	seen := map[string]bool{}
	for _, line := range strings.Split(redact.Text(after), "\n")[1:] {
		what := errorAge.ReplaceAllString(strings.TrimSpace(line), "")
		switch {
		case what == "":
			return errs
		case !seen[what]:
			seen[what] = true
			errs = append(errs, WithoutSecrets(what))
		}
	}
	return errs
}

// DescribeTimes are the options of `fdbbackup describe` for the times of versions. The database of
// the cluster file estimates them, from what it recorded of its own versions.
var DescribeTimes = []string{"-C", BackupClusterFile, "--version-timestamps"}

// Moment is a version that is restorable at a time.
type Moment struct {
	Version uint64
	// Earlier is how much older than the time the version may be, as an estimate: versions jump
	// ahead at every recovery, and the description has the times of few versions.
	Earlier time.Duration
}

// RestorableSpan is the range of what can be restored. The times are zero where the description
// has none.
type RestorableSpan struct {
	From, To         int64
	FromTime, ToTime time.Time
}

// Timed reports whether any time can be restored.
func (s RestorableSpan) Timed() bool { return !s.FromTime.IsZero() && !s.ToTime.Before(s.FromTime) }

// timedVersion is a version that the database had at a time or before.
type timedVersion struct {
	version int64
	by      time.Time
}

// RestorableSpan returns the range of versions that can be restored with its times, and false
// where nothing can.
func (d *BackupDescription) RestorableSpan() (RestorableSpan, bool) {
	if !d.Restorable || d.MinRestorable == nil || d.MaxRestorable == nil {
		return RestorableSpan{}, false
	}
	span := RestorableSpan{From: d.MinRestorable.Version, To: d.MaxRestorable.Version}
	if d.MinRestorable.EpochSeconds == nil || d.MaxRestorable.EpochSeconds == nil {
		return span, true
	}
	for _, t := range d.timed() {
		if t.version == span.From {
			span.FromTime = t.by
		}
	}
	span.ToTime = time.Unix(*d.MaxRestorable.EpochSeconds, 0).UTC()
	return span, true
}

// At returns the newest version that the database certainly had at a time or before, and false
// where the time cannot be restored. Nothing that was committed later is in it: between two
// versions, the version grows by at least 1,000,000 a second, and by more at recoveries.
func (d *BackupDescription) At(at time.Time) (Moment, bool) {
	span, ok := d.RestorableSpan()
	if !ok || !span.Timed() || at.Before(span.FromTime) || at.After(span.ToTime) {
		return Moment{}, false
	}
	version, timed := span.From, d.timed()
	for _, t := range timed {
		if !t.by.After(at) {
			version = max(version, t.version+VersionsIn(at.Sub(t.by)))
		}
	}
	version = min(version, span.To)
	i := slices.IndexFunc(timed, func(t timedVersion) bool { return t.version >= version }) // the last one is span.To or later
	earlier := at.Sub(timed[i].by.Add(-TimeOf(timed[i].version - version)))
	return Moment{Version: unsigned(version), Earlier: max(0, earlier)}, true
}

// unsigned returns a version as a restore takes it.
func unsigned(version int64) uint64 {
	if version < 0 {
		return 0
	}
	return uint64(version)
}

// timed returns the versions with a time in ascending order. A time of the tools is an
// estimate, which is too late by up to a jump of versions for those right after a recovery: a
// version is never younger than a higher one. Seconds are cut off, so the next one counts.
func (d *BackupDescription) timed() []timedVersion {
	versions := []*DescribedVersion{d.MinLogBegin, d.ContiguousLogEnd, d.MaxLogEnd, d.MinRestorable, d.MaxRestorable}
	for i := range d.Snapshots {
		versions = append(versions, &d.Snapshots[i].Start, &d.Snapshots[i].End)
	}
	var all []timedVersion
	for _, v := range versions {
		if v != nil && v.EpochSeconds != nil {
			all = append(all, timedVersion{v.Version, time.Unix(*v.EpochSeconds, 0).UTC().Add(time.Second)})
		}
	}
	stable.Sort(all, func(a, b timedVersion) int { return int(a.version - b.version) })
	for i := len(all) - 2; i >= 0; i-- {
		if next := all[i+1].by; next.Before(all[i].by) {
			all[i].by = next
		}
	}
	return all
}
