package versionfacts

import (
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Condition limits a fact to databases that use a feature.
type Condition string

// The conditions.
const (
	WhenRocksDB          Condition = "rocksdb"             // a storage engine is ssd-rocksdb-v1 or ssd-sharded-rocksdb
	WhenShardedRocksDB   Condition = "sharded-rocksdb"     // a storage engine is ssd-sharded-rocksdb
	WhenMemoryRadixTree  Condition = "memory-radixtree"    // a storage engine is memory-radixtree, under either name
	WhenTenants          Condition = "tenants"             // tenants are enabled
	WhenEncryptionAtRest Condition = "encryption-at-rest"  // encryption at rest is enabled
	WhenBlobGranules     Condition = "blob-granules"       // blob granules are enabled
	WhenStorageCache     Condition = "storage-cache"       // processes of class storage_cache report
	WhenEncryptedBackup  Condition = "encrypted-backup"    // a backup is encrypted
	WhenBlobStoreOverTLS Condition = "blob-store-over-tls" // a backup is written to a blob store over TLS
)

// Truth is the answer to a condition.
type Truth string

// The answers.
const (
	Yes     Truth = "yes"
	No      Truth = "no"
	Unknown Truth = "unknown"
)

// Use is what a database uses, as far as it was read.
type Use struct {
	// Status is the status document; nil if the database did not answer.
	Status *fdb.Status
	// Desired is the configuration in the spec; zero if it is unknown.
	Desired fdb.Configuration
	// Backups are the backups of the database.
	Backups BackupUse
}

// BackupUse is what the backups of a database use.
type BackupUse struct {
	// Read is false if they are unknown.
	Read bool
	// Encrypted and OverTLS report whether any backup is encrypted, and whether any is written
	// to a blob store over TLS.
	Encrypted, OverTLS bool
}

// conditions answers each condition.
var conditions = map[Condition]func(Use) Truth{
	WhenRocksDB:        engine(func(e string) bool { return strings.Contains(e, "rocksdb") }),
	WhenShardedRocksDB: engine(func(e string) bool { return e == fdb.EngineShardedRocksDB }),
	WhenMemoryRadixTree: engine(func(e string) bool {
		return e == fdb.EngineMemoryRadixTree || e == fdb.EngineMemoryRadixTree+"-beta"
	}),
	WhenTenants:          setting(func(c fdb.Configuration) string { return c.TenantMode }),
	WhenEncryptionAtRest: setting(func(c fdb.Configuration) string { return c.EncryptionAtRestMode }),
	WhenBlobGranules:     configured(func(c fdb.Configuration) bool { return c.BlobGranulesEnabled != 0 }),
	WhenStorageCache: func(u Use) Truth {
		if !u.Status.ListsProcesses() {
			return Unknown
		}
		return truth(len(u.Status.ProcessesThat(func(p fdb.Process) bool { return p.ClassType == "storage_cache" })) > 0)
	},
	WhenEncryptedBackup:  backups(func(b BackupUse) bool { return b.Encrypted }),
	WhenBlobStoreOverTLS: backups(func(b BackupUse) bool { return b.OverTLS }),
}

func truth(yes bool) Truth {
	if yes {
		return Yes
	}
	return No
}

// engine answers yes if any engine matches: the one in the spec, the configured one, that of
// the wiggle, and those of the storage servers, which keep their old engine for long during a
// migration.
func engine(match func(string) bool) func(Use) Truth {
	return func(u Use) Truth {
		engines := engines(u.Desired)
		known := u.Status != nil && u.Status.Cluster.Configuration != nil && u.Status.RolesKnown()
		if u.Status != nil && u.Status.Cluster.Configuration != nil {
			engines = append(engines, enginesOf(u.Status)...)
		}
		if slices.ContainsFunc(engines, match) {
			return Yes
		}
		if !known {
			return Unknown
		}
		return No
	}
}

func engines(c fdb.Configuration) []string {
	names := []string{c.StorageEngine}
	if c.PerpetualStorageWiggleEngine != nil {
		names = append(names, *c.PerpetualStorageWiggleEngine)
	}
	return names
}

func enginesOf(s *fdb.Status) []string {
	names := engines(*s.Cluster.Configuration)
	for name := range s.StorageEngines() {
		names = append(names, name)
	}
	return names
}

// configured answers by the configuration that the database reports.
func configured(match func(fdb.Configuration) bool) func(Use) Truth {
	return func(u Use) Truth {
		if u.Status == nil || u.Status.Cluster.Configuration == nil {
			return Unknown
		}
		return truth(match(*u.Status.Cluster.Configuration))
	}
}

// setting answers yes for any value but those that FoundationDB prints for a feature that is
// off. Versions that do not have the feature do not report it.
func setting(of func(fdb.Configuration) string) func(Use) Truth {
	return configured(func(c fdb.Configuration) bool { return of(c) != "" && of(c) != "disabled" })
}

func backups(match func(BackupUse) bool) func(Use) Truth {
	return func(u Use) Truth {
		if !u.Backups.Read {
			return Unknown
		}
		return truth(match(u.Backups))
	}
}

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
