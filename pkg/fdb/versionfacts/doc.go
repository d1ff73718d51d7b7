// Package versionfacts knows what differs between FoundationDB versions: defects of some
// versions, and changes between two versions that cost data, availability or a backup.
//
// The facts are data, in facts.json; see Fact. Running returns those of a running version,
// OfChange those of an upgrade or downgrade. Conditions narrow a fact to databases that use a
// feature; each is a function in conditions.go. docs/versions.md lists all facts. The package
// is pure.
package versionfacts
