package fdb

import (
	"slices"
	"time"
)

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
	slices.SortStableFunc(all, func(a, b timedVersion) int { return int(a.version - b.version) })
	for i := len(all) - 2; i >= 0; i-- {
		if next := all[i+1].by; next.Before(all[i].by) {
			all[i].by = next
		}
	}
	return all
}
