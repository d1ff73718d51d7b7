// Package conformance runs the same commands on the model of FoundationDB
// (internal/fdbsim) and on real FoundationDB programs, and reports what differs.
//
// It needs the programs: make conformance FDB_BIN=VERSION=DIR.
package conformance
