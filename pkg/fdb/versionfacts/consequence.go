package versionfacts

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
)

// Consequence is the effect of a fact on a database to which it applies.
type Consequence string

// The consequences, from the most severe.
const (
	DataLoss            Consequence = "data-loss"            // data can be lost or become wrong
	Unavailable         Consequence = "unavailable"          // processes can fail to start or crash
	FeatureRemoved      Consequence = "feature-removed"      // a feature in use does not exist in the new version
	BackupUnrestorable  Consequence = "backup-unrestorable"  // existing backups cannot be restored
	BackupUnencrypted   Consequence = "backup-unencrypted"   // a backup is written without encryption
	BackupFails         Consequence = "backup-fails"         // backups can stop
	OneWay              Consequence = "one-way"              // the change cannot be reverted
	PossiblyUnavailable Consequence = "possibly-unavailable" // processes can fail to start; whether they do depends on what is not read
	PossiblyRemoved     Consequence = "possibly-removed"     // a feature does not exist in the new version; whether it is used is unknown
	StatusWrong         Consequence = "status-wrong"         // the status document has a wrong value
	LessTested          Consequence = "less-tested"          // FoundationDB tests the version, or the change, less than others
	Slower              Consequence = "slower"               // work takes longer
	Renamed             Consequence = "renamed"              // the same has another name
	OutputDiffers       Consequence = "output-differs"       // the output of tools differs
)

// Consequences returns all consequences, from the most severe.
func Consequences() []Consequence {
	return []Consequence{
		DataLoss, Unavailable, FeatureRemoved, BackupUnrestorable, BackupUnencrypted, BackupFails, OneWay,
		PossiblyUnavailable, PossiblyRemoved, StatusWrong, LessTested, Slower, Renamed, OutputDiffers,
	}
}

// LosesDatabase reports whether data or the availability of the database is at risk.
func (c Consequence) LosesDatabase() bool {
	return c == DataLoss || c == Unavailable || c == FeatureRemoved
}

// LosesBackup reports whether backups are at risk that exist already.
func (c Consequence) LosesBackup() bool { return c == BackupUnrestorable }

// Harmful reports whether a user should act on a running version with it.
func (c Consequence) Harmful() bool {
	return c.LosesDatabase() || c.LosesBackup() || c == BackupUnencrypted || c == BackupFails || c == StatusWrong
}

// check validates a fact.
func (f Fact) check() error {
	switch {
	case f.ID == "":
		return errors.New("ID is required")
	case (len(f.Running) == 0) == (len(f.Changes) == 0):
		return errors.New("either running versions or changes are required")
	case slices.ContainsFunc(f.Changes, func(c Change) bool { return len(c.From) == 0 || len(c.To) == 0 }):
		return errors.New("a change requires versions on both sides")
	case min(len(f.Summary), len(f.Advice), len(f.Verified)) == 0:
		return errors.New("summary, advice and verified are required")
	case !slices.Contains(Consequences(), f.Consequence):
		return fmt.Errorf("unknown consequence %q", f.Consequence)
	case !f.Evidence.known():
		return fmt.Errorf("unknown evidence %q", f.Evidence)
	case f.When != "" && conditions[f.When] == nil:
		return fmt.Errorf("unknown condition %q", f.When)
	case len(f.Sources) == 0:
		return errors.New("a source is required")
	}
	for _, source := range f.Sources {
		if u, err := url.Parse(source); err != nil || u.Scheme != "https" || u.Host == "" || u.Path == "" {
			return fmt.Errorf("source %q is not a URL", source)
		}
	}
	return nil
}
