package versionfacts

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Fact is one known difference between versions. It is about a running version or about a
// change of the version, never both.
type Fact struct {
	// ID identifies the fact permanently.
	ID string `json:"id"`
	// Running are the versions that the fact is about while they run.
	Running []Range `json:"running,omitempty"`
	// Changes are the changes of the version that the fact is about.
	Changes []Change `json:"changes,omitempty"`
	// When limits the fact to databases that use a feature; empty for all.
	When Condition `json:"when,omitempty"`
	// Consequence is the effect on a database to which the fact applies.
	Consequence Consequence `json:"consequence"`
	// Summary is the fact in one clause, without a full stop.
	Summary string `json:"summary"`
	// Advice is what to do, in one clause.
	Advice string `json:"advice"`
	// Evidence is how the fact is known.
	Evidence Evidence `json:"evidence"`
	// Verified is where it was verified, and what was not.
	Verified string `json:"verified"`
	// Sources are the URLs of the threads and files that report it; at least one.
	Sources []string `json:"sources"`
}

// Range is the versions from From on and before Before; release candidates belong to the
// range of their release.
type Range struct {
	From fdb.Version
	// Before is the first version after the range; zero if there is none.
	Before fdb.Version
	// Patches limits the range to even or odd patch releases; empty for all.
	Patches Patches
}

// Patches is every second patch release of a range.
type Patches string

// FoundationDB builds some patch releases twice, with another option of the compiler.
const (
	EvenPatches Patches = "even"
	OddPatches  Patches = "odd"
)

func (p Patches) known() bool { return p == "" || p == EvenPatches || p == OddPatches }

func (p Patches) contain(v fdb.Version) bool {
	return p == "" || (p == EvenPatches) == (v.Patch%2 == 0)
}

// Change is a change from any version of From to any version of To.
type Change struct {
	From []Range `json:"from"`
	To   []Range `json:"to"`
}

// Evidence is how a fact is known.
type Evidence string

// The kinds of evidence, from the strongest.
const (
	// Run means that a program of an affected version was run and showed it.
	Run Evidence = "run"
	// Recorded means that the output of an affected version is recorded in a test.
	Recorded Evidence = "recorded"
	// Read means that source code, release notes or threads were read.
	Read Evidence = "read"
)

func (e Evidence) known() bool {
	switch e {
	case Run, Recorded, Read:
		return true
	default:
		return false
	}
}

//go:embed facts.json
var data []byte

var all = sync.OnceValues(func() ([]Fact, error) { return parse(data) })

// All returns all facts, in the order of facts.json.
func All() []Fact {
	facts, err := all()
	if err != nil {
		panic(err) // an embedded file: TestVersionFactsAreValid parses it
	}
	return slices.Clone(facts)
}

// parse reads facts and validates what types alone do not.
func parse(text []byte) ([]Fact, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var facts []Fact
	if err := decoder.Decode(&facts); err != nil {
		return nil, fmt.Errorf("parse facts: %w", err)
	}
	seen := map[string]bool{}
	for _, f := range facts {
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("fact %q: %w", f.ID, err)
		}
		if seen[f.ID] {
			return nil, fmt.Errorf("fact %q: duplicate ID", f.ID)
		}
		seen[f.ID] = true
	}
	return facts, nil
}

// UnmarshalJSON parses {"from": VERSION, "before": VERSION, "patches": "even"}.
func (r *Range) UnmarshalJSON(text []byte) error {
	var raw struct {
		From, Before string
		Patches      Patches
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&raw); err != nil {
		return fmt.Errorf("parse range %s: %w", text, err)
	}
	if r.Patches = raw.Patches; !r.Patches.known() {
		return fmt.Errorf("range %s: unknown patches %q", text, r.Patches)
	}
	var err error
	if r.From, err = fdb.ParseExactVersion(raw.From); err != nil {
		return err
	}
	if raw.Before == "" {
		return nil
	}
	if r.Before, err = fdb.ParseExactVersion(raw.Before); err != nil {
		return err
	}
	if r.From.AtLeast(r.Before) {
		return fmt.Errorf("range %s contains no version", text)
	}
	return nil
}

// MarshalJSON prints the range as it is parsed.
func (r Range) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		From    string  `json:"from"`
		Before  string  `json:"before,omitempty"`
		Patches Patches `json:"patches,omitempty"`
	}{r.From.String(), r.Before.String(), r.Patches})
}

// Contains reports whether a version is in the range.
func (r Range) Contains(v fdb.Version) bool {
	v.ReleaseCandidate = 0
	return v.AtLeast(r.From) && (r.Before.IsZero() || !v.AtLeast(r.Before)) && r.Patches.contain(v)
}

// String returns the range for tables: "7.4.0 to before 7.4.6", "7.4.7 and newer", "7.3.0 to before
// 7.4.0 (odd)".
func (r Range) String() string {
	text := r.From.String() + " and newer"
	if !r.Before.IsZero() {
		text = r.From.String() + " to before " + r.Before.String()
	}
	if r.Patches != "" {
		text += " (" + string(r.Patches) + ")"
	}
	return text
}

func contain(ranges []Range, v fdb.Version) bool {
	return slices.ContainsFunc(ranges, func(r Range) bool { return r.Contains(v) })
}

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
