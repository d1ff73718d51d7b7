package versionfacts

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Applying is a fact about the versions in question.
type Applying struct {
	ID          string      `json:"id"`
	Consequence Consequence `json:"consequence"`
	// Applies is yes, or unknown where the facts that decide it are missing; never no.
	Applies Truth `json:"applies"`
	// Condition is the feature whose use decides whether the fact applies; empty if it always
	// does.
	Condition Condition `json:"condition,omitempty"`
	// Version is the version that the fact is about, and for a change the new version.
	Version string `json:"version"`
	// From is the old version of a change; empty for a running version.
	From     string   `json:"from,omitempty"`
	Summary  string   `json:"summary"`
	Advice   string   `json:"advice"`
	Evidence Evidence `json:"evidence"`
	// Sources are the URLs of the threads and files that report the fact.
	Sources []string `json:"sources"`
}

// Running returns the facts about a running version, except those that certainly do not apply.
func Running(v fdb.Version, u Use) []Applying {
	return applying(u, fdb.Version{}, v, func(f Fact) bool { return contain(f.Running, v) })
}

// OfChange returns the facts about a change of the version, except those that certainly do
// not apply.
func OfChange(from, to fdb.Version, u Use) []Applying {
	return applying(u, from, to, func(f Fact) bool {
		for _, c := range f.Changes {
			if contain(c.From, from) && contain(c.To, to) {
				return true
			}
		}
		return false
	})
}

// IDs of facts that the code refers to.
const (
	// BounceImpactNeverClean is the fact that a gate cites.
	BounceImpactNeverClean = "bounce-impact-never-clean"
	// ExcludeFailedCorrupts is the fact that users of fdbcli are warned of.
	ExcludeFailedCorrupts = "exclude-failed-corrupts"
	// WigglePausesOnFullDisks is the fact that explains a gradual migration that does not continue.
	WigglePausesOnFullDisks = "wiggle-pauses-on-full-disks"
)

// About returns the fact with this ID, and whether it is about the running version.
func About(id string, v fdb.Version) (f Fact, is bool) {
	for _, f := range All() {
		if f.ID == id {
			return f, contain(f.Running, v)
		}
	}
	return Fact{}, false
}

// NeedBackups reports whether the backups of the database would decide any of the facts.
func NeedBackups(facts []Applying) bool {
	return slices.ContainsFunc(facts, func(f Applying) bool {
		return f.Applies == Unknown && (f.Condition == WhenEncryptedBackup || f.Condition == WhenBlobStoreOverTLS)
	})
}

// Without returns the facts whose IDs are not among others.
func Without(facts, others []Applying) []Applying {
	return slices.DeleteFunc(slices.Clone(facts), func(f Applying) bool {
		return slices.ContainsFunc(others, func(o Applying) bool { return o.ID == f.ID })
	})
}

func applying(u Use, from, to fdb.Version, about func(Fact) bool) []Applying {
	found := []Applying{}
	for _, f := range All() {
		if !about(f) {
			continue
		}
		applies := Yes
		if f.When != "" {
			applies = conditions[f.When](u)
		}
		if applies == No {
			continue
		}
		found = append(found, Applying{
			ID: f.ID, Consequence: f.Consequence, Applies: applies, Condition: f.When, Version: to.String(), From: from.String(),
			Summary: f.Summary, Advice: f.Advice, Evidence: f.Evidence, Sources: f.Sources,
		})
	}
	return found
}
